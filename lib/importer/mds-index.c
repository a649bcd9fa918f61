/* SPDX-License-Identifier: MIT */
#include "importer/mds-index.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <loaderx/schema.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

/* Larger indices could not be parsed with the limit of base/json.h. */
#define INDEX_LIMIT ((size_t)64 << 20)

/* ---- the index */

static lx_status parse_index(lx__mds_index *self, const char *path, lx_error *error)
{
    lx__file file = LX__FILE_CLOSED;
    char *text = NULL;
    size_t size = 0;
    uint64_t version;
    json_t *shards;
    lx_status status = lx__file_open(&file, LX__CWD, path, O_RDONLY, error);
    if (status == LX_OK)
        status = lx__file_read_all(&file, INDEX_LIMIT, &text, &size, error);
    if (status == LX_OK)
        status = lx__json_parse(text, size, &self->root, error);
    if (status == LX_OK)
        status = lx__json_get_integer(self->root, "version", 2, 2, &version, error);
    if (status == LX_OK)
        status = lx__json_get(self->root, "shards", JSON_ARRAY, &shards, error);
    if (status == LX_OK)
        self->shard_count = json_array_size(shards);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__free(text);
    lx__file_close(&file);
    return status;
}

lx_status lx__mds_index_open(lx__mds_index *self, const char *folder, lx_error *error)
{
    *self = (lx__mds_index){.folder = folder};
    char *path = lx__path_join(folder, "index.json");
    lx_status status = path != NULL ? parse_index(self, path, error)
                                    : lx__fail_memory(error, "the path of an index");
    lx__free(path);
    return status;
}

void lx__mds_index_close(lx__mds_index *self)
{
    json_decref(self->root);
    self->root = NULL;
}

/* ---- a shard */

static lx_status fail_column(size_t i, lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT, "the name, encoding or size of column %zu is invalid", i);
}

static lx_status read_columns(lx__mds_shard *self, const json_t *entry, lx_error *error)
{
    json_t *names, *encodings, *sizes;
    lx_status status = lx__json_get(entry, "column_names", JSON_ARRAY, &names, error);
    if (status == LX_OK)
        status = lx__json_get(entry, "column_encodings", JSON_ARRAY, &encodings, error);
    if (status == LX_OK)
        status = lx__json_get(entry, "column_sizes", JSON_ARRAY, &sizes, error);
    if (status != LX_OK)
        return status;
    size_t count = json_array_size(names);
    if (count == 0 || count > LX_MAX_FIELDS || json_array_size(encodings) != count ||
        json_array_size(sizes) != count)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "column_names, column_encodings and column_sizes must have the same number "
                       "of entries, 1 to %d",
                       LX_MAX_FIELDS);
    self->columns = lx__alloc_array(count, sizeof *self->columns);
    if (self->columns == NULL)
        return lx__fail_memory(error, "the columns of a shard");
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const char *encoding = json_string_value(json_array_get(encodings, i));
        self->column_count++;
        status = name == NULL || encoding == NULL
                     ? fail_column(i, error)
                     : lx__mds_column_open(&self->columns[i], name, encoding,
                                           json_array_get(sizes, i), error);
    }
    return status;
}

/** Gets the ending of a compressed file, such as "zstd" of "zstd:3"; "" if it is not compressed. */
static lx_status read_compression(const json_t *entry, char ending[16], lx_error *error)
{
    const json_t *value = json_object_get(entry, "compression");
    const char *text = json_string_value(value);
    *ending = '\0';
    if (value == NULL || json_is_null(value))
        return LX_OK;
    if (text == NULL)
        return lx_fail(error, LX_ERR_CORRUPT, "the compression must be a string or null");
    size_t size = strcspn(text, ":");
    if (size < 16)
        snprintf(ending, 16, "%.*s", (int)size, text);
    if (strcmp(ending, "zstd") != 0 && strcmp(ending, "gz") != 0)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the compression '%.64s' is not supported: use zstd, gz or none", text);
    return LX_OK;
}

/** Checks that a description of a file has the name that the file must have. */
static lx_status check_name(const json_t *info, const char *name, lx_error *error)
{
    const char *stored;
    lx_status status = lx__json_get_text(info, "basename", &stored, error);
    if (status != LX_OK || strcmp(stored, name) == 0)
        return status;
    return lx_fail(
        error, LX_ERR_UNSUPPORTED,
        "the file of the shard is called '%.128s' instead of '%s': names that are paths, "
        "as in a merged index, are not followed; import each folder as an input",
        stored, name);
}

/** Finds the file of a shard: that which is not compressed, if it is there. */
static lx_status find_file(lx__mds_shard *self, const lx__mds_index *index, size_t i,
                           const json_t *entry, lx_error *error)
{
    char ending[16], name[64];
    json_t *raw;
    struct stat about;
    lx_status status = read_compression(entry, ending, error);
    if (status == LX_OK)
        status = lx__json_get(entry, "raw_data", JSON_OBJECT, &raw, error);
    if (status == LX_OK)
        status = lx__json_get_integer(raw, "bytes", 0, UINT32_MAX, &self->bytes, error);
    int size = snprintf(name, sizeof name, "shard.%05zu.mds", i);
    if (status == LX_OK)
        status = check_name(raw, name, error);
    if (status != LX_OK)
        return status;
    self->path = lx__path_join(index->folder, name);
    if (self->path == NULL)
        return lx__fail_memory(error, "the path of a shard");
    if (*ending == '\0' || stat(self->path, &about) == 0)
        return LX_OK;
    snprintf(name + size, sizeof name - (size_t)size, ".%s", ending);
    lx__free(self->path);
    self->path = lx__path_join(index->folder, name);
    return self->path != NULL ? LX_OK : lx__fail_memory(error, "the path of a shard");
}

lx_status lx__mds_shard_open(lx__mds_shard *self, const lx__mds_index *index, size_t i,
                             lx_error *error)
{
    uint64_t version;
    const char *format;
    const json_t *entry = json_array_get(json_object_get(index->root, "shards"), i);
    *self = (lx__mds_shard){0};
    if (!json_is_object(entry))
        return lx_fail(error, LX_ERR_CORRUPT, "shard %zu of the index is not an object", i);
    lx_status status = lx__json_get_text(entry, "format", &format, error);
    if (status == LX_OK && strcmp(format, "mds") != 0)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the format '%.64s' of a shard is not supported: use mds", format);
    if (status == LX_OK)
        status = lx__json_get_integer(entry, "version", 2, 2, &version, error);
    if (status == LX_OK)
        status = lx__json_get_integer(entry, "samples", 0, UINT32_MAX, &self->samples, error);
    if (status == LX_OK)
        status = find_file(self, index, i, entry, error);
    return status == LX_OK ? read_columns(self, entry, error) : status;
}

void lx__mds_shard_close(lx__mds_shard *self)
{
    for (size_t i = 0; i < self->column_count; i++)
        lx__mds_column_close(&self->columns[i]);
    lx__free(self->columns);
    lx__free(self->path);
    *self = (lx__mds_shard){0};
}
