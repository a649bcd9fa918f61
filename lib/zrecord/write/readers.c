/* SPDX-License-Identifier: MIT */
#include "zrecord/write/readers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/wal/wal.h"

/* Of more generations with readers, which nobody has, any file may be in use. */
#define USERS_MAX 64

/** Reads what a generation had in the end; sets of values do not matter. */
static lx_status load(lx__user *user, const lx__file *directory, const lx__meta *meta)
{
    lx__log_identity identity = {.generation = user->generation};
    lx__log_reader log;
    bool unknown;
    lx_schema *none = lx_schema_new();
    if (none == NULL)
        return LX_ERR_NOMEM;
    memcpy(identity.uuid, meta->uuid, sizeof identity.uuid);
    lx_status status = lx__log_open(&log, directory, &identity, NULL);
    if (status == LX_OK) {
        status = lx__state_replay(&user->state, &log, none, LX__REPLAY_NEWEST, NULL, &unknown,
                                  NULL);
        lx__log_close(&log);
    }
    lx_schema_free(none);
    return status;
}

static bool add(lx__users *users, uint64_t generation, const lx__file *directory,
                const lx__meta *meta)
{
    lx__user *list = lx__grow_array(users->list, users->count, &users->capacity, sizeof *list);
    if (list == NULL)
        return false;
    users->list = list;
    list[users->count] = (lx__user){.generation = generation};
    if (load(&list[users->count], directory, meta) != LX_OK)
        return false;
    users->count++;
    return true;
}

void lx__users_find(lx__users *users, const lx__file *directory, const lx__file *lock,
                    const lx__meta *meta)
{
    /* Ranges that were not looked at yet; the last one is next. */
    lx__generations left[USERS_MAX + 2] = {{0, meta->generation}};
    size_t ranges = 1;
    *users = (lx__users){.end = meta->generation};
    while (ranges != 0 && !users->unknown) {
        lx__generations range = left[--ranges], held = range;
        bool present;
        if (lx__readers_find(lock, &held.first, &held.end, &present, NULL) != LX_OK) {
            users->unknown = true;
        } else if (present) {
            /* Readers lock a byte each. */
            users->unknown = users->count == USERS_MAX || held.end - held.first != 1 ||
                             !add(users, held.first, directory, meta);
            left[ranges++] = (lx__generations){range.first, held.first};
            left[ranges++] = (lx__generations){held.end, range.end};
        }
    }
}

void lx__users_free(lx__users *users)
{
    for (size_t i = 0; i < users->count; i++)
        lx__state_free(&users->list[i].state);
    lx__free(users->list);
    *users = (lx__users){0};
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

lx__generations lx__users_of_tables(const lx__users *users, uint64_t table_generation)
{
    lx__generations in = {0, users->unknown ? users->end : 0};
    for (size_t i = 0; !users->unknown && i < users->count; i++)
        if (users->list[i].state.table_generation == table_generation)
            lx__generations_add(&in, users->list[i].generation);
    return in;
}

lx__generations lx__users_of_chunk(const lx__users *users, uint64_t id)
{
    lx__generations in = {0, users->unknown ? users->end : 0};
    for (size_t i = 0; !users->unknown && i < users->count; i++)
        if (lx__state_find_chunk(&users->list[i].state, (uint32_t)id) != NULL)
            lx__generations_add(&in, users->list[i].generation);
    return in;
}
