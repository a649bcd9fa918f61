/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include <loaderx/weighted.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/order-options.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/orders/group-members.h"
#include "sampler/random/stream-key.h"

/* Number of class permutations that a scratch buffer keeps, a power of two. With more classes, a
 * round over all of them recomputes each permutation, but then their tables are short. */
#define KEPT 4096

struct balanced {
    lx_order order;
    uint64_t seed, rounds_seed;
    uint64_t count; /* number of indices */
    uint32_t crc;   /* CRC-32C of the classes */
    uint64_t class_count;
    lx__index_table table; /* the members, class by class; then the start of each class; then the
                              end */
};

/* The shuffle of a class for as many rounds as it has members. */
struct cycle {
    bool ready;
    uint64_t class, first; /* round */
    lx__permutation permutation;
};

struct balanced_scratch {
    lx__permutation round;
    uint64_t kept;
    struct cycle *cycles; /* class c is stored at c mod KEPT */
};

/* ---- reading */

static lx_status prepare(const struct balanced *self, struct balanced_scratch *scratch,
                         lx_error *error)
{
    if (scratch->cycles != NULL)
        return LX_OK;
    scratch->kept = self->class_count < KEPT ? self->class_count : KEPT;
    scratch->cycles = lx__alloc_array((size_t)scratch->kept, sizeof *scratch->cycles);
    return scratch->cycles != NULL ? LX_OK : lx__fail_memory(error, "reading an order");
}

/** Sets the shuffle of a class to that of a round. Usually, it is already set, and finding that out
 * takes no division or hash. */
static lx_status set_cycle(const struct balanced *self, struct cycle *cycle, uint64_t round,
                           uint64_t class, uint64_t length, lx_error *error)
{
    uint64_t seed, epoch;
    if (cycle->ready && cycle->class == class && cycle->permutation.length == length &&
        round - cycle->first < length)
        return LX_OK;
    epoch = round / length;
    lx__key(self->seed, class, LX__STREAM_CLASS, 1, &seed);
    lx_status status = lx__permutation_set(&cycle->permutation, length, seed, epoch,
                                           LX__GROUP_TABLE, error);
    cycle->ready = status == LX_OK;
    cycle->class = class;
    cycle->first = epoch * length;
    return status;
}

/** Finds the index of @p class in a round: the class cycles through its members, which are
 * reshuffled for each cycle. */
static lx_status read_class(const struct balanced *self, struct balanced_scratch *scratch,
                            uint64_t round, uint64_t class, uint64_t *index, lx_error *error)
{
    const uint32_t *numbers = self->table.narrow;
    lx_status status = lx__index_table_check_range(&self->table, self->count + class, 2, error);
    if (status != LX_OK)
        return status;
    uint64_t begin = numbers[self->count + class], end = numbers[self->count + class + 1];
    if (begin >= end || end > self->count)
        return lx__index_table_fail(&self->table, error);
    struct cycle *cycle = &scratch->cycles[class % KEPT];
    status = set_cycle(self, cycle, round, class, end - begin, error);
    if (status != LX_OK)
        return status;
    *index = round - cycle->first;
    lx__permutation_map(&cycle->permutation, index, 1);
    *index += begin;
    status = lx__index_table_check(&self->table, index, 1, error);
    if (status == LX_OK)
        *index = numbers[*index];
    return status == LX_OK && *index >= self->count ? lx__index_table_fail(&self->table, error)
                                                    : status;
}

/** Reads the first of the positions and those that follow it in the same round, and sets @p here to
 * the number read. */
static lx_status read_round(const struct balanced *self, struct balanced_scratch *scratch,
                            uint64_t *positions, size_t count, size_t *here, lx_error *error)
{
    uint64_t round = positions[0] / self->class_count, begin = round * self->class_count;
    size_t n = 0;
    lx_status status = lx__permutation_set(&scratch->round, self->class_count, self->rounds_seed,
                                           round, LX__GROUP_TABLE, error);
    for (; n < count && positions[n] - begin < self->class_count; n++)
        positions[n] -= begin;
    *here = n;
    if (status == LX_OK)
        lx__permutation_map(&scratch->round, positions, n);
    for (size_t i = 0; status == LX_OK && i < n; i++)
        status = read_class(self, scratch, round, positions[i], &positions[i], error);
    return status;
}

