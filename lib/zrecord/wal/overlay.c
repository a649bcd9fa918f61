/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/overlay.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Maximum number of updates per word of a filter. This gives 16 to 32 bits per update, so that at
 * most one lookup in a hundred gives a false positive. */
#define FILTER_WORD_UPDATES 4
/* A layer is merged into a newer one that has at least 1/MERGE_PART as many updates. A larger
 * number means fewer layers to search, but each update is copied more often. */
#define MERGE_PART 4
/* Layers of up to this many updates are always merged; they are not worth a filter of their own. */
#define SMALL_LAYER 64

/* ---- a layer */

static lx__overlay_layer *new_layer(uint64_t seed, size_t expected)
{
    lx__overlay_layer *layer = lx__alloc_array(1, sizeof *layer);
    if (layer == NULL)
        return NULL;
    atomic_init(&layer->references, 1);
    layer->map.seed = seed;
    if (lx__update_map_reserve(&layer->map, expected, NULL) != LX_OK) {
        lx__overlay_layer_unref(layer);
        return NULL;
    }
    return layer;
}

lx__overlay_layer *lx__overlay_layer_new(lx__overlay *overlay, uint64_t expected)
{
    size_t limit = LX__UPDATES_MAX - LX__UPDATE_BATCH_MAX;
    /* Leave room for one more batch, because room is reserved before it is known which of its keys
     * already exist. */
    return new_layer(lx__overlay_seed(overlay),
                     (expected < limit ? (size_t)expected : limit) + LX__UPDATE_BATCH_MAX);
}

void lx__overlay_layer_unref(lx__overlay_layer *layer)
{
    if (layer == NULL ||
        atomic_fetch_sub_explicit(&layer->references, 1, memory_order_acq_rel) != 1)
        return;
    lx__update_map_free(&layer->map);
    lx__free(layer->filter);
    lx__free(layer);
}

/** The layer from which the beginning of a new layer is copied. If it was copied whole, its filter
 * can be copied as well. */
typedef struct prefix {
    const lx__overlay_layer *of; /**< NULL if there is none, or only part of it was copied. */
    size_t count;
} prefix;

/** Makes the filter and determines the range of indices. */
static lx_status make_filter(lx__overlay_layer *layer, const prefix *from, lx_error *error)
{
    uint64_t words = 1;
    while (words < layer->map.count / FILTER_WORD_UPDATES)
        words *= 2;
    bool same = from->of != NULL && from->of->filter_mask == words - 1;
    layer->filter = same ? lx__alloc((size_t)words * sizeof *layer->filter)
                         : lx__alloc_array(words, sizeof *layer->filter);
    if (layer->filter == NULL)
        return lx__fail_memory(error, "row updates");
    layer->filter_mask = words - 1;
    layer->min_index = same ? from->of->min_index : UINT64_MAX;
    layer->max_index = same ? from->of->max_index : 0;
    if (same)
        memcpy(layer->filter, from->of->filter, (size_t)words * sizeof *layer->filter);
    for (size_t i = same ? from->count : 0; i < layer->map.count; i++) {
        const lx__update *update = &layer->map.list[i];
        uint64_t filter_hash = lx__overlay_hash(layer->map.seed, update->field, update->index);
        layer->filter[lx__overlay_word(filter_hash, layer->filter_mask)] |=
            lx__overlay_bits(filter_hash);
        layer->min_index = update->index < layer->min_index ? update->index : layer->min_index;
        layer->max_index = update->index > layer->max_index ? update->index : layer->max_index;
    }
    return LX_OK;
}

/* ---- layers */

/** Whether later frames dropped all updates of a layer, judging by its smallest and largest
 * index. */
static bool is_dropped(const lx__overlay_layer_use *use, uint64_t rows)
{
    uint64_t first = use->layer->min_index, last = use->layer->max_index;
    bool low_end = first >= use->length || (first >= use->rows && first < rows);
    return low_end && (last < rows || rows >= use->length || first >= use->length);
}

