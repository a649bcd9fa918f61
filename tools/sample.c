/* SPDX-License-Identifier: MIT */
/* loaderx sample: the indices at any place of any order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/sampler.h>

#include "command.h"
#include "failure.h"
#include "number.h"

enum {
    OPTION_LENGTH = OPTION_OWN,
    OPTION_ORDER,
    OPTION_SEED,
    OPTION_WINDOW,
    OPTION_STRIDE,
    OPTION_RANK,
    OPTION_WORLD,
    OPTION_POSITION,
    OPTION_COUNT,
    OPTION_END
};

static const command_option options[] = {
    {OPTION_LENGTH, "length", "N", "records of the source, which are an epoch"},
    {OPTION_ORDER, "order", "sequential|random|shuffle", "the order (sequential)"},
    {OPTION_SEED, "seed", "S", "seed of random and shuffle"},
    {OPTION_WINDOW, "window", "W", "sequential: positions before the window slides (1)"},
    {OPTION_STRIDE, "stride", "D", "sequential: indices it slides (the window)"},
    {OPTION_RANK, "rank", "R", "whose part, below world (0)"},
    {OPTION_WORLD, "world", "W", "how many ranks share the order (1)"},
    {OPTION_POSITION, "position", "P", "where to begin, in samples of all ranks (0)"},
    {OPTION_COUNT, "count", "K", "how many indices to print (10)"},
    JSON_OPTION("indices, and where they end, as JSON"),
};

/* Indices that are taken at a time. */
#define BLOCK 4096

/** What the command line asks for. */
typedef struct request {
    const char *order;
    bool given[OPTION_END - OPTION_LENGTH];
    uint64_t numbers[OPTION_END - OPTION_LENGTH]; /**< By option; that of order is not used. */
    bool json;
} request;

static uint64_t number_of(const request *r, int option)
{
    return r->numbers[option - OPTION_LENGTH];
}

static bool is_given(const request *r, int option)
{
    return r->given[option - OPTION_LENGTH];
}

/* ---- the command line */

static lx_status take_order(request *r, const char *value, lx_error *error)
{
    if (strcmp(value, "sequential") != 0 && strcmp(value, "random") != 0 &&
        strcmp(value, "shuffle") != 0)
        return fail(error, LX_ERR_ARGUMENT,
                    "--order: '%.64s' is none of sequential, random, shuffle", value);
    r->order = value;
    return LX_OK;
}

static lx_status take_option(void *user, const command_option *option, char *value,
                             lx_error *error)
{
    request *r = user;
    char what[32];
    if (option->id == OPTION_JSON) {
        r->json = true;
        return LX_OK;
    }
    if (option->id == OPTION_ORDER)
        return take_order(r, value, error);
    size_t at = (size_t)(option->id - OPTION_LENGTH);
    snprintf(what, sizeof what, "--%s", option->name);
    r->given[at] = true;
    return number_parse(what, value, &r->numbers[at], error);
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    (void)user;
    return fail(error, LX_ERR_ARGUMENT, "'%.200s' is one argument too many: all go by options",
                text);
}

static lx_status check_request(const request *r, lx_error *error)
{
    bool sequential = strcmp(r->order, "sequential") == 0;
    bool slides = is_given(r, OPTION_WINDOW) || is_given(r, OPTION_STRIDE);
    if (!is_given(r, OPTION_LENGTH))
        return fail(error, LX_ERR_ARGUMENT, "--length is missing");
    if (sequential && is_given(r, OPTION_SEED))
        return fail(error, LX_ERR_ARGUMENT, "--seed is of no use with --order sequential");
    if (!sequential && !is_given(r, OPTION_SEED))
        return fail(error, LX_ERR_ARGUMENT, "--order %s needs a --seed", r->order);
    if (!sequential && slides)
        return fail(error, LX_ERR_ARGUMENT, "--window and --stride go with --order sequential");
    if ((is_given(r, OPTION_WINDOW) && number_of(r, OPTION_WINDOW) == 0) ||
        (is_given(r, OPTION_STRIDE) && number_of(r, OPTION_STRIDE) == 0))
        return fail(error, LX_ERR_ARGUMENT, "--window and --stride are at least 1");
    if (number_of(r, OPTION_RANK) >= number_of(r, OPTION_WORLD))
        return fail(error, LX_ERR_ARGUMENT, "--rank %" PRIu64 " is not below --world %" PRIu64,
                    number_of(r, OPTION_RANK), number_of(r, OPTION_WORLD));
    return LX_OK;
}

