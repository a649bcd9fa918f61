/* SPDX-License-Identifier: MIT */
/* Exports records from a dataset: dense values as one array to an .npy file, or byte values to one
 * file each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <loaderx/npy.h>

#include "base/alloc.h"
#include "base/atomic-file.h"
#include "base/error.h"
#include "zrecord/maintenance/export-options.h"
#include "zrecord/read/gather-dense.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/gather.h"
#include "zrecord/read/prefetch.h"
#include "zrecord/write/create.h"

/* How many bytes to gather and write at a time. */
#define BLOCK ((uint64_t)4 << 20)

/* ---- common to both exports */

/** A block of memory that grows. */
typedef struct buffer {
    uint8_t *data;
    size_t capacity;
} buffer;

typedef struct exporting {
    lx__snapshot *from;
    lx__damage_counter damages; /* of this export, to count the damaged values that it reads */
    lx__damage_counter *all;    /* of the dataset */
    size_t field;
    const lx_export_options *options;
    uint64_t count;  /* number of records to export */
    uint64_t *block; /* indices of the records in the current block */
    uint64_t block_records;
    lx_export_result result;
    lx__value_reader reader; /* for entries, and to request values */
} exporting;

/** Pins a snapshot of the dataset, and checks that it has all records to export. */
static lx_status begin(exporting *e, lx_dataset *dataset, uint64_t block_records, lx_error *error)
{
    e->all = dataset->damages;
    e->damages.policy = e->all->policy;
    lx_status status = lx__dataset_pin_newest(dataset, &e->from, error);
    if (status != LX_OK)
        return status;
    e->reader.snapshot = e->from;
    e->reader.by_pread = true;
    const uint64_t *indices = e->options->indices;
    e->count = indices != NULL ? e->options->count : e->from->length;
    for (uint64_t i = 0; indices != NULL && i < e->count; i++)
        if (indices[i] >= e->from->length)
            return lx__fail_index(e->from, e->field, indices[i], error);
    e->result.first_missing = LX_NONE;
    e->block_records = block_records;
    e->block = lx__alloc_array((size_t)block_records, sizeof *e->block);
    return e->block != NULL ? LX_OK : lx__fail_memory(error, "records to be written");
}

/** Sets the indices of the next block, which follows the first @p done records. Returns how many
 * indices it has. */
static size_t next_block(const exporting *e, uint64_t done)
{
    uint64_t left = e->count - done;
    size_t count = (size_t)(left < e->block_records ? left : e->block_records);
    for (size_t i = 0; i < count; i++)
        e->block[i] = e->options->indices != NULL ? e->options->indices[done + i] : done + i;
    return count;
}

/** Counts a record if it is missing. A damaged record is not counted, although it reads as
 * missing. */
static bool count_missing(exporting *e, uint64_t index)
{
    lx__value value;
    lx_status status = lx__value_find(&e->reader, e->field, index, &value, NULL);
    bool missing = status == LX_OK && lx__entry_is_missing(&value.entry);
    if (missing && e->result.missing++ == 0)
        e->result.first_missing = index;
    return missing;
}

static lx_status advance(exporting *e, size_t count, uint64_t bytes, lx_error *error)
{
    e->result.records += count;
    e->result.bytes += bytes;
    const lx_export_options *o = e->options;
    if (o->progress == NULL)
        return LX_OK;
    return lx__error_return(error, o->progress(e->result.records, e->count, o->user, error),
                            "progress");
}

static lx_status finish(exporting *e, lx_status status, lx_export_result *result)
{
    e->result.damaged = e->damages.count;
    atomic_fetch_add_explicit(&e->all->count, e->damages.count, memory_order_relaxed);
    lx__free(e->block);
    lx__value_reader_end(&e->reader);
    lx__snapshot_unref(e->from);
    if (status == LX_OK && result != NULL)
        *result = e->result;
    return status;
}

/* ---- as one array */

