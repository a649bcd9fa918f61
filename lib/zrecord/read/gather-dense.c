/* SPDX-License-Identifier: MIT */
/* The fast path for gathering dense, mapped records. It accepts valid raw values, as determined by
 * the predicates in payload.h, and leaves all other values to lx__gather_one(). */
#include "zrecord/read/gather-dense.h"

#include <string.h>

#include "zrecord/read/gather.h"
#include "zrecord/read/residency.h"

/* No row of a raw value starts with this number, because it would mean a size of 0. */
#define NO_HEAD 0
/* How many records to locate before copying the first of them. */
#define BLOCK 64
/* How many rows to prefetch ahead for inline values, which need nothing but their rows. */
#define SHORT_AHEAD 32
/* Records smaller than this are prefetched whole as soon as they are located. A block of them fits
 * into the first-level cache, and copying a record takes too little time for the cache lines of the
 * next one to arrive. */
#define SMALL 512

/** The state of a call. */
typedef struct dense {
    lx__snapshot *snapshot;
    lx__damage_counter *damages;
    const lx__column *column;
    size_t field;
    uint64_t length;
    uint64_t rows;
    uint32_t size; /**< Size of a record. */
    uint32_t align_mask;
    bool verify;            /**< Some values of table rows may need to be verified. */
    bool many;              /**< More than a few of them may need to be verified. */
    bool always;            /**< All of them need to be verified. */
    bool verify_updates;    /**< Values of row updates may need to be verified. */
    lx__inflater *inflater; /**< Taken when the first compressed value is read. */

    /* The chunk of the last raw value, which is usually also the chunk of the next one. */
    uint64_t head;       /**< The first half of its rows, chunk and size; or NO_HEAD. */
    uint64_t last_start; /**< The largest valid offset of a value. */
    const uint8_t *data; /**< Base address of the chunk. */
} dense;

static dense start(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field)
{
    const lx__column *column = &snapshot->columns[field];
    lx_verify_policy verify = snapshot->store->verify;
    bool some = verify == LX_VERIFY_FIRST && column->table != NULL;
    return (dense){
        .snapshot = snapshot,
        .damages = damages,
        .head = NO_HEAD,
        .column = column,
        .field = field,
        .length = snapshot->length,
        .rows = snapshot->state.rows,
        .size = (uint32_t)column->rules->size,
        .align_mask = column->rules->align - 1,
        .always = verify == LX_VERIFY_ALWAYS,
        .verify_updates = verify != LX_VERIFY_NEVER,
        .many = verify == LX_VERIFY_ALWAYS || (some && !lx__table_most_verified(column->table)),
        .verify = verify == LX_VERIFY_ALWAYS || (some && !lx__table_all_verified(column->table))};
}

/** Prefetches the table rows of a record. */
static inline void prefetch_rows(const dense *g, uint64_t index)
{
    if (index >= g->rows)
        return;
    __builtin_prefetch(g->column->offsets + index * LX__OFFSET_ROW);
    if (g->many)
        __builtin_prefetch(g->column->checks + index * LX__CHECK_ROW);
}

/* Looking up the row updates of a block takes several steps (hash, filter test, prefetch, find).
 * Other blocks are copied in between, since each step prefetches the memory that the next one
 * reads. */

/** Computes the overlay filter hashes of the records in a block. */
static void hash_block(const dense *g, const uint64_t *indices, size_t count,
                       uint64_t *filter_hashes)
{
    lx__overlay_hash_many(&g->snapshot->state.overlay, (uint32_t)g->field, indices,
                          count < BLOCK ? count : BLOCK, filter_hashes);
}

/** Tests the hashes of a block against the filters. Returns one bit per record, which is set if the
 * record may have a row update. */
static uint64_t filter_block(const dense *g, const uint64_t *indices, size_t count,
                             const uint64_t *filter_hashes)
{
    return lx__overlay_filter(&g->snapshot->state.overlay, (uint32_t)g->field, indices,
                              count < BLOCK ? count : BLOCK, filter_hashes);
}

/**
 * Finds a raw value by its row in the offset table or, if @p update is not NULL, by that row
 * update. Returns NULL for all other values, and if the chunk is not mapped yet. The location is
 * valid by the rules of lx__payload_locate(), except that checking the logical length is left to
 * is_intact() and update_is_intact().
 */
