/* SPDX-License-Identifier: MIT */
/* LMDB: each key of a database and its value are a record, in the order of the keys. The input is
 * the directory of an environment, or its data file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "importer/format.h"
#include "importer/lmdb-tree.h"

enum { OPTION_DATABASE };
static const char *const options[] = {[OPTION_DATABASE] = "database", NULL};

enum { KEY, VALUE, VALUES };

typedef struct lmdb_reader {
    lx__import_reader base;
    lx__lmdb tree;
    lx__import_value values[VALUES];
} lmdb_reader;

static lx__import_reader *create(void)
{
    lmdb_reader *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->tree.file = (lx__file)LX__FILE_CLOSED;
    return &self->base;
}

static void close_lmdb(lx__import_reader *reader)
{
    lx__lmdb_close(&((lmdb_reader *)reader)->tree);
    lx__free(reader);
}

/** Opens the data file of a path. */
static lx_status open_data(lmdb_reader *self, const char *path, lx_error *error)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return lx__lmdb_open(&self->tree, path, error);
    size_t size = strlen(path) + sizeof "/data.mdb";
    char *name = lx__alloc(size);
    if (name == NULL)
        return lx__fail_memory(error, "the path of a database");
    snprintf(name, size, "%s/data.mdb", path);
    lx_status status = lx__lmdb_open(&self->tree, name, error);
    lx__free(name);
    return status;
}

static lx_status open_lmdb(lx__import_reader *reader, lx_error *error)
{
    static const char *const names[VALUES] = {"key", "value"};
    lmdb_reader *self = (lmdb_reader *)reader;
    const char *database = reader->source.options[OPTION_DATABASE];
    for (size_t i = 0; i < VALUES; i++)
        self->values[i] = (lx__import_value){
            .name = names[i], .name_size = strlen(names[i]), .kind = LX__IMPORT_BYTES};
    lx_status status = open_data(self, reader->source.path, error);
    if (status == LX_OK && database != NULL)
        status = lx__lmdb_select(&self->tree, database, error);
    lx_error_locate(error, self->tree.file.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status fail_database(const lx__lmdb_entry *entry, lx_error *error)
{
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "the key '%.*s' is a named database: set the option database to its name",
                   entry->key_size < 64 ? (int)entry->key_size : 64, (const char *)entry->key);
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    lmdb_reader *self = (lmdb_reader *)reader;
    lx__lmdb_entry entry = {0};
    lx_status status = lx__lmdb_next(&self->tree, reader->source.record_limit, &entry,
                                     &reader->lost, error);
    record->offset = entry.offset;
    reader->read = self->tree.read;
    if (status == LX_END) {
        status = lx__lmdb_check_unchanged(&self->tree, error);
        return status == LX_OK ? LX_END : status;
    }
    if (status == LX_OK && entry.database)
        status = fail_database(&entry, error);
    if (status != LX_OK) {
        lx_error_locate(error, self->tree.file.path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    self->values[KEY].data = entry.key;
    self->values[KEY].size = entry.key_size;
    self->values[VALUE].data = entry.value;
    self->values[VALUE].size = entry.value_size;
    record->values = self->values;
    record->count = VALUES;
    return LX_OK;
}

const lx__format_class lx__format_lmdb = {.name = "lmdb",
                                          .options = options,
                                          .opens_paths = true,
                                          .create = create,
                                          .open = open_lmdb,
                                          .next = next,
                                          .close = close_lmdb};
