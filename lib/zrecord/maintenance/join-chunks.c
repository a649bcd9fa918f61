/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/join-chunks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

lx_status lx__join_number_chunks(lx__join *self, lx_error *error)
{
    uint64_t next = 0;
    for (size_t i = 0; i < self->count; i++) {
        const lx__state *from = &self->parts[i].snapshot->state;
        self->parts[i].first_chunk = (uint32_t)next;
        next += from->chunk_count;
        if (next > LX__CHUNK_ID_MAX)
            return lx_fail(error, LX_ERR_LIMIT, "the parts have too many chunks together");
        lx_status status = lx__state_reserve_chunks(&self->state, from->chunk_count, error);
        if (status != LX_OK)
            return status;
        for (size_t k = 0; k < from->chunk_count; k++) {
            lx__chunk_item item = from->chunks[k];
            item.id = self->parts[i].first_chunk + (uint32_t)k;
            self->state.chunks[self->state.chunk_count++] = item;
        }
    }
    self->state.next_chunk = (uint32_t)next;
    return LX_OK;
}

/* ---- where they are */

/** The runs of all parts so far. */
typedef struct run_list {
    lx__chunk_run *runs;
    size_t count, capacity;
    char **paths; /**< The paths of the runs; neighbors may have the same one. */
    size_t path_count, path_capacity;
} run_list;

/** Allocates the path of the folder @p inner of a part; "": the part itself. */
static lx_status add_path(run_list *list, const lx__join_part *part, const char *inner,
                          lx_error *error)
{
    char **paths = lx__grow_array(list->paths, list->path_count, &list->path_capacity,
                                  sizeof *paths);
    if (paths == NULL)
        return lx__fail_memory(error, "a join");
    list->paths = paths;
    char *path = inner[0] == '\0'        ? lx__strdup(part->path)
                 : part->path[0] == '\0' ? lx__strdup(inner)
                                         : lx__path_join(part->path, inner);
    if (path == NULL)
        return lx__fail_memory(error, "a join");
    paths[list->path_count++] = path;
    if (lx__part_path_valid(path))
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "the path '%.300s' of a part is invalid: it must be 1 to %d names joined by "
                   "slashes, at most %d bytes together; each of 1 to 64 of the characters A-Z a-z "
                   "0-9 _ . -, with no leading dot",
                   path, LX__PART_DEPTH_MAX, LX__PART_PATH_MAX);
}

/** Adds a chunk, which is the file @p file of the newest path. @p here: the last run has that path
 * as well. */
static lx_status add_chunk(run_list *list, uint32_t id, uint32_t file, bool here, lx_error *error)
{
    lx__chunk_run *last = list->count != 0 ? &list->runs[list->count - 1] : NULL;
    if (here && file == last->first_there + last->count) {
        last->count++;
        return LX_OK;
    }
    lx__chunk_run *runs = lx__grow_array(list->runs, list->count, &list->capacity, sizeof *runs);
    if (runs == NULL)
        return lx__fail_memory(error, "a join");
    list->runs = runs;
    runs[list->count++] = (lx__chunk_run){
        .first = id, .first_there = file, .count = 1, .part = list->paths[list->path_count - 1]};
    return LX_OK;
}

/** Adds the chunks of a part, which may be in parts of its own. */
static lx_status add_part(run_list *list, const lx__join_part *part, lx_error *error)
{
    const lx__meta *meta = &part->snapshot->store->meta;
    const lx__state *state = &part->snapshot->state;
    const char *last = NULL;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        uint32_t id = state->chunks[i].id;
        const lx__chunk_run *run = lx__parts_find(meta->runs, meta->run_count, id);
        const char *inner = run != NULL ? run->part : "";
        bool here = last != NULL && strcmp(inner, last) == 0;
        if (!here)
            status = add_path(list, part, inner, error);
        if (status == LX_OK)
            status = add_chunk(list, part->first_chunk + (uint32_t)i,
                               run != NULL ? run->first_there + (id - run->first) : id, here,
                               error);
        last = inner;
    }
    return status;
}

lx_status lx__join_locate_chunks(lx__join *self, lx_error *error)
{
    run_list list = {0};
    lx_error why = LX_ERROR_INIT;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        status = add_part(&list, &self->parts[i], error);
    if (status == LX_OK)
        status = lx__meta_set_parts(&self->meta, list.runs, list.count, &why);
    if (status == LX_ERR_CORRUPT) /* the paths are valid, so a chunk is there twice */
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "a part is given twice, or two parts have a chunk in common: name each "
                         "part once (%.300s)",
                         why.message);
    else
        lx__error_propagate(error, &why);
    for (size_t i = 0; i < list.path_count; i++)
        lx__free(list.paths[i]);
    lx__free(list.paths);
    lx__free(list.runs);
    return status;
}