static lx__update copy_update(const lx__update *update)
{
    lx__update copy = {.index = update->index, .field = update->field};
    memcpy(copy.rows, update->rows, sizeof copy.rows);
    atomic_init(&copy.frame_or_verified,
                lx__update_is_verified(update)); /* a reader may be setting it right now */
    return copy;
}

/** Copies the live updates of a layer, leaving room for @p more updates. If all updates are live,
 * the hash table is copied; otherwise it is rebuilt from the list. NULL: out of memory. */
static lx__overlay_layer *copy_layer(const lx__overlay_layer_use *older, uint64_t rows, size_t more)
{
    const lx__update_map *from = &older->layer->map;
    lx__overlay_layer *layer = new_layer(from->seed, from->count + more + LX__UPDATE_BATCH_MAX);
    if (layer == NULL)
        return NULL;
    lx__update_map *map = &layer->map;
    for (size_t i = 0; i < from->count; i++)
        if (lx__overlay_layer_keeps(older, rows, from->list[i].index))
            map->list[map->count++] = copy_update(&from->list[i]);
    lx__update_map_fill_slots(map, map->count == from->count ? from : NULL);
    return layer;
}

/** Adds the live updates of a newer layer to @p layer. */
static lx_status put_layer(lx__overlay_layer *layer, const lx__overlay_layer_use *newer,
                           uint64_t rows, lx_error *error)
{
    lx__update batch[LX__UPDATE_BATCH_MAX];
    lx_status status = LX_OK;
    const lx__update_map *from = &newer->layer->map;
    for (size_t i = 0; status == LX_OK && i < from->count;) {
        size_t count = 0;
        for (; i < from->count && count < LX__UPDATE_BATCH_MAX; i++)
            if (lx__overlay_layer_keeps(newer, rows, from->list[i].index))
                batch[count++] = copy_update(&from->list[i]);
        status = lx__update_map_put_many(&layer->map, batch, count, error);
    }
    return status;
}

/** Whether to merge the newer layers, which have @p count updates, with the next older one. */
static bool should_merge(const lx__overlay *overlay, size_t depth, size_t count)
{
    size_t older = overlay->uses[depth - 1].layer->map.count;
    return older <= SMALL_LAYER || older / MERGE_PART <= count || depth == LX__OVERLAY_LAYERS_MAX;
}

/** Applies the drops of new frames to all layers, and releases layers with no live updates left. */
static void drop_updates(lx__overlay *overlay, uint64_t length, uint64_t rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < overlay->depth; i++) {
        lx__overlay_layer_use *use = &overlay->uses[i];
        if (length < use->length)
            use->length = length;
        if (is_dropped(use, rows))
            lx__overlay_layer_unref(use->layer);
        else
            overlay->uses[kept++] = *use;
    }
    overlay->depth = kept;
    overlay->rows = rows;
}

/** Merges the layers of @p overlay starting at @p depth with the newest layer, @p layer, and sets
 * @p layer to the result. */
static lx_status merge(const lx__overlay *overlay, size_t depth, size_t count,
                       lx__overlay_layer **layer, prefix *from, lx_error *error)
{
    const lx__overlay_layer_use *oldest = &overlay->uses[depth];
    const lx__overlay_layer_use newest = {
        .layer = *layer, .length = UINT64_MAX, .rows = overlay->rows};
    lx__overlay_layer *merged = copy_layer(oldest, overlay->rows, count - oldest->layer->map.count);
    if (merged == NULL)
        return lx__fail_memory(error, "row updates");
    if (merged->map.count == oldest->layer->map.count)
        *from = (prefix){oldest->layer, merged->map.count};
    lx_status status = LX_OK;
    for (size_t i = depth + 1; status == LX_OK && i < overlay->depth; i++)
        status = put_layer(merged, &overlay->uses[i], overlay->rows, error);
    if (status == LX_OK)
        status = put_layer(merged, &newest, overlay->rows, error);
    if (status != LX_OK) {
        lx__overlay_layer_unref(merged);
        return status;
    }
    lx__overlay_layer_unref(*layer);
    *layer = merged;
    return LX_OK;
}

