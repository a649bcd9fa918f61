/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/snapshot-files.h"

#include "zrecord/format/names.h"

static lx_status each_of_field(const lx__snapshot *snapshot, size_t position, lx__visit_file *visit,
                               void *user, lx_error *error)
{
    const lx__store *store = snapshot->store;
    const lx__state *state = &snapshot->state;
    const char *stem = lx__schema_field(store->meta.schema, position)->stem;
    char name[LX__NAME_SIZE];
    lx__dict dict;
    lx__snapshot_file file = {.directory = &store->directory, .name = name, .is_table = true};
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
    char name[LX__NAME_SIZE];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        lx__chunk_name(state->chunks[i].id, name);
        status = visit(user,
                       &(lx__snapshot_file){.directory = &store->chunk_directory,
                                            .is_chunk = true,
                                            .name = name,
                                            .bytes = state->chunks[i].bytes},
                       error);
    }
    for (size_t i = 0; status == LX_OK && i < store->meta.schema->count; i++)
        status = each_of_field(snapshot, i, visit, user, error);
    lx__wal_name(store->meta.generation, name);
    return status == LX_OK ? visit(user,
                                   &(lx__snapshot_file){.directory = &store->directory,
                                                        .name = name,
                                                        .bytes = state->position.offset},
                                   error)
                           : status;
}
