/* SPDX-License-Identifier: MIT */
#include "loader/damaged-records.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "loader/varying-values.h"

/** Sets the targets of one record, for @p column only, or for all columns if it is SIZE_MAX. */
static void offset_targets(lx_target *moved, const lx_target *targets, size_t columns, uint64_t row,
                           size_t column)
{
    for (size_t i = 0; i < columns; i++) {
        moved[i] = targets[i];
        if (column != SIZE_MAX && i != column)
            moved[i].data = NULL;
        if (moved[i].data != NULL)
            moved[i].data = (uint8_t *)moved[i].data + row * moved[i].stride;
    }
}

/** Fills the readable columns of a damaged record with their values, and the others with zeros. */
static lx_status fill_columns(lx_source *source, const lx_samples *sample, uint64_t row,
                              const lx_target *targets, lx_target *moved, lx_error *error)
{
    size_t columns = lx_source_get_column_count(source);
    for (size_t i = 0; i < columns; i++) {
        lx_error why = LX_ERROR_INIT;
        if (targets[i].data == NULL)
            continue;
        offset_targets(moved, targets, columns, row, i);
        lx_status status = lx_source_fill_samples(source, sample, moved, &why);
        if (status == LX_ERR_CORRUPT) {
            memset(moved[i].data, 0, (size_t)lx_source_get_column(source, i)->size);
        } else if (status != LX_OK) {
            lx__error_propagate(error, &why);
            return status;
        }
    }
    return LX_OK;
}

static lx_status fill_record(lx_source *source, const lx_samples *sample, uint64_t row,
                             const lx_target *targets, lx_target *moved, uint8_t *damaged,
                             lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    offset_targets(moved, targets, lx_source_get_column_count(source), row, SIZE_MAX);
    lx_status status = lx_source_fill_samples(source, sample, moved, &why);
    *damaged = status == LX_ERR_CORRUPT;
    if (status == LX_OK || status == LX_ERR_CORRUPT)
        return LX_OK;
    lx__error_propagate(error, &why);
    return status;
}

lx_status lx__damaged_records_fill(lx_source *source, lx_batch *batch, uint64_t first,
                                   uint64_t rows, const lx_target *targets, lx_damage_policy policy,
                                   uint8_t *damaged, lx_error *error)
{
    lx_target *moved = lx__alloc_array(lx_source_get_column_count(source), sizeof *moved);
    if (moved == NULL)
        return lx__fail_memory(error, "a batch");
    lx_status status = LX_OK;
    for (uint64_t row = 0; status == LX_OK && row < rows; row++) {
        lx_samples sample = lx__batch_samples(batch, first + row, 1);
        status = fill_record(source, &sample, row, targets, moved, &damaged[row], error);
        if (status == LX_OK && damaged[row] && policy == LX_DAMAGE_ZEROS)
            status = fill_columns(source, &sample, row, targets, moved, error);
    }
    lx__free(moved);
    return status;
}

static void move_record(lx_batch *batch, uint64_t from, uint64_t to)
{
    const lx__layout *layout = &batch->batch_pool->layout;
    batch->indices[to] = batch->indices[from];
    batch->positions[to] = batch->positions[from];
    for (size_t i = 0; i < layout->count; i++) {
        size_t size = (size_t)batch->columns[i].size;
        uint8_t *data = lx__batch_at(batch, layout->starts[i]);
        if (size != 0 && batch->columns[i].size != LX_NONE)
            memcpy(data + to * size, data + from * size, size);
    }
    lx__varying_move(batch, from, to);
}

void lx__damaged_records_finish(lx_batch *batch, lx_damage_policy policy, const uint8_t *damaged)
{
    uint64_t kept = 0, real = 0, rows = batch->rows;
    for (uint64_t row = 0; row < rows; row++) {
        batch->damaged += damaged[row];
        if (damaged[row] && policy == LX_DAMAGE_SKIP)
            continue;
        if (kept != row)
            move_record(batch, row, kept);
        kept++;
        real += row < batch->real;
    }
    batch->real = real;
    lx__batch_set_rows(batch, kept);
}

lx_status lx__damaged_records_replace(lx_source *source, lx_batch *batch, uint64_t rows,
                                      lx_error *error)
{
    uint64_t kept = batch->rows;
    if (kept == rows)
        return LX_OK;
    for (uint64_t row = kept; row < rows; row++) {
        batch->indices[row] = batch->indices[row - kept];
        batch->positions[row] = batch->positions[row - kept];
    }
    lx__batch_set_rows(batch, rows);
    /* Read, not copied: the values of a column that varies need more memory than there is. */
    lx_samples samples = lx__batch_samples(batch, 0, rows);
    lx_status status = lx_source_fill_samples(source, &samples, batch->targets, error);
    return status == LX_OK ? lx__varying_fill(source, batch, NULL, error) : status;
}