static inline __attribute__((always_inline)) const uint8_t *find_raw(dense *g, uint64_t index,
                                                                     const uint8_t *update)
{
    if (update == NULL && index >= g->rows)
        return NULL;
    const uint8_t *row = update != NULL ? update : g->column->offsets + index * LX__OFFSET_ROW;
    uint64_t head = lx__load_le64(row), offset = lx__load_le64(row + 8);
    if (head == g->head && offset <= g->last_start && (offset & g->align_mask) == 0)
        return g->data + offset;
    uint32_t chunk = (uint32_t)head, physical = (uint32_t)(head >> 32);
    if (physical != g->size)
        return NULL;
    if (chunk == LX__CHUNK_INLINE)
        return lx__payload_fits_inline(physical, offset) ? row + 8 : NULL;
    uint32_t position;
    const uint8_t *data = lx__snapshot_find_mapped(g->snapshot, chunk, offset, physical,
                                                   g->align_mask, &position);
    if (data == NULL)
        return NULL;
    g->head = head;
    g->last_start = g->snapshot->state.chunks[position].bytes - physical;
    g->data = data;
    return data + offset;
}

/** Whether a raw value that find_raw() found by its table row was verified earlier or is intact. */
static inline __attribute__((always_inline)) bool is_intact(const dense *g, uint64_t index,
                                                            const uint8_t *data)
{
    if (!g->always && lx__table_is_verified(g->column->table, index))
        return true;
    lx__entry entry = lx__entry_load(g->column->offsets + index * LX__OFFSET_ROW,
                                     g->column->checks + index * LX__CHECK_ROW);
    if (!lx__payload_is_intact_raw(&entry, g->column->rules, index, data))
        return false; /* copy_any() will report the damage */
    if (!g->always)
        lx__table_set_verified(g->column->table, index);
    return true;
}

/** Whether the value of a row update is intact. */
static __attribute__((noinline)) bool
update_is_intact(const dense *g, uint64_t index, const lx__update *update, const uint8_t *data)
{
    lx__entry entry = lx__update_entry(update);
    if (!lx__payload_is_intact_raw(&entry, g->column->rules, index, data))
        return false; /* copy_any() will report the damage */
    if (!g->always)
        lx__update_set_verified(update);
    return true;
}

/** Verifies the table row that a row update hides. Without this, some rows would stay unverified,
 * and reads of the table can skip testing the bits only once all rows are verified. */
static void verify_hidden(const dense *g, uint64_t index)
{
    if (g->verify && !g->always && index < g->rows &&
        !lx__table_is_verified(g->column->table, index))
        lx__snapshot_verify_row(g->snapshot, g->field, index);
}

/** Copies a value that the fast path does not accept, or reports that it is damaged. */
static __attribute__((noinline)) lx_status copy_any(dense *g, uint64_t index, uint8_t *out,
                                                    lx_error *error)
{
    lx__value_reader reader = {.snapshot = g->snapshot, .inflater = g->inflater};
    lx_status status = lx__gather_one(&reader, g->damages, g->field, index, out, g->size, error);
    g->inflater = reader.inflater;
    return status;
}

/** Copies a block that has been located. A bit set in @p have marks a record whose value is from @p
 * updates. */
static inline __attribute__((always_inline)) lx_status
copy_block(dense *g, const uint64_t *indices, const uint8_t *const *found, const uint64_t have,
           const lx__update *const *updates, size_t count, uint8_t *out, size_t stride,
           lx_error *error)
{
    size_t size = g->size;
    /* Computing the checksum reads three streams at once, which the processor's prefetcher does not
     * detect. */
    size_t lines = g->many ? LX__PAGE_LINES : LX__LINES_AHEAD;
    if (found[0] != NULL)
        lx__prefetch_payload(found[0], size, lines);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && found[i + 1] != NULL)
            lx__prefetch_payload(found[i + 1], size, lines);
        bool right = found[i] != NULL;
        if ((have >> i & 1) != 0) {
            verify_hidden(g, indices[i]);
            right = right &&
                    (!g->verify_updates || (!g->always && lx__update_is_verified(updates[i])) ||
                     update_is_intact(g, indices[i], updates[i], found[i]));
        } else if (right && g->verify) {
            right = is_intact(g, indices[i], found[i]);
        }
        if (right) {
            memcpy(out + i * stride, found[i], size);
            continue;
        }
        lx_status status = copy_any(g, indices[i], out + i * stride, error);
        if (status != LX_OK)
            return status;
    }
    return LX_OK;
}

