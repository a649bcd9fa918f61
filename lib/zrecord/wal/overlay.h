/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The live entries of the log: which one stands in place of the table's row.
 *
 * They lie in layers. A layer holds the sets of some frames that follow each other, and never
 * changes once it is made: states share it. Going on in the log adds a layer, and small layers are
 * merged into the newest, so that there are few of them and a set is moved seldom. What later
 * frames drop of a layer follows from two numbers, which each state has of its own.
 *
 * Each layer has a filter, so that a record without a set costs a word of memory a layer, and
 * nothing where there are no layers.
 */
#ifndef LX_ZRECORD_OVERLAY_H
#define LX_ZRECORD_OVERLAY_H

#include "zrecord/wal/update-map.h"

/** Most layers of a state. */
#define LX__OVERLAY_LAYERS_MAX 16

/** Sets of frames that follow each other, one for a field and index. Nothing of it changes once it
 * is added to a state, but for what is noted of its sets. */
typedef struct lx__overlay_layer {
    atomic_size_t references;
    lx__update_map map; /**< With the seed of the sets that it is for. */
    uint64_t *filter;   /**< Two bits a set in one word of it. Made by lx__overlay_add(). */
    uint64_t filter_mask;
    uint64_t min_index, max_index; /**< Of the indices. Noted by lx__overlay_add(). */
} lx__overlay_layer;

/** A layer in a state. A set of it counts if its index is below @ref length, and not in
 * [@ref rows, rows of the state): frames behind the layer took these into the tables. */
typedef struct lx__overlay_layer_use {
    const uint64_t *filter; /**< The layer's. */
    uint64_t filter_mask;
    lx__overlay_layer *layer;
    uint64_t length; /**< The least length of all frames behind the layer. */
    uint64_t rows;   /**< Of the tables where the layer ends. */
} lx__overlay_layer_use;

/** The sets of a state; zeroed, none. A value: copied with lx__overlay_copy(). */
typedef struct lx__overlay {
    size_t depth;                                       /**< Layers. */
    uint64_t rows;                                      /**< Of the state. */
    uint64_t seed;                                      /**< Of the hash and the filters. */
    lx__overlay_layer_use uses[LX__OVERLAY_LAYERS_MAX]; /**< The oldest first. */
} lx__overlay;

/* ---- making a layer */

/** An empty layer for @p overlay, for about @p expected sets. NULL when out of memory. */
lx__overlay_layer *lx__overlay_layer_new(lx__overlay *overlay, uint64_t expected);

/** Gives up a layer that is not added, or a reference to one; NULL is nothing. */
void lx__overlay_layer_unref(lx__overlay_layer *layer);

/* ---- the layers of a state */

/**
 * Adds the sets of the frames that follow. On failure the sets are as they were.
 *
 * @param[in,out] overlay    Of the state before these frames.
 * @param[in]     layer   What the frames set and do not drop themselves; taken over, also on
 *                        failure. NULL: nothing.
 * @param[in]     length  The least length of these frames.
 * @param[in]     rows    Of the tables, after them.
 */
lx_status lx__overlay_add(lx__overlay *overlay, lx__overlay_layer *layer, uint64_t length,
                          uint64_t rows, lx_error *error);

/** A copy that shares the layers. */
void lx__overlay_copy(lx__overlay *copy, const lx__overlay *overlay);

void lx__overlay_free(lx__overlay *overlay);

/** A secret of these sets, made when it is first asked for. */
uint64_t lx__overlay_seed(lx__overlay *overlay);

/** How many sets are live; counts them one by one. */
size_t lx__overlay_count(const lx__overlay *overlay);

/** Called for a live set; a failure ends the walk. */
typedef lx_status lx__update_visit(void *user, const lx__update *update, lx_error *error);

/** Calls @p visit for each live set, in no order. */
lx_status lx__overlay_each(const lx__overlay *overlay, lx__update_visit *visit, void *user,
                           lx_error *error);

/** Moves the live sets to @p map, which is empty; on failure they stay. Sets that nobody shares are
 * moved as they are. */
lx_status lx__overlay_move(lx__overlay *overlay, lx__update_map *map, lx_error *error);

/* ---- finding one */

/** Where a set stands in filters: a hash that is cheaper, and no worse if somebody sees through it
 * than that filters are of no use. The field is not mixed into the index before it is multiplied:
 * one field of a record would have the mark of the next field of the record beside it. */
static inline uint64_t lx__overlay_hash(uint64_t seed, uint32_t field, uint64_t index)
{
    return (index ^ seed) * 0x9e3779b97f4a7c15u + field * 0xd1342543de82ef95u;
}

/** The bits of a set in its word of a filter. */
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

/** Whether no later frame dropped the sets of that index in the layer. */
static inline bool lx__overlay_layer_keeps(const lx__overlay_layer_use *use, uint64_t rows,
                                           uint64_t index)
{
    return index < use->length && (index < use->rows || index >= rows);
}

/** The live set of a field and index, valid as long as @p overlay; NULL if there is none. */
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
        /* What drops a set drops all older ones of its index, too. */
        if (update != NULL)
            return lx__overlay_layer_keeps(use, overlay->rows, index) ? update : NULL;
    }
    return NULL;
}

/** The 24 bytes of both rows of a live set, valid as long as @p overlay; NULL if there is none. */
static inline const uint8_t *lx__overlay_find(const lx__overlay *overlay, uint32_t field,
                                              uint64_t index)
{
    const lx__update *update = lx__overlay_find_update(overlay, field, index);
    return update != NULL ? update->rows : NULL;
}

/** @name For who looks up up to 64 records of a field: mark them, later screen them, later approach
 * and then find those that remain. Each step has the memory fetched that the next one reads. */
/** @{ */

/** Makes the marks of @p count records; none where there are no layers. */
void lx__overlay_hash_many(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                           size_t count, uint64_t *filter_hashes);

/** Which of them may have sets, a bit each. */
uint64_t lx__overlay_filter(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                            size_t count, const uint64_t *filter_hashes);

/** Approaches those that @p may have sets, a bit each. */
void lx__overlay_prefetch(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                          uint64_t may);

/** @} */

#endif
