/* SPDX-License-Identifier: MIT */
#include "zrecord/write/chunk-output.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/chunk/chunk.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"

/* How many bytes to write at a time. */
#define BUFFER_BYTES ((size_t)8 << 20)

lx_status lx__chunk_output_open(lx__chunk_output *output, lx_error *error)
{
    output->chunk = (lx__file)LX__FILE_CLOSED;
    output->data = lx__alloc(BUFFER_BYTES);
    return output->data != NULL ? LX_OK : lx__fail_memory(error, "payloads to be written");
}

void lx__chunk_output_close(lx__chunk_output *output)
{
    lx__file_close(&output->chunk);
    lx__free(output->data);
}

/** Writes @p size bytes that end at byte @p end of the chunk. */
static lx_status write_bytes(const lx__chunk_output *output, const uint8_t *bytes, size_t size,
                             uint64_t end, lx_error *error)
{
    if (size == 0)
        return LX_OK;
    lx_status status = lx__file_write(&output->chunk, bytes, size, end - size, error);
    /* Start writeback while the next bytes are prepared, so that the final sync is short. */
    if (status == LX_OK)
        lx__file_start_writeback(&output->chunk, end - size, size);
    return status;
}

static lx_status write_data(lx__chunk_output *output, lx_error *error)
{
    size_t size = output->used;
    output->used = 0;
    return write_bytes(output, output->data, size, output->filled.bytes, error);
}

lx_status lx__chunk_output_finish(lx__chunk_output *output, lx_error *error)
{
    if (output->chunk.fd == -1)
        return LX_OK;
    lx_status status = write_data(output, error);
    if (status == LX_OK && !LX__FAULT(INSTALL_CHUNK_SYNC) &&
        lx__file_sync(&output->chunk, error) != LX_OK)
        status = LX_ERR_POISONED;
    lx__file_close(&output->chunk);
    return status == LX_OK ? lx__state_put_chunk(output->to, &output->filled, error) : status;
}

static lx_status next_chunk(lx__chunk_output *output, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status = lx__chunk_output_finish(output, error);
    if (status != LX_OK)
        return status;
    if (output->to->next_chunk > LX__CHUNK_ID_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "all %u chunk ids have been used: copy the dataset to continue",
                       LX__CHUNK_ID_MAX);
    output->filled = (lx__chunk_item){.id = output->to->next_chunk++};
    lx__chunk_name(output->filled.id, name);
    return lx__file_open(&output->chunk, output->directory, name, O_RDWR | O_CREAT | O_EXCL, error);
}

lx_status lx__chunk_output_place(lx__chunk_output *output, uint64_t size, uint32_t align,
                                 lx__entry *entry, lx_error *error)
{
    const lx__chunk_item *filled = &output->filled;
    bool fits = output->chunk.fd != -1 &&
                lx__chunk_has_room(filled, size, align, output->records_limit, output->bytes_limit);
    lx_status status = fits ? LX_OK : next_chunk(output, error);
    entry->chunk = filled->id;
    entry->offset = lx__align_up(filled->bytes, align);
    return status;
}

lx_status lx__chunk_output_append(lx__chunk_output *output, const lx__entry *entry,
                                  const uint8_t *stored, lx_error *error)
{
    size_t gap = (size_t)(entry->offset - output->filled.bytes);
    lx_status status = LX_OK;
    if (BUFFER_BYTES - output->used < gap + entry->physical)
        status = write_data(output, error);
    memset(output->data + output->used, 0, gap);
    output->used += gap;
    output->filled.bytes = entry->offset;
    if (status == LX_OK && BUFFER_BYTES - gap < entry->physical) {
        status = write_data(output, error);
        if (status == LX_OK)
            status = write_bytes(output, stored, entry->physical, entry->offset + entry->physical,
                                 error);
    } else if (status == LX_OK) {
        memcpy(output->data + output->used, stored, entry->physical);
        output->used += entry->physical;
    }
    output->filled.bytes += entry->physical;
    output->filled.records++;
    output->payloads++;
    output->bytes += entry->physical;
    return status;
}
