/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The overlay of the tables: the row updates in the WAL that replace rows.
 *
 * The overlay of a state consists of layers. A layer holds the updates of consecutive frames, and
 * is immutable once it was added, so that states can share it. Replaying more frames adds a layer;
 * small layers are merged into the newest, so that there are few layers and an update is seldom
 * copied. Two numbers for each layer, which each state has of its own, say which of its updates
 * later frames dropped.
 *
 * Each layer has a Bloom filter: to look up a record without updates costs one word of memory for
 * each layer.
 */
#ifndef LX_ZRECORD_OVERLAY_H
#define LX_ZRECORD_OVERLAY_H

#include "zrecord/wal/update-map.h"

#define LX__OVERLAY_LAYERS_MAX 16

/** The updates of consecutive frames, one for each field and index. Immutable once it was added to
 * an overlay, except for the marks of verified values. */
typedef struct lx__overlay_layer {
    atomic_size_t references;
    lx__update_map map; /**< Its seed is that of the overlay. */
    /** Bloom filter: two bits for each update, in the same word. Set by lx__overlay_add(). */
    uint64_t *filter;
    uint64_t filter_mask;
    uint64_t min_index, max_index; /**< Range of the indices. Set by lx__overlay_add(). */
} lx__overlay_layer;

/** A layer in an overlay. An update in it is live if its index is below @ref length, and not in
 * [@ref rows, rows of the state): later frames wrote those rows into the tables. */
typedef struct lx__overlay_layer_use {
    const uint64_t *filter; /**< The layer's filter. */
    uint64_t filter_mask;
    lx__overlay_layer *layer;
    uint64_t length; /**< Least length in all frames after the layer. */
    uint64_t rows;   /**< Rows of the tables at the end of the layer. */
} lx__overlay_layer_use;

/** The updates of a state. Initialize it to zeros; copy it with lx__overlay_copy(). */
typedef struct lx__overlay {
    size_t depth;                                       /**< Number of layers. */
    uint64_t rows;                                      /**< Rows of the tables in the state. */
    uint64_t seed;                                      /**< Seed of the hash tables and filters. */
    lx__overlay_layer_use uses[LX__OVERLAY_LAYERS_MAX]; /**< Oldest layer first. */
} lx__overlay;

/** Returns an empty layer for @p overlay, with room for about @p expected updates; NULL when out of
 * memory. */
lx__overlay_layer *lx__overlay_layer_new(lx__overlay *overlay, uint64_t expected);

/** Releases a layer; NULL is a no-op. */
void lx__overlay_layer_unref(lx__overlay_layer *layer);

/**
 * Adds the updates of the next frames. After a failure the overlay is unchanged.
 *
 * @param[in,out] overlay  The overlay of the state before these frames.
 * @param[in]     layer    Updates of the frames that the frames themselves do not drop. Taken over,
 * also after a failure; may be NULL.
 * @param[in]     length   Least length in these frames.
 * @param[in]     rows     Rows of the tables after them.
 */
lx_status lx__overlay_add(lx__overlay *overlay, lx__overlay_layer *layer, uint64_t length,
                          uint64_t rows, lx_error *error);

/** Copies an overlay; the copy shares the layers. */
void lx__overlay_copy(lx__overlay *copy, const lx__overlay *overlay);

void lx__overlay_free(lx__overlay *overlay);

/** Returns the secret seed; creates it at the first call. */
uint64_t lx__overlay_seed(lx__overlay *overlay);

/** Counts the live updates, one by one. */
size_t lx__overlay_count(const lx__overlay *overlay);

/** Called for a live update; a failure ends the iteration. */
typedef lx_status lx__update_visit(void *user, const lx__update *update, lx_error *error);

/** Calls @p visit for each live update, in no defined order. */
lx_status lx__overlay_each(const lx__overlay *overlay, lx__update_visit *visit, void *user,
                           lx_error *error);

/** Moves the live updates to @p map, which must be empty; after a failure they stay. A single layer
 * that is not shared is moved without a copy. */
lx_status lx__overlay_move(lx__overlay *overlay, lx__update_map *map, lx_error *error);

/** Returns the hash of a key for the filters. It is weaker and cheaper than lx__update_hash():
 * collisions only make the filters useless. The field must not be mixed into the index before the
 * multiplication, or a field of a record would have the hash of the next field of a neighbouring
 * record. */
static inline uint64_t lx__overlay_hash(uint64_t seed, uint32_t field, uint64_t index)
{
    return (index ^ seed) * 0x9e3779b97f4a7c15u + field * 0xd1342543de82ef95u;
}

/** The bits of a hash within its word of a filter. */
static inline unsigned lx__overlay_first_bit(uint64_t filter_hash)
{
    return (unsigned)(filter_hash >> 58);
}

static inline unsigned lx__overlay_second_bit(uint64_t filter_hash)
{
    return (unsigned)(filter_hash >> 52 & 63);
}

static inline uint64_t lx__overlay_bits(uint64_t filter_hash)
{
    return 1ull << lx__overlay_first_bit(filter_hash) | 1ull << lx__overlay_second_bit(filter_hash);
}

static inline size_t lx__overlay_word(uint64_t filter_hash, uint64_t mask)
{
    return (size_t)(filter_hash >> 24 & mask);
}

static inline bool lx__overlay_layer_may_contain(const lx__overlay_layer_use *use,
                                                 uint64_t filter_hash)
{
    uint64_t bits = lx__overlay_bits(filter_hash);
    return (use->filter[lx__overlay_word(filter_hash, use->filter_mask)] & bits) == bits;
}

/** Whether no later frame dropped the updates of index @p index in the layer. */
static inline bool lx__overlay_layer_keeps(const lx__overlay_layer_use *use, uint64_t rows,
                                           uint64_t index)
{
    return index < use->length && (index < use->rows || index >= rows);
}

/** Returns the live update of a field and index, valid as long as @p overlay; NULL if there is
 * none. */
static inline const lx__update *lx__overlay_find_update(const lx__overlay *overlay, uint32_t field,
                                                        uint64_t index)
{
    if (overlay->depth == 0)
        return NULL;
    uint64_t filter_hash = lx__overlay_hash(overlay->seed, field, index);
    for (size_t i = overlay->depth; i-- != 0;) {
        const lx__overlay_layer_use *use = &overlay->uses[i];
        if (!lx__overlay_layer_may_contain(use, filter_hash))
            continue;
        const lx__update *update = lx__update_map_find(&use->layer->map, field, index);
        /* A frame that drops an update also drops all older ones of its index. */
        if (update != NULL)
            return lx__overlay_layer_keeps(use, overlay->rows, index) ? update : NULL;
    }
    return NULL;
}

/** @name Lookup of up to 64 records of a field in four steps: hash, filter, prefetch, find. Each
 * step prefetches the memory that the next one reads. */
/** @{ */

/** Computes the filter hashes of @p count records. Does nothing if the overlay has no layers. */
void lx__overlay_hash_many(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                           size_t count, uint64_t *filter_hashes);

/** Returns a bit for each record: whether it may have an update. */
uint64_t lx__overlay_filter(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                            size_t count, const uint64_t *filter_hashes);

/** Prefetches the updates of the records whose bits in @p may are set. */
void lx__overlay_prefetch(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                          uint64_t may);

/** @} */

#endif
