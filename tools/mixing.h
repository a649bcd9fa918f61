/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sets of records, as options of the command line say how they are mixed.
 */
#ifndef LX_TOOLS_MIXING_H
#define LX_TOOLS_MIXING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/mixture.h>

#include "command.h"

/** Its options, behind all that a subcommand has of its own. */
enum { OPTION_SET = OPTION_OWN + 64, OPTION_WEIGHTS, OPTION_EXHAUSTED, OPTION_METHOD };

/** The rows of a subcommand's table for them; @p sets and @p prefix say when they are of use. */
#define MIXING_OPTIONS(sets, prefix)                                                               \
    {OPTION_SET, "set", "NAME=LENGTH", sets "a set of LENGTH records; repeat for each set"},       \
        {OPTION_WEIGHTS, "weights", "W,W,...",                                                     \
         sets "one per set (lengths); OFFSET:W,W,... from there on"},                              \
        {OPTION_EXHAUSTED, "exhausted", "repeat|stop|redistribute",                                \
         prefix "what follows when a set is exhausted (repeat)"},                                  \
        {OPTION_METHOD, "method", "closed|greedy|exhaustive",                                      \
         prefix "the closed form, or one that reproduces Megatron-LM (closed)"}

/** Which set a position is given to. */
typedef enum mixing_way {
    MIXING_CLOSED,    /**< By the closed form. */
    MIXING_GREEDY,    /**< As Megatron-LM's BlendedDataset does with weights. */
    MIXING_EXHAUSTIVE /**< As it does without: each set gives all it has once an epoch. */
} mixing_way;

/** One set. */
typedef struct mixing_set {
    const char *name;
    uint64_t records;
    uint64_t begin; /**< Where it begins in the concatenation of all. */
} mixing_set;

/** Weights, and from which offset of an epoch on. */
typedef struct mixing_weighting {
    uint64_t begin;
    double *weights; /**< One for each set, once that is checked. */
    size_t count;
} mixing_weighting;

/** What the options say. */
typedef struct mixing {
    mixing_set *sets; /**< In the order of the options. */
    size_t count;
    mixing_weighting *weightings; /**< Once they are checked, the first begins at 0. */
    size_t weighting_count;
    lx_exhausted_policy exhausted;
    mixing_way method;
    uint64_t together; /**< Records of all sets, once they are checked. */
} mixing;

/** Takes one of the options. Texts stay the caller's. */
lx_status mixing_take(mixing *self, const command_option *option, char *value, lx_error *error);

/** Looks whether they go together, and fills in the weights that are left out: the lengths.
 * @p length is that of an epoch; 0: as many positions as there are records. */
lx_status mixing_check(mixing *self, uint64_t length, lx_error *error);

/** Makes the order of the mixture. Each set is sequential; or with @p seed, which may be NULL, set
 * number i is shuffled by the seed *seed + i, modulo 2^64. The folder @p tables, which may be NULL,
 * keeps the table of a greedy one. */
lx_status mixing_make(const mixing *self, uint64_t length, const uint64_t *seed,
                      const char *tables, lx_order **order, lx_error *error);

/** The set of an index of the concatenation. */
const mixing_set *mixing_find(const mixing *self, uint64_t index);

/** The word of --exhausted. */
const char *mixing_exhausted(const mixing *self);

/** The word of --method. */
const char *mixing_method(const mixing *self);

/** Prints the sets and their weights, as lines of a JSON object. */
lx_status mixing_print_json(const mixing *self, lx_error *error);

void mixing_end(mixing *self);

#endif