/** Merges @p layer with those of the newest layers of @p overlay that are worth merging, and makes
 * the filter of the result. */
static lx_status merge_new(const lx__overlay *overlay, lx__overlay_layer **layer, size_t *depth,
                           lx_error *error)
{
    prefix from = {NULL, 0};
    lx_status status = LX_OK;
    size_t count = (*layer)->map.count; /* an upper bound: the same key may be in several layers */
    for (size_t i = 0; i < count; i++)
        atomic_init(&(*layer)->map.list[i].frame_or_verified,
                    0); /* from now on, this member says whether the value was verified */
    for (*depth = overlay->depth; *depth != 0 && should_merge(overlay, *depth, count); --*depth)
        count += overlay->uses[*depth - 1].layer->map.count;
    if (*depth != overlay->depth)
        status = merge(overlay, *depth, count, layer, &from, error);
    return status == LX_OK ? make_filter(*layer, &from, error) : status;
}

lx_status lx__overlay_add(lx__overlay *overlay, lx__overlay_layer *layer, uint64_t length,
                          uint64_t rows, lx_error *error)
{
    lx__overlay next;
    size_t depth;
    lx__overlay_copy(&next, overlay);
    drop_updates(&next, length, rows);
    if (layer != NULL && layer->map.count != 0) {
        lx_status status = merge_new(&next, &layer, &depth, error);
        if (status != LX_OK) {
            lx__overlay_layer_unref(layer);
            lx__overlay_free(&next);
            return status;
        }
        while (next.depth > depth)
            lx__overlay_layer_unref(next.uses[--next.depth].layer);
        next.uses[next.depth++] = (lx__overlay_layer_use){.filter = layer->filter,
                                                          .filter_mask = layer->filter_mask,
                                                          .layer = layer,
                                                          .length = UINT64_MAX,
                                                          .rows = rows};
    } else {
        lx__overlay_layer_unref(layer);
    }
    lx__overlay_free(overlay);
    *overlay = next;
    return LX_OK;
}

void lx__overlay_copy(lx__overlay *copy, const lx__overlay *overlay)
{
    *copy = *overlay;
    for (size_t i = 0; i < overlay->depth; i++)
        atomic_fetch_add_explicit(&overlay->uses[i].layer->references, 1, memory_order_relaxed);
}

void lx__overlay_free(lx__overlay *overlay)
{
    while (overlay->depth != 0)
        lx__overlay_layer_unref(overlay->uses[--overlay->depth].layer);
    *overlay = (lx__overlay){0};
}

uint64_t lx__overlay_seed(lx__overlay *overlay)
{
    if (overlay->seed == 0)
        overlay->seed = lx__update_map_new_seed();
    return overlay->seed;
}

static lx_status count_one(void *user, const lx__update *update, lx_error *error)
{
    (void)update, (void)error;
    ++*(size_t *)user;
    return LX_OK;
}

size_t lx__overlay_count(const lx__overlay *overlay)
{
    size_t count = 0;
    (void)lx__overlay_each(overlay, count_one, &count, NULL);
    return count;
}

/** Whether an update in layer @p depth is live: no later frame dropped it and no newer layer
 * overrides it. */
static bool is_live(const lx__overlay *overlay, size_t depth, const lx__update *update)
{
    if (!lx__overlay_layer_keeps(&overlay->uses[depth], overlay->rows, update->index))
        return false;
    if (depth + 1 == overlay->depth)
        return true;
    uint64_t filter_hash = lx__overlay_hash(overlay->seed, update->field, update->index);
    for (size_t i = depth + 1; i < overlay->depth; i++)
        if (lx__overlay_layer_may_contain(&overlay->uses[i], filter_hash) &&
            lx__update_map_find(&overlay->uses[i].layer->map, update->field, update->index) != NULL)
            return false;
    return true;
}

