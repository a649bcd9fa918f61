/* SPDX-License-Identifier: MIT */
#include "zrecord/write/applied.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/fault.h"

lx_status lx__applied_add_chunks(lx__applied *applied, const lx__write_buffer *buffer,
                                 lx_error *error)
{
    for (size_t i = 0; i < buffer->chunk_count; i++) {
        const lx__chunk_item *item = &buffer->chunks[i];
        if (applied->grown_count != 0 && applied->grown[applied->grown_count - 1].id == item->id) {
            applied->grown[applied->grown_count - 1] = *item;
            continue;
        }
        lx__chunk_item *grown = lx__grow_array(applied->grown, applied->grown_count,
                                               &applied->grown_capacity, sizeof *grown);
        if (grown == NULL)
            return lx__fail_memory(error, "a chunk");
        applied->grown = grown;
        grown[applied->grown_count++] = *item;
    }
    return LX_OK;
}

static int compare_chunks(const void *a, const void *b)
{
    const lx__chunk_item *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

void lx__applied_sort_chunks(lx__applied *applied)
{
    size_t kept = 0;
    lx__chunk_item *grown = applied->grown;
    if (applied->grown_count != 0)
        qsort(grown, applied->grown_count, sizeof *grown, compare_chunks);
    for (size_t i = 0; i < applied->grown_count; i++) {
        if (kept != 0 && grown[kept - 1].id == grown[i].id)
            kept--;
        grown[kept++] = grown[i];
    }
    applied->grown_count = kept;
}

void lx__applied_clear(lx__applied *applied, uint64_t length)
{
    applied->length = length;
    applied->grown_count = 0;
    if (!LX__FAULT(STALE_UPDATES))
        lx__update_map_clear(&applied->updates);
}

void lx__applied_free(lx__applied *applied)
{
    lx__update_map_free(&applied->updates);
    lx__free(applied->grown);
}
