/* SPDX-License-Identifier: MIT */
/* loaderx sample: the indices at any place of any order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/sampler.h>

#include "command.h"
#include "failure.h"
#include "indices.h"
#include "number.h"
#include "report.h"

enum {
    OPTION_LENGTH = OPTION_OWN,
    OPTION_ORDER,
    OPTION_SEED,
    OPTION_BLOCK,
    OPTION_WINDOW,
    OPTION_STRIDE,
    OPTION_SUBSET,
    OPTION_SKIP,
    OPTION_TAKE,
    OPTION_REPEAT,
    OPTION_RANK,
    OPTION_WORLD,
    OPTION_POSITION,
    OPTION_COUNT,
    OPTION_END
};

static const command_option options[] = {
    {OPTION_LENGTH, "length", "N", "records of the source, which are an epoch"},
    {OPTION_ORDER, "order", "sequential|random|shuffle|blocks", "the order (sequential)"},
    {OPTION_SEED, "seed", "S", "seed of random, shuffle and blocks"},
    {OPTION_BLOCK, "block", "B", "blocks: indices of a block, which stay together"},
    {OPTION_WINDOW, "window", "W", "sequential: positions before the window slides (1)"},
    {OPTION_STRIDE, "stride", "D", "sequential: indices it slides (the window)"},
    {OPTION_SUBSET, "subset", "FILE", "the indices in FILE, a .npy of integers, in that order"},
    {OPTION_SKIP, "skip", "K", "leave out the first K positions of each epoch (0)"},
    {OPTION_TAKE, "take", "K", "of those that follow, keep K (all)"},
    {OPTION_REPEAT, "repeat", "T", "make one epoch of T (1)"},
    {OPTION_RANK, "rank", "R", "whose part, below world (0)"},
    {OPTION_WORLD, "world", "W", "how many ranks share the order (1)"},
    {OPTION_POSITION, "position", "P", "where to begin, in samples of all ranks (0)"},
    {OPTION_COUNT, "count", "K", "how many indices to print (10)"},
    JSON_OPTION("indices, and where they end, as JSON"),
};

/* Indices that are taken at a time. */
#define CHUNK 4096

