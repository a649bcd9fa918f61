/* SPDX-License-Identifier: MIT */
#include "zrecord/read/prefetch.h"

#include "base/alloc.h"
#include "zrecord/read/value-rows.h"

/* Largest gap between two values to request together; usually it contains values of other
 * fields. */
#define GAP ((uint64_t)128 << 10)
/* The same for a dataset elsewhere, where each byte costs more: about what a link of 1 Gbit/s
 * transfers in the time that a request takes if 64 requests of 20 ms are under way. */
#define GAP_ELSEWHERE ((uint64_t)32 << 10)

/* How many rows to request at once if only rows are read, from a dataset elsewhere: 384 KiB if they
 * are adjacent. */
#define ROWS ((size_t)64 * LX__VALUE_BLOCK)

/** Requests the extent collected for a field, unless it is empty, that is, its chunk is NULL. */
static void ask_for(lx__value_reader *reader, size_t field, lx__extent *wanted)
{
    if (wanted->chunk != NULL)
        lx__value_advise(reader, field, wanted);
    *wanted = (lx__extent){0};
}

/** Adds an extent to the one collected for its field. */
static void add(lx__value_reader *reader, size_t field, const lx__extent *next, uint64_t gap,
                lx__extent *wanted)
{
    uint64_t end = wanted->offset + wanted->size;
    if (next->chunk != wanted->chunk || next->offset < wanted->offset || next->offset > end + gap ||
        next->offset + next->size - wanted->offset > UINT32_MAX) {
        ask_for(reader, field, wanted);
        *wanted = *next;
    } else if (next->offset + next->size > end) {
        wanted->size = (uint32_t)(next->offset + next->size - wanted->offset);
    }
}

/** Adds a value whose entry was loaded. Skips invalid entries, which the read will report. */
static void add_value(lx__value_reader *reader, size_t field, uint64_t index, lx__value *value,
                      uint64_t gap, lx__extent *wanted)
{
    if (lx__snapshot_locate(reader->snapshot, field, index, value, NULL) == LX_OK &&
        value->extent.chunk != NULL)
        add(reader, field, &value->extent, gap, wanted);
}

static uint64_t gap_of(const lx__value_reader *reader)
{
    return lx__store_is_elsewhere(reader->snapshot->store) ? GAP_ELSEWHERE : GAP;
}

void lx__prefetch_extents(lx__value_reader *reader, size_t field, const lx__extent *extents,
                          size_t count)
{
    lx__extent wanted = {0};
    for (size_t i = 0; i < count; i++)
        add(reader, field, &extents[i], gap_of(reader), &wanted);
    ask_for(reader, field, &wanted);
}

/** Requests the rows of records that are elsewhere. */
static void ask_blocks(const lx__value_reader *reader, size_t field, const uint64_t *indices,
                       size_t count)
{
    const size_t step = LX__VALUE_BLOCK;
    for (size_t at = 0; at < count; at += step)
        lx__value_ask_block(reader, field, indices + at, count - at < step ? count - at : step);
}

void lx__prefetch_rows(lx__value_reader *reader, size_t field, const uint64_t *indices,
                       size_t count, size_t done)
{
    if (done % ROWS == 0 && lx__store_is_elsewhere(reader->snapshot->store))
        ask_blocks(reader, field, indices + done, count - done < ROWS ? count - done : ROWS);
}

lx_status lx__prefetch_values(lx__value_reader *reader, size_t field, const uint64_t *indices,
                              size_t count, lx_error *error)
{
    lx__extent wanted = {0};
    lx__loaded loaded[LX__VALUE_BLOCK];
    lx_status status = LX_OK;
    ask_blocks(reader, field, indices, count);
    for (size_t at = 0, here; status == LX_OK && at < count; at += here) {
        here = count - at < LX__VALUE_BLOCK ? count - at : LX__VALUE_BLOCK;
        status = lx__value_load_block(reader, field, indices + at, here, false, loaded, error);
        for (size_t i = 0; status == LX_OK && i < here; i++) {
            lx__value value = {.entry = loaded[i].entry, .update = loaded[i].update};
            if (indices[at + i] < reader->snapshot->length && !loaded[i].lost)
                add_value(reader, field, indices[at + i], &value, gap_of(reader), &wanted);
        }
    }
    ask_for(reader, field, &wanted);
    return status;
}

lx_status lx__prefetch_block(lx__value_reader *reader, size_t field, const uint64_t *indices,
                             uint64_t count, uint64_t done, lx_error *error)
{
    uint64_t block[LX__VALUE_BLOCK];
    size_t here = count - done < LX__VALUE_BLOCK ? (size_t)(count - done) : LX__VALUE_BLOCK;
    if (done % LX__VALUE_BLOCK != 0 || !lx__store_is_elsewhere(reader->snapshot->store))
        return LX_OK;
    for (size_t i = 0; i < here; i++)
        block[i] = indices != NULL ? indices[done + i] : done + i;
    return lx__prefetch_values(reader, field, block, here, error);
}

bool lx__prefetch_next(lx__prefetch *ahead, uint64_t *first, uint64_t *end)
{
    lx__snapshot *snapshot = ahead->snapshot;
    uint64_t index = ahead->next, bytes = 0, length = snapshot->state.length;
    size_t fields = snapshot->store->schema->count;
    /* If this fails, nothing is requested, and the range has the maximum number of records. */
    lx__extent *wanted = !ahead->stopped ? lx__alloc_array(fields, sizeof *wanted) : NULL;
    *first = index;
    ahead->reader.snapshot = snapshot;
    ahead->reader.by_pread = true;
    while (index < length && bytes < LX__PREFETCH_BYTES && index - *first < LX__PREFETCH_RECORDS) {
        for (size_t i = 0; wanted != NULL && i < fields; i++) {
            lx__value value;
            lx_status status = lx__value_load(&ahead->reader, i, index, &value, NULL);
            ahead->stopped = lx__file_gave_up(&snapshot->store->directory, status);
            if (ahead->stopped) {
                lx__free(wanted);
                wanted = NULL;
            }
            if (status != LX_OK)
                continue;
            add_value(&ahead->reader, i, index, &value, GAP, &wanted[i]);
            bytes += value.entry.physical;
        }
        index++;
    }
    for (size_t i = 0; wanted != NULL && i < fields; i++)
        ask_for(&ahead->reader, i, &wanted[i]);
    lx__free(wanted);
    *end = ahead->next = index;
    return index != *first;
}

void lx__prefetch_end(lx__prefetch *ahead)
{
    lx__value_reader_end(&ahead->reader);
}
