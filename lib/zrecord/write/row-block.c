/* SPDX-License-Identifier: MIT */
#include "zrecord/write/row-block.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Memory for the rows, but for a record at least. */
#define STRIPE_BYTES ((size_t)12 << 20)

lx_status lx__stripe_open(lx__stripe *stripe, const lx_writer *writer, lx_error *error)
{
    size_t fields = writer->meta.schema->count, capacity = STRIPE_BYTES / fields / LX__ENTRY_BYTES;
    uint64_t length = writer->committed.state.length;
    *stripe = (lx__stripe){.writer = writer};
    if (capacity > length)
        capacity = (size_t)length;
    stripe->capacity = capacity != 0 ? capacity : 1;
    stripe->offsets = lx__alloc_array(stripe->capacity * fields, LX__OFFSET_ROW);
    stripe->checks = lx__alloc_array(stripe->capacity * fields, LX__CHECK_ROW);
    if (stripe->offsets == NULL || stripe->checks == NULL)
        return lx__fail_memory(error, "rows of the tables");
    return lx__sets_sort(&writer->committed.updates, writer->meta.schema, length, &stripe->sets,
                         &stripe->set_count, error);
}

void lx__stripe_close(lx__stripe *stripe)
{
    lx__free(stripe->offsets);
    lx__free(stripe->checks);
    lx__free(stripe->sets);
    *stripe = (lx__stripe){0};
}

void lx__stripe_rewind(lx__stripe *stripe)
{
    stripe->first = 0;
    stripe->count = stripe->next_set = 0;
}

/** Puts the live sets of these records into their places. */
static void put_sets(lx__stripe *stripe)
{
    uint64_t end = stripe->first + stripe->count;
    for (; stripe->next_set < stripe->set_count; stripe->next_set++) {
        const lx__sorted *set = &stripe->sets[stripe->next_set];
        if (set->index >= end)
            break;
        const lx__set *live = &stripe->writer->committed.updates.list[set->position];
        size_t at = (size_t)(set->index - stripe->first);
        memcpy(lx__stripe_offset_row(stripe, live->field, at), live->rows, LX__OFFSET_ROW);
        memcpy(lx__stripe_check_row(stripe, live->field, at), live->rows + LX__OFFSET_ROW,
               LX__CHECK_ROW);
    }
}

lx_status lx__stripe_next(lx__stripe *stripe, lx_error *error)
{
    const lx_writer *writer = stripe->writer;
    uint64_t first = stripe->first + stripe->count, left = writer->committed.state.length - first;
    size_t count = left < stripe->capacity ? (size_t)left : stripe->capacity;
    lx_status status = LX_OK;
    if (count == 0)
        return LX_END;
    for (size_t i = 0; status == LX_OK && i < writer->rows.field_count; i++) {
        const lx__table_files *files = &writer->rows.fields[i];
        status = lx__file_read(&files->offsets, lx__stripe_offset_row(stripe, i, 0),
                               count * LX__OFFSET_ROW, first * LX__OFFSET_ROW, error);
        if (status == LX_OK)
            status = lx__file_read(&files->checks, lx__stripe_check_row(stripe, i, 0),
                                   count * LX__CHECK_ROW, first * LX__CHECK_ROW, error);
    }
    if (status != LX_OK)
        return status;
    stripe->first = first;
    stripe->count = count;
    put_sets(stripe);
    return LX_OK;
}

lx_status lx__stripe_write(const lx__stripe *stripe, const lx__rows *rows, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < rows->field_count; i++) {
        const lx__table_files *files = &rows->fields[i];
        status = lx__file_write(&files->offsets, lx__stripe_offset_row(stripe, i, 0),
                                stripe->count * LX__OFFSET_ROW, stripe->first * LX__OFFSET_ROW,
                                error);
        if (status == LX_OK)
            status = lx__file_write(&files->checks, lx__stripe_check_row(stripe, i, 0),
                                    stripe->count * LX__CHECK_ROW, stripe->first * LX__CHECK_ROW,
                                    error);
    }
    return status;
}
