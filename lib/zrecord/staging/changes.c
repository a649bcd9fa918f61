/* SPDX-License-Identifier: MIT */
#include "zrecord/staging/changes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define PLACES_MIN ((size_t)64)
/* Memory for more changes than these is given back when they are forgotten. */
#define KEPT_MAX ((size_t)1 << 16)

static size_t hash(uint32_t field, uint64_t index)
{
    uint64_t mixed = index * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 29 ^ field) * 0xbf58476d1ce4e5b9u;
    return (size_t)(mixed ^ mixed >> 32);
}

/** The place of that key, or the free one where it belongs. */
static uint32_t *place_of(const lx__changes *changes, uint32_t field, uint64_t index)
{
    size_t mask = changes->place_count - 1;
    size_t at = hash(field, index) & mask;
    while (changes->places[at] != 0) {
        const lx__change *change = &changes->list[changes->places[at] - 1];
        if (change->index == index && change->field == field)
            break;
        at = (at + 1) & mask;
    }
    return &changes->places[at];
}

static lx_status make_places(lx__changes *changes, size_t count, lx_error *error)
{
    size_t wanted = PLACES_MIN;
    while (wanted / 2 < count)
        wanted *= 2;
    if (wanted <= changes->place_count)
        return LX_OK;
    uint32_t *places = lx__alloc_array(wanted, sizeof *places);
    if (places == NULL)
        return lx__fail_memory(error, "changes");
    lx__free(changes->places);
    changes->places = places;
    changes->place_count = wanted;
    for (size_t i = 0; i < changes->count; i++)
        *place_of(changes, changes->list[i].field, changes->list[i].index) = (uint32_t)i + 1;
    return LX_OK;
}

lx_status lx__changes_reserve(lx__changes *changes, size_t more, lx_error *error)
{
    if (more > LX__CHANGES_MAX - changes->count)
        return lx__fail(error, LX_ERR_LIMIT,
                        "more than %u changes at once: commit more often, or fold",
                        (unsigned)LX__CHANGES_MAX);
    size_t wanted = changes->count + more;
    if (wanted > changes->capacity) {
        size_t capacity = changes->capacity < PLACES_MIN ? PLACES_MIN : changes->capacity * 2;
        if (capacity < wanted)
            capacity = wanted;
        lx__change *list = lx__resize_array(changes->list, capacity, sizeof *list);
        if (list == NULL)
            return lx__fail_memory(error, "changes");
        changes->list = list;
        changes->capacity = capacity;
    }
    return make_places(changes, wanted, error);
}

void lx__changes_approach(const lx__changes *changes, uint32_t field, uint64_t index)
{
    if (changes->place_count != 0)
        __builtin_prefetch(&changes->places[hash(field, index) & (changes->place_count - 1)]);
}

void lx__changes_put(lx__changes *changes, uint32_t field, uint64_t index, const lx__entry *entry)
{
    uint32_t *place = place_of(changes, field, index);
    if (*place == 0) {
        *place = (uint32_t)++changes->count;
        changes->list[*place - 1] = (lx__change){.index = index, .field = field};
    }
    changes->list[*place - 1].entry = *entry;
}

const lx__entry *lx__changes_find(const lx__changes *changes, uint32_t field, uint64_t index)
{
    if (changes->count == 0)
        return NULL;
    const uint32_t *place = place_of(changes, field, index);
    return *place != 0 ? &changes->list[*place - 1].entry : NULL;
}

void lx__changes_clear(lx__changes *changes)
{
    if (changes->capacity > KEPT_MAX) {
        lx__changes_free(changes);
        return;
    }
    if (changes->count < changes->place_count / 16) {
        /* Backwards, so that each is found before what stands in front of it is gone. */
        while (changes->count != 0) {
            const lx__change *last = &changes->list[changes->count - 1];
            *place_of(changes, last->field, last->index) = 0;
            changes->count--;
        }
    } else if (changes->places != NULL) {
        memset(changes->places, 0, changes->place_count * sizeof *changes->places);
    }
    changes->count = 0;
}

void lx__changes_free(lx__changes *changes)
{
    lx__free(changes->list);
    lx__free(changes->places);
    *changes = (lx__changes){0};
}
