/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An order, as described by options of the command line.
 */
#ifndef LX_TOOLS_ORDERING_H
#define LX_TOOLS_ORDERING_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/order.h>

#include "command.h"
#include "mixing.h"
#include "vector.h"

/** The options of an order. The options of a subcommand follow. */
enum {
    OPTION_LENGTH = OPTION_OWN,
    OPTION_ORDER,
    OPTION_SEED,
    OPTION_LANES,
    OPTION_BLOCK,
    OPTION_WINDOW,
    OPTION_STRIDE,
    OPTION_WEIGHTS_FILE,
    OPTION_CLASSES,
    OPTION_LENGTHS,
    OPTION_BATCH,
    OPTION_BUCKET,
    OPTION_SAMPLES,
    OPTION_REPLACEMENT,
    OPTION_REPLICAS,
    OPTION_DROP_LAST,
    OPTION_UNDIVIDED,
    OPTION_SUBSET,
    OPTION_SKIP,
    OPTION_TAKE,
    OPTION_REPEAT,
    OPTION_PADDED,
    OPTION_COSTS,
    OPTION_BUDGET,
    OPTION_ROWS,
    OPTION_PAD_COSTS,
    OPTION_TABLES,
    OPTION_ORDERING_END
};

/** The bit of an option, including the options of a mixture. */
#define ORDERING_BIT(id)                                                                           \
    ((uint64_t)1 << ((int)(id) < (int)OPTION_SET ? (int)(id) - (int)OPTION_LENGTH                  \
                                                 : 60 + (int)(id) - (int)OPTION_SET))

/** The rows for a subcommand's table of options. */
#define ORDERING_OPTIONS                                                                           \
    {OPTION_LENGTH, "length", "N", "the number of records in an epoch"},                           \
        {OPTION_ORDER, "order", "ORDER", "an order from the list below (sequential)"},             \
        {OPTION_SEED, "seed", "S", "the seed; with blend, shuffles the sets"},                     \
        {OPTION_LANES, "lanes", "L", "lanes: number of lanes"},                                    \
        {OPTION_BLOCK, "block", "B", "blocks, lanes: number of indices in a block"},               \
        {OPTION_WINDOW, "window", "W", "sequential: number of positions in a window (1)"},         \
        {OPTION_STRIDE, "stride", "D", "sequential: distance between windows (W)"},                \
        {OPTION_WEIGHTS_FILE, "weights-file", "FILE",                                              \
         "weighted, weighted-shuffle: an .npy file with a weight for each record"},                \
        {OPTION_CLASSES, "classes", "FILE", "balanced: an .npy file with the classes"},            \
        {OPTION_LENGTHS, "lengths", "FILE", "bucketed: an .npy file with the lengths"},            \
        {OPTION_BATCH, "batch", "B", "bucketed: number of indices in a batch of all ranks"},       \
        {OPTION_BUCKET, "bucket", "B", "bucketed: number of indices in a bucket (100 batches)"},   \
        {OPTION_SAMPLES, "samples", "K",                                                           \
         "weighted*, balanced, torch-random: number of positions in an epoch (N)"},                \
        {OPTION_REPLACEMENT, "replacement", NULL, "torch-random: draw with replacement"},          \
        {OPTION_REPLICAS, "replicas", "W", "torch-distributed: torch's num_replicas (--world)"},   \
        {OPTION_DROP_LAST, "drop-last", NULL, "torch-distributed: drop the remainder"},            \
        {OPTION_UNDIVIDED, "undivided", NULL, "nanoset: do not divide the weights by their sum"},  \
        {OPTION_SUBSET, "subset", "FILE", "print indices from FILE, an .npy file of integers"},    \
        {OPTION_SKIP, "skip", "K", "skip the first K positions of each epoch (0)"},                \
        {OPTION_TAKE, "take", "K", "keep the next K positions of each epoch (all)"},               \
        {OPTION_REPEAT, "repeat", "T", "combine T epochs into one (1)"},                           \
        {OPTION_PADDED, "padded", "M", "repeat the first positions up to a multiple of M (1)"},    \
        {OPTION_COSTS, "costs", "FILE", "with --budget: an .npy file with the costs"},             \
        {OPTION_BUDGET, "budget", "B", "cut the order into batches that cost at most B"},          \
        {OPTION_ROWS, "rows", "R", "with --budget: the maximum number of records in a batch"},     \
        {OPTION_PAD_COSTS, "pad-costs", NULL,                                                      \
         "with --budget: count each record at the highest cost in its batch"},                     \
        {OPTION_TABLES, "tables", "DIR", "store the tables of the order in DIR"},                  \
        MIXING_OPTIONS("blend, nanoset: ", "blend: ")

