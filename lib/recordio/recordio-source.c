/* SPDX-License-Identifier: MIT */
/* A source over the records of a RecordIO file, which its index or a scan lists. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include <loaderx/recordio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/mapping.h"
#include "loader/sources/source.h"
#include "recordio/record.h"
#include "recordio/recordio-index.h"
#include "sampler/core/saved-state.h"

/* Bytes between two reports of the progress of a scan. */
#define REPORT_STEP ((uint64_t)4 << 20)

/* The columns, if records have MXNet's header; otherwise, DATA is the only one. */
enum { LABEL, ID, IMAGE, COLUMNS };

typedef struct recordio_source {
    lx_source source;
    lx__mapping mapping;
    char *path;
    uint64_t *offsets;    /* where each record begins, in the order of the index */
    uint64_t *sorted;     /* the same, ascending; the same memory if they already are */
    uint32_t offsets_crc; /* in saved states */
    uint32_t label_width; /* 0: the records have no header */
} recordio_source;

/** A record in contiguous memory: in the mapping, or joined from its parts. */
typedef struct record {
    const uint8_t *data;
    size_t size;
    uint8_t *joined; /* owned; NULL unless the record has several parts */
} record;

/* ---- records */

static lx_status fail_at(const recordio_source *self, uint64_t index, const char *flaw,
                         lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "the record is damaged: %s", flaw);
    lx_error_locate(error, self->path, NULL, index, self->offsets[index]);
    return status;
}

/** Finds the parts of a record. */
static lx_status measure(const recordio_source *self, uint64_t index, lx__recordio_extent *extent,
                         lx_error *error)
{
    const uint8_t *at = self->mapping.data + self->offsets[index];
    uint64_t left = self->mapping.size - self->offsets[index];
    *extent = (lx__recordio_extent){0};
    while (!extent->complete) {
        if (left < LX__RECORDIO_HEAD || left - LX__RECORDIO_HEAD < extent->stored)
            return fail_at(self, index, "the file ends within it", error);
        if (!lx__recordio_add_part(extent, at + extent->stored))
            return fail_at(self, index, extent->flaw, error);
    }
    return extent->stored <= left ? LX_OK : fail_at(self, index, "the file ends within it", error);
}

/** Gets a record; free its joined memory. */
static lx_status get_record(const recordio_source *self, uint64_t index, record *found,
                            lx_error *error)
{
    const uint8_t *at = self->mapping.data + self->offsets[index];
    lx__recordio_extent extent;
    lx_status status = measure(self, index, &extent, error);
    if (status != LX_OK)
        return status;
    *found = (record){at + LX__RECORDIO_HEAD, (size_t)extent.size, NULL};
    if (extent.parts == 1)
        return LX_OK;
    found->joined = lx__alloc((size_t)extent.size);
    if (found->joined == NULL)
        return lx__fail_memory(error, "a record of several parts");
    lx__recordio_join(at, &extent, found->joined);
    found->data = found->joined;
    return LX_OK;
}

/** Gets a record and its header; free its joined memory. */
static lx_status get_labels(const recordio_source *self, uint64_t index, record *found,
                            lx_recordio_label *label, lx_error *error)
{
    lx_status status = get_record(self, index, found, error);
    if (status != LX_OK)
        return status;
    status = lx_recordio_label_read(found->data, found->size, label, error);
    uint32_t count = status == LX_OK && label->count != 0 ? label->count : 1;
    if (status == LX_OK && count != self->label_width)
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the record has %" PRIu32 " labels, but the label width is %" PRIu32,
                         count, self->label_width);
    if (status != LX_OK) {
        lx__free(found->joined);
        lx_error_locate(error, self->path, NULL, index, self->offsets[index]);
    }
    return status;
}

/* ---- class */

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    const recordio_source *self = (const recordio_source *)source;
    for (size_t i = 0; i < count; i++) {
        record found;
        lx_recordio_label label;
        lx_status status = get_labels(self, indices[i], &found, &label, error);
        if (status != LX_OK)
            return status;
        uint8_t *labels = targets[LABEL].data;
        for (uint32_t k = 0; labels != NULL && k < self->label_width; k++) {
            float number = lx_recordio_label_get(&label, k);
            memcpy(labels + i * targets[LABEL].stride + k * sizeof number, &number, sizeof number);
        }
        if (targets[ID].data != NULL)
            memcpy((uint8_t *)targets[ID].data + i * targets[ID].stride, &label.id, 8);
        lx__free(found.joined);
    }
    return LX_OK;
}

