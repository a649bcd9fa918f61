/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The live entries of the log: a hash table from (field, index) to an entry.
 *
 * A filter of a bit a hash stands before it, so that reading a record that has no set costs one
 * bit. Filled while the log is replayed, read-only after lx__sets_settle().
 */
#ifndef LX_ZRECORD_SETS_H
#define LX_ZRECORD_SETS_H

#include "zrecord/entry.h"

/** One live set. */
typedef struct lx__set {
    uint64_t index;
    uint64_t epoch;                  /**< Of its frame. */
    uint32_t field;                  /**< Position in the schema. */
    uint32_t used;                   /**< 0: the slot is free. */
    uint8_t rows[LX__ENTRY_BYTES];   /**< Offset row and check row, as in the tables. */
} lx__set;

typedef struct lx__sets {
    lx__set *slots; /**< A power of two of them, at most three quarters used. */
    size_t capacity;
    size_t count;
    uint64_t *filter; /**< Made by lx__sets_settle(): at least 8 bits a set. */
    size_t filter_mask;
    uint64_t seed; /**< Of the hash: nobody who writes the log knows where its sets collide. */
} lx__sets;

/** An empty one. */
lx_status lx__sets_init(lx__sets *sets, lx_error *error);

void lx__sets_free(lx__sets *sets);

/** Puts a set in the place of an older one of the same field and index. @p item is the 40 bytes of
 * a frame. */
lx_status lx__sets_put(lx__sets *sets, uint32_t field, uint64_t index, uint64_t epoch,
                       const uint8_t rows[LX__ENTRY_BYTES], lx_error *error);

/** Tells whether a set stays. */
typedef bool lx__set_filter(const lx__set *set, const void *user);

/**
 * Keeps the sets for which @p stays says so, in a table of their own size, and makes the filter.
 * @p from is left as it was and may be the same as @p sets: then it is replaced.
 */
lx_status lx__sets_settle(lx__sets *sets, const lx__sets *from, lx__set_filter *stays,
                          const void *user, lx_error *error);

/** Searches the table; see lx__sets_find(). */
const uint8_t *lx__sets_look_up(const lx__sets *sets, uint32_t field, uint64_t index);

static inline uint64_t lx__sets_hash(const lx__sets *sets, uint32_t field, uint64_t index)
{
    uint64_t hash = (index ^ sets->seed) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ field) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

/** The 24 bytes of both rows of a live set, valid as long as @p sets; NULL if there is none. */
static inline const uint8_t *lx__sets_find(const lx__sets *sets, uint32_t field, uint64_t index)
{
    if (sets->count == 0)
        return NULL;
    uint64_t bit = lx__sets_hash(sets, field, index) >> 8 & sets->filter_mask;
    if ((sets->filter[bit / 64] >> bit % 64 & 1) == 0)
        return NULL;
    return lx__sets_look_up(sets, field, index);
}

#endif
