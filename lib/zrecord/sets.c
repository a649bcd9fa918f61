/* SPDX-License-Identifier: MIT */
#include "zrecord/sets.h"

#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/error.h"

#define CAPACITY_MIN 64

lx_status lx__sets_init(lx__sets *sets, lx_error *error)
{
    *sets = (lx__sets){.capacity = CAPACITY_MIN};
    sets->slots = lx__alloc_array(CAPACITY_MIN, sizeof *sets->slots);
    if (sets->slots == NULL)
        return lx__fail_memory(error, "entries of the log");
    if (getrandom(&sets->seed, sizeof sets->seed, GRND_NONBLOCK) != sizeof sets->seed)
        sets->seed = (uintptr_t)sets->slots; /* early in a boot: an address will do */
    return LX_OK;
}

void lx__sets_free(lx__sets *sets)
{
    lx__free(sets->slots);
    lx__free(sets->filter);
    *sets = (lx__sets){0};
}

/** The slot of that set, or the free one where it belongs. */
static lx__set *slot_of(const lx__sets *sets, uint32_t field, uint64_t index)
{
    size_t mask = sets->capacity - 1;
    size_t at = (size_t)lx__sets_hash(sets, field, index) & mask;
    while (sets->slots[at].used &&
           (sets->slots[at].index != index || sets->slots[at].field != field))
        at = (at + 1) & mask;
    return &sets->slots[at];
}

static void place(lx__sets *sets, const lx__set *set)
{
    lx__set *slot = slot_of(sets, set->field, set->index);
    sets->count += !slot->used;
    *slot = *set;
}

static lx_status grow(lx__sets *sets, lx_error *error)
{
    lx__sets larger = {.capacity = sets->capacity * 2, .seed = sets->seed};
    larger.slots = lx__alloc_array(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return lx__fail_memory(error, "entries of the log");
    for (size_t i = 0; i < sets->capacity; i++)
        if (sets->slots[i].used)
            place(&larger, &sets->slots[i]);
    lx__sets_free(sets);
    *sets = larger;
    return LX_OK;
}

lx_status lx__sets_put(lx__sets *sets, uint32_t field, uint64_t index, uint64_t epoch,
                       const uint8_t rows[LX__ENTRY_BYTES], lx_error *error)
{
    if (sets->count >= sets->capacity / 4 * 3) {
        lx_status status = grow(sets, error);
        if (status != LX_OK)
            return status;
    }
    lx__set set = {.index = index, .epoch = epoch, .field = field, .used = 1};
    memcpy(set.rows, rows, sizeof set.rows);
    place(sets, &set);
    return LX_OK;
}

static lx_status make_filter(lx__sets *sets, lx_error *error)
{
    size_t bits = 64;
    while (bits < sets->count * 8)
        bits *= 2;
    sets->filter = lx__alloc_array(bits / 64, sizeof *sets->filter);
    if (sets->filter == NULL)
        return lx__fail_memory(error, "entries of the log");
    sets->filter_mask = bits - 1;
    for (size_t i = 0; i < sets->capacity; i++) {
        const lx__set *set = &sets->slots[i];
        uint64_t bit = lx__sets_hash(sets, set->field, set->index) >> 8 & sets->filter_mask;
        if (set->used)
            sets->filter[bit / 64] |= 1ull << bit % 64;
    }
    return LX_OK;
}

lx_status lx__sets_settle(lx__sets *sets, const lx__sets *from, lx__set_filter *stays,
                          const void *user, lx_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < from->capacity; i++)
        count += from->slots[i].used && stays(&from->slots[i], user);

    lx__sets settled = {.capacity = CAPACITY_MIN, .seed = from->seed};
    while (settled.capacity / 4 * 3 <= count)
        settled.capacity *= 2;
    settled.slots = lx__alloc_array(settled.capacity, sizeof *settled.slots);
    if (settled.slots == NULL)
        return lx__fail_memory(error, "entries of the log");
    for (size_t i = 0; i < from->capacity; i++)
        if (from->slots[i].used && stays(&from->slots[i], user))
            place(&settled, &from->slots[i]);

    lx_status status = make_filter(&settled, error);
    if (status != LX_OK) {
        lx__sets_free(&settled);
        return status;
    }
    if (sets == from)
        lx__sets_free(sets);
    *sets = settled;
    return LX_OK;
}

const uint8_t *lx__sets_look_up(const lx__sets *sets, uint32_t field, uint64_t index)
{
    const lx__set *slot = slot_of(sets, field, index);
    return slot->used ? slot->rows : NULL;
}
