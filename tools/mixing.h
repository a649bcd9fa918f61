/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A mixture of sets of records, as described by options of the command line.
 */
#ifndef LX_TOOLS_MIXING_H
#define LX_TOOLS_MIXING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/mixture.h>

#include "command.h"

/** The options of a mixture, numbered after all options of a subcommand. */
enum { OPTION_SET = OPTION_OWN + 64, OPTION_WEIGHTS, OPTION_EXHAUSTED, OPTION_METHOD };

/** Rows for a subcommand's table of options. In the help, @p sets and @p prefix say which orders
 * use an option. */
#define MIXING_OPTIONS(sets, prefix)                                                               \
    {OPTION_SET, "set", "NAME=LENGTH", sets "a set of LENGTH records; repeat for each set"},       \
        {OPTION_WEIGHTS, "weights", "W,W,...",                                                     \
         sets "one per set (lengths); OFFSET:W,W,... starts at OFFSET"},                           \
        {OPTION_EXHAUSTED, "exhausted", "repeat|stop|redistribute",                                \
         prefix "what to do when a set is exhausted (repeat)"},                                    \
    {                                                                                              \
        OPTION_METHOD, "method", "closed|greedy|exhaustive",                                       \
            prefix "choose sets by a closed form, or as Megatron-LM does (closed)"                 \
    }

/** How a position is assigned to a set. */
typedef enum mixing_way {
    MIXING_CLOSED,    /**< By the closed form. */
    MIXING_GREEDY,    /**< Like Megatron-LM's BlendedDataset with weights. */
    MIXING_EXHAUSTIVE /**< Like BlendedDataset without weights: each set contributes all its records
                           once per epoch. */
} mixing_way;

/** A set. */
typedef struct mixing_set {
    const char *name;
    uint64_t records;
    uint64_t begin; /**< Its offset in the concatenation of all sets. */
} mixing_set;

/** Weights, and the offset in an epoch at which they take effect. */
typedef struct mixing_weighting {
    uint64_t begin;
    double *weights; /**< One for each set, once checked. */
    size_t count;
} mixing_weighting;

/** The options given. */
typedef struct mixing {
    mixing_set *sets; /**< In the order of the options. */
    size_t count;
    mixing_weighting *weightings; /**< Once checked, the first weights begin at 0. */
    size_t weighting_count;
    lx_exhausted_policy exhausted;
    mixing_way method;
    uint64_t together; /**< Number of records in all sets, once checked. */
} mixing;

/** Handles one of the options. Borrows the strings. */
lx_status mixing_take(mixing *self, const command_option *option, char *value, lx_error *error);

/** Checks the options for consistency, and sets omitted weights to the lengths. @p length is the
 * length of an epoch; 0 means the number of records. */
lx_status mixing_check(mixing *self, uint64_t length, lx_error *error);

/** Creates the order of the mixture. If @p seed is NULL, each set is sequential; otherwise, set i
 * is shuffled with the seed *seed + i, modulo 2^64. If @p tables is not NULL, the table of a greedy
 * mixture is stored in that directory. */
lx_status mixing_make(const mixing *self, uint64_t length, const uint64_t *seed, const char *tables,
                      lx_order **order, lx_error *error);

/** Returns the set that contains an index of the concatenation. */
const mixing_set *mixing_find(const mixing *self, uint64_t index);

/** Returns the value of --exhausted. */
const char *mixing_exhausted(const mixing *self);

/** Returns the value of --method. */
const char *mixing_method(const mixing *self);

/** Prints the sets and their weights as members of a JSON object. */
lx_status mixing_print_json(const mixing *self, lx_error *error);

void mixing_end(mixing *self);

#endif
