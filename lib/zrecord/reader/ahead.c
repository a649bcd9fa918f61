/* SPDX-License-Identifier: MIT */
#include "zrecord/reader/ahead.h"

#include "base/alloc.h"

/* Values that are so close are asked for with what is between them: another value, most often. */
#define GAP ((uint64_t)128 << 10)

/** Bytes of one chunk that are to be asked for; empty: none yet. */
typedef struct range {
    uint32_t position; /**< Of the chunk. */
    uint64_t start, end;
} range;

static void ask_for_range(lx__fetch *fetch, range *wanted)
{
    if (wanted->start != wanted->end)
        lx__fetch_advise(fetch, wanted->position, wanted->start, wanted->end - wanted->start);
    *wanted = (range){0, 0, 0};
}

/** Adds a value to the range that is being gathered for its field. What is wrong with an entry is
 * for the one to tell who reads it. */
static void gather(lx__fetch *fetch, const lx__entry *entry, range *wanted)
{
    const lx__snapshot *snapshot = fetch->snapshot;
    if (lx__entry_is_inline(entry) || entry->physical == 0)
        return;
    uint32_t position = lx__snapshot_find_chunk(snapshot, entry->chunk);
    if (position == LX__NO_CHUNK || !lx__range_fits(entry->offset, entry->physical,
                                                    snapshot->state.chunks[position].bytes))
        return;
    uint64_t end = entry->offset + entry->physical;
    if (position != wanted->position || entry->offset < wanted->start ||
        entry->offset > wanted->end + GAP) {
        ask_for_range(fetch, wanted);
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
    ahead->fetch.snapshot = snapshot;
    while (index < length && bytes < LX__STRETCH_BYTES && index - *first < LX__STRETCH_RECORDS) {
        for (size_t i = 0; wanted != NULL && i < fields; i++) {
            lx__entry entry;
            const lx__set *set;
            if (lx__fetch_entry(&ahead->fetch, i, index, &entry, &set, NULL) != LX_OK)
                continue;
            gather(&ahead->fetch, &entry, &wanted[i]);
            bytes += entry.physical;
        }
        index++;
    }
    for (size_t i = 0; wanted != NULL && i < fields; i++)
        ask_for_range(&ahead->fetch, &wanted[i]);
    lx__free(wanted);
    *end = ahead->next = index;
    return index != *first;
}

void lx__ahead_end(lx__ahead *ahead)
{
    lx__fetch_end(&ahead->fetch);
}