lx_status lx__overlay_each(const lx__overlay *overlay, lx__update_visit *visit, void *user,
                           lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; i < overlay->depth; i++) {
        const lx__update_map *map = &overlay->uses[i].layer->map;
        for (size_t k = 0; status == LX_OK && k < map->count; k++)
            if (is_live(overlay, i, &map->list[k]))
                status = visit(user, &map->list[k], error);
    }
    return status;
}

static lx_status put_one(void *user, const lx__update *update, lx_error *error)
{
    lx__update copy = copy_update(update);
    return lx__update_map_put_many(user, &copy, 1, error);
}

lx_status lx__overlay_move(lx__overlay *overlay, lx__update_map *map, lx_error *error)
{
    const lx__overlay_layer_use *only = &overlay->uses[0];
    lx_status status = LX_OK;
    if (overlay->depth == 1 && only->length > only->layer->max_index &&
        only->rows == overlay->rows &&
        atomic_load_explicit(&only->layer->references, memory_order_acquire) == 1) {
        *map = only->layer->map;
        only->layer->map = (lx__update_map){0};
    } else {
        status = lx__overlay_each(overlay, put_one, map, error);
    }
    if (status == LX_OK)
        lx__overlay_free(overlay);
    else
        lx__update_map_free(map);
    return status;
}

/* ---- looking up many records */

void lx__overlay_hash_many(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                           size_t count, uint64_t *filter_hashes)
{
    if (overlay->depth == 0)
        return;
    for (size_t k = 0; k < count; k++)
        filter_hashes[k] = lx__overlay_hash(overlay->seed, field, indices[k]);
    for (size_t i = 0; i < overlay->depth; i++) {
        const uint64_t *filter = overlay->uses[i].filter, mask = overlay->uses[i].filter_mask;
        for (size_t k = 0; k < count; k++)
            __builtin_prefetch(&filter[lx__overlay_word(filter_hashes[k], mask)]);
    }
}

static uint64_t filter_layer(const lx__overlay_layer_use *use, size_t count,
                             const uint64_t *filter_hashes)
{
    const uint64_t *filter = use->filter, mask = use->filter_mask;
    uint64_t may = 0;
    for (size_t k = 0; k < count; k++) {
        /* Test both bits without a branch in between, because that branch would be taken for one
         * record in ten. */
        uint64_t filter_hash = filter_hashes[k], word = filter[lx__overlay_word(filter_hash, mask)];
        if ((word >> lx__overlay_first_bit(filter_hash) &
             word >> lx__overlay_second_bit(filter_hash) & 1) != 0)
            may |= 1ull << k;
    }
    return may;
}

uint64_t lx__overlay_filter(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                            size_t count, const uint64_t *filter_hashes)
{
    uint64_t all = 0;
    for (size_t i = 0; i < overlay->depth; i++) {
        const lx__update_map *map = &overlay->uses[i].layer->map;
        uint64_t may = filter_layer(&overlay->uses[i], count, filter_hashes);
        all |= may;
        for (; may != 0; may &= may - 1) {
            uint64_t hash = lx__update_hash(overlay->seed, field, indices[__builtin_ctzll(may)]);
            __builtin_prefetch(&map->slots[lx__update_map_first_slot(map, hash)]);
        }
    }
    return all;
}

void lx__overlay_prefetch(const lx__overlay *overlay, uint32_t field, const uint64_t *indices,
                          uint64_t may)
{
    for (; may != 0; may &= may - 1) {
        uint64_t index = indices[__builtin_ctzll(may)];
        uint64_t filter_hash = lx__overlay_hash(overlay->seed, field, index);
        uint64_t hash = lx__update_hash(overlay->seed, field, index);
        for (size_t i = 0; i < overlay->depth; i++) {
            const lx__update_map *map = &overlay->uses[i].layer->map;
            uint32_t slot = map->slots[lx__update_map_first_slot(map, hash)];
            if (slot != 0 && lx__overlay_layer_may_contain(&overlay->uses[i], filter_hash))
                __builtin_prefetch(&map->list[slot - 1]);
        }
    }
}
