/* SPDX-License-Identifier: MIT */
/* Sources of equal length whose columns are joined. */
#include <stdio.h>

#include "base/error.h"
#include "loader/sources/source-parts.h"

static lx_status fill_samples(lx_source *source, const lx_samples *samples,
                              const lx_target *targets, lx_error *error)
{
    lx__parts_source *self = (lx__parts_source *)source;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->part_count; i++) {
        lx_source *part = self->parts[i];
        bool wanted = false;
        for (size_t k = 0; k < part->column_count; k++)
            wanted = wanted || targets[k].data != NULL;
        if (wanted)
            status = lx__source_fill(part, samples, targets, error);
        targets += part->column_count;
    }
    return status;
}

/** Returns the part that has a column, and changes the column's position to its position in the
 * part. */
static lx_source *part_of(const lx_source *source, size_t *column)
{
    lx_source **part = ((const lx__parts_source *)source)->parts;
    for (; *column >= (*part)->column_count; part++)
        *column -= (*part)->column_count;
    return *part;
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    lx_source *part = part_of(source, &column);
    return part->class->get_sizes(part, column, indices, count, offsets, error);
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    lx_source *part = part_of(source, &column);
    return part->class->fill_bytes(part, column, samples, offsets, out, error);
}

static bool may_be_missing(const lx_source *source, size_t column)
{
    const lx_source *part = part_of(source, &column);
    return lx__source_may_be_missing(part, column);
}

static lx_status mark_present(lx_source *source, size_t column, const uint64_t *indices,
                              size_t count, uint8_t *present, lx_error *error)
{
    lx_source *part = part_of(source, &column);
    return lx__source_mark_present(part, column, indices, count, present, error);
}

static const char *locate(const lx_source *source, size_t column, uint64_t *index, uint64_t *offset)
{
    const lx_source *part = part_of(source, &column);
    return lx__source_locate(part, column, index, offset);
}

static lx_status pin(lx_source *source, lx_source **pinned, lx_error *error)
{
    return lx__source_parts_pin(source, sizeof(lx__parts_source), pinned, error);
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    const lx__parts_source *self = (const lx__parts_source *)source;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->part_count; i++) {
        status = lx__source_visit_datasets(self->parts[i], wanted, visit, user, error);
        if (wanted != NULL)
            wanted += self->parts[i]->column_count;
    }
    return status;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const lx__parts_source *self = (const lx__parts_source *)source;
    bool on_disk = false;
    for (size_t i = 0; i < self->part_count; i++) {
        on_disk |= lx__source_read_ahead(self->parts[i], wanted, indices, count);
        wanted += self->parts[i]->column_count;
    }
    return on_disk;
}

static const lx__source_class class = {.kind = "zip",
                                       .fill_samples = fill_samples,
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .may_be_missing = may_be_missing,
                                       .mark_present = mark_present,
                                       .locate = locate,
                                       .describe = lx__source_parts_describe,
                                       .visit_datasets = visit_datasets,
                                       .read_ahead = read_ahead,
                                       .pin = pin,
                                       .dispose = lx__source_parts_dispose};

/** Adds a column of a part. A name replaces its own, or, if the part has several, precedes it. */
static lx_status add_column(lx_source *made, size_t position, const lx_source *part,
                            const lx_column_info *column, const char *name, lx_error *error)
{
    char joined[2 * (LX__COLUMN_NAME_MAX + 1)];
    if (name == NULL)
        name = column->name;
    else if (part->column_count != 1 && name[0] != '\0') {
        int length = snprintf(joined, sizeof joined, "%s.%s", name, column->name);
        if (length > LX__COLUMN_NAME_MAX)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the column '%s' cannot be named '%s.%s', which has more than %d bytes: "
                           "pass a shorter name for its source",
                           column->name, name, column->name, LX__COLUMN_NAME_MAX);
        name = joined;
    }
    return lx__source_set_column(made, position, name, column, error);
}

/** Counts the columns, and checks that the lengths are equal. */
static lx_status count_columns(lx_source *const *sources, size_t count, size_t *columns,
                               lx_error *error)
{
    *columns = 0;
    if (count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "a zip needs at least one source");
    for (size_t i = 0; i < count; i++) {
        if (sources == NULL || sources[i] == NULL)
            return lx__fail_null(error, "a source of the zip");
        if (sources[i]->length != sources[0]->length)
            return lx_fail(
                error, LX_ERR_MISMATCH, "source 0 has %llu records, but source %zu has %llu",
                (unsigned long long)sources[0]->length, i, (unsigned long long)sources[i]->length);
        *columns += sources[i]->column_count;
    }
    return LX_OK;
}

static lx_status add_parts(lx_source *made, lx_source *const *sources, const char *const *names,
                           size_t count, lx_error *error)
{
    size_t position = 0;
    lx_status status = lx__source_add_parts(made, sources, count, error);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        const char *name = names != NULL ? names[i] : NULL;
        for (size_t k = 0; status == LX_OK && k < sources[i]->column_count; k++)
            status = add_column(made, position++, sources[i], &sources[i]->columns[k], name, error);
    }
    return status == LX_OK ? lx__source_check_names(made, error) : status;
}

lx_status lx_source_new_zip(lx_source *const *sources, const char *const *names, size_t count,
                            lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    if (source == NULL)
        return lx__fail_null(error, "source");
    size_t columns;
    lx_source *made;
    lx_status status = count_columns(sources, count, &columns, error);
    if (status == LX_OK)
        status = lx__source_new(&class, sizeof(lx__parts_source), sources[0]->length, columns,
                                &made, error);
    if (status != LX_OK)
        return status;
    status = add_parts(made, sources, names, count, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}
