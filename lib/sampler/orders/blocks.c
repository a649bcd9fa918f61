/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/fisher-yates.h"
#include "sampler/random/permutation.h"
#include "sampler/random/stream-key.h"

/* Maximum length of a block that has a table. A rank may read only a few indices of a longer block,
 * for which a table would be too costly. */
#define TABLE_LENGTH 256

struct blocks {
    lx_order order;
    uint64_t block, seed;
    uint64_t count; /* number of blocks, including the last one */
    uint64_t last;  /* number of indices in the last block, 1 to block */
    uint64_t blocks_seed;
};

/* The order of the blocks in an epoch, and the shuffle of one of them. */
struct blocks_scratch {
    lx__permutation blocks, within;
    uint64_t epoch, last_slot; /* slot of the last block; valid while blocks.ready */
};

/** A block and its offsets in an epoch. */
struct slot {
    uint64_t block, begin, length;
};

static lx_status enter_epoch(const struct blocks *self, struct blocks_scratch *scratch,
                             uint64_t epoch, lx_error *error)
{
    if (scratch->blocks.ready && scratch->epoch == epoch)
        return LX_OK;
    lx_status status = lx__permutation_set(&scratch->blocks, self->count, self->blocks_seed, epoch,
                                           LX__FISHER_YATES_LENGTH, error);
    if (status != LX_OK)
        return status;
    scratch->epoch = epoch;
    scratch->last_slot = lx__permutation_find(&scratch->blocks, self->count - 1);
    return LX_OK;
}

static struct slot find_slot(const struct blocks *self, const struct blocks_scratch *scratch,
                             uint64_t offset)
{
    uint64_t missing = self->block - self->last, begin = scratch->last_slot * self->block;
    struct slot slot;
    /* Offsets after the last block are shifted as if it were full. */
    if (offset >= begin && offset - begin >= self->last)
        offset += missing;
    else
        missing = 0;
    uint64_t number = offset / self->block;
    slot.block = number;
    lx__permutation_map(&scratch->blocks, &slot.block, 1);
    slot.begin = number * self->block - missing;
    slot.length = slot.block == self->count - 1 ? self->last : self->block;
    return slot;
}

/** Reads the offsets that lie in one block, and sets @p here to the number read. */
static lx_status read_block(const lx_order *order, void *memory, uint64_t epoch,
                            uint64_t *positions, size_t count, size_t *here, lx_error *error)
{
    const struct blocks *self = (const struct blocks *)order;
    struct blocks_scratch *scratch = memory;
    uint64_t seed;
    lx_status status = enter_epoch(self, scratch, epoch, error);
    if (status != LX_OK)
        return status;
    struct slot slot = find_slot(self, scratch, positions[0]);
    lx__key(self->seed, slot.block, LX__STREAM_BLOCK, 1, &seed);
    status = lx__permutation_set(&scratch->within, slot.length, seed, epoch, TABLE_LENGTH, error);
    size_t n = 0;
    for (; n < count && positions[n] - slot.begin < slot.length; n++)
        positions[n] -= slot.begin;
    *here = n;
    if (status != LX_OK)
        return status;
    lx__permutation_map(&scratch->within, positions, n);
    for (size_t i = 0; i < n; i++)
        positions[i] += slot.block * self->block;
    return LX_OK;
}

static lx_status blocks_read(const lx_order *order, void *memory, uint64_t *positions, size_t count,
                             lx_error *error)
{
    return lx__order_read_pieces(order, memory, positions, count, read_block, error);
}

static lx_status blocks_find_block(const lx_order *order, void *memory, uint64_t position,
                                   lx__index_block *block, lx_error *error)
{
    const struct blocks *self = (const struct blocks *)order;
    uint64_t epoch = position / order->length, start = epoch * order->length;
    lx_status status = enter_epoch(self, memory, epoch, error);
    if (status != LX_OK)
        return status;
    struct slot slot = find_slot(self, memory, position - start);
    block->first = slot.block * self->block;
    block->count = slot.length;
    block->begin = start + slot.begin;
    block->length = slot.length;
    return LX_OK;
}

static void blocks_clear(void *memory)
{
    struct blocks_scratch *scratch = memory;
    lx__permutation_clear(&scratch->blocks);
    lx__permutation_clear(&scratch->within);
}

static int blocks_describe(const lx_order *order, json_t *object)
{
    const struct blocks *self = (const struct blocks *)order;
    int failed = json_object_set_new(object, "block", lx__state_number(self->block));
    failed |= json_object_set_new(object, "seed", lx__state_number(self->seed));
    return failed;
}

static const lx__order_class blocks_class = {.kind = "blocks",
                                             .formula = 1,
                                             .scratch_size = sizeof(struct blocks_scratch),
                                             .clear_scratch = blocks_clear,
                                             .read = blocks_read,
                                             .find_block = blocks_find_block,
                                             .describe = blocks_describe};

lx_status lx_order_new_blocks(uint64_t length, uint64_t block, uint64_t seed, lx_order **order,
                              lx_error *error)
{
    LX__CLEAR(order);
    if (order == NULL)
        return lx__fail_null(error, "order");
    if (block == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "block must be at least 1");
    uint64_t count = length / block + (length % block != 0), whole;
    if (!lx__multiply_fits(count, block, &whole))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%" PRIu64 " blocks of %" PRIu64
                       " positions exceed the limit of 2^64 - 1 positions: use smaller blocks",
                       count, block);
    lx_status status = lx__order_new(&blocks_class, sizeof(struct blocks), length, length, order,
                                     error);
    if (status != LX_OK)
        return status;
    struct blocks *self = (struct blocks *)*order;
    self->block = block;
    self->seed = seed;
    self->count = count;
    self->last = block - (whole - length);
    self->order.lanes = 1;
    self->order.window = block < length ? block : length;
    lx__key(seed, 0, LX__STREAM_BLOCKS, 1, &self->blocks_seed);
    return LX_OK;
}
