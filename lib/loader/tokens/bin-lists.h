/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Bins by the room that is left in them: which is the least room that is enough, and which
 * is the first bin that has it.
 *
 * The bins of a room are a list. It is put in order by lx__rooms_sort(), which has to come between
 * the last bin that was added to it and the first that is taken.
 */
#ifndef LX_LOADER_BIN_LISTS_H
#define LX_LOADER_BIN_LISTS_H

#include <stdbool.h>
#include <stdint.h>

/** Rooms are below it. */
#define LX__ROOMS_MAX (UINT32_C(1) << 24)

/** No room, or no bin. */
#define LX__ROOMS_NONE UINT32_MAX

/** Bits of a bit's word in the level below; of four levels, the last is one word. */
#define LX__ROOMS_LEVELS 4

typedef struct lx__rooms {
    uint32_t *heads; /**< Of each room, its first bin. */
    uint32_t *next;  /**< Of each bin, the one behind it in its list. */
    uint64_t *bits[LX__ROOMS_LEVELS]; /**< Which rooms have bins, and which words have bits. */
    uint32_t rooms;
} lx__rooms;

/** Makes it for rooms below @p rooms, at most #LX__ROOMS_MAX, and bins below @p bins. False without
 * memory. */
bool lx__rooms_init(lx__rooms *self, uint32_t rooms, uint32_t bins);

void lx__rooms_free(lx__rooms *self);

/** Adds a bin, which is in no list. */
void lx__rooms_add(lx__rooms *self, uint32_t bin, uint32_t room);

/** The least room of @p least or more that a bin has; #LX__ROOMS_NONE where none has. */
uint32_t lx__rooms_find(const lx__rooms *self, uint32_t least);

/** Takes the first bin of a room that has one. */
uint32_t lx__rooms_take(lx__rooms *self, uint32_t room);

/** Puts the bins of a room that has some in order; fastest where they were added in it. */
void lx__rooms_sort(lx__rooms *self, uint32_t room);

#endif
