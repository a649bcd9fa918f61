/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Free lists of bins by free space: finds the least sufficient space and its first bin.
 *
 * The bins of equal free space form a list. Call lx__rooms_sort() after the last bin is added to a
 * list and before the first is taken.
 */
#ifndef LX_LOADER_BIN_LISTS_H
#define LX_LOADER_BIN_LISTS_H

#include <stdbool.h>
#include <stdint.h>

/** Upper limit of the spaces. */
#define LX__ROOMS_MAX (UINT32_C(1) << 24)

/** No space, or no bin. */
#define LX__ROOMS_NONE UINT32_MAX

/** Each level has one bit per word of the level below; the last of four levels is one word. */
#define LX__ROOMS_LEVELS 4

typedef struct lx__rooms {
    uint32_t *heads;                  /**< First bin of each space. */
    uint32_t *next;                   /**< Next bin in the list, for each bin. */
    uint64_t *bits[LX__ROOMS_LEVELS]; /**< Which spaces have bins, and which words have bits. */
    uint32_t rooms;
} lx__rooms;

/** Initializes the lists for spaces below @p rooms, at most #LX__ROOMS_MAX, and bins below @p bins.
 * Returns false if memory is short. */
bool lx__rooms_init(lx__rooms *self, uint32_t rooms, uint32_t bins);

void lx__rooms_free(lx__rooms *self);

/** Adds a bin that is in no list. */
void lx__rooms_add(lx__rooms *self, uint32_t bin, uint32_t room);

/** Returns the least space of at least @p least that has a bin, or #LX__ROOMS_NONE. */
uint32_t lx__rooms_find(const lx__rooms *self, uint32_t least);

/** Removes and returns the first bin of a space that has one. */
uint32_t lx__rooms_take(lx__rooms *self, uint32_t room);

/** Sorts the bins of a space that has some; fastest if they were added in order. */
void lx__rooms_sort(lx__rooms *self, uint32_t room);

#endif
