/* SPDX-License-Identifier: MIT */
/* Stores of the original Python package, loaderx 2.8: the input is the directory of one store, or a
 * directory of stores with the same number of records, each of which is a field. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "importer/field-name.h"
#include "importer/original-store.h"

enum { OPTION_FIELD };
static const char *const options[] = {[OPTION_FIELD] = "field", NULL};

typedef struct original_reader {
    lx__import_reader base;
    char **names; /**< Of the directories of stores, sorted. */
    size_t name_count, name_capacity;
    lx__original_store *stores;
    size_t store_count;
    uint64_t count, next; /**< Records. */
    lx__import_value *values;
} original_reader;

static lx__import_reader *create(void)
{
    return lx__alloc_array(1, sizeof(original_reader));
}

static void close_original(lx__import_reader *reader)
{
    original_reader *self = (original_reader *)reader;
    for (size_t i = 0; i < self->name_count; i++)
        lx__free(self->names[i]);
    for (size_t i = 0; i < self->store_count; i++)
        lx__original_store_close(&self->stores[i]);
    lx__free(self->names);
    lx__free(self->stores);
    lx__free(self->values);
    lx__free(self);
}

/* ---- finding the stores */

static lx_status keep(original_reader *self, const char *name, lx_error *error)
{
    void *names = lx__grow_array(self->names, self->name_count, &self->name_capacity,
                                 sizeof *self->names);
    if (names == NULL)
        return lx__fail_memory(error, "the names of stores");
    self->names = names;
    self->names[self->name_count] = lx__strdup(name);
    if (self->names[self->name_count] == NULL)
        return lx__fail_memory(error, "the names of stores");
    self->name_count++;
    return LX_OK;
}

static lx_status visit(void *user, const char *name, lx_error *error)
{
    original_reader *self = user;
    lx__file inner = LX__FILE_CLOSED;
    bool store = false;
    char *path = lx__path_join(self->base.source.path, name);
    if (path == NULL)
        return lx__fail_memory(error, "the path of a store");
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_open(&inner, LX__CWD, path, &why);
    if (status == LX_OK)
        status = lx__file_is_regular(&inner, "meta.zr", &store, error);
    else if (status == LX_ERR_NOT_FOUND || status == LX_ERR_CORRUPT) /* it is not a directory */
        status = LX_OK;
    else
        lx__error_propagate(error, &why);
    lx__file_close(&inner);
    lx__free(path);
    return status == LX_OK && store ? keep(self, name, error) : status;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Lists the stores in a directory. */
static lx_status list_stores(original_reader *self, const lx__file *directory, lx_error *error)
{
    lx_status status = lx__directory_each(directory, visit, self, error);
    if (status != LX_OK)
        return status;
    if (self->name_count == 0)
        return lx_fail(error, LX_ERR_NOT_FOUND,
                       "neither the directory nor a directory in it is a store of loaderx 2.8: it "
                       "has no meta.zr");
    qsort(self->names, self->name_count, sizeof *self->names, compare);
    return LX_OK;
}

/* ---- opening them */

static lx_status open_store(original_reader *self, const char *path, const char *name,
                            lx_error *error)
{
    lx__original_store *store = &self->stores[self->store_count++];
    lx_status status = lx__original_store_open(store, path, name, error);
    if (status != LX_OK)
        return status;
    if (self->store_count == 1)
        self->count = store->count;
    if (store->count == self->count)
        return LX_OK;
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the stores '%.64s' and '%.64s' have %" PRIu64 " and %" PRIu64 " records: "
                   "import them into datasets of their own",
                   self->stores[0].name, name, self->count, store->count);
}

static lx_status open_stores(original_reader *self, lx_error *error)
{
    lx_status status = LX_OK;
    const char *path = self->base.source.path;
    const char *field = self->base.source.options[OPTION_FIELD];
    size_t count = self->name_count != 0 ? self->name_count : 1;
    self->stores = lx__alloc_array(count, sizeof *self->stores);
    self->values = lx__alloc_array(count * LX__VARYING_VALUES, sizeof *self->values);
    if (self->stores == NULL || self->values == NULL)
        return lx__fail_memory(error, "the stores");
    if (self->name_count == 0 && field != NULL)
        status = lx__field_name_check(options[OPTION_FIELD], field, error);
    if (self->name_count == 0)
        return status == LX_OK ? open_store(self, path, field != NULL ? field : "data", error)
                               : status;
    if (field != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the option field is for a single store: the fields of a directory of "
                       "stores have the names of the stores");
    for (size_t i = 0; status == LX_OK && i < self->name_count; i++) {
        char *inner = lx__path_join(path, self->names[i]);
        status = inner != NULL ? open_store(self, inner, self->names[i], error)
                               : lx__fail_memory(error, "the path of a store");
        lx__free(inner);
    }
    return status;
}

static lx_status open_original(lx__import_reader *reader, lx_error *error)
{
    original_reader *self = (original_reader *)reader;
    lx__file directory = LX__FILE_CLOSED;
    bool single;
    lx_status status = lx__directory_open(&directory, LX__CWD, reader->source.path, error);
    if (status == LX_OK)
        status = lx__file_is_regular(&directory, "meta.zr", &single, error);
    if (status == LX_OK && !single)
        status = list_stores(self, &directory, error);
    lx__file_close(&directory);
    return status == LX_OK ? open_stores(self, error) : status;
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    original_reader *self = (original_reader *)reader;
    uint64_t left = reader->source.record_limit;
    record->offset = LX_NONE;
    if (self->next == self->count)
        return LX_END;
    uint64_t i = self->next++;
    size_t values = 0;
    for (size_t k = 0; k < self->store_count; k++) {
        size_t count = 0;
        lx__import_value *first = self->values + values;
        lx_status status = lx__original_store_read(&self->stores[k], i, left, first, &count, error);
        if (status != LX_OK)
            return status;
        left -= first->size < left ? first->size : left;
        reader->read += first->size;
        values += count;
    }
    record->values = self->values;
    record->count = values;
    return LX_OK;
}

const lx__format_class lx__format_original = {.name = "original",
                                              .options = options,
                                              .opens_paths = true,
                                              .create = create,
                                              .open = open_original,
                                              .next = next,
                                              .close = close_original};
