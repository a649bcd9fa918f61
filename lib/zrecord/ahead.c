/* SPDX-License-Identifier: MIT */
#include "zrecord/ahead.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

/* Rows of tables that are asked for at once: 1 MiB of entries a field. */
#define ROWS ((uint64_t)1 << 16)
/* Values that are so close are asked for with what is between them: another value, most often. */
#define GAP ((uint64_t)128 << 10)
/* Bytes of one request: of more than a device's own limit the kernel drops the rest. */
#define REQUEST ((size_t)128 << 10)

/** Bytes of one chunk that are to be asked for; empty: none yet. */
typedef struct range {
    uint32_t position; /**< Of the chunk. */
    uint64_t start, end;
} range;

/** The pages of @p size bytes at @p data. Advice that is refused costs speed alone. */
static void ask(const uint8_t *data, uint64_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)data & ~(page - 1);
    uint64_t left = size + ((uintptr_t)data - start);
    while (left != 0) {
        size_t step = left < REQUEST ? (size_t)left : REQUEST;
        (void)madvise((void *)start, step, MADV_WILLNEED);
        start += step;
        left -= step;
    }
}

void lx__ahead_rows(lx__ahead *ahead, size_t first_field, size_t end_field, uint64_t index)
{
    const lx__snapshot *snapshot = ahead->snapshot;
    uint64_t first = ahead->asked_rows, rows = snapshot->state.rows;
    if (index + ROWS / 2 < first || first >= rows)
        return;
    uint64_t end = rows - first < ROWS ? rows : first + ROWS;
    for (size_t i = first_field; i < end_field; i++) {
        const lx__column *column = &snapshot->columns[i];
        ask(column->offsets + first * LX__OFFSET_ROW, (end - first) * LX__OFFSET_ROW);
        ask(column->checks + first * LX__CHECK_ROW, (end - first) * LX__CHECK_ROW);
    }
    ahead->asked_rows = end;
}

static void ask_for_range(lx__snapshot *snapshot, range *wanted)
{
    const uint8_t *data;
    if (wanted->start != wanted->end &&
        lx__snapshot_chunk(snapshot, wanted->position, &data, NULL) == LX_OK)
        ask(data + wanted->start, wanted->end - wanted->start);
    *wanted = (range){0, 0, 0};
}

/** Adds a value to the range that is being gathered for its field. What is wrong with an entry is
 * for the one to tell who reads it. */
static void gather(lx__snapshot *snapshot, const lx__entry *entry, range *wanted)
{
    if (lx__entry_is_inline(entry) || entry->physical == 0)
        return;
    uint32_t position = lx__snapshot_find_chunk(snapshot, entry->chunk);
    if (position == LX__NO_CHUNK || !lx__range_fits(entry->offset, entry->physical,
                                                    snapshot->state.chunks[position].bytes))
        return;
    uint64_t end = entry->offset + entry->physical;
    if (position != wanted->position || entry->offset < wanted->start ||
        entry->offset > wanted->end + GAP) {
        ask_for_range(snapshot, wanted);
        *wanted = (range){position, entry->offset, end};
    } else if (end > wanted->end) {
        wanted->end = end;
    }
}

bool lx__ahead_stretch(lx__ahead *ahead, uint64_t *first, uint64_t *end)
{
    lx__snapshot *snapshot = ahead->snapshot;
    uint64_t index = ahead->next, bytes = 0, length = snapshot->state.length;
    size_t fields = snapshot->store->schema->count;
    /* Without memory for it nothing is asked for, and the stretch is the longest. */
    range *wanted = lx__alloc_array(fields, sizeof *wanted);
    *first = index;
    while (index < length && bytes < LX__STRETCH_BYTES && index - *first < LX__STRETCH_RECORDS) {
        lx__ahead_rows(ahead, 0, fields, index);
        for (size_t i = 0; wanted != NULL && i < fields; i++) {
            bool row;
            lx__entry entry = lx__snapshot_entry(snapshot, i, index, &row);
            gather(snapshot, &entry, &wanted[i]);
            bytes += entry.physical;
        }
        index++;
    }
    for (size_t i = 0; wanted != NULL && i < fields; i++)
        ask_for_range(snapshot, &wanted[i]);
    lx__free(wanted);
    *end = ahead->next = index;
    return index != *first;
}
