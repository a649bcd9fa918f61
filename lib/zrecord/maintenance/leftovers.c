/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/leftovers.h"

#include <string.h>

#include "zrecord/format/names.h"

typedef struct counting {
    const lx__snapshot *snapshot;
    uint64_t bytes;
} counting;

/** Counts the bytes of a file beyond the first @p committed ones. */
static void count_file(counting *self, const lx__file *directory, const char *name,
                       uint64_t committed)
{
    lx__file file;
    uint64_t size;
    if (lx__file_open(&file, directory, name, O_RDONLY | O_NOFOLLOW, NULL) != LX_OK)
        return; /* it has just been removed, or is not of the dataset */
    if (lx__file_size(&file, &size, NULL) == LX_OK && size > committed)
        self->bytes += size - committed;
    lx__file_close(&file);
}

static lx_status visit_table(void *user, const char *name, lx_error *error)
{
    counting *self = user;
    const lx__store *store = self->snapshot->store;
    const lx__state *state = &self->snapshot->state;
    char stem[LX__NAME_SIZE], offsets[LX__NAME_SIZE];
    uint64_t generation, committed = 0;
    size_t position;
    (void)error;
    if (!lx__name_split_table(name, stem, &generation) ||
        !lx__schema_find_stem(store->meta.schema, stem, &position))
        return LX_OK;
    if (generation == state->table_generation) {
        lx__table_name(stem, LX__OFFSET_KIND, state->table_generation, offsets);
        committed = state->rows * (strcmp(name, offsets) == 0 ? LX__OFFSET_ROW : LX__CHECK_ROW);
    }
    count_file(self, &store->directory, name, committed);
    return LX_OK;
}

static lx_status visit_chunk(void *user, const char *name, lx_error *error)
{
    counting *self = user;
    uint64_t id;
    (void)error;
    if (!lx__name_is_chunk(name, &id))
        return LX_OK;
    const lx__chunk_item *item = lx__state_find_chunk(&self->snapshot->state, (uint32_t)id);
    count_file(self, &self->snapshot->store->chunk_directory, name, item != NULL ? item->bytes : 0);
    return LX_OK;
}

uint64_t lx__leftovers_count(const lx__snapshot *snapshot)
{
    counting self = {.snapshot = snapshot};
    const lx__store *store = snapshot->store;
    if (store->meta.sealed || store->directory.provider != NULL)
        return 0;
    (void)lx__directory_each(&store->directory, visit_table, &self, NULL);
    (void)lx__directory_each(&store->chunk_directory, visit_chunk, &self, NULL);
    return self.bytes;
}
