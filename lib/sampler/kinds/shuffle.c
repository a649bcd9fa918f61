/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/numbers/feistel.h"
#include "sampler/numbers/fisher-yates.h"
#include "sampler/numbers/key.h"
#include "sampler/order/order.h"
#include "sampler/order/state.h"

struct shuffle {
    lx_order order;
    uint64_t seed;
};

/** The permutation of one epoch: a table or keys, by the length of the order. */
struct shuffle_scratch {
    bool ready; /* for this epoch; false until the first read */
    uint64_t epoch;
    uint16_t *table;
    lx__feistel feistel;
};

static bool has_table(const lx_order *order)
{
    return order->length <= LX__FISHER_YATES_LENGTH;
}

static lx_status make_table(const struct shuffle *self, struct shuffle_scratch *scratch,
                            uint64_t epoch, lx_error *error)
{
    uint32_t length = (uint32_t)self->order.length;
    if (scratch->table == NULL)
        scratch->table = lx__alloc_array(length, sizeof *scratch->table);
    if (scratch->table == NULL)
        return lx__fail_memory(error, "the table of a shuffle");
    uint64_t key;
    lx__key(self->seed, epoch, LX__STREAM_FISHER_YATES, 1, &key);
    lx__fisher_yates(scratch->table, length, key);
    return LX_OK;
}

/** Makes the scratch hold the permutation of @p epoch. */
static lx_status enter(const struct shuffle *self, struct shuffle_scratch *scratch, uint64_t epoch,
                       lx_error *error)
{
    if (scratch->ready && scratch->epoch == epoch)
        return LX_OK;
    lx_status status = LX_OK;
    if (has_table(&self->order))
        status = make_table(self, scratch, epoch, error);
    else
        lx__feistel_init(&scratch->feistel, self->order.length, self->seed, epoch);
    scratch->epoch = epoch;
    scratch->ready = status == LX_OK;
    return status;
}

static lx_status shuffle_read(const lx_order *order, void *memory, uint64_t first, uint64_t step,
                              uint64_t count, uint64_t *indices, lx_error *error)
{
    struct shuffle_scratch *scratch = memory;
    while (count != 0) {
        uint64_t epoch = first / order->length, offset = first % order->length;
        uint64_t here = (order->length - 1 - offset) / step + 1; /* positions of this epoch */
        if (here > count)
            here = count;
        lx_status status = enter((const struct shuffle *)order, scratch, epoch, error);
        if (status != LX_OK)
            return status;
        if (has_table(order))
            lx__fisher_yates_read(scratch->table, offset, step, here, indices);
        else
            lx__feistel_read(&scratch->feistel, offset, step, here, indices);
        first += here * step; /* may wrap behind the last position */
        indices += here;
        count -= here;
    }
    return LX_OK;
}

static void shuffle_clear(void *memory)
{
    lx__free(((struct shuffle_scratch *)memory)->table);
}

static int shuffle_describe(const lx_order *order, json_t *object)
{
    const struct shuffle *self = (const struct shuffle *)order;
    return json_object_set_new(object, "seed", lx__state_number(self->seed));
}

static const lx__order_class shuffle_class = {.kind = "shuffle",
                                              .formula = 1,
                                              .scratch_size = sizeof(struct shuffle_scratch),
                                              .clear_scratch = shuffle_clear,
                                              .read = shuffle_read,
                                              .describe = shuffle_describe};

lx_status lx_order_new_shuffle(uint64_t length, uint64_t seed, lx_order **order, lx_error *error)
{
    lx_status status =
        lx__order_new(&shuffle_class, sizeof(struct shuffle), length, length, order, error);
    if (status == LX_OK)
        ((struct shuffle *)*order)->seed = seed;
    return status;
}