/* ---- the indices */

static lx_status make_order(const request *r, lx_order **order, lx_error *error)
{
    uint64_t length = number_of(r, OPTION_LENGTH);
    if (strcmp(r->order, "random") == 0)
        return lx_order_new_random(length, number_of(r, OPTION_SEED), order, error);
    if (strcmp(r->order, "shuffle") == 0)
        return lx_order_new_shuffle(length, number_of(r, OPTION_SEED), order, error);
    return lx_order_new_sequential(length, number_of(r, OPTION_WINDOW),
                                   number_of(r, OPTION_STRIDE), order, error);
}

/* JSON is written as text: indices go up to 2^64 - 2, which jansson's integers do not. */
static void begin_json(const request *r)
{
    static const int shown[] = {OPTION_LENGTH, OPTION_SEED,  OPTION_WINDOW,  OPTION_STRIDE,
                                OPTION_RANK,   OPTION_WORLD, OPTION_POSITION};
    printf("{\n  \"order\": \"%s\",\n", r->order);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (is_given(r, shown[i]) || shown[i] >= OPTION_RANK)
            printf("  \"%s\": %" PRIu64 ",\n", options[shown[i] - OPTION_LENGTH].name,
                   number_of(r, shown[i]));
    printf("  \"indices\": [");
}

static void print_indices(const request *r, const uint64_t *indices, uint64_t count, bool first)
{
    for (uint64_t i = 0; i < count; i++)
        if (r->json)
            printf("%s%" PRIu64, first && i == 0 ? "" : ", ", indices[i]);
        else
            printf("%" PRIu64 "\n", indices[i]);
}

static lx_status print_all(const request *r, lx_sampler *sampler, lx_error *error)
{
    uint64_t indices[BLOCK], left = number_of(r, OPTION_COUNT), taken;
    lx_status status = lx_sampler_seek(sampler, number_of(r, OPTION_POSITION), error);
    if (status == LX_OK && r->json)
        begin_json(r);
    for (bool first = true; status == LX_OK && left != 0 && !ferror(stdout); first = false) {
        status = lx_sampler_take(sampler, left < BLOCK ? left : BLOCK, indices, &taken, error);
        if (status != LX_OK)
            break;
        print_indices(r, indices, taken, first);
        left -= taken;
    }
    if (status >= 0 && r->json)
        printf("],\n  \"next\": %" PRIu64 "\n}\n", lx_sampler_tell(sampler));
    return status == LX_END ? LX_OK : status; /* the order is empty, or ends there */
}

static lx_status sample(const request *r, lx_error *error)
{
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    lx_status status = make_order(r, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, number_of(r, OPTION_RANK), number_of(r, OPTION_WORLD),
                                &sampler, error);
    if (status == LX_OK)
        status = print_all(r, sampler, error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.order = "sequential"};
    const command_line line = {take_option, take_argument, &r};
    r.numbers[OPTION_WORLD - OPTION_LENGTH] = 1;
    r.numbers[OPTION_COUNT - OPTION_LENGTH] = 10;
    lx_status status = command_parse(&sample_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    return status == LX_OK ? sample(&r, error) : status;
}

const command sample_command = {
    .name = "sample",
    .arguments = "--length N [OPTION...]",
    .summary = "print the indices that stand at any place of any order",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "An order goes through epoch after epoch of N positions, and depends on nothing but\n"
             "what is given here: each rank of a training sees just these indices.\n",
    .examples = "  loaderx sample --length 60000 --order shuffle --seed 42\n"
                "  loaderx sample --length 60000 --order shuffle --seed 42 --rank 1 --world 8 \\\n"
                "      --position 1048576 --count 256\n",
    .run = run};
