/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A writer's changes: entries that stand in place of rows of the tables.
 *
 * A map from (field, index) to an entry, kept in the order in which its keys came. A writer has
 * two: those that the log has, and those that the next frame takes.
 */
#ifndef LX_ZRECORD_CHANGES_H
#define LX_ZRECORD_CHANGES_H

#include "zrecord/format/entry.h"

/** One entry in place of a row. */
typedef struct lx__change {
    uint64_t index;
    uint32_t field; /**< Position in the schema. */
    lx__entry entry;
} lx__change;

/** Zeroed, an empty one. Used by one thread at a time. */
typedef struct lx__changes {
    lx__change *list; /**< In the order in which the keys came first. */
    size_t count;
    size_t capacity;
    uint32_t *places; /**< A hash table of positions in the list plus 1; 0: free. */
    size_t place_count; /**< A power of two, or 0; at most half of them are used. */
} lx__changes;

/** Most changes that one map holds. */
#define LX__CHANGES_MAX (UINT32_MAX / 2)

/** Makes room for @p more changes, so that putting them cannot fail.
 * @retval LX_ERR_LIMIT  They would be more than LX__CHANGES_MAX. */
lx_status lx__changes_reserve(lx__changes *changes, size_t more, lx_error *error);

/** Fetches what a put of that key needs of memory. */
void lx__changes_approach(const lx__changes *changes, uint32_t field, uint64_t index);

/** Puts an entry, for which there is room, in the place of an older one for the same key. */
void lx__changes_put(lx__changes *changes, uint32_t field, uint64_t index, const lx__entry *entry);

/** The entry of that key, valid until the next put; NULL if there is none. */
const lx__entry *lx__changes_find(const lx__changes *changes, uint32_t field, uint64_t index);

/** Forgets all of them; the memory is kept, unless there is much of it. */
void lx__changes_clear(lx__changes *changes);

void lx__changes_free(lx__changes *changes);

#endif
