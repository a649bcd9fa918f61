/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/mixtures/greedy.h"
#include "sampler/mixtures/sets.h"
#include "sampler/mixtures/weightings.h"

/* Positions between two places from which the loop can go on: what is gone through to find one. */
#define BLOCK 16384

struct greedy_blend {
    lx_order order;
    lx_exhausted exhausted;
    lx__mix_sets sets;
    lx__weightings weightings; /* for states */
    double *weights;
    uint64_t *given; /* before each block, to each set; LX__GREEDY_DROPPED */
    size_t block_count, block_capacity;
    uint64_t *totals; /* of an epoch */
};

/* The block that was gone through last. */
struct greedy_scratch {
    lx__mix_sets_scratch sets;
    lx__greedy greedy;
    uint64_t block;       /* while there are ... */
    uint16_t *of, *ranks; /* the set of each position, and its rank among those of the block */
    uint16_t *counts;     /* of each set */
};

/* ---- going through positions */

/** Positions that a set has in an epoch, at most. */
static uint64_t limit_of(const struct greedy_blend *self, size_t set)
{
    return self->exhausted == LX_EXHAUSTED_REPEAT ? UINT64_MAX
                                                  : self->sets.parts[set].order->length;
}

/** Gives up to @p count positions away. With what is taken from them, a set that has all is left
 * out; without, it ends before the first position that such a set would be given. */
static size_t go_through(const struct greedy_blend *self, lx__greedy *greedy, uint16_t *of,
                         size_t count)
{
    size_t done = 0;
    if (self->exhausted == LX_EXHAUSTED_REPEAT) {
        lx__greedy_give(greedy, of, count);
        return count;
    }
    for (; done < count && lx__greedy_has_any(greedy); done++) {
        lx__greedy_give(greedy, &of[done], 1);
        size_t set = of[done];
        uint64_t given = (uint64_t)greedy->given[set];
        if (self->exhausted == LX_EXHAUSTED_REDISTRIBUTE && given == limit_of(self, set))
            lx__greedy_drop(greedy, set);
        else if (given > limit_of(self, set))
            break;
    }
    return done;
}

static lx_status load(const struct greedy_blend *self, uint64_t block, lx__greedy *greedy,
                      lx_error *error)
{
    lx_status status = LX_OK;
    if (greedy->given == NULL)
        status = lx__greedy_new(self->weights, self->sets.count, greedy, error);
    if (status == LX_OK)
        lx__greedy_go_to(greedy, block * BLOCK, self->weights,
                         self->given + block * self->sets.count, self->sets.count);
    return status;
}

static size_t size_of_block(const struct greedy_blend *self, uint64_t block)
{
    uint64_t left = self->order.length - block * BLOCK;
    return left < BLOCK ? (size_t)left : BLOCK;
}

/* ---- reading */

static lx_status prepare(const struct greedy_blend *self, struct greedy_scratch *scratch,
                         lx_error *error)
{
    lx_status status = lx__mix_sets_prepare(&self->sets, &scratch->sets, error);
    if (status != LX_OK || scratch->counts != NULL)
        return status;
    if (scratch->of == NULL)
        scratch->of = lx__alloc_array(BLOCK, sizeof *scratch->of);
    if (scratch->ranks == NULL)
        scratch->ranks = lx__alloc_array(BLOCK, sizeof *scratch->ranks);
    if (scratch->of != NULL && scratch->ranks != NULL)
        scratch->counts = lx__alloc_array(self->sets.count, sizeof *scratch->counts);
    scratch->block = UINT64_MAX;
    return scratch->counts != NULL ? LX_OK : lx__fail_memory(error, "reading an order");
}

static lx_status enter_block(const struct greedy_blend *self, struct greedy_scratch *scratch,
                             uint64_t block, lx_error *error)
{
    if (scratch->block == block)
        return LX_OK;
    scratch->block = UINT64_MAX;
    lx_status status = load(self, block, &scratch->greedy, error);
    if (status != LX_OK)
        return status;
    size_t count = go_through(self, &scratch->greedy, scratch->of, size_of_block(self, block));
    memset(scratch->counts, 0, self->sets.count * sizeof *scratch->counts);
    for (size_t i = 0; i < count; i++)
        scratch->ranks[i] = scratch->counts[scratch->of[i]]++;
    scratch->block = block;
    return LX_OK;
}

