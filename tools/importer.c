/* SPDX-License-Identifier: MIT */
#include "importer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "report.h"

/* Bytes of all columns per block: large enough to hide the cost of a block, and small enough that
 * two of them fit into memory. */
#define BLOCK_BYTES ((uint64_t)4 << 20)

/* ---- matching columns and dataset */

static lx_status check_lengths(const importer *self, lx_error *error)
{
    const column *first = &self->columns[0];
    for (size_t i = 1; i < self->count; i++) {
        const column *other = &self->columns[i];
        if (other->header.length == first->header.length)
            continue;
        lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                                   "the file has %" PRIu64 " records, but %.200s has %" PRIu64
                                   ": all files must have the same number of records",
                                   other->header.length, first->path, first->header.length);
        lx_error_locate(error, other->path, other->field, LX_NONE, LX_NONE);
        return status;
    }
    return LX_OK;
}

static lx_status fill_schema(const importer *self, lx_schema *schema, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++) {
        const column *from = &self->columns[i];
        status = lx_schema_add_field(schema, from->field, from->header.dtype, from->header.shape,
                                     from->header.ndim, from->compression, error);
        if (status == LX_OK)
            status = lx_schema_set_compression(schema, from->field, from->level, from->dictionary,
                                               error);
    }
    return status;
}

static bool fits(const lx_field *field, const array_header *header)
{
    return field->dtype == header->dtype && field->ndim == header->ndim &&
           (field->ndim == 0 ||
            memcmp(field->shape, header->shape, field->ndim * sizeof *field->shape) == 0);
}

static lx_status check_field(const lx_field *field, const column *given, lx_error *error)
{
    char theirs[128], ours[128];
    bool bytes = lx_dtype_is_bytes(field->dtype);
    if (fits(field, &given->header))
        return LX_OK;
    const lx_field shown = {.ndim = given->header.ndim, .shape = given->header.shape};
    lx_status status =
        lx_fail(error, LX_ERR_MISMATCH,
                "the records are %s of shape %s, but those of the dataset are %s%s%s",
                lx_dtype_get_name(given->header.dtype), report_shape(&shown, ours, sizeof ours),
                lx_dtype_get_name(field->dtype), bytes ? "" : " of shape ",
                bytes ? "" : report_shape(field, theirs, sizeof theirs));
    lx_error_locate(error, given->path, given->field, LX_NONE, LX_NONE);
    return status;
}

/** Sorts the columns into the order of the schema; each field needs exactly one column. */
static lx_status match_schema(importer *self, const lx_schema *schema, lx_error *error)
{
    size_t fields = lx_schema_get_field_count(schema), position;
    for (size_t i = 0; i < self->count; i++) {
        lx_status status = lx_schema_find_field(schema, self->columns[i].field, &position, error);
        lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
        if (status != LX_OK)
            return status;
    }
    for (size_t i = 0; i < fields; i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        size_t at = i;
        while (at < self->count && strcmp(self->columns[at].field, field->name) != 0)
            at++;
        if (at >= self->count) {
            lx_fail(error, LX_ERR_ARGUMENT,
                    "the dataset has this field, but no file is given for it");
            lx_error_locate(error, self->path, field->name, LX_NONE, LX_NONE);
            return LX_ERR_ARGUMENT;
        }
        column found = self->columns[at];
        self->columns[at] = self->columns[i];
        self->columns[i] = found;
        lx_status status = check_field(field, &found, error);
        if (status != LX_OK)
            return status;
    }
    return LX_OK;
}

/* ---- copying records */

/** A block of every column, filled by the executor's readers. */
typedef struct filling {
    importer *self;
    size_t block;
    uint64_t records;
} filling;

static lx_status fill_column(size_t part, void *user, lx_error *error)
{
    filling *f = user;
    return column_read(&f->self->columns[part], f->block, f->records, error);
}

static lx_status write_block(importer *self, lx_writer *writer, const filling *f, lx_error *error)
{
    lx_values *values = calloc(self->count, sizeof *values);
    if (values == NULL)
        return fail_memory(error, "a block of records");
    for (size_t i = 0; i < self->count; i++) {
        values[i].data = self->columns[i].blocks[f->block];
        self->bytes += f->records * self->columns[i].header.size;
    }
    lx_status status = lx_writer_extend(writer, f->records, values, self->count, NULL, error);
    free(values);
    return status;
}

