/* SPDX-License-Identifier: MIT */
#include "loader/varying-values.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "loader/sources/source.h"

/* Alignment of a column's values, as for columns of fixed size. */
#define VALUES_ALIGN 64

static bool varies(const lx_batch *batch, size_t i)
{
    return batch->columns[i].size == LX_NONE;
}

/** The offsets of a column, which belong to the batch. */
static uint64_t *offsets_of(const lx_batch *batch, size_t i)
{
    return (uint64_t *)(void *)lx__batch_at(batch, batch->batch_pool->layout.starts[i]);
}

/** Makes room for the values of all columns, whose offsets are known, and places the columns. */
static lx_status place_columns(lx_batch *batch, lx_error *error)
{
    const lx__layout *layout = &batch->batch_pool->layout;
    uint64_t bytes = 0;
    for (size_t i = 0; i < layout->count; i++)
        if (varies(batch, i) && !lx__add_fits(lx__align_up(bytes, VALUES_ALIGN),
                                              offsets_of(batch, i)[batch->rows], &bytes))
            bytes = UINT64_MAX; /* more than lx__batch_reserve() accepts */
    lx_status status = lx__batch_reserve(batch, bytes, error);
    if (status != LX_OK)
        return status;
    uint64_t start = 0;
    for (size_t i = 0; i < layout->count; i++) {
        if (!varies(batch, i))
            continue;
        batch->columns[i].data = (uint8_t *)batch->values.data + start;
        start = lx__align_up(start + offsets_of(batch, i)[batch->rows], VALUES_ALIGN);
    }
    return LX_OK;
}

/** Returns @p status, but LX_OK for damage, which it marks. */
static lx_status mark(lx_status status, uint8_t *damaged, lx_error *why, lx_error *error)
{
    if (status == LX_ERR_CORRUPT)
        *damaged = 1;
    else if (status != LX_OK)
        lx__error_propagate(error, why);
    return status == LX_ERR_CORRUPT ? LX_OK : status;
}

/** Gets the sizes of the values of a column. With @p damaged, gets them one by one; the size of a
 * value that cannot be read is 0. */
static lx_status get_sizes(lx_source *source, lx_batch *batch, size_t i, uint8_t *damaged,
                           lx_error *error)
{
    uint64_t *offsets = offsets_of(batch, i);
    lx_status status = LX_OK;
    if (damaged == NULL)
        return lx_source_get_sizes(source, batch->batch_pool->layout.positions[i], batch->indices,
                                   (size_t)batch->rows, offsets, error);
    offsets[0] = 0;
    for (uint64_t row = 0; status == LX_OK && row < batch->rows; row++) {
        lx_error why = LX_ERROR_INIT;
        uint64_t own[2] = {0, 0};
        status = lx_source_get_sizes(source, batch->batch_pool->layout.positions[i],
                                     &batch->indices[row], 1, own, &why);
        if (status != LX_OK)
            own[1] = 0;
        status = mark(status, &damaged[row], &why, error);
        if (status == LX_OK && !lx__add_fits(offsets[row], own[1], &offsets[row + 1]))
            status = lx__fail_sizes(error);
    }
    return status;
}

/** Copies the values of a column. With @p damaged, copies them one by one, and closes the gaps that
 * unreadable values leave. */
static lx_status copy_values(lx_source *source, lx_batch *batch, size_t i, uint8_t *damaged,
                             lx_error *error)
{
    uint64_t *offsets = offsets_of(batch, i), begin = 0;
    lx_status status = LX_OK;
    size_t column = batch->batch_pool->layout.positions[i];
    const lx_samples all = lx__batch_samples(batch, 0, batch->rows);
    if (damaged == NULL)
        return lx_source_fill_sample_bytes(source, column, &all, offsets, batch->columns[i].data,
                                           error);
    for (uint64_t row = 0; status == LX_OK && row < batch->rows; row++) {
        lx_error why = LX_ERROR_INIT;
        uint64_t own[2] = {0, offsets[row + 1] - begin};
        uint8_t *out = (uint8_t *)batch->columns[i].data + offsets[row];
        begin = offsets[row + 1];
        if (own[1] == 0 && damaged[row]) { /* perhaps its size could not be read */
            offsets[row + 1] = offsets[row];
            continue;
        }
        const lx_samples sample = lx__batch_samples(batch, row, 1);
        status = lx_source_fill_sample_bytes(source, column, &sample, own, out, &why);
        offsets[row + 1] = offsets[row] + (status == LX_OK ? own[1] : 0);
        status = mark(status, &damaged[row], &why, error);
    }
    return status;
}

lx_status lx__varying_fill(lx_source *source, lx_batch *batch, uint8_t *damaged, lx_error *error)
{
    const lx__layout *layout = &batch->batch_pool->layout;
    lx_status status = LX_OK;
    if (!layout->varying)
        return LX_OK;
    for (size_t i = 0; status == LX_OK && i < layout->count; i++)
        if (varies(batch, i))
            status = get_sizes(source, batch, i, damaged, error);
    if (status == LX_OK)
        status = place_columns(batch, error);
    for (size_t i = 0; status == LX_OK && i < layout->count; i++)
        if (varies(batch, i))
            status = copy_values(source, batch, i, damaged, error);
    return status;
}

void lx__varying_move(lx_batch *batch, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < batch->batch_pool->layout.count; i++) {
        if (!varies(batch, i))
            continue;
        uint64_t *offsets = offsets_of(batch, i), size = offsets[from + 1] - offsets[from];
        uint8_t *data = batch->columns[i].data;
        memmove(data + offsets[to], data + offsets[from], (size_t)size);
        offsets[to + 1] = offsets[to] + size;
    }
}

uint64_t lx__varying_bytes(const lx_batch *batch)
{
    const lx__layout *layout = &batch->batch_pool->layout;
    uint64_t bytes = 0;
    for (size_t i = 0; layout->varying && i < layout->count; i++)
        if (varies(batch, i))
            bytes += offsets_of(batch, i)[batch->rows];
    return bytes;
}