static lx_status balanced_read(const lx_order *order, void *memory, uint64_t *positions,
                               size_t count, lx_error *error)
{
    const struct balanced *self = (const struct balanced *)order;
    struct balanced_scratch *scratch = memory;
    lx_status status = prepare(self, scratch, error);
    for (size_t done = 0, here; status == LX_OK && done < count; done += here)
        status = read_round(self, scratch, positions + done, count - done, &here, error);
    return status;
}

static void balanced_clear(void *memory)
{
    struct balanced_scratch *scratch = memory;
    lx__permutation_clear(&scratch->round);
    for (uint64_t i = 0; scratch->cycles != NULL && i < scratch->kept; i++)
        lx__permutation_clear(&scratch->cycles[i].permutation);
    lx__free(scratch->cycles);
}

/* ---- class */

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
    lx__index_table_free(&((struct balanced *)order)->table);
}

static const lx__order_class balanced_class = {.kind = "balanced",
                                               .formula = 1,
                                               .scratch_size = sizeof(struct balanced_scratch),
                                               .clear_scratch = balanced_clear,
                                               .read = balanced_read,
                                               .describe = balanced_describe,
                                               .dispose = balanced_dispose};

/* ---- construction */

struct given {
    const uint64_t *classes;
    uint64_t count;
    uint32_t crc;
};

static int describe_table(const void *user, json_t *what)
{
    const struct given *given = user;
    return lx__index_table_describe(what, "balanced", given->count, "classes", given->crc);
}

static lx_status make_table(void *user, lx__index_table *table, lx_error *error)
{
    const struct given *given = user;
    size_t groups;
    uint32_t *members;
    lx_status status = lx__group_members_sort(given->classes, (size_t)given->count, &members,
                                              &groups, error);
    if (status != LX_OK)
        return status;
    table->narrow = members;
    table->count = given->count + groups + 1;
    return LX_OK;
}

static lx_status group(struct balanced *self, const uint64_t *classes, const char *tables,
                       lx_error *error)
{
    static const lx__index_table_maker maker = {"balanced", describe_table, make_table};
    uint64_t count = self->count;
    for (uint64_t i = 0; i < count; i++)
        self->crc = lx__state_add(self->crc, classes[i]);
    struct given given = {classes, count, self->crc};
    /* The end of the last class is one of the numbers, too; with 2^32 - 1 members, it still fits in
     * 4 bytes. */
    self->table = (lx__index_table){.count = count != 0 ? LX__INDEX_TABLE_ANY : 0,
                                    .bound = count + 1};
    lx_status status = lx__index_table_cache_get(tables, &maker, &given, &self->table, error);
    if (status != LX_OK)
        return status;
    if (self->table.count < count + 1 || self->table.count > 2 * count + 1 ||
        (count != 0 && self->table.count == count + 1))
        return lx__index_table_fail(&self->table, error);
    self->class_count = self->table.count - count - 1;
    return LX_OK;
}

lx_status lx_order_new_balanced(const uint64_t *classes, uint64_t count,
                                const lx_order_options *options, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    lx_status status = lx__order_options_take(
        options, LX__ORDER_LENGTH | LX__ORDER_SEED | LX__ORDER_TABLES, &how, error);
    uint64_t length = (how.given & LX__ORDER_LENGTH) != 0 ? how.length : count;
    if (status == LX_OK)
        status = lx__group_members_check("classes", classes, count, order, error);
    if (status == LX_OK && count == 0 && length != 0)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "classes is empty, but the length of an epoch is not 0: pass classes, or "
                         "set length to 0");
    if (status == LX_OK)
        status = lx__order_new(&balanced_class, sizeof(struct balanced), length, count, order,
                               error);
    if (status != LX_OK)
        return status;
    struct balanced *self = (struct balanced *)*order;
    self->seed = how.seed;
    self->count = count;
    lx__key(how.seed, 0, LX__STREAM_ROUNDS, 1, &self->rounds_seed);
    status = group(self, classes, how.tables, error);
    return lx__order_finish(order, status);
}
