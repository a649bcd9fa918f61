/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include <loaderx/grouped.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/groups/members.h"
#include "sampler/numbers/key.h"
#include "sampler/order/order.h"
#include "sampler/order/state.h"

/* Permutations of classes that a scratch keeps, a power of two: of more classes, a round that goes
 * through all makes each anew, whose table is short where there are so many. */
#define KEPT 4096

struct balanced {
    lx_order order;
    uint64_t seed, rounds_seed;
    uint64_t count; /* of indices */
    uint32_t crc;   /* of the classes */
    uint64_t class_count;
    uint32_t *members; /* class after class */
    uint32_t *begins;  /* where each begins; and the end */
};

/* How a class is shuffled for as many rounds as it has members. */
struct turn {
    bool entered;
    uint64_t class, first; /* round */
    lx__permutation permutation;
};

struct balanced_scratch {
    lx__permutation round;
    uint64_t kept;
    struct turn *turns; /* of class c at c mod KEPT */
};

/* ---- reading */

static lx_status prepare(const struct balanced *self, struct balanced_scratch *scratch,
                         lx_error *error)
{
    if (scratch->turns != NULL)
        return LX_OK;
    scratch->kept = self->class_count < KEPT ? self->class_count : KEPT;
    scratch->turns = lx__alloc_array((size_t)scratch->kept, sizeof *scratch->turns);
    return scratch->turns != NULL ? LX_OK : lx__fail_memory(error, "reading an order");
}

/** Has the turn of a class be the one that a round is in: most often it is, and nothing is divided
 * or hashed to find out. */
static lx_status enter_turn(const struct balanced *self, struct turn *turn, uint64_t round,
                            uint64_t class, uint64_t length, lx_error *error)
{
    uint64_t seed, epoch;
    if (turn->entered && turn->class == class && round - turn->first < length)
        return LX_OK;
    epoch = round / length;
    lx__key(self->seed, class, LX__STREAM_CLASS, 1, &seed);
    lx_status status = lx__permutation_enter(&turn->permutation, length, seed, epoch,
                                             LX__GROUP_TABLE, error);
    turn->entered = status == LX_OK;
    turn->class = class;
    turn->first = epoch * length;
    return status;
}

/** The index that @p class gives in a round: its members go round in an order that is another one
 * each time. */
static lx_status read_class(const struct balanced *self, struct balanced_scratch *scratch,
                            uint64_t round, uint64_t class, uint64_t *index, lx_error *error)
{
    uint64_t begin = self->begins[class], length = self->begins[class + 1] - begin;
    struct turn *turn = &scratch->turns[class % KEPT];
    lx_status status = enter_turn(self, turn, round, class, length, error);
    if (status != LX_OK)
        return status;
    *index = round - turn->first;
    lx__permutation_map(&turn->permutation, index, 1);
    *index = self->members[begin + *index];
    return LX_OK;
}

/** Reads the first of the positions, and those behind it that are in the same round; how many that
 * are. */
static lx_status read_round(const struct balanced *self, struct balanced_scratch *scratch,
                            uint64_t *places, size_t count, size_t *here, lx_error *error)
{
    uint64_t round = places[0] / self->class_count, begin = round * self->class_count;
    size_t n = 0;
    lx_status status = lx__permutation_enter(&scratch->round, self->class_count,
                                             self->rounds_seed, round, LX__GROUP_TABLE, error);
    for (; n < count && places[n] - begin < self->class_count; n++)
        places[n] -= begin;
    *here = n;
    if (status == LX_OK)
        lx__permutation_map(&scratch->round, places, n);
    for (size_t i = 0; status == LX_OK && i < n; i++)
        status = read_class(self, scratch, round, places[i], &places[i], error);
    return status;
}

static lx_status balanced_read(const lx_order *order, void *memory, uint64_t *places, size_t count,
                               lx_error *error)
{
    const struct balanced *self = (const struct balanced *)order;
    struct balanced_scratch *scratch = memory;
    lx_status status = prepare(self, scratch, error);
    for (size_t done = 0, here; status == LX_OK && done < count; done += here)
        status = read_round(self, scratch, places + done, count - done, &here, error);
    return status;
}

static void balanced_clear(void *memory)
{
    struct balanced_scratch *scratch = memory;
    lx__permutation_clear(&scratch->round);
    for (uint64_t i = 0; scratch->turns != NULL && i < scratch->kept; i++)
        lx__permutation_clear(&scratch->turns[i].permutation);
    lx__free(scratch->turns);
}

/* ---- what it is */

static int balanced_describe(const lx_order *order, json_t *object)
{
    const struct balanced *self = (const struct balanced *)order;
    int failed = json_object_set_new(object, "count", lx__state_number(self->count));
    failed |= json_object_set_new(object, "classes", lx__state_crc(self->crc));
    failed |= json_object_set_new(object, "seed", lx__state_number(self->seed));
    return failed;
}

static void balanced_dispose(lx_order *order)
{
    struct balanced *self = (struct balanced *)order;
    lx__free(self->members);
    lx__free(self->begins);
}

static const lx__order_class balanced_class = {.kind = "balanced",
                                               .formula = 1,
                                               .scratch_size = sizeof(struct balanced_scratch),
                                               .clear_scratch = balanced_clear,
                                               .read = balanced_read,
                                               .describe = balanced_describe,
                                               .dispose = balanced_dispose};

/* ---- making it */

/** Notes where the classes of sorted items begin. */
static lx_status find_begins(struct balanced *self, const lx__keyed *items, lx_error *error)
{
    size_t count = (size_t)self->count;
    for (size_t i = 0; i < count; i++)
        self->class_count += i == 0 || items[i].key != items[i - 1].key;
    self->begins = lx__alloc_array((size_t)self->class_count + 1, sizeof *self->begins);
    if (self->begins == NULL)
        return lx__fail_memory(error, "a table of classes");
    size_t class = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || items[i].key != items[i - 1].key)
            self->begins[class++] = (uint32_t)i;
    self->begins[class] = (uint32_t)count;
    return LX_OK;
}

static lx_status group(struct balanced *self, const uint64_t *classes, lx_error *error)
{
    size_t count = (size_t)self->count;
    lx__keyed *items = lx__alloc_array(count, sizeof *items);
    if (items == NULL)
        return lx__fail_memory(error, "a table of classes");
    for (size_t i = 0; i < count; i++) {
        items[i] = (lx__keyed){classes[i], i};
        self->crc = lx__state_add(self->crc, classes[i]);
    }
    lx_status status = lx__members_sort(items, count, &self->members, error);
    if (status == LX_OK)
        status = find_begins(self, items, error);
    lx__free(items);
    return status;
}

lx_status lx_order_new_balanced(const uint64_t *classes, uint64_t count, uint64_t length,
                                uint64_t seed, lx_order **order, lx_error *error)
{
    lx_status status = lx__members_check("classes", classes, count, order, error);
    if (status == LX_OK && count == 0 && length != 0)
        status = lx__fail(error, LX_ERR_ARGUMENT,
                          "classes: there are none, and an epoch of them has a length");
    if (status == LX_OK)
        status = lx__order_new(&balanced_class, sizeof(struct balanced), length, count, order,
                               error);
    if (status != LX_OK)
        return status;
    struct balanced *self = (struct balanced *)*order;
    self->seed = seed;
    self->count = count;
    lx__key(seed, 0, LX__STREAM_ROUNDS, 1, &self->rounds_seed);
    status = group(self, classes, error);
    return lx__order_finish(order, status);
}