static lx_status write_block(exporting *e, const lx__file *file, size_t count, uint8_t *data,
                             uint64_t at, lx_error *error)
{
    uint64_t size = e->from->columns[e->field].rules->size;
    lx_status status = lx__gather_dense(e->from, &e->damages, e->field, e->block, count, data,
                                        (size_t)size, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        (void)count_missing(e, e->block[i]);
    if (status == LX_OK)
        status = lx__file_write(file, data, (size_t)(count * size), at, error);
    return status == LX_OK ? advance(e, count, count * size, error) : status;
}

static lx_status write_array(exporting *e, const lx_field *field, const lx__file *file,
                             lx_error *error)
{
    char header[LX_MAX_NPY_HEADER];
    size_t size = lx_npy_format_header(field, e->count, header), count;
    uint8_t *data = lx__alloc((size_t)(e->block_records * field->size) + 1);
    if (data == NULL)
        return lx__fail_memory(error, "records to be written");
    lx_status status = lx__file_write(file, header, size, 0, error);
    for (uint64_t done = 0; status == LX_OK && done < e->count; done += count) {
        count = next_block(e, done);
        status = write_block(e, file, count, data, size + done * field->size, error);
    }
    lx__free(data);
    return status;
}

/** Writes the array to a temporary file next to @p path, and then replaces what is at @p path. */
static lx_status export_array(exporting *e, const lx_field *field, const char *path,
                              lx_error *error)
{
    lx__atomic_file to;
    char *place;
    lx_status status = lx__atomic_file_find(path, &place, error);
    if (status != LX_OK)
        return status;
    status = lx__check_outside(place, error);
    if (status == LX_OK) {
        status = lx__atomic_file_begin(&to, LX__CWD, place, NULL, error);
        if (status == LX_OK)
            status = write_array(e, field, &to.file, error);
        if (status == LX_OK)
            status = lx__atomic_file_finish(&to, error);
        lx__atomic_file_end(&to);
    }
    lx__free(place);
    return status;
}

/** The options of an export if the caller passes none. */
static const lx_export_options all_records;

lx_status lx_dataset_export_npy(lx_dataset *dataset, size_t field, const char *path,
                                const lx_export_options *options, lx_export_result *result,
                                lx_error *error)
{
    lx_status status = lx__dataset_check_field(dataset, field, error);
    if (status == LX_OK && path == NULL)
        status = lx__fail_null(error, "path");
    if (status != LX_OK)
        return status;
    const lx_field *shown = lx_schema_get_field(dataset->schema, field);
    if (shown->size == LX_NONE)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "cannot export field '%s' as an array: its records vary in length",
                       shown->name);
    exporting e = {.field = field, .options = options != NULL ? options : &all_records};
    if (e.options->suffix[0] != '\0')
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the suffix has no effect when exporting to one file: omit it");
    status = begin(&e, dataset, shown->size < BLOCK ? BLOCK / (shown->size + 1) + 1 : 1, error);
    if (status == LX_OK)
        status = export_array(&e, shown, path, error);
    return finish(&e, status, result);
}

/* ---- as one file per record */

static lx_status write_file(exporting *e, const lx__file *directory, uint64_t index, buffer *value,
                            lx_error *error)
{
    char name[64 + LX_MAX_SUFFIX];
    uint8_t present;
    uint64_t offsets[2];
    lx__file file;
    lx_status status = lx__measure(e->from, &e->damages, e->field, &index, 1, offsets, &present,
                                   error);
    if (status == LX_OK && !present) {
        if (!count_missing(e, index)) /* lx__measure() found damage, but does not count it */
            (void)lx__damage_count(&e->damages, LX_ERR_CORRUPT);
        return advance(e, 1, 0, error);
    }
    if (status == LX_OK && !lx__reserve(&value->data, &value->capacity, (size_t)offsets[1] + 1))
        return lx__fail_memory(error, "a record");
    if (status == LX_OK)
        status = lx__gather_bytes(e->from, &e->damages, e->field, &index, 1, value->data, offsets,
                                  error);
    snprintf(name, sizeof name, "%08" PRIu64 "%s", index, e->options->suffix);
    if (status == LX_OK)
        status = lx__file_open(&file, directory, name, O_WRONLY | O_CREAT | O_EXCL, error);
    if (status != LX_OK)
        return status;
    status = lx__file_write(&file, value->data, (size_t)offsets[1], 0, error);
    lx__file_close(&file);
    if (status != LX_OK) /* the file would look complete, and would block another attempt */
        (void)lx__file_remove(directory, name, NULL);
    return status == LX_OK ? advance(e, 1, offsets[1], error) : status;
}

/** Opens the directory, creating it if it does not exist. */
static lx_status make_directory(const char *path, lx__file *directory, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__check_outside(path, error);
    if (status != LX_OK)
        return status;
    status = lx__directory_make(LX__CWD, path, &why);
    if (status != LX_OK && status != LX_ERR_EXISTS) {
        lx__error_propagate(error, &why);
        return status;
    }
    status = lx__directory_open(directory, LX__CWD, path, error);
    if (status != LX_OK)
        return status;
    status = lx__check_no_dataset(directory, error);
    if (status != LX_OK)
        lx__file_close(directory);
    return status;
}

lx_status lx_dataset_export_files(lx_dataset *dataset, size_t field, const char *path,
                                  const lx_export_options *options, lx_export_result *result,
                                  lx_error *error)
{
    lx__file directory;
    lx_status status = lx__dataset_check_field(dataset, field, error);
    if (status == LX_OK && path == NULL)
        status = lx__fail_null(error, "path");
    if (status != LX_OK)
        return status;
    exporting e = {.field = field, .options = options != NULL ? options : &all_records};
    status = begin(&e, dataset, 1, error);
    if (status == LX_OK)
        status = make_directory(path, &directory, error);
    if (status == LX_OK) {
        buffer value = {0};
        for (uint64_t done = 0; status == LX_OK && done < e.count; done++) {
            (void)next_block(&e, done);
            status = lx__prefetch_block(&e.reader, e.field, e.options->indices, e.count, done,
                                        error);
            if (status == LX_OK)
                status = write_file(&e, &directory, e.block[0], &value, error);
        }
        lx__free(value.data);
        lx__file_close(&directory);
    }
    return finish(&e, status, result);
}