/** The set of an offset of an epoch, and in its place the position there. */
static lx_status find(const struct greedy_blend *self, struct greedy_scratch *scratch,
                      uint64_t epoch, uint64_t *place, uint16_t *set, lx_error *error)
{
    uint64_t offset = *place, block = offset / BLOCK;
    lx_status status = enter_block(self, scratch, block, error);
    if (status != LX_OK)
        return status;
    *set = scratch->of[offset % BLOCK];
    uint64_t in_epoch =
        self->given[block * self->sets.count + *set] + scratch->ranks[offset % BLOCK];
    *place = self->exhausted == LX_EXHAUSTED_REPEAT
                 ? epoch * self->totals[*set] + in_epoch
                 : lx__part_place(&self->sets.parts[*set], epoch, in_epoch);
    return LX_OK;
}

static lx_status greedy_read(const lx_order *order, void *memory, uint64_t *places, size_t count,
                             lx_error *error)
{
    const struct greedy_blend *self = (const struct greedy_blend *)order;
    struct greedy_scratch *scratch = memory;
    lx_status status = prepare(self, scratch, error);
    for (size_t at = 0, here; status == LX_OK && at < count; at += here) {
        uint64_t epoch = lx__order_split_epoch(order, places + at, count - at, &here);
        for (size_t i = at; status == LX_OK && i < at + here; i++)
            status = find(self, scratch, epoch, &places[i], &scratch->sets.of[i], error);
    }
    if (status == LX_OK)
        status = lx__mix_sets_read(&self->sets, &scratch->sets, places, count, error);
    return status;
}

static void greedy_clear(void *memory)
{
    struct greedy_scratch *scratch = memory;
    lx__mix_sets_clear(&scratch->sets);
    lx__greedy_free(&scratch->greedy);
    lx__free(scratch->of);
    lx__free(scratch->ranks);
    lx__free(scratch->counts);
}

/* ---- what it is */

static int greedy_describe(const lx_order *order, json_t *object)
{
    const struct greedy_blend *self = (const struct greedy_blend *)order;
    int failed = lx__exhausted_describe(self->exhausted, object);
    failed |= json_object_set_new(object, "weightings", lx__weightings_to_json(&self->weightings));
    failed |= lx__mix_sets_describe(&self->sets, object);
    return failed;
}

static lx_status greedy_count(const lx_order *order, uint64_t end, uint64_t *counts,
                              lx_error *error)
{
    const struct greedy_blend *self = (const struct greedy_blend *)order;
    uint64_t epoch = end / order->length, offset = end % order->length, block = offset / BLOCK;
    lx__greedy greedy = {0};
    uint16_t *of = lx__alloc_array(BLOCK, sizeof *of);
    lx_status status = of != NULL ? load(self, block, &greedy, error)
                                  : lx__fail_memory(error, "counting");
    for (size_t i = 0; status == LX_OK && i < self->sets.count; i++) {
        uint64_t given = self->given[block * self->sets.count + i];
        counts[i] = epoch * self->totals[i] +
                    (given != LX__GREEDY_DROPPED ? given : self->totals[i]);
    }
    if (status == LX_OK)
        (void)go_through(self, &greedy, of, (size_t)(offset % BLOCK));
    for (size_t i = 0; status == LX_OK && i < offset % BLOCK; i++)
        counts[of[i]]++;
    lx__greedy_free(&greedy);
    lx__free(of);
    return status;
}

static void greedy_dispose(lx_order *order)
{
    struct greedy_blend *self = (struct greedy_blend *)order;
    lx__weightings_free(&self->weightings);
    lx__mix_sets_free(&self->sets);
    lx__free(self->weights);
    lx__free(self->given);
    lx__free(self->totals);
}