/** Locates the values of a block. A bit set in @p may marks a record that may have a row update.
 * Returns the bits of the records that have one. */
static inline __attribute__((always_inline)) uint64_t
find_block(dense *g, const uint64_t *indices, size_t block, size_t count, const uint64_t may,
           const lx__update **updates, const uint8_t **found)
{
    const lx__overlay *all = &g->snapshot->state.overlay;
    uint64_t have = 0;
    if (may != 0)
        lx__overlay_prefetch(all, (uint32_t)g->field, indices, may);
    for (size_t i = 0; i < block; i++) {
        uint64_t index = indices[i];
        const uint8_t *rows = NULL;
        if (i + LX__ROWS_AHEAD < count)
            prefetch_rows(g, indices[i + LX__ROWS_AHEAD]);
        if ((may >> i & 1) != 0 &&
            (updates[i] = lx__overlay_find_update(all, (uint32_t)g->field, index)) != NULL) {
            rows = updates[i]->rows;
            have |= 1ull << i;
        }
        found[i] = index < g->length ? find_raw(g, index, rows) : NULL;
        if (found[i] == NULL)
            continue;
        lx__prefetch_payload(found[i], g->size < SMALL ? g->size : 1, LX__PAGE_LINES);
        if (g->verify && index < g->rows && !g->always)
            lx__table_prefetch_verified(g->column->table, index);
    }
    return have;
}

/** Copies dense records block by block: first locates all values of a block, then copies them. */
static lx_status copy_blocks(dense *g, const uint64_t *indices, size_t count, uint8_t *out,
                             size_t stride, lx_error *error)
{
    const uint8_t *found[BLOCK];
    const lx__update *updates[BLOCK];
    uint64_t filter_hashes[BLOCK];
    lx_status status = LX_OK;
    for (size_t i = 0; i < LX__ROWS_AHEAD && i < count; i++)
        prefetch_rows(g, indices[i]);
    hash_block(g, indices, count, filter_hashes);
    uint64_t may = filter_block(g, indices, count, filter_hashes);
    for (size_t at = 0; status == LX_OK && at < count; at += BLOCK) {
        size_t block = count - at < BLOCK ? count - at : BLOCK, rest = count - at - block;
        const uint64_t *here = indices + at, *next = here + block;
        uint8_t *to = out + at * stride;
        hash_block(g, next, rest, filter_hashes);
        if (may == 0) { /* specialized code, because most blocks have no row updates */
            find_block(g, here, block, count - at, 0, updates, found);
            may = filter_block(g, next, rest, filter_hashes);
            status = copy_block(g, here, found, 0, updates, block, to, stride, error);
            continue;
        }
        uint64_t have = find_block(g, here, block, count - at, may, updates, found);
        may = filter_block(g, next, rest, filter_hashes);
        status = copy_block(g, here, found, have, updates, block, to, stride, error);
    }
    return status;
}

/**
 * Copies inline values of @p size bytes, a compile-time constant, from their table rows. Handles
 * the first @p count of @p indices, but stops at the first value that is not inline or not
 * verified. Returns the number of values copied. The array has @p known elements; those beyond @p
 * count are used only for prefetching.
 */
static inline __attribute__((always_inline)) size_t
copy_inline(const dense *g, const uint64_t *indices, size_t count, size_t known, uint8_t *out,
            size_t stride, const size_t size)
{
    const uint8_t *rows = g->column->offsets;
    /* The chunk and physical length of the row as one number, and a mask of the bytes that must be
     * zero. */
    const uint64_t head = (uint64_t)size << 32 | LX__CHUNK_INLINE;
    const uint64_t padding = size == LX__INLINE_MAX ? 0 : UINT64_MAX << 8 * size;
    const uint64_t end = g->rows < g->length ? g->rows : g->length;
    for (size_t i = 0; i < count; i++) {
        uint64_t index = indices[i];
        if (i + SHORT_AHEAD < known && indices[i + SHORT_AHEAD] < end)
            __builtin_prefetch(rows + indices[i + SHORT_AHEAD] * LX__OFFSET_ROW);
        if (index >= end)
            return i;
        const uint8_t *row = rows + index * LX__OFFSET_ROW;
        if (lx__load_le64(row) != head || (lx__load_le64(row + 8) & padding) != 0)
            return i;
        if (g->verify && (g->always || !lx__table_is_verified(g->column->table, index)))
            return i;
        memcpy(out + i * stride, row + 8, size);
    }
    return count;
}

