/* SPDX-License-Identifier: MIT */
/* Datasets with the columns of a RecordIO source: label, id and image. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/recordio.h>
#include <loaderx/zrecord.h>

#include "dataset.h"
#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "pack-output.h"

enum { LABEL, ID, IMAGE, FIELDS };

/* Ids that are read at once. */
#define IDS 4096

typedef struct pack_dataset {
    pack_output base;
    lx_writer *writer;
    bool opened; /* the writer was */
    float *labels;
    size_t capacity;
} pack_dataset;

static bool is_begun(const pack_output *self)
{
    char name[4096];
    int size = snprintf(name, sizeof name, "%s/meta.json", self->unfinished);
    return size > 0 && (size_t)size < sizeof name && access(name, F_OK) == 0;
}

static lx_status check(pack_output *self, pack_mode mode, lx_error *error)
{
    struct stat about;
    lx_status status = directory_check_parent(self->path, error);
    if (status == LX_OK && !pack_output_is_named(self) && lstat(self->path, &about) == 0)
        status = lx_fail(error, LX_ERR_EXISTS, "%.400s exists: give the dataset another name",
                         self->path);
    if (status == LX_OK && mode == PACK_NEW && is_begun(self))
        status = pack_output_fail_begun(self->unfinished, error);
    return status;
}

/** The number of labels is part of the type, unless it varies. */
static lx_status fill_schema(const image_list *list, lx_schema *schema, lx_error *error)
{
    uint64_t labels = list->count != 0 ? list->entries[0].labels : 1;
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].labels != labels)
            labels = LX_NONE;
    lx_status status = lx_schema_add_field(schema, "label", LX_FLOAT32, &labels, labels != 1,
                                           LX_COMPRESSION_RAW, error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "id", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, error);
    return status == LX_OK
               ? lx_schema_add_field(schema, "image", LX_IMAGE, NULL, 0, LX_COMPRESSION_RAW, error)
               : status;
}

/** Makes a new dataset in place of one that was begun. */
static lx_status create(pack_dataset *self, const image_list *list,
                        const lx_writer_options *options, lx_error *error)
{
    if (is_begun(&self->base)) {
        lx_status removed = lx_dataset_remove(self->base.unfinished, error);
        if (removed != LX_OK)
            return removed;
    }
    bool made = false;
    lx_schema *schema = lx_schema_new();
    lx_status status = schema != NULL ? fill_schema(list, schema, error)
                                      : fail_memory(error, "a schema");
    if (status == LX_OK)
        status = directory_make(self->base.unfinished, &made, error);
    if (status == LX_OK)
        status = lx_writer_create(self->base.unfinished, schema, options, &self->writer, error);
    if (made && status != LX_OK && status != LX_ERR_EXISTS && status != LX_ERR_BUSY)
        directory_discard(self->base.unfinished, made, false);
    lx_schema_free(schema);
    return status;
}

/** Counts the records that are those of the images, from the first one on. */
static lx_status match_ids(const char *path, const pack_images *images, size_t *at, uint64_t *good,
                           lx_error *error)
{
    uint64_t indices[IDS], ids[IDS];
    lx_dataset *dataset = NULL;
    bool matches = true;
    lx_status status = dataset_open(path, &dataset, error);
    uint64_t length = status == LX_OK ? lx_dataset_get_length(dataset) : 0;
    for (*good = 0; status == LX_OK && matches && *good < length;) {
        size_t count = length - *good < IDS ? (size_t)(length - *good) : IDS;
        for (size_t i = 0; i < count; i++)
            indices[i] = *good + i;
        status = lx_dataset_gather(dataset, ID, indices, count, ids, sizeof *ids, error);
        for (size_t i = 0; status == LX_OK && matches && i < count; i++) {
            matches = pack_images_match(images, at, ids[i]);
            *good += matches;
        }
        if (status == LX_OK)
            status = interrupt_check(error);
    }
    lx_dataset_close(dataset);
    return status;
}

static lx_status recover(pack_dataset *self, const pack_images *images,
                         const lx_writer_options *options, size_t *at, uint64_t *found,
                         lx_error *error)
{
    lx_status status = lx_writer_open(self->base.unfinished, options, &self->writer, error);
    if (status == LX_OK)
        status = match_ids(self->base.unfinished, images, at, found, error);
    return status == LX_OK ? lx_writer_truncate(self->writer, *found, error) : status;
}

static lx_status open_dataset(pack_output *output, const pack_images *images, pack_mode mode,
                              size_t *at, uint64_t *found, lx_error *error)
{
    pack_dataset *self = (pack_dataset *)output;
    lx_writer_options *options = lx_writer_options_new();
    *at = images->first;
    *found = 0;
    if (options == NULL)
        return fail_memory(error, "a writer");
    lx_status status = lx_writer_options_set_executor(options, output->executor, error);
    if (status == LX_OK)
        status = mode == PACK_RESUME && is_begun(output)
                     ? recover(self, images, options, at, found, error)
                     : create(self, images->list, options, error);
    self->opened = self->writer != NULL;
    lx_writer_options_free(options);
    return status;
}

static lx_status reserve(pack_dataset *self, size_t count, lx_error *error)
{
    if (count <= self->capacity)
        return LX_OK;
    float *grown = realloc(self->labels, count * sizeof *grown);
    if (grown == NULL)
        return fail_memory(error, "the labels");
    self->labels = grown;
    self->capacity = count;
    return LX_OK;
}

static lx_status add(pack_output *output, uint64_t id, const void *record, size_t size,
                     lx_error *error)
{
    pack_dataset *self = (pack_dataset *)output;
    lx_recordio_label label;
    lx_status status = lx_recordio_label_read(record, size, &label, error);
    uint32_t count = status == LX_OK && label.count != 0 ? label.count : 1;
    if (status == LX_OK)
        status = reserve(self, count, error);
    if (status != LX_OK)
        return status;
    self->labels[0] = label.label;
    for (uint32_t i = 0; i < label.count; i++)
        self->labels[i] = lx_recordio_label_get(&label, i);
    const lx_value values[FIELDS] = {[LABEL] = {self->labels, count * sizeof *self->labels},
                                     [ID] = {&id, sizeof id},
                                     [IMAGE] = {label.data, label.size}};
    return lx_writer_append(self->writer, values, FIELDS, NULL, error);
}

static lx_status close_dataset(pack_output *output, pack_end end, lx_error *error)
{
    pack_dataset *self = (pack_dataset *)output;
    bool empty = self->writer != NULL && lx_writer_get_length(self->writer) == 0;
    bool remove = self->opened && (end == PACK_DISCARD || (end == PACK_KEEP && empty));
    lx_status status = lx_writer_close(self->writer, error);
    self->writer = NULL;
    if (remove)
        (void)lx_dataset_remove(output->unfinished, NULL);
    return status;
}

static lx_status install(pack_output *self, lx_error *error)
{
    if (!pack_output_is_named(self) && rename(self->unfinished, self->path) == -1)
        return lx_fail_errno(error, errno, self->path, "cannot rename the finished dataset");
    return directory_sync_parent(self->path, error);
}

static void free_dataset(pack_output *output)
{
    free(((pack_dataset *)output)->labels);
}

const pack_output_class pack_dataset_class = {.size = sizeof(pack_dataset),
                                              .check = check,
                                              .open = open_dataset,
                                              .add = add,
                                              .close = close_dataset,
                                              .install = install,
                                              .free = free_dataset};
