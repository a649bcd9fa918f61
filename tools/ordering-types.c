/* SPDX-License-Identifier: MIT */
#include "ordering-types.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/batching.h>
#include <loaderx/parity/nanoset.h>
#include <loaderx/parity/torch.h>
#include <loaderx/weighted.h>

#include "failure.h"

#define SEED ordering_number(self, OPTION_SEED)
#define LENGTH ordering_number(self, OPTION_LENGTH)
#define TABLES ordering_path(self, OPTION_TABLES)

lx_status ordering_settle(ordering *self, int option, uint64_t count, const char *several,
                          lx_error *error)
{
    uint64_t length = ordering_number(self, OPTION_LENGTH);
    const char *path = ordering_path(self, option);
    if (ordering_said(self, OPTION_LENGTH) && length != count)
        return option != OPTION_SUBSET && ordering_said(self, OPTION_SUBSET)
                   ? lx_fail(error, LX_ERR_ARGUMENT,
                             "the %" PRIu64 " indices in %.200s do not match the %" PRIu64
                             " %s in %.200s: the numbers must be equal",
                             length, ordering_path(self, OPTION_SUBSET), count, several, path)
                   : lx_fail(error, LX_ERR_ARGUMENT,
                             "--length %" PRIu64 " is not the number of %s in %.200s, which is "
                             "%" PRIu64 ": omit --length",
                             length, several, path, count);
    self->numbers[0] = count;
    self->said |= ORDERING_BIT(OPTION_LENGTH);
    return LX_OK;
}

/* ---- orders defined by a formula */

static lx_status make_sequential(ordering *self, lx_order **order, lx_error *error)
{
    return lx_order_new_sequential(LENGTH, ordering_number(self, OPTION_WINDOW),
                                   ordering_number(self, OPTION_STRIDE), order, error);
}

static lx_status make_random(ordering *self, lx_order **order, lx_error *error)
{
    return lx_order_new_random(LENGTH, SEED, order, error);
}

static lx_status make_shuffle(ordering *self, lx_order **order, lx_error *error)
{
    return lx_order_new_shuffle(LENGTH, SEED, order, error);
}

static lx_status make_blocks(ordering *self, lx_order **order, lx_error *error)
{
    return lx_order_new_blocks(LENGTH, ordering_number(self, OPTION_BLOCK), SEED, order, error);
}

static lx_status make_lanes(ordering *self, lx_order **order, lx_error *error)
{
    return lx_order_new_lanes(LENGTH, ordering_number(self, OPTION_LANES),
                              ordering_number(self, OPTION_BLOCK), SEED, order, error);
}

static lx_status make_blend(ordering *self, lx_order **order, lx_error *error)
{
    uint64_t seed = SEED;
    return mixing_make(&self->mixed, LENGTH, ordering_said(self, OPTION_SEED) ? &seed : NULL,
                       TABLES, order, error);
}

/* ---- orders defined by a file with one number per record */

static lx_status read_file(ordering *self, int option, vector_kind kind, const char *several,
                           vector *numbers, lx_error *error)
{
    lx_status status = vector_read(numbers, kind, ordering_path(self, option), error);
    if (status == LX_OK)
        status = ordering_settle(self, option, numbers->count, several, error);
    return status;
}

/** The number of positions in an epoch: --samples, or @p count by default. */
static uint64_t samples_or(const ordering *self, uint64_t count)
{
    return ordering_said(self, OPTION_SAMPLES) ? ordering_number(self, OPTION_SAMPLES) : count;
}