/** Gets what the column of varying size contains: all of the record, or its image. */
static lx_status get_bytes(const recordio_source *self, uint64_t index, record *found,
                           const uint8_t **bytes, size_t *size, lx_error *error)
{
    lx_recordio_label label;
    lx_status status = self->label_width == 0 ? get_record(self, index, found, error)
                                              : get_labels(self, index, found, &label, error);
    if (status != LX_OK)
        return status;
    *bytes = self->label_width == 0 ? found->data : label.data;
    *size = self->label_width == 0 ? found->size : label.size;
    return LX_OK;
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    const recordio_source *self = (const recordio_source *)source;
    (void)column;
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        record found;
        const uint8_t *bytes;
        size_t size;
        lx_status status = get_bytes(self, indices[i], &found, &bytes, &size, error);
        if (status != LX_OK)
            return status;
        offsets[i + 1] = offsets[i] + size; /* each is below 2^29 times the number of its parts */
        lx__free(found.joined);
    }
    return LX_OK;
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    const recordio_source *self = (const recordio_source *)source;
    (void)column;
    for (size_t i = 0; i < samples->count; i++) {
        uint64_t index = samples->indices[i];
        record found;
        const uint8_t *bytes;
        size_t size;
        lx_status status = get_bytes(self, index, &found, &bytes, &size, error);
        if (status != LX_OK)
            return status;
        if (size == offsets[i + 1] - offsets[i])
            memcpy((uint8_t *)out + offsets[i], bytes, size);
        else
            status = fail_at(self, index, "it was changed while it was read", error);
        lx__free(found.joined);
        if (status != LX_OK)
            return status;
    }
    return LX_OK;
}

/** Returns where the record that follows the one at @p offset begins, or the end of the file. */
static uint64_t end_of(const recordio_source *self, uint64_t offset)
{
    size_t low = 0, high = (size_t)self->source.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->sorted[middle] > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low < self->source.length ? self->sorted[low] : self->mapping.size;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const recordio_source *self = (const recordio_source *)source;
    (void)wanted; /* each column needs the header */
    for (size_t i = 0; i < count; i++) {
        uint64_t offset = self->offsets[indices[i]];
        lx__mapping_will_need(self->mapping.data + offset, end_of(self, offset) - offset);
    }
    return true; /* they may be in memory, too */
}

static const char *locate(const lx_source *source, size_t column, uint64_t *index, uint64_t *offset)
{
    const recordio_source *self = (const recordio_source *)source;
    (void)column;
    *offset = self->offsets[*index];
    return self->path;
}

static int describe(const lx_source *source, json_t *object)
{
    const recordio_source *self = (const recordio_source *)source;
    int failed = json_object_set_new(object, "label_width", json_integer(self->label_width));
    failed |= json_object_set_new(object, "bytes", json_integer((json_int_t)self->mapping.size));
    failed |= json_object_set_new(object, "offsets", lx__state_crc(self->offsets_crc));
    return failed != 0 ? -1 : 0;
}

static void dispose(lx_source *source)
{
    recordio_source *self = (recordio_source *)source;
    lx__mapping_close(&self->mapping);
    lx__free(self->path);
    if (self->sorted != self->offsets)
        lx__free(self->sorted);
    lx__free(self->offsets);
}

static const lx__source_class class = {.kind = "recordio",
                                       .fill = fill,
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .locate = locate,
                                       .describe = describe,
                                       .read_ahead = read_ahead,
                                       .dispose = dispose};

/* ---- constructor */

static lx_status check_offsets(recordio_source *self, lx_error *error)
{
    for (uint64_t i = 0; i < self->source.length; i++) {
        if (self->offsets[i] < self->mapping.size) {
            self->offsets_crc = lx__state_add(self->offsets_crc, self->offsets[i]);
            continue;
        }
        lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                                   "the index has a record at offset %" PRIu64
                                   ", but the file has %zu bytes: make the index again",
                                   self->offsets[i], self->mapping.size);
        lx_error_locate(error, self->path, NULL, i, LX_NONE);
        return status;
    }
    return LX_OK;
}

static lx_status sort_offsets(recordio_source *self, lx_error *error)
{
    size_t length = (size_t)self->source.length, i = 1;
    self->sorted = self->offsets;
    while (i < length && self->offsets[i - 1] <= self->offsets[i])
        i++;
    if (i >= length)
        return LX_OK;
    self->sorted = lx__alloc_array(length, sizeof *self->sorted);
    if (self->sorted == NULL)
        return lx__fail_memory(error, "a source of records");
    memcpy(self->sorted, self->offsets, length * sizeof *self->offsets);
    lx__recordio_sort_offsets(self->sorted, length);
    return LX_OK;
}

