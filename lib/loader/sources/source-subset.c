/* SPDX-License-Identifier: MIT */
/* A subset of a source's records, in any order. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/sources/source-parts.h"
#include "sampler/core/index-table.h"

typedef struct subset_source {
    lx__parts_source parts; /* one part */
    lx__index_table *table; /* owned by the live source, not by its snapshot */
} subset_source;

/** A block of the part's records. */
typedef struct block {
    size_t count;
    uint64_t places[LX__SOURCE_BLOCK];
} block;

/** Finds up to a block of records in the part. */
static lx_status find_block(const lx_source *source, const uint64_t *indices, size_t count,
                            block *found, lx_error *error)
{
    found->count = count < LX__SOURCE_BLOCK ? count : LX__SOURCE_BLOCK;
    memcpy(found->places, indices, found->count * sizeof *indices);
    return lx__index_table_map(((const subset_source *)source)->table, found->places, found->count,
                               error);
}

static lx_status fill_block(lx_source *source, const lx_samples *samples, const lx_target *targets,
                            lx_target *spare, lx_error *error)
{
    lx_source *part = ((subset_source *)source)->parts.parts[0];
    lx_samples found = *samples;
    block b;
    (void)spare;
    lx_status status = find_block(source, samples->indices, samples->count, &b, error);
    found.indices = b.places;
    return status == LX_OK ? lx__source_fill(part, &found, targets, error) : status;
}

static lx_status fill_samples(lx_source *source, const lx_samples *samples,
                              const lx_target *targets, lx_error *error)
{
    return lx__source_fill_blocks(source, samples, targets, fill_block, error);
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    lx_source *part = ((subset_source *)source)->parts.parts[0];
    uint64_t block_offsets[LX__SOURCE_BLOCK + 1];
    lx_status status = LX_OK;
    block b;
    offsets[0] = 0;
    for (size_t at = 0; status == LX_OK && at < count; at += b.count) {
        status = find_block(source, indices + at, count - at, &b, error);
        if (status == LX_OK)
            status = part->class->get_sizes(part, column, b.places, b.count, block_offsets, error);
        for (size_t i = 1; status == LX_OK && i <= b.count; i++)
            if (!lx__add_fits(offsets[at], block_offsets[i], &offsets[at + i]))
                status = lx__fail_sizes(error);
    }
    return status;
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    lx_source *part = ((subset_source *)source)->parts.parts[0];
    lx_status status = LX_OK;
    block b;
    for (size_t at = 0; status == LX_OK && at < samples->count; at += b.count) {
        status = find_block(source, samples->indices + at, samples->count - at, &b, error);
        lx_samples found = lx__samples_slice(samples, at, b.count);
        found.indices = b.places;
        if (status == LX_OK)
            status = part->class->fill_bytes(part, column, &found, offsets + at, out, error);
    }
    return status;
}

static bool may_be_missing(const lx_source *source, size_t column)
{
    return lx__source_may_be_missing(((const lx__parts_source *)source)->parts[0], column);
}

static lx_status mark_present(lx_source *source, size_t column, const uint64_t *indices,
                              size_t count, uint8_t *present, lx_error *error)
{
    lx_source *part = ((subset_source *)source)->parts.parts[0];
    lx_status status = LX_OK;
    block b;
    for (size_t at = 0; status == LX_OK && at < count; at += b.count) {
        status = find_block(source, indices + at, count - at, &b, error);
        if (status == LX_OK)
            status = lx__source_mark_present(part, column, b.places, b.count, present + at, error);
    }
    return status;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    lx_source *part = ((subset_source *)source)->parts.parts[0];
    bool on_disk = false;
    block b;
    for (size_t at = 0; at < count; at += b.count)
        if (find_block(source, indices + at, count - at, &b, NULL) == LX_OK)
            on_disk |= lx__source_read_ahead(part, wanted, b.places, b.count);
    return on_disk;
}

static const char *locate(const lx_source *source, size_t column, uint64_t *index, uint64_t *offset)
{
    const subset_source *self = (const subset_source *)source;
    return lx__index_table_map(self->table, index, 1, NULL) == LX_OK
               ? lx__source_locate(self->parts.parts[0], column, index, offset)
               : NULL;
}

static int describe(const lx_source *source, json_t *object)
{
    int failed = lx__source_parts_describe(source, object);
    failed |= json_object_set_new(object, "indices",
                                  lx__index_table_to_json(((const subset_source *)source)->table));
    return failed != 0 ? -1 : 0;
}

static lx_status pin(lx_source *source, lx_source **pinned, lx_error *error)
{
    lx_status status = lx__source_parts_pin(source, sizeof(subset_source), pinned, error);
    if (status == LX_OK) /* owned by the live source, which the snapshot references */
        ((subset_source *)*pinned)->table = ((subset_source *)source)->table;
    return status;
}

static void dispose(lx_source *source)
{
    subset_source *self = (subset_source *)source;
    if (source->live_source == NULL && self->table != NULL) {
        lx__index_table_free(self->table);
        lx__free(self->table);
    }
    lx__source_parts_dispose(source);
}

static const lx__source_class class = {.kind = "subset",
                                       .fill_samples = fill_samples,
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .may_be_missing = may_be_missing,
                                       .mark_present = mark_present,
                                       .locate = locate,
                                       .describe = describe,
                                       .visit_datasets = lx__source_parts_visit,
                                       .read_ahead = read_ahead,
                                       .pin = pin,
                                       .dispose = dispose};

static lx_status check(const lx_source *part, const uint64_t *indices, uint64_t count,
                       lx_error *error)
{
    if (part == NULL || (indices == NULL && count != 0))
        return lx__fail_null(error, part == NULL ? "part" : "indices");
    for (uint64_t i = 0; i < count; i++)
        if (indices[i] >= part->length) {
            lx_status status = lx_fail(error, LX_ERR_RANGE,
                                       "indices[%" PRIu64 "] is %" PRIu64
                                       ", but the source has only %" PRIu64 " records",
                                       i, indices[i], part->length);
            lx_error_locate(error, NULL, NULL, indices[i], LX_NONE);
            return status;
        }
    return LX_OK;
}

static lx_status make(lx_source *made, lx_source *part, const uint64_t *indices, uint64_t count,
                      lx_error *error)
{
    subset_source *self = (subset_source *)made;
    lx_status status = lx__source_add_parts(made, &part, 1, error);
    if (status == LX_OK)
        status = lx__source_copy_columns(made, part, error);
    if (status != LX_OK)
        return status;
    self->table = lx__alloc_array(1, sizeof *self->table);
    return self->table != NULL ? lx__index_table_new(indices, count, self->table, error)
                               : lx__fail_memory(error, "a subset of a source");
}

lx_status lx_source_new_subset(lx_source *part, const uint64_t *indices, uint64_t count,
                               lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    lx_source *made;
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx_status status = check(part, indices, count, error);
    if (status == LX_OK)
        status = lx__source_new(&class, sizeof(subset_source), count, part->column_count, &made,
                                error);
    if (status != LX_OK)
        return status;
    status = make(made, part, indices, count, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}
