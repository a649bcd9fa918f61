/* SPDX-License-Identifier: MIT */
#include "pack-convert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/recordio.h>
#include <loaderx/zrecord.h>

#include "dataset.h"
#include "failure.h"
#include "interrupt.h"
#include "pack-header.h"
#include "pack-output.h"
#include "recordio-pass.h"

/** Memory that grows. */
typedef struct buffer {
    void *bytes;
    size_t capacity;
} buffer;

/** A conversion. Its output is opened at the first record, whose labels are those of all. */
typedef struct conversion {
    pack_job *job;
    pack_output *to;
    bool opened;
    uint32_t label_count;  /* of the first record */
    bool varies;           /* other records have, or may have, other numbers of labels */
    bool again;            /* the output must be made again for this reason */
    buffer record, labels; /* of a dataset */
} conversion;

/** Opens the output, for records that have this many labels. */
static lx_status begin(conversion *self, uint32_t labels, lx_error *error)
{
    image_entry entries[] = {{.labels = labels}, {.labels = labels + self->varies}};
    const image_list list = {.entries = entries, .count = 2};
    const pack_images images = {.list = &list};
    size_t at;
    uint64_t found;
    if (self->opened)
        return LX_OK;
    self->opened = true;
    self->label_count = labels;
    return self->to->class->open(self->to, &images, PACK_REPLACE, &at, &found, error);
}

static lx_status add(conversion *self, uint64_t id, uint32_t labels, const void *record,
                     size_t size, lx_error *error)
{
    lx_status status = begin(self, labels, error);
    if (status == LX_OK && labels != self->label_count && !self->varies) {
        self->varies = self->again = true;
        return lx_fail(error, LX_ERR_MISMATCH, "the number of labels varies");
    }
    return status == LX_OK ? self->to->class->add(self->to, id, record, size, error) : status;
}

static lx_status finish(conversion *self, lx_status status, lx_error *error)
{
    const pack_output_class *class = self->to->class;
    lx_status closed = class->close(self->to, status == LX_OK ? PACK_COMPLETE : PACK_DISCARD,
                                    error);
    if (status != LX_OK)
        return status;
    status = closed == LX_OK ? class->install(self->to, error) : closed;
    if (status != LX_OK) /* nothing can continue it */
        (void)class->close(self->to, PACK_DISCARD, NULL);
    return status;
}

typedef lx_status copy_function(conversion *self, const char *input, lx_error *error);

/** Copies all records; begins again if the type of the labels turns out to be another one. */
static lx_status copy_all(conversion *self, copy_function *copy, const char *input, lx_error *error)
{
    lx_status status = copy(self, input, error);
    if (!self->again)
        return status;
    lx_error_clear(error);
    status = self->to->class->close(self->to, PACK_DISCARD, error);
    self->opened = false;
    self->job->bytes = 0;
    return status == LX_OK ? copy(self, input, error) : status;
}

/** Creates the output, runs @p copy and gives the output its name. */
static lx_status convert(pack_job *job, const char *input, const char *output, copy_function *copy,
                         lx_error *error)
{
    conversion self = {.job = job};
    progress clock;
    interrupt_catch();
    progress_begin(&clock, "pack", true);
    lx_status status = pack_output_new(output, 0, job->replace ? PACK_REPLACE : PACK_AGAIN, false,
                                       job->executor, &self.to, error);
    if (status == LX_OK && self.to->class->lock != NULL)
        status = self.to->class->lock(self.to, error);
    self.varies = self.to != NULL && self.to->class == &pack_records_class; /* it has no types */
    if (status == LX_OK)
        status = finish(&self, copy_all(&self, copy, input, error), error);
    job->seconds = progress_seconds(&clock);
    pack_output_free(self.to);
    free(self.record.bytes);
    free(self.labels.bytes);
    return status;
}

/* ---- RecordIO files */

static lx_status copy_record(void *user, const recordio_pass *pass,
                             const lx_recordio_record *record, lx_error *error)
{
    conversion *self = user;
    lx_recordio_label label;
    lx_status status = lx_recordio_label_read(record->data, record->size, &label, error);
    if (status == LX_OK && label.id2 != 0)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the header has a second id, for which datasets have no field");
    lx_error_locate(error, NULL, NULL, pass->records - 1, record->offset);
    return status == LX_OK ? add(self, label.id, label.count != 0 ? label.count : 1, record->data,
                                 record->size, error)
                           : status;
}

static lx_status copy_records(conversion *self, const char *input, lx_error *error)
{
    recordio_pass pass;
    recordio_pass_begin(&pass, "pack", false, self->job->quiet);
    recordio_pass_expect(&pass, input);
    pass.advice = "'loaderx recordio merge --skip' leaves out what is damaged";
    lx_status status = recordio_pass_read(&pass, input, copy_record, self, error);
    if (error->path[0] == '\0' || strcmp(error->path, input) == 0) /* not that of the output */
        lx_error_locate(error, input, NULL, status == LX_ERR_CORRUPT ? pass.records : LX_NONE,
                        LX_NONE);
    self->job->packed = pass.records;
    self->job->bytes = pass.bytes;
    return status == LX_OK ? begin(self, 1, error) : status;
}