static const lx__order_class greedy_class = {.kind = "greedy",
                                             .formula = 1,
                                             .scratch_size = sizeof(struct greedy_scratch),
                                             .clear_scratch = greedy_clear,
                                             .read = greedy_read,
                                             .describe = greedy_describe,
                                             .count = greedy_count,
                                             .dispose = greedy_dispose};

/* ---- making it */

/** Notes how far the sets are before another block. */
static lx_status note_block(struct greedy_blend *self, const lx__greedy *greedy, lx_error *error)
{
    uint64_t *given = lx__grow_array(self->given, self->block_count, &self->block_capacity,
                                     self->sets.count * sizeof *given);
    if (given == NULL)
        return lx__fail_memory(error, "a mixture");
    self->given = given;
    lx__greedy_tell(greedy, given + self->block_count++ * self->sets.count, self->sets.count);
    return LX_OK;
}

/** Goes through an epoch of at most @p length positions. */
static lx_status plan(struct greedy_blend *self, uint64_t length, uint16_t *of, lx_error *error)
{
    lx__greedy greedy;
    size_t count = BLOCK;
    lx_status status = lx__greedy_new(self->weights, self->sets.count, &greedy, error);
    if (status != LX_OK)
        return status;
    while (status == LX_OK && count == BLOCK && self->order.length < length) {
        uint64_t left = length - self->order.length;
        status = note_block(self, &greedy, error);
        if (status != LX_OK)
            break;
        count = go_through(self, &greedy, of, left < BLOCK ? (size_t)left : BLOCK);
        self->order.length += count;
        for (size_t i = 0; i < count; i++)
            self->totals[of[i]]++;
    }
    lx__greedy_free(&greedy);
    return status;
}

/** As long as it was told to be, else as all sets together. */
static lx_status find_length(const lx_mixture *mixture, uint64_t *length, lx_error *error)
{
    *length = mixture->length;
    for (size_t i = 0; mixture->length == 0 && i < mixture->count; i++)
        if (__builtin_add_overflow(*length, mixture->sets[i].order->length, length))
            *length = UINT64_MAX;
    if (*length > LX__GREEDY_POSITIONS_MAX)
        return lx__fail(error, LX_ERR_LIMIT,
                        "an epoch would have more than the 2^53 positions that are gone through: "
                        "set a length");
    return LX_OK;
}

static lx_status fill(struct greedy_blend *self, const lx_mixture *mixture, lx_error *error)
{
    uint64_t length;
    self->exhausted = mixture->exhausted;
    lx_status status = lx__mix_sets_new(mixture, &self->order, &self->sets, error);
    if (status == LX_OK)
        status = lx__weightings_new(mixture, &self->weightings, error);
    if (status == LX_OK)
        status = find_length(mixture, &length, error);
    if (status != LX_OK)
        return status;
    self->weights = lx__alloc_array(mixture->count, sizeof *self->weights);
    self->totals = lx__alloc_array(mixture->count, sizeof *self->totals);
    uint16_t *of = lx__alloc_array(BLOCK, sizeof *of);
    if (self->weights == NULL || self->totals == NULL || of == NULL) {
        status = lx__fail_memory(error, "a mixture");
    } else {
        memcpy(self->weights, mixture->weightings[0].weights,
               mixture->count * sizeof *self->weights);
        status = plan(self, length, of, error);
    }
    lx__free(of);
    return status;
}

lx_status lx_order_new_greedy(const lx_mixture *mixture, lx_order **order, lx_error *error)
{
    if (order == NULL)
        return lx__fail_null(error, "order");
    *order = NULL;
    lx_status status = lx__mixture_check(mixture, error);
    if (status == LX_OK && mixture->weighting_count != 1)
        status = lx__fail(error, LX_ERR_UNSUPPORTED,
                          "a greedy mixture has the same weights all along: lx_order_new_blend() "
                          "changes them");
    if (status == LX_OK)
        status = lx__order_new(&greedy_class, sizeof(struct greedy_blend), 0, 0, order, error);
    if (status != LX_OK)
        return status;
    status = fill((struct greedy_blend *)*order, mixture, error);
    return lx__order_finish(order, status);
}
