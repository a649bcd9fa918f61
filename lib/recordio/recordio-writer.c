/* SPDX-License-Identifier: MIT */
#include "recordio/recordio-writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/process.h"
#include "recordio/output.h"
#include "recordio/record.h"
#include "recordio/recordio-index.h"

#define WORD 4

struct lx_recordio_writer {
    lx__process process;
    lx__output records, index;
    bool indexed;
    uint64_t count;
    lx_error failure; /**< The first one; all later calls fail with it. */
};

static lx_recordio_writer *make(bool indexed)
{
    lx_recordio_writer *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (lx_recordio_writer){.records.file = LX__FILE_CLOSED,
                                 .index.file = LX__FILE_CLOSED,
                                 .indexed = indexed,
                                 .failure = LX_ERROR_INIT};
    lx__process_record(&made->process);
    return made;
}

static void free_writer(lx_recordio_writer *writer)
{
    lx__output_close(&writer->records);
    lx__output_close(&writer->index);
    lx_error_clear(&writer->failure);
    lx__free(writer);
}

static lx_status open_files(lx_recordio_writer *writer, const char *path, const char *index,
                            int flags, lx_error *error)
{
    lx_status status = lx__output_open(&writer->records, path, flags, error);
    if (status == LX_OK && index != NULL)
        status = lx__output_open(&writer->index, index, flags, error);
    return status;
}

static lx_status empty(lx__output *output, lx_error *error)
{
    output->offset = 0;
    return output->file.fd != -1 ? lx__file_truncate(&output->file, 0, error) : LX_OK;
}

lx_status lx_recordio_writer_create(const char *path, const char *index, bool replace,
                                    lx_recordio_writer **writer, lx_error *error)
{
    LX__CLEAR(writer);
    if (path == NULL || writer == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "writer");
    lx_recordio_writer *made = make(index != NULL);
    if (made == NULL)
        return lx__fail_memory(error, "a writer");
    lx_status status = open_files(made, path, index, O_RDWR | O_CREAT | (replace ? 0 : O_EXCL),
                                  error);
    if (status == LX_OK)
        status = empty(&made->index, error); /* first, so that no index describes other records */
    if (status == LX_OK)
        status = empty(&made->records, error);
    if (status == LX_OK) {
        *writer = made;
        return LX_OK;
    }
    if (!replace && made->records.file.fd != -1) /* this call has created it */
        (void)lx__file_remove(LX__CWD, path, NULL);
    free_writer(made);
    return status;
}

/* ---- appending */

/** The offsets of an index, sorted; NULL: there is no index. */
typedef struct offsets {
    uint64_t *list;
    size_t count;
} offsets;

/** Reads the heads of a record at offset @p at; @p stored receives how many bytes it takes. */
static lx_status measure_record(const lx_recordio_writer *writer, uint64_t at, uint64_t *stored,
                                lx_error *error)
{
    const lx__file *file = &writer->records.file;
    lx__recordio_extent extent = {.complete = false};
    uint8_t head[LX__RECORDIO_HEAD];
    lx_status status = LX_OK;
    while (status == LX_OK && extent.flaw == NULL && !extent.complete) {
        status = lx__file_read(file, head, sizeof head, at + extent.stored, error);
        if (status == LX_OK)
            (void)lx__recordio_add_part(&extent, head);
    }
    if (status == LX_OK && extent.flaw == NULL && extent.stored > writer->records.offset - at)
        extent.flaw = "the file ends within it";
    if (status == LX_OK && extent.flaw != NULL)
        status = lx_fail(error, LX_ERR_CORRUPT, "the record is damaged: %s", extent.flaw);
    lx_error_locate(error, file->path, NULL, writer->count, at);
    *stored = extent.stored;
    return status;
}