lx_status pack_convert_records(pack_job *self, const char *input, const char *output,
                               lx_error *error)
{
    return convert(self, input, output, copy_records, error);
}

/* ---- datasets */

enum { LABEL, IMAGE, ID, FIELDS };

/* Ids that are read at once. */
#define IDS 4096
/* Larger numbers are not all floats. */
#define LABEL_MAX (1 << 24)

/** A dataset, and its fields of images. */
typedef struct image_dataset {
    lx_dataset *dataset;
    size_t fields[FIELDS]; /* their positions */
    size_t count;          /* without an id, which is then the index: one fewer */
    lx_dtype label;
} image_dataset;

static lx_status find_image(const lx_schema *schema, size_t *position, lx_error *error)
{
    size_t found = 0;
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++) {
        if (lx_schema_get_field(schema, i)->dtype != LX_IMAGE)
            continue;
        *position = i;
        found++;
    }
    return found == 1 ? LX_OK
                      : lx_fail(error, LX_ERR_MISMATCH,
                                "the dataset has %zu fields of the type image: a RecordIO file "
                                "has exactly one",
                                found);
}

static lx_status find_fields(image_dataset *self, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(self->dataset);
    lx_status status = find_image(schema, &self->fields[IMAGE], error);
    if (status == LX_OK)
        status = lx_schema_find_field(schema, "label", &self->fields[LABEL], error);
    if (status != LX_OK)
        return status;
    const lx_field *label = lx_schema_get_field(schema, self->fields[LABEL]);
    self->label = label->dtype;
    self->count = ID;
    if (lx_schema_find_field(schema, "id", &self->fields[ID], NULL) == LX_OK) {
        const lx_field *id = lx_schema_get_field(schema, self->fields[ID]);
        self->count++;
        if ((id->dtype != LX_INT64 && id->dtype != LX_UINT64) || id->ndim != 0)
            return lx_fail(error, LX_ERR_MISMATCH, "the field 'id' must be an int64 or a uint64");
    }
    if ((label->dtype != LX_FLOAT32 && label->dtype != LX_INT64) || label->ndim > 1)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the field 'label' must be a float32 or an int64, or an array of them");
    return LX_OK;
}

static lx_status reserve(buffer *self, size_t size, lx_error *error)
{
    if (self->bytes != NULL && size <= self->capacity)
        return LX_OK;
    void *grown = realloc(self->bytes, size + 1);
    if (grown == NULL)
        return fail_memory(error, "a record");
    self->bytes = grown;
    self->capacity = size;
    return LX_OK;
}

/** Finds the sizes of the values of a record, none of which may be missing. */
static lx_status measure(const image_dataset *from, uint64_t index, uint64_t sizes[FIELDS],
                         lx_error *error)
{
    for (size_t i = 0; i < from->count; i++) {
        uint64_t offsets[2];
        uint8_t present;
        lx_status status = lx_dataset_get_sizes(from->dataset, from->fields[i], &index, 1, offsets,
                                                &present, error);
        if (status == LX_OK && !present)
            status = lx_fail(error, LX_ERR_MISMATCH, "the value is missing");
        if (status == LX_OK && i == LABEL && offsets[1] == 0)
            status = lx_fail(error, LX_ERR_MISMATCH, "there are no labels: a record needs one");
        if (status == LX_OK && offsets[1] >= LX_MAX_RECORDIO_LENGTH / 2)
            status = lx_fail(error, LX_ERR_LIMIT, "the value is too large for a record");
        if (status != LX_OK) {
            const lx_schema *schema = lx_dataset_get_schema(from->dataset);
            lx_error_locate(error, NULL, lx_schema_get_field(schema, from->fields[i])->name, index,
                            LX_NONE);
            return status;
        }
        sizes[i] = offsets[1];
    }
    return LX_OK;
}

/** Reads a value to @p to. */
static lx_status read_value(const image_dataset *from, size_t field, uint64_t index, uint64_t size,
                            void *to, lx_error *error)
{
    const uint64_t offsets[2] = {0, size};
    return lx_dataset_gather_bytes(from->dataset, from->fields[field], &index, 1, offsets, to,
                                   error);
}

/** Makes floats of integers, in place. */
static lx_status make_floats(void *labels, size_t count, uint64_t index, lx_error *error)
{
    for (size_t i = 0; i < count; i++) {
        int64_t number;
        memcpy(&number, (char *)labels + i * sizeof number, sizeof number);
        float label = (float)number;
        if (number > LABEL_MAX || number < -LABEL_MAX) {
            lx_fail(error, LX_ERR_LIMIT, "a float cannot hold the label %" PRId64, number);
            lx_error_locate(error, NULL, "label", index, LX_NONE);
            return LX_ERR_LIMIT;
        }
        memcpy((char *)labels + i * sizeof label, &label, sizeof label);
    }
    return LX_OK;
}

