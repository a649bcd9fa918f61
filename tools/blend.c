/* SPDX-License-Identifier: MIT */
/* loaderx blend: counts the samples that each set of a mixture contributes. */
#include <inttypes.h>

#include "command.h"
#include "failure.h"
#include "mixing.h"
#include "number.h"
#include "mixing-counts.h"

enum { OPTION_LENGTH = OPTION_OWN, OPTION_FROM, OPTION_UNTIL, OPTION_TABLES };

static const command_option options[] = {
    MIXING_OPTIONS("", ""),
    {OPTION_LENGTH, "length", "N", "number of positions in an epoch (number of records)"},
    {OPTION_FROM, "from", "P", "the first position of the range (0)"},
    {OPTION_UNTIL, "until", "P", "the first position after the range (the end of the epoch)"},
    {OPTION_TABLES, "tables", "DIR", "store the table of a greedy mixture in DIR, and reuse it"},
    JSON_OPTION("print the result as JSON, with exact numbers"),
};

/** The arguments. */
typedef struct request {
    mixing mixed;
    uint64_t length, from, until; /**< 0 if the length or the end is not given. */
    bool until_given;
    const char *tables;
    bool json;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_LENGTH:
        return number_parse_within("--length", value, 1, UINT64_MAX, &r->length, error);
    case OPTION_FROM:
        return number_parse("--from", value, &r->from, error);
    case OPTION_UNTIL:
        r->until_given = true;
        return number_parse("--until", value, &r->until, error);
    case OPTION_TABLES:
        r->tables = value;
        return LX_OK;
    case OPTION_JSON:
        r->json = true;
        return LX_OK;
    default:
        return mixing_take(&r->mixed, option, value, error);
    }
}

static lx_status check_request(request *r, lx_error *error)
{
    if (r->until_given && r->until < r->from)
        return lx_fail(error, LX_ERR_ARGUMENT, "--until %" PRIu64 " is less than --from %" PRIu64,
                       r->until, r->from);
    if (r->tables != NULL && r->mixed.method == MIXING_CLOSED)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--tables: --method closed has no table; use greedy or exhaustive");
    return mixing_check(&r->mixed, r->length, error);
}

/** Returns the end of the epoch that contains a position, but at most the largest position. */
static uint64_t end_of_epoch(uint64_t position, uint64_t length)
{
    uint64_t left = length - position % length;
    return position < UINT64_MAX - left ? position + left : UINT64_MAX;
}

static lx_status blend(request *r, lx_error *error)
{
    lx_order *order = NULL;
    mixing_counts counted = {0};
    lx_status status = mixing_make(&r->mixed, r->length, NULL, r->tables, &order, error);
    if (status == LX_OK && !r->until_given)
        r->until = end_of_epoch(r->from, lx_order_get_length(order));
    if (status == LX_OK)
        status = mixing_counts_new(&counted, &r->mixed, order, r->from, r->until, error);
    if (status == LX_OK)
        status = r->json ? mixing_counts_print_json(&counted, error)
                         : mixing_counts_print(&counted, error);
    mixing_counts_free(&counted);
    lx_order_unref(order);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, command_take_nothing, &r};
    lx_status status = command_parse(&blend_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = blend(&r, error);
    mixing_end(&r.mixed);
    return status;
}

const command blend_command = {
    .name = "blend",
    .arguments = "--set NAME=LENGTH... [OPTION...]",
    .summary = "count the samples of each set of a mixture",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "The share of a set is its weight divided by the sum of all weights. The weights in\n"
             "OFFSET:W,W,... apply within each epoch, starting at that offset.\n"
             "When all records of a set are used, 'repeat' starts the set again, 'stop' ends the\n"
             "epoch of the mixture, and 'redistribute' distributes the share of the set among\n"
             "the other sets until all records are used.\n"
             "Use 'loaderx sample --order blend' to print the indices.\n",
    .examples = "  loaderx blend --set code=5000000 --set text=20000000 --weights 1,1\n"
                "  loaderx blend --set easy=1000 --set hard=4000 --weights 3,1 \\\n"
                "      --weights 5000:1,3 --length 10000 --json\n",
    .run = run};
