/* SPDX-License-Identifier: MIT */
/* loaderx sample: prints the indices of any order, starting at any position. */
#include <inttypes.h>

#include <loaderx/sampler.h>

#include "batches.h"
#include "command.h"
#include "failure.h"
#include "listing.h"
#include "number.h"
#include "ordering.h"

enum {
    OPTION_RANK = OPTION_ORDERING_END,
    OPTION_WORLD,
    OPTION_POSITION,
    OPTION_COUNT,
    OPTION_SETS
};

static const command_option options[] = {
    ORDERING_OPTIONS,
    {OPTION_RANK, "rank", "R", "the rank whose indices are printed (0)"},
    {OPTION_WORLD, "world", "W", "the number of ranks (1)"},
    {OPTION_POSITION, "position", "P", "the first position, counted in samples of all ranks (0)"},
    {OPTION_COUNT, "count", "K", "the number of indices or batches to print (10)"},
    {OPTION_SETS, "sets", NULL, "blend, nanoset: print the name of the set after each index"},
    JSON_OPTION("print the indices and the next position as JSON"),
};

_Static_assert(sizeof options / sizeof *options <= COMMAND_OPTIONS_MAX, "too many options");

/** The arguments. */
typedef struct request {
    ordering ordering;
    uint64_t rank, world, position, count;
    bool sets, json;
} request;

/* ---- the command line */

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_RANK:
        return number_parse("--rank", value, &r->rank, error);
    case OPTION_WORLD:
        return number_parse_within("--world", value, 1, UINT64_MAX, &r->world, error);
    case OPTION_POSITION:
        return number_parse("--position", value, &r->position, error);
    case OPTION_COUNT:
        return number_parse("--count", value, &r->count, error);
    case OPTION_SETS:
        r->sets = true;
        return LX_OK;
    case OPTION_JSON:
        r->json = true;
        return LX_OK;
    default:
        return ordering_take(&r->ordering, option, value, error);
    }
}

static lx_status check_request(request *r, lx_error *error)
{
    lx_status status = ordering_check(&r->ordering, error);
    if (status == LX_OK && r->sets && !ordering_has_sets(&r->ordering))
        status = lx_fail(error, LX_ERR_ARGUMENT, "--sets requires --order blend or nanoset");
    if (status == LX_OK && r->sets && ordering_is_cut(&r->ordering))
        status = lx_fail(error, LX_ERR_ARGUMENT, "--sets cannot be used with --budget");
    if (status == LX_OK && r->rank >= r->world)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "--rank %" PRIu64 " must be less than --world %" PRIu64, r->rank,
                         r->world);
    return status;
}

/* ---- the indices */

/** Prints the names of the sets as a list of the same length as the indices. */
static lx_status print_sets(const request *r, lx_sampler *sampler, lx_error *error)
{
    lx_status status = lx_sampler_seek(sampler, r->position, error);
    printf("],\n  \"sets\": [");
    if (status == LX_OK)
        status = listing_print(sampler, r->count, LISTING_LIST_SETS, &r->ordering.mixed, error);
    return status;
}

static lx_status print_indices_json(const request *r, lx_sampler *sampler, lx_error *error)
{
    printf("  \"indices\": [");
    lx_status status = listing_print(sampler, r->count, LISTING_LIST, NULL, error);
    if (status == LX_OK && r->sets)
        status = print_sets(r, sampler, error);
    printf("],\n");
    return status;
}

static lx_status print_batches_json(const request *r, lx_sampler *sampler, lx_error *error)
{
    const batches_budget by = {r->ordering.costs.words,
                               ordering_number(&r->ordering, OPTION_BUDGET),
                               ordering_said(&r->ordering, OPTION_PAD_COSTS)};
    return batches_print_json(sampler, r->count, &by, error);
}

static lx_status print_json(const request *r, lx_sampler *sampler, lx_error *error)
{
    printf("{\n");
    lx_status status = ordering_print_json(&r->ordering, error);
    printf("  \"rank\": %" PRIu64 ",\n  \"world\": %" PRIu64 ",\n  \"position\": %" PRIu64 ",\n",
           r->rank, r->world, r->position);
    if (status == LX_OK)
        status = ordering_is_cut(&r->ordering) ? print_batches_json(r, sampler, error)
                                               : print_indices_json(r, sampler, error);
    if (status == LX_OK)
        printf("  \"next\": %" PRIu64 "\n}\n", lx_sampler_tell(sampler));
    return status;
}

static lx_status print_lines(const request *r, lx_sampler *sampler, lx_error *error)
{
    if (ordering_is_cut(&r->ordering))
        return batches_print(sampler, r->count, error);
    listing_form form = r->sets ? LISTING_LINES_SETS : LISTING_LINES;
    return listing_print(sampler, r->count, form, &r->ordering.mixed, error);
}

static lx_status sample(request *r, lx_error *error)
{
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    r->ordering.world = r->world;
    lx_status status = ordering_make(&r->ordering, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, r->rank, r->world, &sampler, error);
    if (status == LX_OK)
        status = lx_sampler_seek(sampler, r->position, error);
    if (status == LX_OK)
        status = r->json ? print_json(r, sampler, error) : print_lines(r, sampler, error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.world = 1, .count = 10};
    const command_line line = {take_option, command_take_nothing, &r};
    ordering_begin(&r.ordering);
    lx_status status = command_parse(&sample_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = sample(&r, error);
    ordering_end(&r.ordering);
    return status;
}

const command sample_command = {
    .name = "sample",
    .arguments = "--length N|--subset FILE|--set NAME=LENGTH... [--order ORDER] [OPTION...]",
    .summary = "print the indices of an order, starting at any position",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = ORDERING_NOTES
    "An order is a sequence of epochs of N positions. It depends only on these options:\n"
    "each rank of a training run gets exactly these indices.\n"
    "With --subset, the order is over the positions in FILE, N is the number of indices in\n"
    "FILE, and the indices at these positions are printed. Then --skip and --take select a\n"
    "part of each epoch, --repeat combines several epochs, and --padded extends them;\n"
    "ranks and positions refer to the result. --budget cuts the result into batches, each\n"
    "with as many records as fit, and prints one batch per line; of W consecutive batches,\n"
    "each of the W ranks gets one.\n"
    "Blend mixes sets by weight ('loaderx blend' prints their shares): the indices are\n"
    "those of the concatenated sets, in the order of --set. Each set is sequential; with\n"
    "--seed, the first set is shuffled with seed S, the next one with S + 1, and so on.\n"
    "An epoch has as many positions as the sets have records, or N with --length.\n"
    "The orders of torch and Nanotron are reproduced exactly; S seeds their generator,\n"
    "torch.Generator.manual_seed(S) or numpy.random.RandomState(S).\n",
    .examples = "  loaderx sample --length 60000 --order shuffle --seed 42\n"
                "  loaderx sample --length 60000 --order shuffle --seed 42 --rank 1 --world 8 \\\n"
                "      --position 1048576 --count 256\n"
                "  loaderx sample --subset train.npy --order blocks --block 100 --seed 42\n"
                "  loaderx sample --order balanced --classes label.npy --seed 42 --count 256\n"
                "  loaderx sample --order bucketed --lengths tokens.npy --batch 32 --seed 42 \\\n"
                "      --costs tokens.npy --budget 16384 --pad-costs --json\n"
                "  loaderx sample --order blend --set code=5000 --set text=20000 --weights 1,1 \\\n"
                "      --seed 42 --sets\n",
    .run = run};
