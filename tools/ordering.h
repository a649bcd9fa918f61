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
    {OPTION_LENGTH, "length", "N", "records of the source, which are an epoch"},                   \
        {OPTION_ORDER, "order", "ORDER", "one of those below (sequential)"},                       \
        {OPTION_SEED, "seed", "S", "the seed; blend: shuffle sets"},                               \
        {OPTION_BLOCK, "block", "B", "blocks: indices of a block, which stay together"},           \
        {OPTION_WINDOW, "window", "W", "sequential: positions before the window slides (1)"},      \
        {OPTION_STRIDE, "stride", "D", "sequential: indices it slides (the window)"},              \
        {OPTION_WEIGHTS_FILE, "weights-file", "FILE",                                              \
         "weighted, weighted-shuffle: a .npy with a weight of each record"},                       \
        {OPTION_CLASSES, "classes", "FILE", "balanced: a .npy with the class of each"},            \
        {OPTION_LENGTHS, "lengths", "FILE", "bucketed: a .npy with the length of each"},           \
        {OPTION_BATCH, "batch", "B", "bucketed: indices of a batch of all ranks"},                 \
        {OPTION_BUCKET, "bucket", "B", "bucketed: indices of a bucket (100 batches)"},             \
        {OPTION_SAMPLES, "samples", "K",                                                           \
         "weighted*, balanced, torch-random: positions in an epoch (N)"},                         \
        {OPTION_REPLACEMENT, "replacement", NULL, "torch-random: draw each from all"},             \
        {OPTION_REPLICAS, "replicas", "W",                                                         \
         "torch-distributed: ranks that an epoch is made for (--world)"},                          \
        {OPTION_DROP_LAST, "drop-last", NULL, "torch-distributed: leave out what is left over"},   \
        {OPTION_UNDIVIDED, "undivided", NULL, "nanoset: use weights as they are, undivided"},      \
        {OPTION_SUBSET, "subset", "FILE",                                                          \
         "the indices in FILE, a .npy of integers, in that order"},                                \
        {OPTION_SKIP, "skip", "K", "leave out the first K positions of each epoch (0)"},           \
        {OPTION_TAKE, "take", "K", "of those that follow, keep K (all)"},                          \
        {OPTION_REPEAT, "repeat", "T", "make one epoch of T (1)"},                                 \
        {OPTION_PADDED, "padded", "M", "begin each epoch again up to a multiple of M (1)"},        \
        {OPTION_COSTS, "costs", "FILE", "with --budget: a .npy with what each record costs"},      \
        {OPTION_BUDGET, "budget", "B", "cut it into batches that cost B at most"},                 \
        {OPTION_ROWS, "rows", "R", "with --budget: and have R records at most"},                   \
        {OPTION_PAD_COSTS, "pad-costs", NULL,                                                      \
         "with --budget: each costs as much as the most expensive of its batch"},                  \
        {OPTION_TABLES, "tables", "DIR", "keep tables in files of DIR, and find them there"},      \
        MIXING_OPTIONS("blend, nanoset: ", "blend: ")

/** The words of --order, for the notes of a subcommand; completion reads them there. */
#define ORDERING_NOTES                                                                             \
    "Orders:\n"                                                                                    \
    "  sequential         one index after the other\n"                                             \
    "  random             draws with replacement\n"                                                \
    "  shuffle            another permutation in each epoch\n"                                     \
    "  blocks             the same in blocks of neighbours\n"                                      \
    "  blend              sets mixed by weights\n"                                                 \
    "  weighted           draws by weights\n"                                                      \
    "  weighted-shuffle   each once an epoch, heavy ones early\n"                                  \
    "  balanced           every class as often as every other one\n"                               \
    "  bucketed           batches of like lengths\n"                                               \
    "  torch-random       number for number torch's RandomSampler\n"                               \
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