/** Reads the weights in a file, and counts the positive ones; there must be at least one. */
static lx_status read_weights(ordering *self, vector *weights, uint64_t *some, lx_error *error)
{
    const char *path = ordering_path(self, OPTION_WEIGHTS_FILE);
    lx_status status = read_file(self, OPTION_WEIGHTS_FILE, VECTOR_WEIGHTS, "weights", weights,
                                 error);
    *some = 0;
    for (uint64_t i = 0; status == LX_OK && i < weights->count; i++)
        *some += weights->reals[i] > 0;
    if (status != LX_OK || *some != 0)
        return status;
    status = lx_fail(error, LX_ERR_CORRUPT, "%s: at least one weight must be positive",
                     weights->count != 0 ? "all weights are 0" : "the file is empty");
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Makes options with the seed and the table directory from the command line, and with the length
 * of an epoch unless it is LX_NONE. */
static lx_status set_options(const ordering *self, uint64_t length, lx_order_options **options,
                             lx_error *error)
{
    *options = lx_order_options_new();
    lx_status status = *options != NULL ? LX_OK : fail_memory(error, "options");
    if (status == LX_OK && length != LX_NONE)
        status = lx_order_options_set_length(*options, length, error);
    if (status == LX_OK && ordering_said(self, OPTION_SEED))
        status = lx_order_options_set_seed(*options, SEED, error);
    return status == LX_OK ? lx_order_options_set_tables(*options, TABLES, error) : status;
}

static lx_status make_weighted(ordering *self, lx_order **order, lx_error *error)
{
    lx_order_options *options = NULL;
    vector weights = {.count = 0};
    uint64_t some;
    lx_status status = read_weights(self, &weights, &some, error);
    if (status == LX_OK)
        status = set_options(self, samples_or(self, weights.count), &options, error);
    if (status == LX_OK)
        status = lx_order_new_weighted(weights.reals, weights.count, options, order, error);
    lx_order_options_free(options);
    vector_free(&weights);
    return status;
}

static lx_status make_weighted_shuffle(ordering *self, lx_order **order, lx_error *error)
{
    lx_order_options *options = NULL;
    vector weights = {.count = 0};
    uint64_t some;
    lx_status status = read_weights(self, &weights, &some, error);
    if (status == LX_OK && samples_or(self, 0) > some)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "--samples must be at most %" PRIu64
                         ", the number of positive weights in %.200s",
                         some, ordering_path(self, OPTION_WEIGHTS_FILE));
    if (status == LX_OK)
        status = set_options(self, samples_or(self, some), &options, error);
    if (status == LX_OK)
        status = lx_order_new_weighted_shuffle(weights.reals, weights.count, options, order, error);
    lx_order_options_free(options);
    vector_free(&weights);
    return status;
}

static lx_status make_balanced(ordering *self, lx_order **order, lx_error *error)
{
    lx_order_options *options = NULL;
    vector classes = {.count = 0};
    lx_status status = read_file(self, OPTION_CLASSES, VECTOR_CLASSES, "classes", &classes, error);
    if (status == LX_OK)
        status = set_options(self, samples_or(self, classes.count), &options, error);
    if (status == LX_OK)
        status = lx_order_new_balanced(classes.words, classes.count, options, order, error);
    lx_order_options_free(options);
    vector_free(&classes);
    return status;
}

