/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/renumber.h"

#include <stdlib.h>

#include "base/crc32c.h"

/** Returns how the CRC of the seed changes if chunk @p chunk becomes @p new_chunk. The offset and
 * the lengths stay the same, so they do not matter. */
static uint32_t change_seed(const lx__renumber *self, uint32_t chunk, uint32_t new_chunk)
{
    const lx__entry before = {.chunk = chunk}, after = {.chunk = new_chunk};
    return lx__entry_crc(&before, self->from, NULL) ^ lx__entry_crc(&after, self->to, NULL);
}

void lx__renumber_begin(lx__renumber *self)
{
    uint32_t seed = change_seed(self, LX__CHUNK_INLINE, LX__CHUNK_INLINE);
    self->zero = lx__index_crc(0);
    for (uint32_t size = 0; size <= LX__INLINE_MAX; size++)
        self->inlines[size] = lx__crc32c_shift(seed, size);
}

/** Finds the chunk of a row. Leaves self->chunk as it is if there is no such chunk. */
static const lx__chunk_item *find_chunk(lx__renumber *self, uint32_t id)
{
    const lx__chunk_item key = {.id = id};
    if (self->chunk != NULL && self->chunk->id == id)
        return self->chunk;
    const lx__chunk_item *found = self->chunk_count == 0
                                      ? NULL
                                      : bsearch(&key, self->chunks, self->chunk_count, sizeof key,
                                                lx__chunk_item_compare);
    if (found == NULL)
        return NULL;
    self->chunk = found;
    self->new_chunk = self->first_chunk + (uint32_t)(found - self->chunks);
    self->seed = change_seed(self, id, self->new_chunk);
    self->size = 0;
    return found;
}

static void renumber_stored(lx__renumber *self, lx__entry *entry)
{
    if (self->size != entry->physical) { /* which is never 0 */
        self->size = entry->physical;
        self->crc = lx__crc32c_shift(self->seed, entry->physical);
    }
    entry->chunk = self->new_chunk;
    entry->crc ^= self->crc;
}

static lx_status renumber(lx__renumber *self, uint64_t index, lx__entry *entry, lx_error *error)
{
    lx__extent extent;
    const lx__chunk_item *chunk = lx__payload_is_stored(entry) ? find_chunk(self, entry->chunk)
                                                               : NULL;
    lx_status status = lx__payload_locate(entry, self->from, chunk, &extent, error);
    if (status == LX_OK && lx__entry_is_missing(entry))
        return self->complete ? lx__entry_fail_lost(error) : LX_OK;
    if (status != LX_OK)
        return status;
    if (lx__entry_is_inline(entry))
        entry->crc ^= self->inlines[entry->physical];
    else
        renumber_stored(self, entry);
    /* Like index CRC XOR new index CRC, as CRCs are linear but for a constant. */
    entry->crc ^= lx__index_crc(index ^ (self->first_index + index)) ^ self->zero;
    return LX_OK;
}

lx_status lx__renumber_rows(lx__renumber *self, uint64_t index, uint8_t *offset_rows,
                            uint8_t *check_rows, size_t count, size_t *done, lx_error *error)
{
    for (*done = 0; *done < count; ++*done) {
        uint8_t *offset_row = offset_rows + *done * LX__OFFSET_ROW;
        uint8_t *check_row = check_rows + *done * LX__CHECK_ROW;
        lx__entry entry = lx__entry_load(offset_row, check_row);
        lx_status status = renumber(self, index + *done, &entry, error);
        if (status != LX_OK)
            return status;
        lx__entry_store(&entry, offset_row, check_row);
    }
    return LX_OK;
}
