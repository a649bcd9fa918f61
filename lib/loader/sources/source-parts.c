/* SPDX-License-Identifier: MIT */
#include "loader/sources/source-parts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Number of columns whose targets fit on the stack. */
#define FEW_COLUMNS 16

lx_status lx__source_add_parts(lx_source *made, lx_source *const *parts, size_t count,
                               lx_error *error)
{
    lx__parts_source *self = (lx__parts_source *)made;
    self->parts = lx__alloc_array(count, sizeof(lx_source *));
    if (self->parts == NULL)
        return lx__fail_memory(error, "sources");
    for (size_t i = 0; i < count; i++) {
        self->parts[self->part_count++] = lx_source_ref(parts[i]);
        made->live = made->live || parts[i]->live;
    }
    return LX_OK;
}

lx_status lx__source_copy_columns(lx_source *made, const lx_source *from, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < made->column_count; i++)
        status = lx__source_set_column(made, i, from->columns[i].name, &from->columns[i], error);
    return status;
}

lx_status lx__source_fill_blocks(lx_source *source, const lx_samples *samples,
                                 const lx_target *targets, lx__source_fill_block *fill,
                                 lx_error *error)
{
    size_t columns = source->column_count;
    lx_target few[2 * FEW_COLUMNS], *moved = few;
    if (columns > FEW_COLUMNS)
        moved = lx__alloc_array(columns, 2 * sizeof *moved);
    if (moved == NULL)
        return lx__fail_memory(error, "a batch");
    lx_status status = LX_OK;
    memcpy(moved, targets, columns * sizeof *targets);
    for (size_t done = 0, here; status == LX_OK && done < samples->count; done += here) {
        size_t left = samples->count - done;
        here = left < LX__SOURCE_BLOCK ? left : LX__SOURCE_BLOCK;
        lx_samples block = lx__samples_slice(samples, done, here);
        status = fill(source, &block, moved, moved + columns, error);
        for (size_t i = 0; i < columns; i++)
            if (moved[i].data != NULL)
                moved[i].data = (uint8_t *)moved[i].data + here * moved[i].stride;
    }
    if (moved != few)
        lx__free(moved);
    return status;
}

int lx__source_parts_describe(const lx_source *source, json_t *object)
{
    const lx__parts_source *self = (const lx__parts_source *)source;
    json_t *parts = json_array();
    int failed = 0;
    for (size_t i = 0; i < self->part_count; i++)
        failed |= json_array_append_new(parts, lx__source_to_json(self->parts[i]));
    failed |= json_object_set_new(object, "sources", parts);
    return failed != 0 ? -1 : 0;
}

lx_status lx__source_parts_visit(const lx_source *source, const bool *wanted,
                                 lx__dataset_visit *visit, void *user, lx_error *error)
{
    const lx__parts_source *self = (const lx__parts_source *)source;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->part_count; i++)
        status = lx__source_visit_datasets(self->parts[i], wanted, visit, user, error);
    return status;
}

void lx__source_parts_dispose(lx_source *source)
{
    lx__parts_source *self = (lx__parts_source *)source;
    for (size_t i = 0; i < self->part_count; i++)
        lx_source_unref(self->parts[i]);
    lx__free(self->parts);
}

lx_status lx__source_parts_pin(lx_source *source, size_t size, lx_source **pinned, lx_error *error)
{
    lx__parts_source *self = (lx__parts_source *)source;
    lx_source *made;
    lx_status status = lx__source_new_pinned(source, size, &made, error);
    if (status != LX_OK)
        return status;
    lx__parts_source *parts = (lx__parts_source *)made;
    parts->parts = lx__alloc_array(self->part_count, sizeof(lx_source *));
    if (parts->parts == NULL)
        status = lx__fail_memory(error, "sources");
    for (size_t i = 0; status == LX_OK && i < self->part_count; i++) {
        status = lx__source_pin(self->parts[i], &parts->parts[i], error);
        parts->part_count += status == LX_OK;
    }
    if (status == LX_OK)
        *pinned = made;
    else
        lx_source_unref(made);
    return status;
}