static lx_status make_bucketed(ordering *self, lx_order **order, lx_error *error)
{
    lx_order_options *options = NULL;
    vector lengths = {.count = 0};
    bool has_bucket = ordering_said(self, OPTION_BUCKET);
    uint64_t batch = ordering_number(self, OPTION_BATCH);
    uint64_t bucket = ordering_number(self, OPTION_BUCKET);
    if (has_bucket && bucket % batch != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--bucket %" PRIu64 " is not a multiple of --batch %" PRIu64, bucket, batch);
    lx_status status = read_file(self, OPTION_LENGTHS, VECTOR_LENGTHS, "lengths", &lengths, error);
    if (status == LX_OK)
        status = set_options(self, LX_NONE, &options, error);
    if (status == LX_OK && has_bucket)
        status = lx_order_options_set_bucket_size(options, bucket, error);
    if (status == LX_OK)
        status = lx_order_new_bucketed(lengths.words, lengths.count, batch, options, order, error);
    lx_order_options_free(options);
    vector_free(&lengths);
    return status;
}

/* ---- orders of other libraries */

/** Checks that a number is below 2 to the power of @p bits, which is torch's limit. */
static lx_status check_most(const ordering *self, const char *option, uint64_t number, int bits,
                            lx_error *error)
{
    bool replaced = bits < 32;
    return number >> bits == 0
               ? LX_OK
               : lx_fail(error, LX_ERR_ARGUMENT, "--%s must be less than 2^%d with --order %s%s",
                         option, bits, self->type->name, replaced ? " and --replacement" : "");
}

static lx_status make_torch_random(ordering *self, lx_order **order, lx_error *error)
{
    if (LENGTH == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--length must be at least 1 with --order torch-random");
    bool replaced = ordering_said(self, OPTION_REPLACEMENT);
    lx_status status = check_most(self, "length", LENGTH, replaced ? 28 : 32, error);
    if (status == LX_OK)
        status = check_most(self, "samples", samples_or(self, LENGTH), 32, error);
    lx_order_options *options = NULL;
    if (status == LX_OK)
        status = set_options(self, samples_or(self, LENGTH), &options, error);
    if (status == LX_OK)
        status = lx_order_new_torch_random(LENGTH, replaced, options, order, error);
    lx_order_options_free(options);
    return status;
}

static lx_status make_torch_subset(ordering *self, lx_order **order, lx_error *error)
{
    lx_order_options *options;
    lx_status status = set_options(self, LX_NONE, &options, error);
    if (status == LX_OK)
        status = lx_order_new_torch_subset(self->subset.words, self->subset.count, options, order,
                                           error);
    lx_order_options_free(options);
    return status;
}

static lx_status make_torch_distributed(ordering *self, lx_order **order, lx_error *error)
{
    uint64_t replicas = ordering_said(self, OPTION_REPLICAS)
                            ? ordering_number(self, OPTION_REPLICAS)
                            : self->world;
    lx_status status = ordering_said(self, OPTION_SEED)
                           ? check_most(self, "length", LENGTH, 32, error)
                           : LX_OK;
    bool shuffle = ordering_said(self, OPTION_SEED);
    unsigned flags = (shuffle ? LX_TORCH_SHUFFLE : 0) |
                     (ordering_said(self, OPTION_DROP_LAST) ? LX_TORCH_DROP_LAST : 0);
    lx_order_options *options = NULL;
    if (status == LX_OK && shuffle)
        status = set_options(self, LX_NONE, &options, error);
    if (status == LX_OK)
        status = lx_order_new_torch_distributed(LENGTH, replicas, flags, options, order, error);
    lx_order_options_free(options);
    return status;
}

static lx_status make_nanoset(ordering *self, lx_order **order, lx_error *error)
{
    lx_order_options *options = NULL;
    const mixing *mixed = &self->mixed;
    const double *weights = ordering_said(self, OPTION_WEIGHTS) ? mixed->weightings[0].weights
                                                                : NULL;
    uint64_t *lengths = calloc(mixed->count, sizeof *lengths);
    lx_status status = lengths != NULL ? LX_OK : fail_memory(error, "sets");
    for (size_t i = 0; status == LX_OK && i < mixed->count; i++)
        lengths[i] = mixed->sets[i].records;
    if (status == LX_OK)
        status = set_options(self, LX_NONE, &options, error);
    if (status == LX_OK)
        status = lx_order_new_nanoset(lengths, weights, mixed->count,
                                      !ordering_said(self, OPTION_UNDIVIDED), options, order,
                                      error);
    lx_order_options_free(options);
    free(lengths);
    return status;
}

/* ---- table of all orders */

#define BIT ORDERING_BIT
#define SUBSET BIT(OPTION_SUBSET)
#define SEEDED BIT(OPTION_SEED)

static const ordering_type types[] = {
    {"sequential", SUBSET | BIT(OPTION_WINDOW) | BIT(OPTION_STRIDE), 0, make_sequential, false},
    {"random", SUBSET, SEEDED, make_random, false},
    {"shuffle", SUBSET, SEEDED, make_shuffle, false},
    {"blocks", SUBSET, SEEDED | BIT(OPTION_BLOCK), make_blocks, false},
    {"lanes", SUBSET, SEEDED | BIT(OPTION_LANES) | BIT(OPTION_BLOCK), make_lanes, false},
    {"blend",
     SEEDED | BIT(OPTION_SET) | BIT(OPTION_WEIGHTS) | BIT(OPTION_EXHAUSTED) | BIT(OPTION_METHOD), 0,
     make_blend, false},
    {"weighted", SUBSET | BIT(OPTION_SAMPLES), SEEDED | BIT(OPTION_WEIGHTS_FILE), make_weighted,
     true},
    {"weighted-shuffle", SUBSET | BIT(OPTION_SAMPLES), SEEDED | BIT(OPTION_WEIGHTS_FILE),
     make_weighted_shuffle, true},
    {"balanced", SUBSET | BIT(OPTION_SAMPLES), SEEDED | BIT(OPTION_CLASSES), make_balanced, true},
    {"bucketed", SUBSET | BIT(OPTION_BUCKET), SEEDED | BIT(OPTION_LENGTHS) | BIT(OPTION_BATCH),
     make_bucketed, true},
    {"torch-random", SUBSET | BIT(OPTION_SAMPLES) | BIT(OPTION_REPLACEMENT), SEEDED,
     make_torch_random, true},
    {"torch-subset", 0, SEEDED | SUBSET, make_torch_subset, true},
    {"torch-distributed", SUBSET | SEEDED | BIT(OPTION_REPLICAS) | BIT(OPTION_DROP_LAST), 0,
     make_torch_distributed, true},
    {"nanoset", SEEDED | BIT(OPTION_SET) | BIT(OPTION_WEIGHTS) | BIT(OPTION_UNDIVIDED), 0,
     make_nanoset, true}};

const ordering_type *ordering_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

lx_status ordering_type_fail(const char *name, lx_error *error)
{
    char names[320];
    size_t length = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   i != 0 ? ", " : "", types[i].name);
    return lx_fail(error, LX_ERR_ARGUMENT, "--order: unknown order '%.64s': use one of %s", name,
                   names);
}