/** Counts the records, and compares their offsets with those of the index. */
static lx_status count_records(lx_recordio_writer *writer, const offsets *index, lx_error *error)
{
    uint64_t at = 0, stored = 0;
    bool equal = true;
    for (; at < writer->records.offset; at += stored) {
        lx_status status = measure_record(writer, at, &stored, error);
        if (status != LX_OK)
            return status;
        equal = equal && (index->list == NULL ||
                          (writer->count < index->count && index->list[writer->count] == at));
        writer->count++;
    }
    if (equal && (index->list == NULL || index->count == writer->count))
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                               "the index does not describe the %" PRIu64
                               " records of the file: make it again",
                               writer->count);
    lx_error_locate(error, writer->index.file.path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Ends the last line of an index, which may lack its line feed. */
static lx_status end_line(lx__output *index, lx_error *error)
{
    char last = '\n';
    lx_status status = index->offset != 0
                           ? lx__file_read(&index->file, &last, 1, index->offset - 1, error)
                           : LX_OK;
    return status == LX_OK && last != '\n' ? lx__output_add(index, "\n", 1, error) : status;
}

lx_status lx_recordio_writer_append(const char *path, const char *index,
                                    lx_recordio_writer **writer, lx_error *error)
{
    LX__CLEAR(writer);
    offsets described = {NULL, 0};
    if (path == NULL || writer == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "writer");
    lx_recordio_writer *made = make(index != NULL);
    if (made == NULL)
        return lx__fail_memory(error, "a writer");
    lx_status status = open_files(made, path, index, O_RDWR, error);
    if (status == LX_OK && index != NULL)
        status = lx__recordio_load_offsets(index, &described.list, &described.count, error);
    if (status == LX_OK && index != NULL)
        lx__recordio_sort_offsets(described.list, described.count);
    if (status == LX_OK)
        status = count_records(made, &described, error);
    if (status == LX_OK && index != NULL)
        status = end_line(&made->index, error);
    lx__free(described.list);
    if (status == LX_OK)
        *writer = made;
    else
        free_writer(made);
    return status;
}

/* ---- writing */

static lx_status add_part(lx__output *output, lx__recordio_part part, const uint8_t *data,
                          size_t size, lx_error *error)
{
    static const uint8_t zeros[WORD];
    uint8_t head[LX__RECORDIO_HEAD];
    lx__recordio_put_head(head, part, (uint32_t)size);
    lx_status status = lx__output_add(output, head, sizeof head, error);
    if (status == LX_OK)
        status = lx__output_add(output, data, size, error);
    return status == LX_OK ? lx__output_add(output, zeros, -size % WORD, error) : status;
}

static lx_status add_record(lx__output *output, const void *record, size_t size, lx_error *error)
{
    const uint8_t *data = record;
    lx__recordio_part part = LX__RECORDIO_FIRST;
    for (;;) {
        size_t cut = lx__recordio_find_magic(data, size);
        if (cut == size)
            break;
        lx_status status = add_part(output, part, data, cut, error);
        if (status != LX_OK)
            return status;
        part = LX__RECORDIO_MIDDLE;
        data += cut + WORD;
        size -= cut + WORD;
    }
    return add_part(output, part == LX__RECORDIO_FIRST ? LX__RECORDIO_WHOLE : LX__RECORDIO_LAST,
                    data, size, error);
}

static lx_status add_line(lx_recordio_writer *writer, const char *key, uint64_t offset,
                          lx_error *error)
{
    char number[24], rest[32];
    snprintf(number, sizeof number, "%" PRIu64, writer->count);
    snprintf(rest, sizeof rest, "\t%" PRIu64 "\n", offset);
    if (key == NULL)
        key = number;
    lx_status status = lx__output_add(&writer->index, key, strlen(key), error);
    return status == LX_OK ? lx__output_add(&writer->index, rest, strlen(rest), error) : status;
}

static lx_status check_use(const lx_recordio_writer *writer, const char *key, lx_error *error)
{
    if (key != NULL && (*key == '\0' || strpbrk(key, "\t\n\r") != NULL))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the key of a record must not be empty, or contain a tab, a line feed or a "
                       "carriage return");
    if (!lx__process_is_this(&writer->process))
        return lx_fail(error, LX_ERR_FORKED,
                       "the writer belongs to the parent process: write each file in one process");
    return LX_OK;
}

/** Adds a record to a file. */
typedef lx_status add_function(lx__output *output, const void *data, size_t size, lx_error *error);

/** Adds a record to the file and the index, unless the writer has failed. */
static lx_status add(lx_recordio_writer *writer, const char *key, add_function *add_data,
                     const void *data, size_t size, lx_error *error)
{
    lx_status status = check_use(writer, key, error);
    if (status != LX_OK)
        return status;
    uint64_t offset = lx__output_end(&writer->records);
    if (writer->failure.status == LX_OK)
        status = add_data(&writer->records, data, size, &writer->failure);
    if (writer->failure.status == LX_OK && writer->indexed)
        status = add_line(writer, key, offset, &writer->failure);
    if (writer->failure.status == LX_OK)
        writer->count++;
    else
        lx__error_propagate(error, &writer->failure);
    return writer->failure.status;
}

lx_status lx_recordio_writer_write(lx_recordio_writer *writer, const char *key, const void *data,
                                   size_t size, lx_error *error)
{
    if (writer == NULL || (data == NULL && size != 0))
        return lx__fail_null(error, writer == NULL ? "writer" : "data");
    if (size >= LX_MAX_RECORDIO_LENGTH)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the record has %zu bytes, but must have fewer than %zu (2^29)", size,
                       LX_MAX_RECORDIO_LENGTH);
    return add(writer, key, add_record, data, size, error);
}

lx_status lx__recordio_writer_add_parts(lx_recordio_writer *writer, const char *key,
                                        const void *parts, size_t size, lx_error *error)
{
    return add(writer, key, lx__output_add, parts, size, error);
}

uint64_t lx_recordio_writer_get_offset(const lx_recordio_writer *writer)
{
    return lx__output_end(&writer->records);
}

uint64_t lx_recordio_writer_get_count(const lx_recordio_writer *writer)
{
    return writer->count;
}

lx_status lx_recordio_writer_close(lx_recordio_writer *writer, lx_error *error)
{
    if (writer == NULL)
        return LX_OK;
    if (!lx__process_is_this(&writer->process)) { /* the parent writes what is buffered */
        free_writer(writer);
        return LX_OK;
    }
    if (writer->failure.status == LX_OK)
        (void)lx__output_finish(&writer->records, &writer->failure);
    if (writer->failure.status == LX_OK && writer->indexed)
        (void)lx__output_finish(&writer->index, &writer->failure);
    lx_status status = writer->failure.status;
    if (status != LX_OK)
        lx__error_propagate(error, &writer->failure);
    free_writer(writer);
    return status;
}