static lx_status set_columns(lx_source *made, uint32_t label_width, lx_error *error)
{
    const uint64_t width = label_width;
    const lx_column_info label = {.dtype = LX_FLOAT32, .ndim = width > 1, .shape = &width};
    const lx_column_info id = {.dtype = LX_INT64}, image = {.dtype = LX_IMAGE};
    const lx_column_info data = {.dtype = LX_BYTES};
    if (width == 0)
        return lx__source_set_column(made, 0, "data", &data, error);
    lx_status status = lx__source_set_column(made, LABEL, "label", &label, error);
    if (status == LX_OK)
        status = lx__source_set_column(made, ID, "id", &id, error);
    return status == LX_OK ? lx__source_set_column(made, IMAGE, "image", &image, error) : status;
}

static lx_status map_records(recordio_source *self, lx_error *error)
{
    lx__file file;
    uint64_t size;
    lx_status status = lx__file_open(&file, LX__CWD, self->path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__file_size(&file, &size, error);
    if (status == LX_OK)
        status = lx__mapping_open(&self->mapping, &file, size, LX__ADVICE_RANDOM, error);
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&file);
    return status;
}

/** Adds a record to the list. */
static lx_status add_offset(recordio_source *self, uint64_t offset, size_t *capacity,
                            lx_error *error)
{
    size_t count = (size_t)self->source.length;
    uint64_t *grown = lx__grow_array(self->offsets, count, capacity, sizeof *grown);
    if (grown == NULL)
        return lx__fail_memory(error, "a source of records");
    self->offsets = grown;
    grown[count] = offset;
    self->source.length++;
    return LX_OK;
}

/** Reads the file to list its records. */
static lx_status scan(recordio_source *self, lx_progress_function progress, void *user,
                      lx_error *error)
{
    lx_recordio_reader *reader;
    lx_recordio_record next;
    const char *path = self->path;
    size_t capacity = 0;
    /* As a part, because offsets in a compressed file are of no use. */
    lx_status status = lx_recordio_reader_open_part(&path, 1, 0, 1, false, &reader, error);
    if (status == LX_ERR_ARGUMENT)
        lx__error_append(error, "; decompress the file");
    for (uint64_t reported = 0; status == LX_OK;) {
        status = lx_recordio_reader_next(reader, &next, error);
        if (status == LX_OK)
            status = add_offset(self, next.offset, &capacity, error);
        if (status != LX_OK || progress == NULL || next.offset - reported < REPORT_STEP)
            continue;
        reported = next.offset;
        status = lx__error_return(error, progress(reported, self->mapping.size, user, error),
                                  "progress");
    }
    lx_recordio_reader_close(reader);
    if (status == LX_ERR_CORRUPT)
        lx__error_append(error, "; 'loaderx recordio index --skip' makes an index of what is good");
    return status == LX_END ? LX_OK : status;
}

static lx_status load_index(recordio_source *self, const char *index, lx_error *error)
{
    size_t count;
    lx_status status = lx__recordio_load_offsets(index, &self->offsets, &count, error);
    if (status == LX_OK)
        self->source.length = count;
    return status;
}

/** Lists the records, from the index or, if @p index is NULL, from the file. */
static lx_status list_records(recordio_source *self, const char *index,
                              lx_progress_function progress, void *user, lx_error *error)
{
    lx_status status = index != NULL ? load_index(self, index, error)
                                     : scan(self, progress, user, error);
    if (status == LX_OK)
        status = check_offsets(self, error);
    return status == LX_OK ? sort_offsets(self, error) : status;
}

lx_status lx_source_open_recordio(const char *records, const char *index, uint32_t label_width,
                                  lx_progress_function progress, void *user, lx_source **source,
                                  lx_error *error)
{
    LX__CLEAR(source);
    lx_source *made = NULL;
    if (records == NULL || source == NULL)
        return lx__fail_null(error, records == NULL ? "records" : "source");
    lx_status status = lx__source_new(&class, sizeof(recordio_source), 0,
                                      label_width == 0 ? 1 : COLUMNS, &made, error);
    if (status != LX_OK)
        return status;
    recordio_source *self = (recordio_source *)made;
    self->label_width = label_width;
    self->path = lx__strdup(records);
    status = self->path != NULL ? set_columns(made, label_width, error)
                                : lx__fail_memory(error, "a source of records");
    if (status == LX_OK)
        status = map_records(self, error);
    if (status == LX_OK)
        status = list_records(self, index, progress, user, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}
