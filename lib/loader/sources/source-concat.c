/* SPDX-License-Identifier: MIT */
/* A concatenation of sources with the same columns. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/sources/source-parts.h"

/* Number of records that are sorted by part at a time. */
#define BLOCK LX__SOURCE_BLOCK
/* Bytes of one part's records that are read together and then scattered to their rows: they stay in
 * the first-level cache in the meantime. A longer record is read directly into its row. */
#define TOGETHER 16384

typedef struct concat_source {
    lx__parts_source parts;
    uint64_t *begins; /* first index of each part, and the end; owned by the live source, not by its
                         snapshot */
} concat_source;

/** Records to read, sorted by part. */
typedef struct block {
    size_t count;
    uint32_t part[BLOCK];   /* the part of each record */
    uint64_t index[BLOCK];  /* the index of each record within its part */
    uint16_t sorted[BLOCK]; /* rows of the block, sorted by part */
} block;

/** One read of one part. */
typedef struct job {
    lx_source *part;
    const lx_target *targets; /* the targets for the block's first record */
    lx_target *aimed;         /* scratch memory: one target per column */
    const block *block;
    const lx_samples *samples; /* the block's records, with their indices in the concatenation */
} job;

/* ---- finding parts */

static uint32_t find_part(const concat_source *self, uint64_t index, uint32_t last)
{
    if (index >= self->begins[last] && index < self->begins[last + 1])
        return last;
    size_t low = 0, high = self->parts.part_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (self->begins[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/** Sorts by one digit of the part numbers; stable. */
static void sort_by_digit(const block *b, int shift, const uint16_t *from, uint16_t *to)
{
    uint16_t starts[256] = {0}, start = 0;
    for (size_t i = 0; i < b->count; i++)
        starts[b->part[i] >> shift & 255]++;
    for (size_t digit = 0; digit < 256; digit++) {
        uint16_t these = starts[digit];
        starts[digit] = start;
        start = (uint16_t)(start + these);
    }
    for (size_t i = 0; i < b->count; i++)
        to[starts[b->part[from[i]] >> shift & 255]++] = from[i];
}

/** Sorts up to a block of records by part. */
static void make_block(const concat_source *self, const uint64_t *indices, size_t count, block *b)
{
    uint16_t other[BLOCK];
    uint32_t part = 0;
    count = count < BLOCK ? count : BLOCK;
    b->count = count;
    for (size_t i = 0; i < count; i++) {
        part = find_part(self, indices[i], part);
        b->part[i] = part;
        b->index[i] = indices[i] - self->begins[part];
        b->sorted[i] = (uint16_t)i;
    }
    for (int shift = 0; shift < 32 && (self->parts.part_count - 1) >> shift != 0; shift += 8) {
        sort_by_digit(b, shift, b->sorted, other);
        memcpy(b->sorted, other, count * sizeof *other);
    }
}

/** Counts the records of the same part that follow each other in the sorted block. */
static size_t count_of_part(const block *b, size_t first)
{
    size_t count = 1;
    while (first + count < b->count &&
           b->part[b->sorted[first + count]] == b->part[b->sorted[first]])
        count++;
    return count;
}

/** Lists the indices, in their part, of these records, and returns their number. */
static size_t list_part(const block *b, size_t first, uint64_t *indices)
{
    size_t count = count_of_part(b, first);
    for (size_t i = 0; i < count; i++)
        indices[i] = b->index[b->sorted[first + i]];
    return count;
}

/* ---- reading */

/** Returns records scattered over the block, with their indices in their part. */
static lx_samples take_scattered(const block *b, const lx_samples *samples, const uint16_t *at,
                                 size_t count, uint64_t *indices, uint64_t *positions)
{
    for (size_t i = 0; i < count; i++) {
        indices[i] = b->index[at[i]];
        positions[i] = samples->positions[at[i]];
    }
    return (lx_samples){count, indices, positions, samples->epoch};
}

/** Reads one column of records of the part into @p data, @p stride bytes apart. */
static lx_status read_column(const job *j, size_t column, const lx_samples *samples, uint8_t *data,
                             size_t stride, lx_error *error)
{
    for (size_t i = 0; i < j->part->column_count; i++)
        j->aimed[i].data = NULL;
    j->aimed[column] = (lx_target){data, stride};
    return lx__source_fill(j->part, samples, j->aimed, error);
}

/** Reads one column of records that are consecutive in the block, straight into their rows. */
static lx_status read_run(const job *j, size_t column, const uint16_t *at, size_t count,
                          lx_error *error)
{
    const lx_target *target = &j->targets[column];
    lx_samples run = lx__samples_slice(j->samples, at[0], count);
    run.indices = &j->block->index[at[0]];
    return read_column(j, column, &run, (uint8_t *)target->data + at[0] * target->stride,
                       target->stride, error);
}

/** Reads one column of records scattered over the block, and copies each to its row. */
static lx_status read_together(const job *j, size_t column, const uint16_t *at, size_t count,
                               lx_error *error)
{
    _Alignas(64) uint8_t bytes[TOGETHER];
    uint64_t indices[BLOCK], positions[BLOCK];
    const lx_samples scattered = take_scattered(j->block, j->samples, at, count, indices,
                                                positions);
    const lx_target *target = &j->targets[column];
    size_t size = (size_t)j->part->columns[column].size;
    lx_status status = read_column(j, column, &scattered, bytes, size, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        memcpy((uint8_t *)target->data + at[i] * target->stride, bytes + i * size, size);
    return status;
}

/** Counts the sorted records that are consecutive in the block, starting with the first. */
static size_t length_of_run(const uint16_t *at, size_t count)
{
    size_t run = 1;
    while (run < count && at[run] == at[0] + run)
        run++;
    return run;
}

/** Reads one column of the records of one part. */
static lx_status read_part(const job *j, size_t column, const uint16_t *at, size_t count,
                           lx_error *error)
{
    lx_status status = LX_OK;
    uint64_t size = j->part->columns[column].size;
    size_t together = size == 0 ? BLOCK : size < TOGETHER ? (size_t)(TOGETHER / size) : 1;
    while (status == LX_OK && count != 0) {
        size_t here = length_of_run(at, count);
        if (here < count && here < together && together > 1) {
            here = count < together ? count : together;
            status = read_together(j, column, at, here, error);
        } else {
            status = read_run(j, column, at, here, error);
        }
        at += here;
        count -= here;
    }
    return status;
}

static lx_status fill_block(lx_source *source, const lx_samples *samples, const lx_target *targets,
                            lx_target *aimed, lx_error *error)
{
    const concat_source *self = (const concat_source *)source;
    lx_status status = LX_OK;
    block b;
    make_block(self, samples->indices, samples->count, &b);
    for (size_t first = 0, here; status == LX_OK && first < b.count; first += here) {
        job j = {self->parts.parts[b.part[b.sorted[first]]], targets, aimed, &b, samples};
        here = count_of_part(&b, first);
        for (size_t i = 0; status == LX_OK && i < j.part->column_count; i++)
            if (targets[i].data != NULL)
                status = read_part(&j, i, b.sorted + first, here, error);
    }
    return status;
}

static lx_status fill_samples(lx_source *source, const lx_samples *samples,
                              const lx_target *targets, lx_error *error)
{
    return lx__source_fill_blocks(source, samples, targets, fill_block, error);
}

/* ---- records that vary in size */

/** Gets the sizes of the block's records, in the order of the rows. */
static lx_status get_block_sizes(const concat_source *self, size_t column, const block *b,
                                 uint64_t *sizes, lx_error *error)
{
    uint64_t indices[BLOCK], offsets[BLOCK + 1];
    lx_status status = LX_OK;
    for (size_t first = 0, here; status == LX_OK && first < b->count; first += here) {
        const uint16_t *at = b->sorted + first;
        lx_source *part = self->parts.parts[b->part[at[0]]];
        here = list_part(b, first, indices);
        status = part->class->get_sizes(part, column, indices, here, offsets, error);
        for (size_t i = 0; status == LX_OK && i < here; i++)
            sizes[at[i]] = offsets[i + 1] - offsets[i];
    }
    return status;
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    uint64_t sizes[BLOCK];
    lx_status status = LX_OK;
    block b;
    offsets[0] = 0;
    for (size_t at = 0; status == LX_OK && at < count; at += b.count) {
        make_block((const concat_source *)source, indices + at, count - at, &b);
        status = get_block_sizes((const concat_source *)source, column, &b, sizes, error);
        for (size_t i = 0; status == LX_OK && i < b.count; i++)
            if (!lx__add_fits(offsets[at + i], sizes[i], &offsets[at + i + 1]))
                status = lx__fail_sizes(error);
    }
    return status;
}

/** Counts the records, scattered over the block, that fit together into TOGETHER bytes, and sets
 * their offsets there. */
static size_t choose_together(const uint16_t *at, size_t count, const uint64_t *offsets,
                              uint64_t *into)
{
    size_t chosen = 0;
    into[0] = 0;
    for (; chosen < count; chosen++) {
        uint64_t size = offsets[at[chosen] + 1] - offsets[at[chosen]];
        if (size > TOGETHER - into[chosen])
            break;
        into[chosen + 1] = into[chosen] + size;
    }
    return chosen;
}

/** Reads records of one part: a run of consecutive rows, or short records together. Returns the
 * number of records in @p done. */
static lx_status fill_some(lx_source *part, size_t column, const block *b,
                           const lx_samples *samples, const uint16_t *at, size_t count,
                           const uint64_t *offsets, uint8_t *out, size_t *done, lx_error *error)
{
    _Alignas(64) uint8_t bytes[TOGETHER];
    uint64_t indices[BLOCK], positions[BLOCK], into[BLOCK + 1];
    size_t run = length_of_run(at, count), together = 0;
    if (run < count)
        together = choose_together(at, count, offsets, into);
    if (together <= run) {
        lx_samples straight = lx__samples_slice(samples, at[0], run);
        straight.indices = &b->index[at[0]];
        *done = run;
        return part->class->fill_bytes(part, column, &straight, offsets + at[0], out, error);
    }
    lx_samples scattered = take_scattered(b, samples, at, together, indices, positions);
    *done = together;
    lx_status status = part->class->fill_bytes(part, column, &scattered, into, bytes, error);
    for (size_t i = 0; status == LX_OK && i < together; i++)
        memcpy(out + offsets[at[i]], bytes + into[i], (size_t)(into[i + 1] - into[i]));
    return status;
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    const concat_source *self = (const concat_source *)source;
    lx_status status = LX_OK;
    block b;
    for (size_t at = 0; status == LX_OK && at < samples->count; at += b.count) {
        make_block(self, samples->indices + at, samples->count - at, &b);
        lx_samples these = lx__samples_slice(samples, at, b.count);
        for (size_t first = 0, done; status == LX_OK && first < b.count; first += done) {
            lx_source *part = self->parts.parts[b.part[b.sorted[first]]];
            status = fill_some(part, column, &b, &these, b.sorted + first, count_of_part(&b, first),
                               offsets + at, out, &done, error);
        }
    }
    return status;
}

/* ---- missing values */

static bool may_be_missing(const lx_source *source, size_t column)
{
    const lx__parts_source *parts = (const lx__parts_source *)source;
    for (size_t i = 0; i < parts->part_count; i++)
        if (lx__source_may_be_missing(parts->parts[i], column))
            return true;
    return false;
}

static lx_status mark_block(const concat_source *self, size_t column, const block *b,
                            uint8_t *present, lx_error *error)
{
    uint64_t indices[BLOCK];
    uint8_t marks[BLOCK];
    lx_status status = LX_OK;
    for (size_t first = 0, here; status == LX_OK && first < b->count; first += here) {
        const uint16_t *at = b->sorted + first;
        lx_source *part = self->parts.parts[b->part[at[0]]];
        here = list_part(b, first, indices);
        status = lx__source_mark_present(part, column, indices, here, marks, error);
        for (size_t i = 0; status == LX_OK && i < here; i++)
            present[at[i]] = marks[i];
    }
    return status;
}

static lx_status mark_present(lx_source *source, size_t column, const uint64_t *indices,
                              size_t count, uint8_t *present, lx_error *error)
{
    const concat_source *self = (const concat_source *)source;
    lx_status status = LX_OK;
    block b;
    for (size_t at = 0; status == LX_OK && at < count; at += b.count) {
        make_block(self, indices + at, count - at, &b);
        status = mark_block(self, column, &b, present + at, error);
    }
    return status;
}

/* ---- class */

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const concat_source *self = (const concat_source *)source;
    uint64_t places[BLOCK];
    bool on_disk = false;
    block b;
    for (size_t at = 0; at < count; at += b.count) {
        make_block(self, indices + at, count - at, &b);
        for (size_t first = 0, here; first < b.count; first += here) {
            here = list_part(&b, first, places);
            on_disk |= lx__source_read_ahead(self->parts.parts[b.part[b.sorted[first]]], wanted,
                                             places, here);
        }
    }
    return on_disk;
}

static lx_status pin(lx_source *source, lx_source **pinned, lx_error *error)
{
    lx_status status = lx__source_parts_pin(source, sizeof(concat_source), pinned, error);
    if (status == LX_OK) /* owned by the live source, which the snapshot references */
        ((concat_source *)*pinned)->begins = ((concat_source *)source)->begins;
    return status;
}

static void dispose(lx_source *source)
{
    if (source->live_source == NULL)
        lx__free(((concat_source *)source)->begins);
    lx__source_parts_dispose(source);
}

static const char *locate(const lx_source *source, size_t column, uint64_t *index, uint64_t *offset)
{
    const concat_source *self = (const concat_source *)source;
    uint32_t part = find_part(self, *index, 0);
    *index -= self->begins[part];
    return lx__source_locate(self->parts.parts[part], column, index, offset);
}

static const lx__source_class class = {.kind = "concat",
                                       .locate = locate,
                                       .fill_samples = fill_samples,
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .may_be_missing = may_be_missing,
                                       .mark_present = mark_present,
                                       .describe = lx__source_parts_describe,
                                       .visit_datasets = lx__source_parts_visit,
                                       .read_ahead = read_ahead,
                                       .pin = pin,
                                       .dispose = dispose};

static bool are_alike(const lx_column_info *a, const lx_column_info *b)
{
    return strcmp(a->name, b->name) == 0 && a->dtype == b->dtype && a->ndim == b->ndim &&
           (a->ndim == 0 || memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0);
}

static lx_status check_columns(const lx_source *first, const lx_source *other, size_t number,
                               lx_error *error)
{
    lx_status status = LX_OK;
    if (first->column_count != other->column_count)
        return lx_fail(error, LX_ERR_MISMATCH, "source 0 has %zu columns, but source %zu has %zu",
                       first->column_count, number, other->column_count);
    for (size_t i = 0; status == LX_OK && i < first->column_count; i++)
        if (!are_alike(&first->columns[i], &other->columns[i])) {
            status = lx_fail(error, LX_ERR_MISMATCH,
                             "column %zu of source %zu, '%.64s', differs in name, dtype or shape "
                             "from the same column of source 0",
                             i, number, other->columns[i].name);
            lx_error_locate(error, NULL, first->columns[i].name, LX_NONE, LX_NONE);
        }
    return status;
}

static lx_status check(lx_source *const *sources, size_t count, uint64_t *length, lx_error *error)
{
    *length = 0;
    if (count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "a concatenation needs at least one source");
    if (count > UINT32_MAX)
        return lx_fail(error, LX_ERR_LIMIT, "%zu sources exceed the limit of 2^32 - 1", count);
    for (size_t i = 0; i < count; i++) {
        if (sources == NULL || sources[i] == NULL)
            return lx__fail_null(error, "a source of the concatenation");
        lx_status status = check_columns(sources[0], sources[i], i, error);
        if (status != LX_OK)
            return status;
        if (sources[i]->length > UINT64_MAX - *length)
            return lx_fail(error, LX_ERR_LIMIT,
                           "the sources have more than 2^64 - 1 records in total");
        *length += sources[i]->length;
    }
    return LX_OK;
}

static lx_status add_parts(lx_source *made, lx_source *const *sources, size_t count,
                           lx_error *error)
{
    concat_source *self = (concat_source *)made;
    lx_status status = lx__source_add_parts(made, sources, count, error);
    if (status == LX_OK)
        status = lx__source_copy_columns(made, sources[0], error);
    if (status != LX_OK)
        return status;
    self->begins = lx__alloc_array(count + 1, sizeof *self->begins);
    if (self->begins == NULL)
        return lx__fail_memory(error, "a concatenation of sources");
    for (size_t i = 0; i < count; i++)
        self->begins[i + 1] = self->begins[i] + sources[i]->length;
    return LX_OK;
}

lx_status lx_source_new_concat(lx_source *const *sources, size_t count, lx_source **source,
                               lx_error *error)
{
    LX__CLEAR(source);
    uint64_t length;
    lx_source *made;
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx_status status = check(sources, count, &length, error);
    if (status == LX_OK)
        status = lx__source_new(&class, sizeof(concat_source), length, sources[0]->column_count,
                                &made, error);
    if (status != LX_OK)
        return status;
    status = add_parts(made, sources, count, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}
