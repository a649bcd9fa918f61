/* SPDX-License-Identifier: MIT */
#include "importer/class-labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/dataset.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"

/* Records of the dataset that are read at a time. */
#define BATCH ((size_t)1024)
/* The name of a folder has at most 255 bytes; longer values show that the field has no classes. */
#define MAX_NAME ((size_t)255)
/* At fewer classes than this, equal ones are not merged. */
#define MERGE 4096

void lx__class_labels_free(lx__class_labels *self)
{
    for (size_t i = 0; i < self->count; i++)
        lx__free(self->list[i].name);
    lx__free(self->list);
    *self = (lx__class_labels){0};
}

/* ---- the list */

static int compare_text(const char *a, size_t a_size, const char *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare_names(const void *a, const void *b)
{
    const lx__class_label *one = a, *other = b;
    int order = compare_text(one->name, one->size, other->name, other->size);
    return order != 0 ? order : other->known - one->known;
}

static int compare_labels(const void *a, const void *b)
{
    const lx__class_label *one = a, *other = b;
    return (one->label > other->label) - (one->label < other->label);
}

static void sort(lx__class_labels *self, int (*compare)(const void *, const void *))
{
    if (self->count != 0)
        qsort(self->list, self->count, sizeof *self->list, compare);
}

static bool same_name(const lx__class_label *a, const lx__class_label *b)
{
    return compare_text(a->name, a->size, b->name, b->size) == 0;
}

/** Sorts the classes by their names, and removes repeated ones. */
static lx_status merge(lx__class_labels *self, lx_error *error)
{
    size_t count = 0;
    sort(self, compare_names);
    for (size_t i = 1; i < self->count; i++) {
        const lx__class_label *last = &self->list[i - 1], *here = &self->list[i];
        if (here->known && same_name(last, here) && last->label != here->label)
            return lx_fail(error, LX_ERR_MISMATCH,
                           "the class '%.64s' has the labels %" PRId64 " and %" PRId64
                           " in the dataset: import all folders into a new dataset",
                           here->name, last->label, here->label);
    }
    for (size_t i = 0; i < self->count; i++) {
        if (count != 0 && same_name(&self->list[count - 1], &self->list[i]))
            lx__free(self->list[i].name);
        else
            self->list[count++] = self->list[i];
    }
    self->count = count;
    self->merge = count < MERGE ? MERGE : 2 * count;
    return LX_OK;
}

lx_status lx__class_labels_put(lx__class_labels *self, const char *name, size_t size,
                               const int64_t *label, lx_error *error)
{
    lx__class_label added = {NULL, size, label != NULL ? *label : 0, label != NULL};
    lx_status status = self->count >= MERGE && self->count >= self->merge ? merge(self, error)
                                                                          : LX_OK;
    if (status != LX_OK)
        return status;
    void *list = lx__grow_array(self->list, self->count, &self->capacity, sizeof *self->list);
    if (list == NULL)
        return lx__fail_memory(error, "the classes");
    self->list = list;
    added.name = lx__alloc(size + 1);
    if (added.name == NULL)
        return lx__fail_memory(error, "the classes");
    memcpy(added.name, name, size);
    added.name[size] = '\0';
    self->list[self->count++] = added;
    return LX_OK;
}

/* ---- the classes of a dataset */

/** A part of the fields of a dataset. */
typedef struct batch {
    lx_dataset *dataset;
    size_t class, label; /**< The positions of the fields. */
    uint64_t indices[BATCH], offsets[BATCH + 1];
    uint8_t classified[BATCH], labeled[BATCH];
    int64_t labels[BATCH];
    uint8_t names[BATCH * MAX_NAME];
} batch;

static lx_status read_batch(batch *self, uint64_t first, size_t count, lx_error *error)
{
    for (size_t i = 0; i < count; i++)
        self->indices[i] = first + i;
    lx_status status = lx_dataset_get_sizes(self->dataset, self->label, self->indices, count,
                                            self->offsets, self->labeled, error);
    if (status == LX_OK)
        status = lx_dataset_gather(self->dataset, self->label, self->indices, count, self->labels,
                                   sizeof *self->labels, error);
    if (status == LX_OK)
        status = lx_dataset_get_sizes(self->dataset, self->class, self->indices, count,
                                      self->offsets, self->classified, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        if (self->offsets[i + 1] - self->offsets[i] > MAX_NAME)
            status = lx_fail(error, LX_ERR_MISMATCH,
                             "record %" PRIu64 " of the dataset has no name of a folder in the "
                             "field " LX__CLASS_FIELD,
                             first + i);
    return status == LX_OK ? lx_dataset_gather_bytes(self->dataset, self->class, self->indices,
                                                     count, self->offsets, self->names, error)
                           : status;
}

/** Adds the classes of a batch. Those of records that follow one another are often the same. */
static lx_status add_batch(lx__class_labels *self, const batch *from, size_t count, lx_error *error)
{
    lx_status status = LX_OK;
    const char *last = NULL;
    size_t last_size = 0;
    int64_t last_label = 0;
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        const char *name = (const char *)from->names + from->offsets[i];
        size_t size = (size_t)(from->offsets[i + 1] - from->offsets[i]);
        int64_t label = (int64_t)LX__LE64((uint64_t)from->labels[i]);
        if (!from->classified[i] || !from->labeled[i] ||
            (last != NULL && label == last_label && compare_text(name, size, last, last_size) == 0))
            continue;
        status = lx__class_labels_put(self, name, size, &label, error);
        last = name;
        last_size = size;
        last_label = label;
    }
    return status;
}

/** Finds the fields; @p found is false if the dataset has no labels. */
static lx_status find_fields(batch *self, bool *found, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(self->dataset);
    *found = lx_schema_find_field(schema, LX__LABEL_FIELD, &self->label, NULL) == LX_OK;
    if (!*found)
        return LX_OK;
    const lx_field *label = lx_schema_get_field(schema, self->label);
    if (lx_schema_find_field(schema, LX__CLASS_FIELD, &self->class, NULL) == LX_OK &&
        lx_dtype_is_bytes(lx_schema_get_field(schema, self->class)->dtype) &&
        label->dtype == LX_INT64 && label->ndim == 0)
        return LX_OK;
    return lx_fail(error, LX_ERR_MISMATCH,
                   "the dataset has labels, but no text " LX__CLASS_FIELD " that says which class "
                   "each int64 " LX__LABEL_FIELD " is: import all folders into a new dataset");
}

static lx_status check_labels(lx__class_labels *self, lx_error *error)
{
    sort(self, compare_labels);
    for (size_t i = 1; i < self->count; i++)
        if (self->list[i - 1].label == self->list[i].label)
            return lx_fail(error, LX_ERR_MISMATCH,
                           "the classes '%.64s' and '%.64s' have the label %" PRId64
                           " in the dataset: import all folders into a new dataset",
                           self->list[i - 1].name, self->list[i].name, self->list[i].label);
    return LX_OK;
}

static lx_status read_all(lx__class_labels *self, batch *from, uint64_t length, lx_error *error)
{
    bool found;
    lx_status status = find_fields(from, &found, error);
    if (status != LX_OK || !found)
        return status;
    for (uint64_t at = 0; status == LX_OK && at < length; at += BATCH) {
        size_t count = length - at < BATCH ? (size_t)(length - at) : BATCH;
        status = read_batch(from, at, count, error);
        if (status == LX_OK)
            status = add_batch(self, from, count, error);
    }
    if (status == LX_OK)
        status = merge(self, error);
    return status == LX_OK ? check_labels(self, error) : status;
}

lx_status lx__class_labels_read(lx__class_labels *self, const char *path, uint64_t length,
                                lx_error *error)
{
    batch *from = lx__alloc(sizeof *from);
    if (from == NULL)
        return lx__fail_memory(error, "the classes");
    lx_status status = lx_dataset_open(path, NULL, &from->dataset, error);
    if (status == LX_OK)
        status = read_all(self, from, length, error);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx_dataset_close(from->dataset);
    lx__free(from);
    return status;
}

/* ---- the classes of the inputs */

typedef struct visitor {
    lx__class_labels *labels;
    const lx__file *folder;
    bool hidden;
} visitor;

static lx_status visit(void *user, const char *name, lx_error *error)
{
    const visitor *self = user;
    bool folder = false;
    lx_status status = *name != '.' || self->hidden
                           ? lx__file_leads_to_directory(self->folder, name, &folder, error)
                           : LX_OK;
    return status == LX_OK && folder
               ? lx__class_labels_put(self->labels, name, strlen(name), NULL, error)
               : status;
}

lx_status lx__class_labels_add(lx__class_labels *self, const char *folder, bool hidden,
                               lx_error *error)
{
    lx__file file = LX__FILE_CLOSED;
    visitor user = {self, &file, hidden};
    lx_status status = lx__directory_open(&file, LX__CWD, folder, error);
    if (status == LX_OK)
        status = lx__directory_each(&file, visit, &user, error);
    lx_error_locate(error, folder, NULL, LX_NONE, LX_NONE);
    lx__file_close(&file);
    return status;
}

lx_status lx__class_labels_number(lx__class_labels *self, lx_error *error)
{
    int64_t last = -1;
    lx_status status = merge(self, error);
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i].known && self->list[i].label > last)
            last = self->list[i].label;
    for (size_t i = 0; status == LX_OK && i < self->count; i++) {
        if (self->list[i].known)
            continue;
        if (last == INT64_MAX)
            return lx_fail(error, LX_ERR_LIMIT,
                           "the dataset has the largest label of all: no other is left");
        self->list[i].label = ++last;
        self->list[i].known = true;
    }
    return status;
}

bool lx__class_labels_find(const lx__class_labels *self, const char *name, size_t size,
                           int64_t *label)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const lx__class_label *here = &self->list[middle];
        int order = compare_text(name, size, here->name, here->size);
        *label = here->label;
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

uint32_t lx__class_labels_digest(const lx__class_labels *self)
{
    uint32_t value = 0;
    for (size_t i = 0; i < self->count; i++) {
        uint64_t label = LX__LE64((uint64_t)self->list[i].label);
        value = lx__crc32c(value, self->list[i].name, self->list[i].size + 1);
        value = lx__crc32c(value, &label, sizeof label);
    }
    return value;
}
