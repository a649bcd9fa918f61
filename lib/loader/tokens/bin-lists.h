/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Lists of bins by free space: finds the least space that suffices, and the first bin with
 * that space.
 *
 * Bins with equal free space form a list, in which the bin that was added last comes first.
 */
#ifndef LX_LOADER_BIN_LISTS_H
#define LX_LOADER_BIN_LISTS_H

#include <stdbool.h>
#include <stdint.h>

/** Upper limit of the spaces, exclusive. */
#define LX__BIN_LISTS_SPACES_MAX (UINT32_C(1) << 24)

/** Means no space or no bin. */
#define LX__BIN_LISTS_NONE UINT32_MAX

/** Each level has one bit per word of the level below; the last of four levels is one word. */
#define LX__BIN_LISTS_LEVELS 4

typedef struct lx__bin_lists {
    uint32_t *heads;                      /**< First bin of each space. */
    uint32_t *next;                       /**< Next bin in the list, for each bin. */
    uint64_t *bits[LX__BIN_LISTS_LEVELS]; /**< Which spaces have bins, and which words of the level
                                               below are not 0. */
    uint32_t spaces;
} lx__bin_lists;

/** Initializes the lists for spaces below @p spaces, at most #LX__BIN_LISTS_SPACES_MAX, and bins
 * below @p bins. Returns false when out of memory. */
bool lx__bin_lists_init(lx__bin_lists *self, uint32_t spaces, uint32_t bins);

void lx__bin_lists_free(lx__bin_lists *self);

/** Adds a bin that is not in any list. */
void lx__bin_lists_add(lx__bin_lists *self, uint32_t bin, uint32_t space);

/** Returns the least space that has a bin and is at least @p least, or #LX__BIN_LISTS_NONE. */
uint32_t lx__bin_lists_find(const lx__bin_lists *self, uint32_t least);

/** Removes and returns the first bin of a space that has a bin. */
uint32_t lx__bin_lists_take(lx__bin_lists *self, uint32_t space);

#endif
