/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Row updates: entries that override rows of the tables, looked up by field and index.
 *
 * Each layer of the overlay has a map of the updates in its frames. A writer has two maps, one for
 * the updates in the WAL and one for the updates of the next frame.
 */
#ifndef LX_ZRECORD_UPDATE_MAP_H
#define LX_ZRECORD_UPDATE_MAP_H

#include <stdatomic.h>

#include "zrecord/format/entry.h"
#include "zrecord/format/schema.h"

/** A row update. */
typedef struct lx__update {
    uint64_t index;
    uint32_t field; /**< Position of the field in the schema. */
    /** While the layer is being built, the number of the update's frame; after that, whether the
     * update's value was verified. */
    _Atomic uint32_t frame_or_verified;
    uint8_t rows[LX__ENTRY_BYTES]; /**< The offset row and the check row, as in the tables. */
} lx__update;

static inline lx__entry lx__update_entry(const lx__update *update)
{
    return lx__entry_load(update->rows, update->rows + LX__OFFSET_ROW);
}

static inline bool lx__update_is_verified(const lx__update *update)
{
    return atomic_load_explicit(&update->frame_or_verified, memory_order_relaxed) != 0;
}

/** Marks the value of an update in a finished layer as verified. */
static inline void lx__update_set_verified(const lx__update *update)
{
    atomic_store_explicit(&((lx__update *)update)->frame_or_verified, 1, memory_order_relaxed);
}

/** Initialize it to zeros. The first reservation replaces a @c seed of 0. */
typedef struct lx__update_map {
    lx__update *list; /**< The updates, in the order in which their keys were first added. */
    size_t count;
    size_t capacity;
    uint32_t *slots; /**< Hash table of positions in @c list plus 1; 0 means free. */
    /** The number of slots, which is a power of two, minus 1. At most half of the slots are in
     * use. */
    size_t slot_mask;
    /** Seed of the hash. Secret, so that a hostile log cannot force collisions. */
    uint64_t seed;
} lx__update_map;

/** Maximum number of updates in a map; the limit is due to the slots, which store a position plus 1
 * in 32 bits. */
#define LX__UPDATES_MAX ((size_t)UINT32_MAX - 1)

/** Returns an unpredictable nonzero number. */
uint64_t lx__update_map_new_seed(void);

/**
 * Reserves room for @p more updates, so that adding them cannot fail.
 * @retval LX_ERR_LIMIT  The map would have more than LX__UPDATES_MAX updates.
 */
lx_status lx__update_map_reserve(lx__update_map *map, size_t more, lx_error *error);

/** Adds an update, or replaces the update with the same key. Room must have been reserved. */
void lx__update_map_put(lx__update_map *map, const lx__update *update);

/** Like lx__update_map_put(), but takes an entry. */
void lx__update_map_put_entry(lx__update_map *map, uint32_t field, uint64_t index,
                              const lx__entry *entry);

/** Maximum number of updates in one call to lx__update_map_put_many(). */
#define LX__UPDATE_BATCH_MAX 16

/** Reserves room for several updates and adds them. This is faster than adding them one by one,
 * because it prefetches the memory for all of them. */
lx_status lx__update_map_put_many(lx__update_map *map, const lx__update *updates, size_t count,
                                  lx_error *error);

/** Returns the update with this key; NULL if not found. The pointer is valid until the next update
 * is added. */
const lx__update *lx__update_map_find(const lx__update_map *map, uint32_t field, uint64_t index);

/** Returns whether to keep an update. */
typedef bool lx__update_filter(const lx__update *update, const void *user);

/** Drops the updates for which @p filter returns false. */
void lx__update_map_keep(lx__update_map *map, lx__update_filter *filter, const void *user);

/** Fills the hash table for updates that the caller stored in the list directly, within reserved
 * room. @p like, which may be NULL, is a map whose list is a prefix of the list of @p map; its
 * slots are copied if possible. */
void lx__update_map_fill_slots(lx__update_map *map, const lx__update_map *like);

/** Refers to an update in a map. */
typedef struct lx__sorted_update {
    uint64_t index;
    uint32_t field_id;
    uint32_t position; /**< Position in the map's list. */
} lx__sorted_update;

/** Returns the updates of records below @p length in the order that a snapshot frame needs:
 * ascending by index, then by field id. The caller frees @p sorted with lx__free(). */
lx_status lx__update_map_sort(const lx__update_map *updates, const lx_schema *schema,
                              uint64_t length, lx__sorted_update **sorted, size_t *count,
                              lx_error *error);

/** Removes all updates. Keeps the memory unless there is a lot of it. */
void lx__update_map_clear(lx__update_map *map);

void lx__update_map_free(lx__update_map *map);

static inline uint64_t lx__update_hash(uint64_t seed, uint32_t field, uint64_t index)
{
    uint64_t hash = (index ^ seed) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ field) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

/** Returns the slot at which the search for a hash starts. The map must have slots. */
static inline size_t lx__update_map_first_slot(const lx__update_map *map, uint64_t hash)
{
    return (size_t)(hash >> 16) & map->slot_mask;
}

#endif
