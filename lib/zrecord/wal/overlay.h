/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The overlay of the tables: the row updates in the WAL, which override rows of the tables.
 *
 * The overlay of a state consists of layers. A layer contains the updates of consecutive frames,
 * and is immutable once it has been added, so that states can share it. Replaying more frames adds
 * a layer. Small layers are merged into the newest layer, so that there are few layers and updates
 * are seldom copied. For each layer, every state stores two numbers of its own: they determine
 * which updates in that layer were dropped by later frames.
 *
 * Each layer has a Bloom filter, so that looking up a record without updates reads only one word of
 * memory per layer.
 */
#ifndef LX_ZRECORD_OVERLAY_H
#define LX_ZRECORD_OVERLAY_H

#include "zrecord/wal/update-map.h"

#define LX__OVERLAY_LAYERS_MAX 16

/** The updates of consecutive frames, at most one per field and index. Immutable once it has been
 * added to an overlay, except that values can be marked as verified. */
typedef struct lx__overlay_layer {
    atomic_size_t references;
    lx__update_map map; /**< Uses the overlay's seed. */
    /** Bloom filter with two bits per update, both in the same word. Set by lx__overlay_add(). */
    uint64_t *filter;
    uint64_t filter_mask;
    uint64_t min_index, max_index; /**< Range of the indices. Set by lx__overlay_add(). */
} lx__overlay_layer;

/** A layer, as an overlay uses it. An update in the layer is live if its index is less than @ref
 * length and not in [@ref rows, rows of the state): later frames wrote the rows in that range to
 * the tables. */
typedef struct lx__overlay_layer_use {
    const uint64_t *filter; /**< The layer's filter. */
    uint64_t filter_mask;
    lx__overlay_layer *layer;
    uint64_t length; /**< Smallest length in any frame after the layer. */
    uint64_t rows;   /**< Number of table rows at the end of the layer. */
} lx__overlay_layer_use;

/** The updates of a state. Initialize it to zeros; copy it with lx__overlay_copy(). */
typedef struct lx__overlay {
    size_t depth;                                       /**< Number of layers. */
    uint64_t rows;                                      /**< Number of table rows in the state. */
    uint64_t seed;                                      /**< Seed of the hash tables and filters. */
    lx__overlay_layer_use uses[LX__OVERLAY_LAYERS_MAX]; /**< Oldest layer first. */
} lx__overlay;

/** Returns an empty layer for @p overlay, with room for about @p expected updates. Returns NULL
 * when out of memory. */
lx__overlay_layer *lx__overlay_layer_new(lx__overlay *overlay, uint64_t expected);

/** Releases a layer; NULL is a no-op. */
void lx__overlay_layer_unref(lx__overlay_layer *layer);

/**
 * Adds the updates of the next frames. On failure, the overlay is unchanged.
 *
 * @param[in,out] overlay  The overlay of the state before these frames.
 * @param[in]     layer    The updates of these frames, except those that the frames themselves
 *                         drop. The function takes ownership, even on failure. May be NULL.
 * @param[in]     length   Smallest length in any of these frames.
 * @param[in]     rows     Number of table rows after these frames.
 */
lx_status lx__overlay_add(lx__overlay *overlay, lx__overlay_layer *layer, uint64_t length,
                          uint64_t rows, lx_error *error);

/** Copies an overlay; the copy shares its layers. */
void lx__overlay_copy(lx__overlay *copy, const lx__overlay *overlay);

void lx__overlay_free(lx__overlay *overlay);

/** Returns the secret seed, which is created by the first call. */
uint64_t lx__overlay_seed(lx__overlay *overlay);

/** Counts the live updates by iterating over them. */
size_t lx__overlay_count(const lx__overlay *overlay);

/** Called for each live update; a failure ends the iteration. */
typedef lx_status lx__update_visit(void *user, const lx__update *update, lx_error *error);

/** Calls @p visit for each live update, in no particular order. */
lx_status lx__overlay_each(const lx__overlay *overlay, lx__update_visit *visit, void *user,
                           lx_error *error);

/** Moves the live updates to @p map, which must be empty; on failure, they stay in the overlay. If
 * there is only one layer, and it is not shared and contains only live updates, they are moved
 * without copying. */
lx_status lx__overlay_move(lx__overlay *overlay, lx__update_map *map, lx_error *error);

/** Returns the hash of a key for the filters. This hash is weaker and cheaper than
 * lx__update_hash(); that is acceptable, because the worst that collisions can do is make the
 * filters useless. The field must not be mixed into the index before the multiplication, or else a
 * field of a record could get the same hash as the next field of a neighboring record. */
static inline uint64_t lx__overlay_hash(uint64_t seed, uint32_t field, uint64_t index)
{
    return (index ^ seed) * 0x9e3779b97f4a7c15u + field * 0xd1342543de82ef95u;
}

/** The bits that a hash selects within its word of a filter. */
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

/** Whether no later frame dropped this layer's updates of record @p index. */
static inline bool lx__overlay_layer_keeps(const lx__overlay_layer_use *use, uint64_t rows,
                                           uint64_t index)
{
    return index < use->length && (index < use->rows || index >= rows);
}

/** Returns the live update of a field and index; NULL if there is none. The pointer is valid as
 * long as @p overlay is. */
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
        /* A frame that drops an update also drops all older updates of the same index. */
        if (update != NULL)
            return lx__overlay_layer_keeps(use, overlay->rows, index) ? update : NULL;
    }
    return NULL;
}

/** @name Lookup of up to 64 records of a field, in four steps: hash, filter, prefetch, find. Each
 * step prefetches the memory that the next step reads. */
/** @{ */

/** Computes the filter hashes of @p count records. Does nothing if the overlay has no layers. */
void lx__overlay_hash_many(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                           size_t count, uint64_t *filter_hashes);

/** Returns one bit per record, which is set if the record may have an update. */
uint64_t lx__overlay_filter(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                            size_t count, const uint64_t *filter_hashes);

/** Prefetches the updates of the records whose bits in @p may are set. */
void lx__overlay_prefetch(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                          uint64_t may);

/** @} */

#endif
