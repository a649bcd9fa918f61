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

/** Its options. Those of a subcommand itself begin behind them. */
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
    OPTION_ORDERING_END
};

/** The rows of a subcommand's table for them. */
#define ORDERING_OPTIONS                                                                           \
    {OPTION_LENGTH, "length", "N", "records of the source, which are an epoch"},                   \
        {OPTION_ORDER, "order", "sequential|random|shuffle|blocks|blend",                          \
         "the order (sequential)"},                                                                \
        {OPTION_SEED, "seed", "S", "seed of random, shuffle and blocks; blend: shuffle sets"},     \
        {OPTION_BLOCK, "block", "B", "blocks: indices of a block, which stay together"},           \
        {OPTION_WINDOW, "window", "W", "sequential: positions before the window slides (1)"},      \
        {OPTION_STRIDE, "stride", "D", "sequential: indices it slides (the window)"},              \
        {OPTION_SUBSET, "subset", "FILE",                                                          \
         "the indices in FILE, a .npy of integers, in that order"},                                \
        {OPTION_SKIP, "skip", "K", "leave out the first K positions of each epoch (0)"},           \
        {OPTION_TAKE, "take", "K", "of those that follow, keep K (all)"},                          \
        {OPTION_REPEAT, "repeat", "T", "make one epoch of T (1)"}, MIXING_OPTIONS("blend: ")

/** What the options say. */
typedef struct ordering {
    const char *kind; /**< A word of --order. */
    bool given[OPTION_ORDERING_END - OPTION_LENGTH];
    uint64_t numbers[OPTION_ORDERING_END - OPTION_LENGTH]; /**< By option, where it has one. */
    const char *subset;                                    /**< The path, or NULL. */
    uint64_t *indices; /**< As many as the length, where it is not. */
    mixing mixed;      /**< Of the order blend. */
} ordering;

/** What holds where nothing is said. */
void ordering_begin(ordering *self);

/** Takes one of the options. */
lx_status ordering_take(ordering *self, const command_option *option, char *value,
                        lx_error *error);

/** Looks whether they go together. */
lx_status ordering_check(ordering *self, lx_error *error);

/** Whether the order is a mixture. */
bool ordering_is_blend(const ordering *self);

/** Makes the order, once they do; reads the file of --subset for it. */
lx_status ordering_make(ordering *self, lx_order **order, lx_error *error);

/** Prints what was said, as the first lines of a JSON object. Numbers go up to 2^64 - 1, which
 * integers of jansson do not. */
lx_status ordering_print_json(const ordering *self, lx_error *error);

/** Ends it. */
void ordering_end(ordering *self);

#endif