/** The list of orders, for the notes of a subcommand; the completion parses it. */
#define ORDERING_NOTES                                                                             \
    "Orders:\n"                                                                                    \
    "  sequential         one index after another\n"                                               \
    "  random             draws with replacement\n"                                                \
    "  shuffle            a different permutation in each epoch\n"                                 \
    "  blocks             blocks in shuffled order, each block shuffled\n"                         \
    "  lanes              lanes interleaved, each going through its own blocks\n"                  \
    "  blend              sets mixed by weight\n"                                                  \
    "  weighted           independent draws by weight\n"                                           \
    "  weighted-shuffle   draws by weight, each record once per epoch\n"                           \
    "  balanced           all classes equally often\n"                                             \
    "  bucketed           batches of similar lengths\n"                                            \
    "  torch-random       torch's RandomSampler\n"                                                 \
    "  torch-subset       torch's SubsetRandomSampler, over --subset\n"                            \
    "  torch-distributed  torch's DistributedSampler, shuffled with --seed\n"                      \
    "  nanoset            Nanotron's Nanosets, from --set and --weights\n"                         \
    "\n"

struct ordering_type;

/** The options given. */
typedef struct ordering {
    const struct ordering_type *type;
    uint64_t said; /**< The bits of the given options. */
    /* Values by option, for options with a number or a path. */
    uint64_t numbers[OPTION_ORDERING_END - OPTION_LENGTH];
    const char *paths[OPTION_ORDERING_END - OPTION_LENGTH];
    uint64_t world; /**< Number of ranks that read the order. */
    vector subset;  /**< The numbers of --subset, if given. */
    vector costs;   /**< Costs of the indices, if the order is cut into batches. */
    mixing mixed;   /**< The mixture of sets. */
} ordering;

/** Sets the defaults. */
void ordering_begin(ordering *self);

/** Handles one of the options. */
lx_status ordering_take(ordering *self, const command_option *option, char *value, lx_error *error);

/** Checks that the options are consistent. */
lx_status ordering_check(ordering *self, lx_error *error);

/** Whether the order is cut into batches. */
bool ordering_is_cut(const ordering *self);

/** Whether the indices of the order refer to a concatenation of sets. */
bool ordering_has_sets(const ordering *self);

/** Creates the order after ordering_check(); reads the required files. */
lx_status ordering_make(ordering *self, lx_order **order, lx_error *error);

/** Prints the given options as the first members of a JSON object. Numbers go up to 2^64 - 1, which
 * is beyond the range of jansson's integers. */
lx_status ordering_print_json(const ordering *self, lx_error *error);

/** Releases the resources. */
void ordering_end(ordering *self);

/** Sets --length to the number of records of a dataset, unless options tell it. Call it before
 * ordering_check(). */
void ordering_default_length(ordering *self, uint64_t length);

/* ---- the given options */

static inline bool ordering_said(const ordering *self, int option)
{
    return (self->said & ORDERING_BIT(option)) != 0;
}

/** Returns the number of an option; 0 if the option was not given. */
static inline uint64_t ordering_number(const ordering *self, int option)
{
    return self->numbers[option - OPTION_LENGTH];
}

/** Returns the path of an option; NULL if the option was not given. */
static inline const char *ordering_path(const ordering *self, int option)
{
    return self->paths[option - OPTION_LENGTH];
}

#endif
