/* SPDX-License-Identifier: MIT */
#include "remote/push/remote-meta.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/meta-file.h"

lx_status lx__remote_meta_read(lx__remote_meta *self, lx__target *target, const char *name,
                               lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx__remote_meta_free(self);
    lx_status status = lx__target_read(target, name, LX__META_LIMIT, &self->text, &self->info,
                                       &why);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    if (status == LX_OK) {
        self->exists = true;
        self->is_claim = strcmp(name, LX__META_NEW_NAME) == 0;
        self->size = (size_t)self->info.bytes;
        status = lx__meta_parse(&self->meta, self->text, self->size, LX__META_CHECK, &why);
        char *path = lx__path_join(target->transport->url, name);
        lx_error_locate(&why, path, NULL, LX_NONE, LX_NONE);
        lx__free(path);
    }
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

void lx__remote_meta_free(lx__remote_meta *self)
{
    lx__meta_free(&self->meta);
    lx__free(self->text);
    *self = (lx__remote_meta){0};
}

bool lx__remote_meta_is(const lx__remote_meta *self, const char *text, size_t size)
{
    return self->exists && self->size == size && memcmp(self->text, text, size) == 0;
}

bool lx__remote_meta_equals(const lx__remote_meta *self, const lx__remote_meta *other)
{
    return self->exists ? lx__remote_meta_is(other, self->text, self->size) : !other->exists;
}

lx_status lx__remote_meta_check(const lx__remote_meta *self, const lx__meta *ours, const char *url,
                                lx_error *error)
{
    if (!self->exists || strcmp(self->meta.uuid_text, ours->uuid_text) == 0)
        return LX_OK;
    lx_status status = lx_fail(
        error, LX_ERR_EXISTS, "another dataset is %sthere, %s, not %s: choose another URL%s",
        self->is_claim ? "being pushed " : "", self->meta.uuid_text, ours->uuid_text,
        self->is_claim ? ", or, if that push will not continue, prune its files" : "");
    lx_error_locate(error, url, NULL, LX_NONE, LX_NONE);
    return status;
}

/* ---- files of the generation */

/** Whether it has the table; sets what it knows about it. */
static bool find_table(const lx__remote_meta *self, const lx__listed_file *file,
                       lx__table_seal *seal)
{
    return self->exists && lx__meta_get_table(&self->meta, file->path, seal, NULL) == LX_OK;
}

bool lx__remote_meta_has(const lx__remote_meta *self, const lx__listed_file *file)
{
    lx__table_seal seal;
    if (!self->exists || file->there != file->bytes)
        return false;
    return !file->is_table ||
           (find_table(self, file, &seal) && seal.bytes == file->bytes && seal.crc == file->crc);
}

/** Whether the generation has a chunk of another length. Full chunks never change, so only those
 * that meta.json lists can. */
static bool has_other_chunk(const lx__remote_meta *self, const lx__listed_file *file)
{
    const json_t *unfull = json_object_get(json_object_get(self->meta.document, "chunks"),
                                           "unfull");
    char name[LX__NAME_SIZE];
    for (size_t i = 0; i < json_array_size(unfull); i++) {
        const json_t *item = json_array_get(unfull, i);
        lx__chunk_name((uint32_t)json_integer_value(json_array_get(item, 0)), name);
        if (strcmp(name, file->path + sizeof LX__CHUNK_DIRECTORY) == 0)
            return (uint64_t)json_integer_value(json_array_get(item, 1)) != file->bytes;
    }
    return false;
}

/** Whether the generation has a log or a dictionary of this name. */
static bool has_name(const lx__remote_meta *self, const char *path)
{
    char name[LX__NAME_SIZE];
    lx__wal_name(self->meta.generation, name);
    bool found = strcmp(name, path) == 0;
    for (size_t i = 0; !found && i < self->meta.schema->count; i++) {
        lx__dict_name(lx__schema_field(self->meta.schema, i)->stem, name);
        found = lx__meta_find_dict(&self->meta, i, NULL) && strcmp(name, path) == 0;
    }
    return found;
}

bool lx__remote_meta_differs(const lx__remote_meta *self, const lx__listed_file *file)
{
    lx__table_seal seal;
    if (!self->exists || file->there == LX_NONE)
        return false;
    if (file->is_table)
        return find_table(self, file, &seal) &&
               (seal.bytes != file->bytes || seal.crc != file->crc);
    if (file->is_chunk) /* datasets that have parts stay sealed, so their chunks do not grow */
        return lx__chunk_is_own(file->path) && has_other_chunk(self, file);
    return file->there != file->bytes && has_name(self, file->path);
}
