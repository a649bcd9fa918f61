/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An order, as options of the command line describe it.
 */
#ifndef LX_TOOLS_ORDERING_H
#define LX_TOOLS_ORDERING_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/order.h>

#include "command.h"
#include "mixing.h"
#include "vector.h"

/** Its options. Those of a subcommand itself begin behind them. */
enum {
    OPTION_LENGTH = OPTION_OWN,
    OPTION_ORDER,
    OPTION_SEED,
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

/** The bit of an option, also of those of a mixture. */
#define ORDERING_BIT(id)                                                                           \
    ((uint64_t)1 << ((int)(id) < (int)OPTION_SET ? (int)(id) - (int)OPTION_LENGTH                  \
                                                 : 60 + (int)(id) - (int)OPTION_SET))

/** The rows of a subcommand's table for them. */
#define ORDERING_OPTIONS                                                                           \
    {OPTION_LENGTH, "length", "N", "the number of records, which are an epoch"},                   \
        {OPTION_ORDER, "order", "ORDER", "an order of the list below (sequential)"},               \
        {OPTION_SEED, "seed", "S", "the seed; with blend, shuffle the sets"},                      \
        {OPTION_BLOCK, "block", "B", "blocks: indices in a block"},                                \
        {OPTION_WINDOW, "window", "W", "sequential: positions in a window (1)"},                   \
        {OPTION_STRIDE, "stride", "D", "sequential: indices by which the window slides (W)"},      \
        {OPTION_WEIGHTS_FILE, "weights-file", "FILE",                                              \
         "weighted, weighted-shuffle: an .npy file with a weight for each record"},                \
        {OPTION_CLASSES, "classes", "FILE", "balanced: an .npy file of the class of each"},        \
        {OPTION_LENGTHS, "lengths", "FILE", "bucketed: an .npy file of the length of each"},       \
        {OPTION_BATCH, "batch", "B", "bucketed: indices in a batch of all ranks"},                 \
        {OPTION_BUCKET, "bucket", "B", "bucketed: indices in a bucket (100 batches)"},             \
        {OPTION_SAMPLES, "samples", "K",                                                           \
         "weighted*, balanced, torch-random: positions in an epoch (N)"},                          \
        {OPTION_REPLACEMENT, "replacement", NULL, "torch-random: draw each index from all"},       \
        {OPTION_REPLICAS, "replicas", "W",                                                         \
         "torch-distributed: ranks for which an epoch is made (--world)"},                         \
        {OPTION_DROP_LAST, "drop-last", NULL, "torch-distributed: leave out the remainder"},       \
        {OPTION_UNDIVIDED, "undivided", NULL, "nanoset: do not divide the weights by their sum"},  \
        {OPTION_SUBSET, "subset", "FILE",                                                          \
         "print indices from FILE, an .npy file of integers"},                                     \
        {OPTION_SKIP, "skip", "K", "leave out the first K positions of each epoch (0)"},           \
        {OPTION_TAKE, "take", "K", "keep the next K positions of each epoch (all)"},               \
        {OPTION_REPEAT, "repeat", "T", "make one epoch of T epochs (1)"},                          \
        {OPTION_PADDED, "padded", "M", "repeat the first positions up to a multiple of M (1)"},    \
        {OPTION_COSTS, "costs", "FILE", "with --budget: an .npy file of the cost of each"},        \
        {OPTION_BUDGET, "budget", "B", "cut the order into batches that cost at most B"},          \
        {OPTION_ROWS, "rows", "R", "with --budget: the most records of a batch"},                  \
        {OPTION_PAD_COSTS, "pad-costs", NULL,                                                      \
         "with --budget: each record costs as much as the most expensive one"},                    \
        {OPTION_TABLES, "tables", "DIR", "keep the tables of the order in files of DIR"},          \
        MIXING_OPTIONS("blend, nanoset: ", "blend: ")

/** The words of --order, for the notes of a subcommand; completion reads them there. */
#define ORDERING_NOTES                                                                             \
    "Orders:\n"                                                                                    \
    "  sequential         one index after another\n"                                               \
    "  random             draws with replacement\n"                                                \
    "  shuffle            another permutation in each epoch\n"                                     \
    "  blocks             the same for blocks, and within each block\n"                            \
    "  blend              sets mixed by weights\n"                                                 \
    "  weighted           draws by weights\n"                                                      \
    "  weighted-shuffle   by weights, each once per epoch, heavy ones early\n"                     \
    "  balanced           all classes equally often\n"                                             \
    "  bucketed           batches of similar lengths\n"                                            \
    "  torch-random       exactly torch's RandomSampler\n"                                         \
    "  torch-subset       torch's SubsetRandomSampler, of --subset\n"                              \
    "  torch-distributed  torch's DistributedSampler, shuffled with --seed\n"                      \
    "  nanoset            Nanotron's Nanosets, of --set and --weights\n"                           \
    "\n"

struct ordering_kind;

/** What the options say. */
typedef struct ordering {
    const struct ordering_kind *kind;
    uint64_t said; /**< The bits of the options that were given. */
    uint64_t numbers[OPTION_ORDERING_END - OPTION_LENGTH];   /**< By option, where it has one. */
    const char *paths[OPTION_ORDERING_END - OPTION_LENGTH];  /**< The same. */
    uint64_t world;                                          /**< Ranks of who reads it. */
    vector subset; /**< As many as the length, where it is given. */
    vector costs;  /**< Of the indices, where it is cut into batches. */
    mixing mixed;  /**< Of sets. */
} ordering;

/** What holds where nothing is said. */
void ordering_begin(ordering *self);

/** Takes one of the options. */
lx_status ordering_take(ordering *self, const command_option *option, char *value,
                        lx_error *error);

/** Looks whether they go together. */
lx_status ordering_check(ordering *self, lx_error *error);

/** Whether it is cut into batches. */
bool ordering_is_cut(const ordering *self);

/** Whether it is of sets one behind the other. */
bool ordering_has_sets(const ordering *self);

/** Makes the order, once they do; reads the files for it. */
lx_status ordering_make(ordering *self, lx_order **order, lx_error *error);

/** Prints what was said, as the first lines of a JSON object. Numbers go up to 2^64 - 1, which
 * integers of jansson do not. */
lx_status ordering_print_json(const ordering *self, lx_error *error);

/** Ends it. */
void ordering_end(ordering *self);

/* ---- for ordering-kinds.c */

uint64_t ordering_number(const ordering *self, int option);
const char *ordering_path(const ordering *self, int option);
bool ordering_said(const ordering *self, int option);

/** Notes that the file of an option has @p count numbers, @p several of them: the length, which the
 * files and --length have to agree on. */
lx_status ordering_settle(ordering *self, int option, uint64_t count, const char *several,
                          lx_error *error);

#endif