static uint64_t block_records(const importer *self)
{
    uint64_t size = 0, length = self->columns[0].header.length;
    for (size_t i = 0; i < self->count; i++)
        size += self->columns[i].header.size;
    uint64_t records = size < BLOCK_BYTES ? BLOCK_BYTES / (size != 0 ? size : 1) : 1;
    return records < length ? records : length;
}

static filling next_filling(importer *self, const filling *before, uint64_t most)
{
    uint64_t left = self->columns[0].header.length - self->columns[0].read;
    return (filling){self, (before->block + 1) % COLUMN_BLOCKS, left < most ? left : most};
}

/** Reads a block while the previous one is written. */
static lx_status pump(importer *self, lx_writer *writer, uint64_t most, lx_error *error)
{
    uint64_t total = self->columns[0].header.length, written = 0;
    filling next, now = {self, 0, 0};
    lx_status status = LX_OK;
    while (status == LX_OK && written < total) {
        lx_ticket *ticket = NULL;
        lx_status filled = LX_OK;
        next = next_filling(self, &now, most);
        if (next.records != 0)
            status = lx_executor_submit(self->executor, LX_QUEUE_READ, fill_column, &next,
                                        self->count, &ticket, error);
        if (status == LX_OK && now.records != 0)
            status = write_block(self, writer, &now, error);
        written += now.records;
        if (status != LX_OK)
            lx_ticket_cancel(ticket);
        if (ticket != NULL)
            filled = lx_ticket_wait(ticket, error);
        lx_ticket_unref(ticket);
        if (status == LX_OK)
            status = filled != LX_OK ? filled : interrupt_check(error);
        now = next;
        progress_update(self->bar, written, total, self->bytes);
    }
    return status;
}

/** An empty column is not read, but its file must end after its header. */
static lx_status finish_empty(importer *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        if (self->columns[i].header.length == 0)
            status = column_read(&self->columns[i], 0, 0, error);
    return status;
}

static lx_status transact(importer *self, lx_writer *writer, lx_error *error)
{
    uint64_t most = block_records(self);
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        status = column_reserve(&self->columns[i], most, error);
    if (status == LX_OK)
        status = lx_writer_begin_transaction(writer, error);
    self->first = lx_writer_get_length(writer);
    if (status == LX_OK)
        status = finish_empty(self, error);
    if (status == LX_OK)
        status = pump(self, writer, most, error);
    if (status == LX_OK)
        status = lx_writer_end_transaction(writer, error);
    self->length = lx_writer_get_length(writer);
    return status;
}

/* ---- appending and creating */

static lx_status append(importer *self, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(self->path, self->options, &writer, error);
    advise(error, LX_ERR_NOT_FOUND, "omit --append to create a new dataset");
    if (status == LX_OK)
        status = match_schema(self, lx_writer_get_schema(writer), error);
    if (status == LX_OK)
        status = transact(self, writer, error);
    if (status != LX_OK && writer != NULL)
        (void)lx_writer_rollback(writer, NULL); /* if this fails, nothing was committed */
    if (status == LX_OK && self->seal) {
        status = lx_writer_seal(writer, error);
        if (status != LX_OK)
            advise(error, error->status,
                   "the records were imported, but the dataset is not sealed");
    }
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

static lx_status create(importer *self, const lx_schema *schema, lx_error *error)
{
    bool made;
    lx_writer *writer = NULL;
    lx_status status = directory_make(self->path, &made, error);
    if (status != LX_OK)
        return status;
    status = lx_writer_create(self->path, schema, self->options, &writer, error);
    advise(error, LX_ERR_EXISTS, "use --append to add to a dataset, or another DIR");
    if (status != LX_OK) {
        if (made && status != LX_ERR_EXISTS && status != LX_ERR_BUSY)
            directory_discard(self->path, made, false);
        return status;
    }
    status = transact(self, writer, error);
    if (status == LX_OK && self->seal)
        status = lx_writer_seal(writer, error);
    if (status != LX_OK) {
        (void)lx_writer_rollback(writer, NULL);
        directory_discard(self->path, made, true); /* while the writer still holds the lock */
    }
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

lx_status importer_run(importer *self, lx_error *error)
{
    lx_status status = check_lengths(self, error);
    if (status != LX_OK)
        return status;
    if (self->append)
        return append(self, error);
    lx_schema *schema = lx_schema_new();
    status = schema != NULL ? fill_schema(self, schema, error) : fail_memory(error, "a schema");
    if (status == LX_OK)
        status = create(self, schema, error);
    lx_schema_free(schema);
    return status;
}
