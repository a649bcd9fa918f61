/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/snapshot-files.h"

#include <string.h>

#include "base/folder.h"
#include "zrecord/format/names.h"

static lx_status each_of_field(const lx__snapshot *snapshot, size_t position, lx__visit_file *visit,
                               void *user, lx_error *error)
{
    const lx__store *store = snapshot->store;
    const lx__state *state = &snapshot->state;
    const char *stem = lx__schema_field(store->meta.schema, position)->stem;
    char name[LX__NAME_SIZE];
    lx__dict dict;
    lx__snapshot_file file = {.path = name, .is_table = true};
    lx__table_name(stem, LX__OFFSET_KIND, state->table_generation, name);
    file.bytes = state->rows * LX__OFFSET_ROW;
    lx_status status = visit(user, &file, error);
    lx__table_name(stem, LX__CHECK_KIND, state->table_generation, name);
    file.bytes = state->rows * LX__CHECK_ROW;
    if (status == LX_OK)
        status = visit(user, &file, error);
    if (status != LX_OK || !lx__meta_find_dict(&store->meta, position, &dict))
        return status;
    lx__dict_name(stem, name);
    file.bytes = dict.bytes;
    file.is_table = false;
    return visit(user, &file, error);
}

lx_status lx__snapshot_each_file(const lx__snapshot *snapshot, lx__visit_file *visit, void *user,
                                 lx_error *error)
{
    const lx__store *store = snapshot->store;
    const lx__state *state = &snapshot->state;
    char path[LX__CHUNK_PATH_SIZE];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        lx__meta_get_chunk_path(&store->meta, state->chunks[i].id, path);
        status = visit(
            user,
            &(lx__snapshot_file){.path = path, .is_chunk = true, .bytes = state->chunks[i].bytes},
            error);
    }
    for (size_t i = 0; status == LX_OK && i < store->meta.schema->count; i++)
        status = each_of_field(snapshot, i, visit, user, error);
    lx__wal_name(store->meta.generation, path);
    return status == LX_OK
               ? visit(user, &(lx__snapshot_file){.path = path, .bytes = state->position.offset},
                       error)
               : status;
}

/* ---- folders */

lx_status lx__snapshot_each_folder(const lx__snapshot *snapshot, lx__visit_file *visit, void *user,
                                   lx_error *error)
{
    const lx__state *state = &snapshot->state;
    char path[LX__CHUNK_PATH_SIZE], former[LX__CHUNK_PATH_SIZE] = LX__CHUNK_DIRECTORY "/0.zr";
    lx__snapshot_file file = {.path = former, .is_chunk = true};
    lx_status status = visit(user, &file, error);
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        lx__meta_get_chunk_path(&snapshot->store->meta, state->chunks[i].id, path);
        if (lx__folder_is_shared(former, path))
            continue;
        memcpy(former, path, sizeof former);
        status = visit(user, &file, error);
    }
    return status;
}

lx_status lx__snapshot_make_folder(void *user, const lx__snapshot_file *file, lx_error *error)
{
    return lx__folder_make(user, file->path, error);
}

lx_status lx__snapshot_sync_folder(void *user, const lx__snapshot_file *file, lx_error *error)
{
    return lx__folder_sync(user, file->path, error);
}

lx_status lx__snapshot_remove_folder(void *user, const lx__snapshot_file *file, lx_error *error)
{
    char path[LX__CHUNK_PATH_SIZE];
    (void)error;
    memcpy(path, file->path, strlen(file->path) + 1);
    lx__folder_remove(user, path);
    return LX_OK;
}
