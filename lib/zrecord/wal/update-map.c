/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/update-map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/error.h"

#define SLOTS_MIN ((size_t)16)
/* A map that is cleared frees its memory if it has room for more updates than this. */
#define KEPT_MAX ((size_t)1 << 16)

/** Returns the slot of a key, or a free slot to put it in. */
static uint32_t *slot_of(const lx__update_map *map, uint32_t field, uint64_t index, uint64_t hash)
{
    size_t at = lx__update_map_first_slot(map, hash);
    while (map->slots[at] != 0) {
        const lx__update *update = &map->list[map->slots[at] - 1];
        if (update->index == index && update->field == field)
            break;
        at = (at + 1) & map->slot_mask;
    }
    return &map->slots[at];
}

static uint32_t *slot_of_update(const lx__update_map *map, const lx__update *update)
{
    return slot_of(map, update->field, update->index,
                   lx__update_hash(map->seed, update->field, update->index));
}

uint64_t lx__update_map_new_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed || seed == 0)
        seed = (uintptr_t)&seed; /* no random numbers yet, this early in the boot: use an address */
    return seed;
}

void lx__update_map_fill_slots(lx__update_map *map, const lx__update_map *like)
{
    size_t first = 0;
    if (like != NULL && like->slot_mask == map->slot_mask && like->seed == map->seed) {
        first = like->count;
        memcpy(map->slots, like->slots, (map->slot_mask + 1) * sizeof *map->slots);
    }
    for (size_t i = first; i < map->count; i++)
        *slot_of_update(map, &map->list[i]) = (uint32_t)i + 1;
}

/* ---- room */

static lx_status make_slots(lx__update_map *map, size_t count, lx_error *error)
{
    size_t wanted = SLOTS_MIN;
    if (map->slots != NULL && count <= map->slot_mask / 2)
        return LX_OK;
    while (wanted / 2 <= count && wanted <= SIZE_MAX / 4)
        wanted *= 2;
    uint32_t *slots = lx__alloc_array(wanted, sizeof *slots);
    if (slots == NULL)
        return lx__fail_memory(error, "row updates");
    if (map->seed == 0)
        map->seed = lx__update_map_new_seed();
    lx__free(map->slots);
    map->slots = slots;
    map->slot_mask = wanted - 1;
    lx__update_map_fill_slots(map, NULL);
    return LX_OK;
}

lx_status lx__update_map_reserve(lx__update_map *map, size_t more, lx_error *error)
{
    if (more > LX__UPDATES_MAX - map->count)
        return lx_fail(error, LX_ERR_LIMIT,
                       "cannot hold more than %zu changes: commit more often, or run a checkpoint",
                       LX__UPDATES_MAX);
    size_t wanted = map->count + more;
    if (wanted > map->capacity) {
        size_t capacity = map->capacity * 2 > wanted ? map->capacity * 2 : wanted;
        lx__update *list = lx__resize_array(map->list, capacity, sizeof *list);
        if (list == NULL)
            return lx__fail_memory(error, "row updates");
        map->list = list;
        map->capacity = capacity;
    }
    return make_slots(map, wanted, error);
}

/* ---- adding and finding */

static void put(lx__update_map *map, const lx__update *update, uint64_t hash)
{
    uint32_t *slot = slot_of(map, update->field, update->index, hash);
    if (*slot == 0)
        *slot = (uint32_t)++map->count;
    map->list[*slot - 1] = *update;
}

void lx__update_map_put(lx__update_map *map, const lx__update *update)
{
    put(map, update, lx__update_hash(map->seed, update->field, update->index));
}

void lx__update_map_put_entry(lx__update_map *map, uint32_t field, uint64_t index,
                              const lx__entry *entry)
{
    lx__update update = {.index = index, .field = field};
    lx__entry_store(entry, update.rows, update.rows + LX__OFFSET_ROW);
    lx__update_map_put(map, &update);
}

/** Prefetches the slots of the updates, and then the list items that these slots refer to. */
static void prefetch_many(const lx__update_map *map, const lx__update *updates, size_t count,
                          uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++) {
        hashes[i] = lx__update_hash(map->seed, updates[i].field, updates[i].index);
        __builtin_prefetch(&map->slots[lx__update_map_first_slot(map, hashes[i])]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = map->slots[lx__update_map_first_slot(map, hashes[i])];
        if (slot != 0)
            __builtin_prefetch(&map->list[slot - 1]);
    }
}

lx_status lx__update_map_put_many(lx__update_map *map, const lx__update *updates, size_t count,
                                  lx_error *error)
{
    uint64_t hashes[LX__UPDATE_BATCH_MAX];
    lx_status status = lx__update_map_reserve(map, count, error);
    if (status != LX_OK)
        return status;
    prefetch_many(map, updates, count, hashes);
    for (size_t i = 0; i < count; i++)
        put(map, &updates[i], hashes[i]);
    return LX_OK;
}

const lx__update *lx__update_map_find(const lx__update_map *map, uint32_t field, uint64_t index)
{
    if (map->count == 0)
        return NULL;
    uint32_t slot = *slot_of(map, field, index, lx__update_hash(map->seed, field, index));
    return slot != 0 ? &map->list[slot - 1] : NULL;
}

/* ---- removing */

static void clear_slots(lx__update_map *map)
{
    memset(map->slots, 0, (map->slot_mask + 1) * sizeof *map->slots);
}

void lx__update_map_keep(lx__update_map *map, lx__update_filter *filter, const void *user)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++)
        if (filter(&map->list[i], user) && kept++ != i)
            map->list[kept - 1] = map->list[i];
    if (kept == map->count)
        return;
    map->count = kept;
    clear_slots(map);
    lx__update_map_fill_slots(map, NULL);
}

void lx__update_map_clear(lx__update_map *map)
{
    if (map->capacity > KEPT_MAX) {
        lx__update_map_free(map);
        return;
    }
    if (map->count < map->slot_mask / 16) {
        /* Remove the keys in reverse order: a search stops at the first free slot, so a key that
         * was added earlier must be removed later. */
        for (; map->count != 0; map->count--)
            *slot_of_update(map, &map->list[map->count - 1]) = 0;
    } else if (map->slots != NULL) {
        clear_slots(map);
    }
    map->count = 0;
}

void lx__update_map_free(lx__update_map *map)
{
    lx__free(map->list);
    lx__free(map->slots);
    *map = (lx__update_map){0};
}

static int compare_sorted(const void *a, const void *b)
{
    const lx__sorted_update *left = a, *right = b;
    if (left->index != right->index)
        return left->index < right->index ? -1 : 1;
    return (left->field_id > right->field_id) - (left->field_id < right->field_id);
}

lx_status lx__update_map_sort(const lx__update_map *updates, const lx_schema *schema,
                              uint64_t length, lx__sorted_update **sorted, size_t *count,
                              lx_error *error)
{
    lx__sorted_update *list = lx__alloc_array(updates->count, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "row updates");
    *count = 0;
    for (size_t i = 0; i < updates->count; i++) {
        const lx__update *update = &updates->list[i];
        if (update->index < length)
            list[(*count)++] =
                (lx__sorted_update){.index = update->index,
                                    .field_id = lx__schema_field(schema, update->field)->shown.id,
                                    .position = (uint32_t)i};
    }
    qsort(list, *count, sizeof *list, compare_sorted);
    *sorted = list;
    return LX_OK;
}