/** What the command line asks for. */
typedef struct request {
    const char *order;
    bool given[OPTION_END - OPTION_LENGTH];
    uint64_t numbers[OPTION_END - OPTION_LENGTH]; /**< By option; those of texts are not used. */
    const char *subset;                           /**< The path, or NULL. */
    uint64_t *indices;                            /**< As many as the length, where it is not. */
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
    static const char *const names[] = {"sequential", "random", "shuffle", "blocks"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && strcmp(value, names[i]) != 0)
        i++;
    if (i == sizeof names / sizeof *names)
        return fail(error, LX_ERR_ARGUMENT,
                    "--order: '%.64s' is none of sequential, random, shuffle, blocks", value);
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
    if (option->id == OPTION_SUBSET) {
        r->subset = value;
        return LX_OK;
    }
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

/** Options that go with one order alone. */
static lx_status check_order(const request *r, lx_error *error)
{
    bool sequential = strcmp(r->order, "sequential") == 0, blocks = strcmp(r->order, "blocks") == 0;
    bool slides = is_given(r, OPTION_WINDOW) || is_given(r, OPTION_STRIDE);
    if (sequential && is_given(r, OPTION_SEED))
        return fail(error, LX_ERR_ARGUMENT, "--seed is of no use with --order sequential");
    if (!sequential && !is_given(r, OPTION_SEED))
        return fail(error, LX_ERR_ARGUMENT, "--order %s needs a --seed", r->order);
    if (!sequential && slides)
        return fail(error, LX_ERR_ARGUMENT, "--window and --stride go with --order sequential");
    if (blocks && !is_given(r, OPTION_BLOCK))
        return fail(error, LX_ERR_ARGUMENT, "--order blocks needs a --block");
    if (!blocks && is_given(r, OPTION_BLOCK))
        return fail(error, LX_ERR_ARGUMENT, "--block goes with --order blocks");
    return LX_OK;
}

static lx_status check_request(const request *r, lx_error *error)
{
    static const int counts[] = {OPTION_WINDOW, OPTION_STRIDE, OPTION_BLOCK, OPTION_REPEAT};
    if (!is_given(r, OPTION_LENGTH) && r->subset == NULL)
        return fail(error, LX_ERR_ARGUMENT, "--length is missing");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (is_given(r, counts[i]) && number_of(r, counts[i]) == 0)
            return fail(error, LX_ERR_ARGUMENT, "--%s is at least 1",
                        options[counts[i] - OPTION_LENGTH].name);
    if (number_of(r, OPTION_RANK) >= number_of(r, OPTION_WORLD))
        return fail(error, LX_ERR_ARGUMENT, "--rank %" PRIu64 " is not below --world %" PRIu64,
                    number_of(r, OPTION_RANK), number_of(r, OPTION_WORLD));
    return check_order(r, error);
}

/** Reads the file of --subset; the length is that of its array. */
static lx_status read_subset(request *r, lx_error *error)
{
    uint64_t count, *length = &r->numbers[0];
    if (r->subset == NULL)
        return LX_OK;
    lx_status status = indices_read(r->subset, &r->indices, &count, error);
    if (status != LX_OK)
        return status;
    if (r->given[0] && *length != count)
        return fail(error, LX_ERR_ARGUMENT,
                    "--length %" PRIu64 " is not the number of indices in %.200s, which is %" PRIu64
                    ": leave it out",
                    *length, r->subset, count);
    *length = count;
    r->given[0] = true;
    return LX_OK;
}

/* ---- the indices */

static lx_status make_plain(const request *r, lx_order **order, lx_error *error)
{
    uint64_t length = number_of(r, OPTION_LENGTH), seed = number_of(r, OPTION_SEED);
    if (strcmp(r->order, "random") == 0)
        return lx_order_new_random(length, seed, order, error);
    if (strcmp(r->order, "shuffle") == 0)
        return lx_order_new_shuffle(length, seed, order, error);
    if (strcmp(r->order, "blocks") == 0)
        return lx_order_new_blocks(length, number_of(r, OPTION_BLOCK), seed, order, error);
    return lx_order_new_sequential(length, number_of(r, OPTION_WINDOW),
                                   number_of(r, OPTION_STRIDE), order, error);
}

static lx_status slice(const request *r, lx_order *part, lx_order **made, lx_error *error)
{
    uint64_t length = lx_order_get_length(part), skip = number_of(r, OPTION_SKIP);
    skip = skip < length ? skip : length;
    length -= skip;
    if (is_given(r, OPTION_TAKE) && number_of(r, OPTION_TAKE) < length)
        length = number_of(r, OPTION_TAKE);
    return lx_order_new_slice(part, skip, length, made, error);
}

static lx_status subset(const request *r, lx_order *part, lx_order **made, lx_error *error)
{
    return lx_order_new_subset(part, r->indices, number_of(r, OPTION_LENGTH), made, error);
}

static lx_status repeat(const request *r, lx_order *part, lx_order **made, lx_error *error)
{
    return lx_order_new_repeat(part, number_of(r, OPTION_REPEAT), made, error);
}

/** The order, and then what is made of it. */
static lx_status make_order(const request *r, lx_order **order, lx_error *error)
{
    const struct {
        bool wanted;
        lx_status (*make)(const request *r, lx_order *part, lx_order **made, lx_error *error);
    } steps[] = {{r->subset != NULL, subset},
                 {is_given(r, OPTION_SKIP) || is_given(r, OPTION_TAKE), slice},
                 {is_given(r, OPTION_REPEAT), repeat}};
    lx_status status = make_plain(r, order, error);
    for (size_t i = 0; status == LX_OK && i < sizeof steps / sizeof *steps; i++) {
        lx_order *made = NULL;
        if (steps[i].wanted)
            status = steps[i].make(r, *order, &made, error);
        if (made != NULL) {
            lx_order_unref(*order);
            *order = made;
        }
    }
    return status;
}

/** Prints a text, such as a path, as JSON has it. */
static lx_status print_text(const char *name, const char *text, lx_error *error)
{
    json_t *value = report_text(text);
    char *quoted = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    lx_status status = quoted != NULL ? LX_OK : fail_memory(error, "a path");
    if (quoted != NULL)
        printf("  \"%s\": %s,\n", name, quoted);
    json_decref(value);
    free(quoted);
    return status;
}

/* JSON is written as text: indices go up to 2^64 - 2, which jansson's integers do not. */
static lx_status begin_json(const request *r, lx_error *error)
{
    static const int shown[] = {OPTION_LENGTH, OPTION_SEED, OPTION_BLOCK,  OPTION_WINDOW,
                                OPTION_STRIDE, OPTION_SKIP, OPTION_TAKE,   OPTION_REPEAT,
                                OPTION_RANK,   OPTION_WORLD, OPTION_POSITION};
    lx_status status = LX_OK;
    printf("{\n  \"order\": \"%s\",\n", r->order);
    if (r->subset != NULL)
        status = print_text("subset", r->subset, error);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (is_given(r, shown[i]) || shown[i] >= OPTION_RANK)
            printf("  \"%s\": %" PRIu64 ",\n", options[shown[i] - OPTION_LENGTH].name,
                   number_of(r, shown[i]));
    printf("  \"indices\": [");
    return status;
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
    uint64_t indices[CHUNK], left = number_of(r, OPTION_COUNT), taken;
    lx_status status = lx_sampler_seek(sampler, number_of(r, OPTION_POSITION), error);
    if (status == LX_OK && r->json)
        status = begin_json(r, error);
    for (bool first = true; status == LX_OK && left != 0 && !ferror(stdout); first = false) {
        status = lx_sampler_take(sampler, left < CHUNK ? left : CHUNK, indices, &taken, error);
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
    if (status == LX_OK)
        status = read_subset(&r, error);
    if (status == LX_OK)
        status = sample(&r, error);
    free(r.indices);
    return status;
}

const command sample_command = {
    .name = "sample",
    .arguments = "--length N|--subset FILE [OPTION...]",
    .summary = "print the indices that stand at any place of any order",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "An order goes through epoch after epoch of N positions, and depends on nothing but\n"
             "what is given here: each rank of a training sees just these indices.\n"
             "With --subset it goes over the places in FILE, so that N is their number, and what\n"
             "stands there is printed. Then --skip and --take cut each epoch, and --repeat makes\n"
             "one of several; ranks and positions are those of what comes out.\n",
    .examples = "  loaderx sample --length 60000 --order shuffle --seed 42\n"
                "  loaderx sample --length 60000 --order shuffle --seed 42 --rank 1 --world 8 \\\n"
                "      --position 1048576 --count 256\n"
                "  loaderx sample --subset train.npy --order blocks --block 100 --seed 42\n",
    .run = run};