static lx_status read_labels(conversion *self, const image_dataset *from, uint64_t index,
                             uint64_t size, uint32_t *count, lx_error *error)
{
    bool floats = from->label == LX_FLOAT32;
    *count = (uint32_t)(size / (floats ? sizeof(float) : sizeof(int64_t)));
    lx_status status = reserve(&self->labels, (size_t)size, error);
    if (status == LX_OK)
        status = read_value(from, LABEL, index, size, self->labels.bytes, error);
    return status == LX_OK && !floats ? make_floats(self->labels.bytes, *count, index, error)
                                      : status;
}

/** Makes a record of the values of one. */
static lx_status copy_index(conversion *self, const image_dataset *from, uint64_t index,
                            lx_error *error)
{
    uint64_t id = index, sizes[FIELDS];
    uint32_t count = 0;
    lx_status status = measure(from, index, sizes, error);
    if (status == LX_OK)
        status = read_labels(self, from, index, sizes[LABEL], &count, error);
    if (status != LX_OK)
        return status;
    size_t header = pack_header_size(count), size = header + (size_t)sizes[IMAGE];
    status = reserve(&self->record, size, error);
    if (status == LX_OK && from->count > ID)
        status = read_value(from, ID, index, sizes[ID], &id, error);
    if (status == LX_OK)
        status = read_value(from, IMAGE, index, sizes[IMAGE],
                            (uint8_t *)self->record.bytes + header, error);
    if (status != LX_OK)
        return status;
    self->job->bytes += size;
    pack_header_write(self->record.bytes, id, self->labels.bytes, count);
    return add(self, id, count, self->record.bytes, size, error);
}

/** Reads ids, none of which may be missing. */
static lx_status read_ids(const image_dataset *from, uint64_t *ids, uint64_t length,
                          lx_error *error)
{
    uint64_t indices[IDS], offsets[IDS + 1];
    uint8_t present[IDS];
    lx_status status = LX_OK;
    for (uint64_t first = 0; status == LX_OK && first < length; first += IDS) {
        size_t count = length - first < IDS ? (size_t)(length - first) : IDS;
        for (size_t i = 0; i < count; i++)
            indices[i] = first + i;
        status = lx_dataset_get_sizes(from->dataset, from->fields[ID], indices, count, offsets,
                                      present, error);
        const uint8_t *missing = memchr(present, 0, count);
        if (status == LX_OK && missing != NULL) {
            status = lx_fail(error, LX_ERR_MISMATCH, "the value is missing");
            lx_error_locate(error, NULL, "id", indices[missing - present], LX_NONE);
        }
        if (status == LX_OK)
            status = lx_dataset_gather(from->dataset, from->fields[ID], indices, count, ids + first,
                                       sizeof *ids, error);
    }
    return status;
}

/** Checks, before a file is written, that its index can have the ids as keys. */
static lx_status check_ids(const image_dataset *from, uint64_t length, lx_error *error)
{
    if (from->count == ID)
        return LX_OK;
    uint64_t *ids = length < SIZE_MAX / sizeof *ids ? calloc(length + 1, sizeof *ids) : NULL;
    if (ids == NULL)
        return fail_memory(error, "the ids");
    lx_status status = read_ids(from, ids, length, error);
    const uint64_t *repeated = status == LX_OK ? image_list_find_repeated(ids, length) : NULL;
    if (repeated != NULL)
        status = lx_fail(
            error, LX_ERR_MISMATCH,
            "two records have the id %" PRIu64 ", and ids are the keys of the index: "
            "'loaderx copy --field label --field %s' leaves ids out, and then the "
            "numbers of records are the keys",
            *repeated,
            lx_schema_get_field(lx_dataset_get_schema(from->dataset), from->fields[IMAGE])->name);
    free(ids);
    return status;
}

static lx_status copy_dataset(conversion *self, const char *input, lx_error *error)
{
    progress bar;
    image_dataset from = {0};
    progress_begin(&bar, "pack", self->job->quiet);
    lx_status status = dataset_open(input, &from.dataset, error);
    if (status == LX_OK)
        status = find_fields(&from, error);
    uint64_t length = status == LX_OK ? lx_dataset_get_length(from.dataset) : 0;
    if (status == LX_OK)
        status = check_ids(&from, length, error);
    for (uint64_t i = 0; status == LX_OK && i < length; i++) {
        status = copy_index(self, &from, i, error);
        progress_update(&bar, i + 1, length, 0);
        if (status == LX_OK)
            status = interrupt_check(error);
    }
    progress_clear(&bar);
    lx_error_locate(error, input, NULL, LX_NONE, LX_NONE);
    lx_dataset_close(from.dataset);
    self->job->packed = length;
    return status == LX_OK ? begin(self, 1, error) : status;
}

lx_status pack_convert_dataset(pack_job *self, const char *input, const char *output,
                               lx_error *error)
{
    return convert(self, input, output, copy_dataset, error);
}
