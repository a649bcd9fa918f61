/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/fisher-yates.h"
#include "sampler/random/permutation.h"

struct shuffle {
    lx_order order;
    uint64_t seed;
};

static lx_status shuffle_read(const lx_order *order, void *scratch, uint64_t *positions,
                              size_t count, lx_error *error)
{
    const struct shuffle *self = (const struct shuffle *)order;
    lx__permutation *permutation = scratch; /* the permutation of the current epoch */
    lx_status status = LX_OK;
    while (status == LX_OK && count != 0) {
        size_t here;
        uint64_t epoch = lx__order_split_epoch(order, positions, count, &here);
        status = lx__permutation_set(permutation, order->length, self->seed, epoch,
                                     LX__FISHER_YATES_LENGTH, error);
        if (status == LX_OK)
            lx__permutation_map(permutation, positions, here);
        positions += here;
        count -= here;
    }
    return status;
}

static void shuffle_clear(void *scratch)
{
    lx__permutation_clear(scratch);
}

static int shuffle_describe(const lx_order *order, json_t *object)
{
    const struct shuffle *self = (const struct shuffle *)order;
    return json_object_set_new(object, "seed", lx__state_number(self->seed));
}

static const lx__order_class shuffle_class = {.kind = "shuffle",
                                              .formula = 1,
                                              .scratch_size = sizeof(lx__permutation),
                                              .clear_scratch = shuffle_clear,
                                              .read = shuffle_read,
                                              .describe = shuffle_describe};

lx_status lx_order_new_shuffle(uint64_t length, uint64_t seed, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_status status = lx__order_new(&shuffle_class, sizeof(struct shuffle), length, length, order,
                                     error);
    if (status == LX_OK)
        ((struct shuffle *)*order)->seed = seed;
    return status;
}
