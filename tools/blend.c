/* SPDX-License-Identifier: MIT */
/* loaderx blend: what each set of a mixture gives. */
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "failure.h"
#include "mixing.h"
#include "number.h"
#include "shares.h"

enum {
    OPTION_LENGTH = OPTION_OWN,
    OPTION_FROM,
    OPTION_UNTIL,
    OPTION_PLOT,
    OPTION_TABLES
};

static const command_option options[] = {
    MIXING_OPTIONS("", ""),
    {OPTION_LENGTH, "length", "N", "positions in an epoch (as many as there are records)"},
    {OPTION_FROM, "from", "P", "the first position that counts (0)"},
    {OPTION_UNTIL, "until", "P", "the first one behind (the end of the epoch)"},
    {OPTION_PLOT, "plot", "FILE", "draw the shares into a .svg, .png or .pdf; -: as text"},
    {OPTION_TABLES, "tables", "DIR", "keep the table of a greedy one in DIR, and find it there"},
    JSON_OPTION("the same as JSON, to the last digit"),
};

/** What the command line asks for. */
typedef struct request {
    mixing mixed;
    uint64_t length, from, until; /**< 0 where the length, and the end, are not given. */
    bool until_given;
    const char *plot, *tables;
    bool json;
} request;

static lx_status take_option(void *user, const command_option *option, char *value,
                             lx_error *error)
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
    case OPTION_PLOT:
        r->plot = value;
        return LX_OK;
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
        return fail(error, LX_ERR_ARGUMENT, "--until %" PRIu64 " is below --from %" PRIu64,
                    r->until, r->from);
    if (r->plot != NULL && strcmp(r->plot, "-") == 0 && r->json)
        return fail(error, LX_ERR_ARGUMENT, "--plot - and --json exclude each other");
    if (r->tables != NULL && r->mixed.method == MIXING_CLOSED)
        return fail(error, LX_ERR_ARGUMENT,
                    "--tables: --method closed has none; greedy and exhaustive have one");
    lx_status status = mixing_check(&r->mixed, r->length, error);
    return status == LX_OK && r->plot != NULL ? shares_plot_check(&r->mixed, r->plot, error)
                                              : status;
}

/** Where the epoch of a position ends; the last one, where positions do. */
static uint64_t end_of_epoch(uint64_t position, uint64_t length)
{
    uint64_t left = length - position % length;
    return position < UINT64_MAX - left ? position + left : UINT64_MAX;
}

static lx_status report(const request *r, const shares *counted, lx_error *error)
{
    lx_status status =
        r->json ? shares_print_json(counted, error) : shares_print(counted, error);
    if (status != LX_OK || r->plot == NULL)
        return status;
    if (strcmp(r->plot, "-") == 0)
        putchar('\n');
    return shares_plot(counted, r->plot, error);
}

static lx_status blend(request *r, lx_error *error)
{
    lx_order *order = NULL;
    shares counted = {0};
    lx_status status = mixing_make(&r->mixed, r->length, NULL, r->tables, &order, error);
    if (status == LX_OK && !r->until_given)
        r->until = end_of_epoch(r->from, lx_order_get_length(order));
    if (status == LX_OK)
        status = shares_new(&counted, &r->mixed, order, r->from, r->until, error);
    if (status == LX_OK)
        status = report(r, &counted, error);
    shares_free(&counted);
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
    .summary = "tell what each set of a mixture gives, and draw it",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "A mixture gives of each set its share, which is its weight over the sum of all. The\n"
             "weights of OFFSET:W,W,... hold from that position of an epoch on.\n"
             "When a set has given all its records, repeat begins it again, stop ends the epoch\n"
             "of the mixture, redistribute gives its share to the others until all have ended.\n"
             "loaderx sample --order blend prints the indices themselves. Gnuplot draws: Debian\n"
             "has it in gnuplot-nox.\n",
    .examples = "  loaderx blend --set code=5000000 --set text=20000000 --weights 1,1\n"
                "  loaderx blend --set easy=1000 --set hard=4000 --weights 3,1 \\\n"
                "      --weights 5000:1,3 --length 10000 --plot shares.svg\n",
    .run = run};
