/* SPDX-License-Identifier: MIT */
#include "zrecord/read/prefetch.h"

#include "base/alloc.h"

/* Largest gap between two values to request together; usually it contains values of other
 * fields. */
#define GAP ((uint64_t)128 << 10)

/** Requests the extent collected for a field, unless it is empty, that is, its chunk is NULL. */
static void ask_for(lx__value_reader *reader, size_t field, lx__extent *wanted)
{
    if (wanted->chunk != NULL)
        lx__value_advise(reader, field, wanted);
    *wanted = (lx__extent){0};
}

/** Adds a value to the extent collected for its field. Skips invalid entries, which the read will
 * report. */
static void gather(lx__value_reader *reader, size_t field, uint64_t index, lx__value *value,
                   lx__extent *wanted)
{
    const lx__extent *next = &value->extent;
    if (lx__snapshot_locate(reader->snapshot, field, index, value, NULL) != LX_OK ||
        next->chunk == NULL)
        return;
    uint64_t end = wanted->offset + wanted->size;
    if (next->chunk != wanted->chunk || next->offset < wanted->offset || next->offset > end + GAP ||
        next->offset + next->size - wanted->offset > UINT32_MAX) {
        ask_for(reader, field, wanted);
        *wanted = *next;
    } else if (next->offset + next->size > end) {
        wanted->size = (uint32_t)(next->offset + next->size - wanted->offset);
    }
}

void lx__prefetch_values(lx__value_reader *reader, size_t field, const uint64_t *indices,
                         size_t count)
{
    lx__extent wanted = {0};
    for (size_t i = 0; i < count; i++) {
        lx__value value;
        if (indices[i] < reader->snapshot->length &&
            lx__value_load(reader, field, indices[i], &value, NULL) == LX_OK)
            gather(reader, field, indices[i], &value, &wanted);
    }
    ask_for(reader, field, &wanted);
}

bool lx__prefetch_next(lx__prefetch *ahead, uint64_t *first, uint64_t *end)
{
    lx__snapshot *snapshot = ahead->snapshot;
    uint64_t index = ahead->next, bytes = 0, length = snapshot->state.length;
    size_t fields = snapshot->store->schema->count;
    /* If this fails, nothing is requested, and the range has the maximum number of records. */
    lx__extent *wanted = lx__alloc_array(fields, sizeof *wanted);
    *first = index;
    ahead->reader.snapshot = snapshot;
    ahead->reader.by_pread = true;
    while (index < length && bytes < LX__PREFETCH_BYTES && index - *first < LX__PREFETCH_RECORDS) {
        for (size_t i = 0; wanted != NULL && i < fields; i++) {
            lx__value value;
            if (lx__value_load(&ahead->reader, i, index, &value, NULL) != LX_OK)
                continue;
            gather(&ahead->reader, i, index, &value, &wanted[i]);
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
