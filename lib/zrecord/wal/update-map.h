/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Entries that stand in place of rows of the tables, found by field and index.
 *
 * The log has them as sets; a writer has two maps, of those that the log has and of those that the
 * next frame takes.
 */
#ifndef LX_ZRECORD_UPDATE_MAP_H
#define LX_ZRECORD_UPDATE_MAP_H

#include <stdatomic.h>

#include "zrecord/format/entry.h"
#include "zrecord/format/schema.h"

/** An entry of the log. */
typedef struct lx__update {
    uint64_t index;
    uint32_t field;                     /**< Position in the schema. */
    _Atomic uint32_t frame_or_verified; /**< The number of its frame while its layer is made; then
                                        whether its value was verified. */
    uint8_t rows[LX__ENTRY_BYTES];      /**< Offset row and check row, as in the tables. */
} lx__update;

static inline lx__entry lx__update_entry(const lx__update *update)
{
    return lx__entry_load(update->rows, update->rows + LX__OFFSET_ROW);
}

static inline bool lx__update_is_verified(const lx__update *update)
{
    return atomic_load_explicit(&update->frame_or_verified, memory_order_relaxed) != 0;
}

/** Notes that the value of a set in a layer was verified. */
static inline void lx__update_set_verified(const lx__update *update)
{
    atomic_store_explicit(&((lx__update *)update)->frame_or_verified, 1, memory_order_relaxed);
}

/** Zeroed, an empty one. */
typedef struct lx__update_map {
    lx__update *list; /**< In the order in which their keys came first. */
    size_t count;
    size_t capacity;
    uint32_t *slots;  /**< A hash table of positions in the list plus 1; 0: free. */
    size_t slot_mask; /**< Their number, a power of two, less 1; at most half of them are used. */
    uint64_t seed;    /**< Of the hash: nobody who writes the log knows where its sets collide. */
} lx__update_map;

/** Most sets that one map holds: positions plus 1 have 32 bits. */
#define LX__UPDATES_MAX ((size_t)UINT32_MAX - 1)

/** A number that nobody can foresee, never 0. */
uint64_t lx__update_map_new_seed(void);

/** Makes room for @p more sets, so that putting them cannot fail.
 * @retval LX_ERR_LIMIT  They would be more than LX__UPDATES_MAX. */
lx_status lx__update_map_reserve(lx__update_map *map, size_t more, lx_error *error);

/** Puts a set, for which there is room, in the place of an older one for the same key. */
void lx__update_map_put(lx__update_map *map, const lx__update *update);

/** The same for an entry. */
void lx__update_map_put_entry(lx__update_map *map, uint32_t field, uint64_t index,
                              const lx__entry *entry);

/** Most sets that are put at once. */
#define LX__UPDATE_BATCH_MAX 16

/** Puts sets, one after another, and makes room for them: faster than one by one, since what is
 * needed of memory is fetched for all of them first. */
lx_status lx__update_map_put_many(lx__update_map *map, const lx__update *updates, size_t count,
                                  lx_error *error);

/** The set of that key, valid until the next one is put; NULL if there is none. */
const lx__update *lx__update_map_find(const lx__update_map *map, uint32_t field, uint64_t index);

/** Tells whether a set stays. */
typedef bool lx__update_filter(const lx__update *update, const void *user);

/** Drops the sets for which @p filter does not say so. */
void lx__update_map_keep(lx__update_map *map, lx__update_filter *filter, const void *user);

/** Finds the places of sets that were put into the list of a map by hand, for which room was made.
 * @p like, which may be NULL, is a map that begins with the same ones, as far as it goes. */
void lx__update_map_fill_slots(lx__update_map *map, const lx__update_map *like);

/** A set that counts, by its place in a list of sets. */
typedef struct lx__sorted_update {
    uint64_t index;
    uint32_t field_id;
    uint32_t position; /**< In the list. */
} lx__sorted_update;

/** The sets of records below @p length, as frame 0 of a log has them: ascending by index, then
 * by id. For lx__free(). */
lx_status lx__update_map_sort(const lx__update_map *updates, const lx_schema *schema,
                              uint64_t length, lx__sorted_update **sorted, size_t *count,
                              lx_error *error);

/** Forgets all of them; the memory is kept, unless there is much of it. */
void lx__update_map_clear(lx__update_map *map);

void lx__update_map_free(lx__update_map *map);

static inline uint64_t lx__update_hash(uint64_t seed, uint32_t field, uint64_t index)
{
    uint64_t hash = (index ^ seed) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ field) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

/** Where the search for a set of that hash begins; there are places. */
static inline size_t lx__update_map_first_slot(const lx__update_map *map, uint64_t hash)
{
    return (size_t)(hash >> 16) & map->slot_mask;
}

#endif
