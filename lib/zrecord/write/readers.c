/* SPDX-License-Identifier: MIT */
#include "zrecord/write/readers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/wal/wal.h"

/* If more generations than this have readers, every obsolete file counts as in use. */
#define READERS_MAX 64

/** Reads the last state of a generation, leaving out its updates, which do not matter here. */
static lx_status load(lx__reader *reader, const lx__file *directory, const lx__meta *meta)
{
    lx__wal_identity identity = {.generation = reader->generation};
    lx__wal_reader log;
    lx_schema *none = lx_schema_new();
    if (none == NULL)
        return LX_ERR_NOMEM;
    memcpy(identity.uuid, meta->uuid, sizeof identity.uuid);
    lx_status status = lx__wal_open(&log, directory, &identity, NULL);
    if (status == LX_OK) {
        status = lx__state_replay(&reader->state, &log, none, LX__REPLAY_NEWEST, NULL, NULL);
        lx__wal_close(&log);
    }
    lx_schema_free(none);
    return status;
}

static bool add(lx__readers *readers, uint64_t generation, const lx__file *directory,
                const lx__meta *meta)
{
    lx__reader *list = lx__grow_array(readers->list, readers->count, &readers->capacity,
                                      sizeof *list);
    if (list == NULL)
        return false;
    readers->list = list;
    list[readers->count] = (lx__reader){.generation = generation};
    if (load(&list[readers->count], directory, meta) != LX_OK)
        return false;
    readers->count++;
    return true;
}

void lx__readers_find(lx__readers *readers, const lx__file *directory, const lx__file *lock,
                      const lx__meta *meta)
{
    /* The ranges that are still to be searched; the last one is searched next. */
    lx__generations left[READERS_MAX + 2] = {{0, meta->generation}};
    size_t ranges = 1;
    *readers = (lx__readers){.end = meta->generation};
    while (ranges != 0 && !readers->unknown) {
        lx__generations range = left[--ranges], held = range;
        bool present;
        if (lx__reader_locks_find(lock, &held.first, &held.end, &present, NULL) != LX_OK) {
            readers->unknown = true;
        } else if (present) {
            /* Every reader locks exactly one byte. */
            readers->unknown = readers->count == READERS_MAX || held.end - held.first != 1 ||
                               !add(readers, held.first, directory, meta);
            left[ranges++] = (lx__generations){range.first, held.first};
            left[ranges++] = (lx__generations){held.end, range.end};
        }
    }
}

void lx__readers_free(lx__readers *readers)
{
    for (size_t i = 0; i < readers->count; i++)
        lx__state_free(&readers->list[i].state);
    lx__free(readers->list);
    *readers = (lx__readers){0};
}

void lx__generations_add(lx__generations *in, uint64_t generation)
{
    if (in->first == in->end)
        *in = (lx__generations){generation, generation + 1};
    else if (generation < in->first)
        in->first = generation;
    else if (generation >= in->end)
        in->end = generation + 1;
}

lx__generations lx__readers_of_tables(const lx__readers *readers, uint64_t table_generation)
{
    lx__generations in = {0, readers->unknown ? readers->end : 0};
    for (size_t i = 0; !readers->unknown && i < readers->count; i++)
        if (readers->list[i].state.table_generation == table_generation)
            lx__generations_add(&in, readers->list[i].generation);
    return in;
}

lx__generations lx__readers_of_chunk(const lx__readers *readers, uint64_t id)
{
    lx__generations in = {0, readers->unknown ? readers->end : 0};
    for (size_t i = 0; !readers->unknown && i < readers->count; i++)
        if (lx__state_find_chunk(&readers->list[i].state, (uint32_t)id) != NULL)
            lx__generations_add(&in, readers->list[i].generation);
    return in;
}