static size_t copy_short(const dense *g, const uint64_t *indices, size_t count, size_t known,
                         uint8_t *out, size_t stride)
{
    switch (g->size) {
    case 1:
        return copy_inline(g, indices, count, known, out, stride, 1);
    case 2:
        return copy_inline(g, indices, count, known, out, stride, 2);
    case 4:
        return copy_inline(g, indices, count, known, out, stride, 4);
    case 8:
        return copy_inline(g, indices, count, known, out, stride, 8);
    default:
        return 0;
    }
}

/** Copies a short value that may have a row update; returns false if copy_blocks() must copy it
 * instead. */
static bool copy_short_update(dense *g, uint64_t index, uint8_t *out)
{
    const lx__update *update = lx__overlay_find_update(&g->snapshot->state.overlay,
                                                       (uint32_t)g->field, index);
    if (update == NULL)
        return copy_short(g, &index, 1, 1, out, 0) == 1;
    const uint8_t *found = index < g->length ? find_raw(g, index, update->rows) : NULL;
    if (found == NULL || g->verify || (g->verify_updates && !lx__update_is_verified(update)))
        return false;
    memcpy(out, found, g->size);
    return true;
}

/** Copies a block of short values. A bit set in @p may marks a value that may have a row update. */
static lx_status copy_short_block(dense *g, const uint64_t *indices, size_t block, size_t known,
                                  uint64_t may, uint8_t *out, size_t stride, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t at = 0; status == LX_OK && at < block;) {
        uint64_t left = may >> at;
        size_t run = left != 0 ? (size_t)__builtin_ctzll(left) : block - at;
        size_t done = copy_short(g, indices + at, run, known - at, out + at * stride, stride);
        at += done;
        if (at == block)
            break;
        if (done == run && copy_short_update(g, indices[at], out + at * stride)) {
            at++;
            continue;
        }
        /* Copy either a single value with a row update or, after a value that is not inline or not
         * verified, the rest of the block. */
        size_t rest = done == run ? 1 : block - at;
        status = copy_blocks(g, indices + at, rest, out + at * stride, stride, error);
        at += rest;
    }
    return status;
}

/** Copies short values of a snapshot that has row updates. */
static lx_status copy_short_updates(dense *g, const uint64_t *indices, size_t count, uint8_t *out,
                                    size_t stride, lx_error *error)
{
    uint64_t filter_hashes[BLOCK];
    lx_status status = LX_OK;
    hash_block(g, indices, count, filter_hashes);
    uint64_t may = filter_block(g, indices, count, filter_hashes);
    for (size_t at = 0; status == LX_OK && at < count; at += BLOCK) {
        size_t known = count - at, block = known < BLOCK ? known : BLOCK;
        const uint64_t *next = indices + at + block;
        hash_block(g, next, known - block, filter_hashes);
        lx__overlay_prefetch(&g->snapshot->state.overlay, (uint32_t)g->field, indices + at, may);
        uint64_t next_may = filter_block(g, next, known - block, filter_hashes);
        status = copy_short_block(g, indices + at, block, known, may, out + at * stride, stride,
                                  error);
        may = next_may;
    }
    return status;
}

/** Copies short values of a snapshot that has no row updates. */
static lx_status copy_short_rows(dense *g, const uint64_t *indices, size_t count, uint8_t *out,
                                 size_t stride, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t at = 0; status == LX_OK && at < count;) {
        size_t known = count - at;
        at += copy_short(g, indices + at, known, known, out + at * stride, stride);
        /* A single record may have stopped copy_short(), so try again after one block. */
        size_t rest = count - at < BLOCK ? count - at : BLOCK;
        status = copy_blocks(g, indices + at, rest, out + at * stride, stride, error);
        at += rest;
    }
    return status;
}

lx_status lx__gather_dense(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                           lx_error *error)
{
    if (snapshot->store->access != LX_ACCESS_MMAP || lx__residency_is_on_disk(snapshot->store))
        return lx__gather_rows(snapshot, damages, field, indices, count, out, stride, error);
    dense g = start(snapshot, damages, field);
    lx_status status;
    if (g.size > LX__INLINE_MAX)
        status = copy_blocks(&g, indices, count, out, stride, error);
    else if (snapshot->state.overlay.depth != 0)
        status = copy_short_updates(&g, indices, count, out, stride, error);
    else
        status = copy_short_rows(&g, indices, count, out, stride, error);
    lx__store_release_inflater(snapshot->store, g.inflater);
    return status;
}
