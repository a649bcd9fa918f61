/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/fisher-yates.h"
#include "sampler/random/permutation.h"
#include "sampler/random/philox.h"
#include "sampler/random/stream-key.h"

/* Maximum length of a block that has a table, as in blocks.c. */
#define TABLE_LENGTH 256

/* Number of indices of a longer block that are computed together: as many as the vector code of the
 * permutation computes at a time. */
#define RUN_LENGTH 64

struct lanes {
    lx_order order;
    uint64_t lanes, block, seed;
    uint64_t segment; /* number of indices in a short segment */
    uint64_t rows;    /* number of whole blocks in each segment */
    uint64_t longer;  /* number of segments that have one index more */
    uint64_t phase;   /* which ones these are: they are evenly spaced */
    uint64_t longer_seed, shorter_seed, rows_seed, cut_key;
};

/** The blocks that the lanes read at the same time. */
struct row {
    uint64_t block;     /* the current block, before each lane adds its own number to it; if it
                           equals lanes.rows, the short block */
    uint64_t shift_key; /* of the numbers that the lanes add */
};

/** The indices that a lane continues with. */
struct lane {
    uint64_t stamp; /* of the run; 0: none yet */
    uint64_t first; /* first index of the block */
    /* Valid if there is a stamp: */
    uint64_t segment; /* first index of the segment */
    uint64_t cut;     /* number of whole blocks before the short block, in the segment */
};

/* The run of a lane consists of the indices that it continues with: a block that has a table, or
 * RUN_LENGTH indices of a longer block. All lanes are in their runs at the same time. */
struct lanes_scratch {
    struct lane *lanes;
    uint32_t *run; /* run[i * lanes + lane]: index i of a lane's run, relative to the block */
    lx__permutation longer, shorter, rows, within;
    uint64_t stamp; /* of the current run; 0: none */
    struct row row;
    uint64_t begin, end; /* of the current run, in the block; a short block may end earlier */
};

static uint64_t run_length(const struct lanes *self)
{
    return self->block > TABLE_LENGTH ? RUN_LENGTH : self->block;
}

static lx_status make_lanes(const struct lanes *self, struct lanes_scratch *scratch,
                            lx_error *error)
{
    size_t lanes = (size_t)self->lanes;
    if (scratch->lanes == NULL)
        scratch->lanes = lx__alloc_array(lanes, sizeof *scratch->lanes);
    if (scratch->run == NULL) /* up to 1 GiB, which is not touched before a lane is read */
        scratch->run = lx__alloc(lanes * (size_t)run_length(self) * sizeof *scratch->run);
    if (scratch->lanes == NULL || scratch->run == NULL)
        return lx__fail_memory(error, "the lanes of an order");
    return LX_OK;
}

/** Enters a row of blocks in an epoch, and the segments of the lanes. */
static lx_status enter_row(const struct lanes *self, struct lanes_scratch *scratch, uint64_t epoch,
                           uint64_t number, struct row *row, lx_error *error)
{
    lx_status status = LX_OK;
    if (self->longer != 0)
        status = lx__permutation_set(&scratch->longer, self->longer, self->longer_seed, 0,
                                     LX__FISHER_YATES_LENGTH, error);
    if (status == LX_OK)
        status = lx__permutation_set(&scratch->shorter, self->lanes - self->longer,
                                     self->shorter_seed, 0, LX__FISHER_YATES_LENGTH, error);
    row->block = number;
    if (status == LX_OK && number < self->rows) {
        status = lx__permutation_set(&scratch->rows, self->rows, self->rows_seed, epoch,
                                     LX__FISHER_YATES_LENGTH, error);
        if (status == LX_OK)
            lx__permutation_map(&scratch->rows, &row->block, 1);
    }
    lx__key(self->seed, epoch, LX__STREAM_ROWS, 1, &row->shift_key);
    return status;
}

/** Enters the run that contains sample @p number of each lane in an epoch. */
static lx_status enter_run(const struct lanes *self, struct lanes_scratch *scratch, uint64_t epoch,
                           uint64_t number, lx_error *error)
{
    uint64_t within = number % self->block;
    uint64_t length = run_length(self), begin = within - within % length;
    uint64_t first = number - (within - begin);
    /* The position of the first lane's first index in the run, counted from 1. */
    uint64_t stamp = epoch * self->order.length + first * self->lanes + 1;
    if (scratch->stamp == stamp)
        return LX_OK;
    scratch->stamp = 0;
    lx_status status = make_lanes(self, scratch, error);
    if (status == LX_OK)
        status = enter_row(self, scratch, epoch, number / self->block, &scratch->row, error);
    if (status != LX_OK)
        return status;
    scratch->begin = begin;
    scratch->end = begin + length < self->block ? begin + length : self->block;
    scratch->stamp = stamp;
    return LX_OK;
}

/** Returns the number of a lane's segment. Lanes with one index more have segments with one index
 * more. */
static uint64_t segment_of(const struct lanes *self, const struct lanes_scratch *scratch,
                           uint64_t lane)
{
    if (lane < self->longer) {
        lx__permutation_map(&scratch->longer, &lane, 1);
        return ((lane + 1) * self->lanes - 1 - self->phase) / self->longer;
    }
    lane -= self->longer;
    lx__permutation_map(&scratch->shorter, &lane, 1);
    return (lane * self->lanes + self->phase) / (self->lanes - self->longer);
}

/** Finds out where the segment of a lane begins, and where it is cut. */
static void find_segment(const struct lanes *self, const struct lanes_scratch *scratch,
                         uint64_t lane, struct lane *here)
{
    uint64_t seed, segment = segment_of(self, scratch, lane);
    here->segment = segment * self->segment + (segment * self->longer + self->phase) / self->lanes;
    lx__philox_draws(self->cut_key, lane, 1, &seed);
    here->cut = lx__draw_below(seed, self->rows + 1);
}

/** Finds the first index of a lane's block, and returns the length of the block. */
static uint64_t find_block(const struct lanes *self, const struct row *row, uint64_t lane,
                           const struct lane *here, uint64_t *first)
{
    uint64_t seed, rest = self->segment - self->rows * self->block + (lane < self->longer);
    if (row->block == self->rows) {
        *first = here->segment + here->cut * self->block;
        return rest;
    }
    lx__philox_draws(row->shift_key, lane, 1, &seed);
    uint64_t block = lx__add_mod(row->block, lx__draw_below(seed, self->rows), self->rows);
    *first = here->segment + block * self->block + (block >= here->cut ? rest : 0);
    return self->block;
}

/** Fills the current run of a lane. */
static lx_status fill(const struct lanes *self, struct lanes_scratch *scratch, uint64_t epoch,
                      uint64_t lane, lx_error *error)
{
    uint64_t values[TABLE_LENGTH], seed, first;
    struct lane *here = &scratch->lanes[lane];
    if (here->stamp == 0)
        find_segment(self, scratch, lane, here);
    uint64_t length = find_block(self, &scratch->row, lane, here, &first);
    lx__key(self->seed, first, LX__STREAM_LANE_BLOCK, 1, &seed);
    lx_status status = lx__permutation_set(&scratch->within, length, seed, epoch, TABLE_LENGTH,
                                           error);
    if (status != LX_OK)
        return status;
    size_t count = (size_t)((scratch->end < length ? scratch->end : length) - scratch->begin);
    for (size_t i = 0; i < count; i++)
        values[i] = scratch->begin + i;
    lx__permutation_map(&scratch->within, values, count);
    for (size_t i = 0; i < count; i++)
        scratch->run[i * self->lanes + lane] = (uint32_t)values[i];
    here->stamp = scratch->stamp;
    here->first = first;
    return LX_OK;
}

/** Reads the offsets that lie in one pass over the lanes, and sets @p here to the number read. */
static lx_status read_pass(const lx_order *order, void *memory, uint64_t epoch, uint64_t *positions,
                           size_t count, size_t *here, lx_error *error)
{
    const struct lanes *self = (const struct lanes *)order;
    struct lanes_scratch *scratch = memory;
    uint64_t number = positions[0] / self->lanes, begin = number * self->lanes;
    lx_status status = enter_run(self, scratch, epoch, number, error);
    size_t n = 0;
    if (status == LX_OK) {
        uint64_t stamp = scratch->stamp;
        const struct lane *lanes = scratch->lanes;
        const uint32_t *run = scratch->run + (number % self->block - scratch->begin) * self->lanes;
        for (; n < count && positions[n] - begin < self->lanes; n++) {
            uint64_t lane = positions[n] - begin;
            if (lanes[lane].stamp != stamp)
                status = fill(self, scratch, epoch, lane, error);
            if (status != LX_OK)
                break;
            positions[n] = lanes[lane].first + run[lane];
        }
    }
    *here = n;
    return status;
}

static lx_status lanes_read(const lx_order *order, void *memory, uint64_t *positions, size_t count,
                            lx_error *error)
{
    return lx__order_read_pieces(order, memory, positions, count, read_pass, error);
}

static lx_status lanes_find_block(const lx_order *order, void *memory, uint64_t position,
                                  lx__index_block *block, lx_error *error)
{
    const struct lanes *self = (const struct lanes *)order;
    struct row row;
    struct lane lane;
    uint64_t start = position - position % order->length, offset = position - start;
    uint64_t number = offset / order->window, begin = number * order->window;
    uint64_t left = order->length - begin;
    lx_status status = enter_row(self, memory, position / order->length, number, &row, error);
    if (status != LX_OK)
        return status;
    find_segment(self, memory, offset % self->lanes, &lane);
    block->count = find_block(self, &row, offset % self->lanes, &lane, &block->first);
    block->begin = start + begin;
    block->length = left < order->window ? left : order->window;
    return LX_OK;
}

static void lanes_clear(void *memory)
{
    struct lanes_scratch *scratch = memory;
    lx__free(scratch->lanes);
    lx__free(scratch->run);
    lx__permutation_clear(&scratch->longer);
    lx__permutation_clear(&scratch->shorter);
    lx__permutation_clear(&scratch->rows);
    lx__permutation_clear(&scratch->within);
}

static int lanes_describe(const lx_order *order, json_t *object)
{
    const struct lanes *self = (const struct lanes *)order;
    int failed = json_object_set_new(object, "lanes", lx__state_number(self->lanes));
    failed |= json_object_set_new(object, "block", lx__state_number(self->block));
    failed |= json_object_set_new(object, "seed", lx__state_number(self->seed));
    return failed;
}

static const lx__order_class lanes_class = {.kind = "lanes",
                                            .formula = 1,
                                            .scratch_size = sizeof(struct lanes_scratch),
                                            .clear_scratch = lanes_clear,
                                            .read = lanes_read,
                                            .find_block = lanes_find_block,
                                            .describe = lanes_describe};

lx_status lx_order_new_lanes(uint64_t length, uint64_t lanes, uint64_t block, uint64_t seed,
                             lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    if (order == NULL)
        return lx__fail_null(error, "order");
    if (lanes == 0 || lanes > LX_MAX_LANES)
        return lx_fail(error, LX_ERR_ARGUMENT, "lanes must be from 1 to %u, not %" PRIu64,
                       LX_MAX_LANES, lanes);
    if (block == 0 || block > UINT32_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT, "block must be from 1 to %" PRIu32 ", not %" PRIu64,
                       UINT32_MAX, block);
    uint64_t least = block > 1 ? block : 2; /* epochs of lanes with one index would be the same */
    if (length != 0 && length / lanes < least)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%" PRIu64 " lanes need at least %" PRIu64
                       " records each, but there are %" PRIu64
                       " records in all: use fewer lanes or shorter blocks",
                       lanes, least, length);
    lx_status status = lx__order_new(&lanes_class, sizeof(struct lanes), length, length, order,
                                     error);
    if (status != LX_OK)
        return status;
    struct lanes *self = (struct lanes *)*order;
    uint64_t seeds[5];
    lx__key(seed, 0, LX__STREAM_LANES, 5, seeds);
    self->order.lanes = self->lanes = lanes;
    self->order.window = lanes * block;
    self->block = block;
    self->seed = seed;
    self->segment = length / lanes;
    self->longer = length % lanes;
    self->rows = self->segment / block;
    self->longer_seed = seeds[0];
    self->shorter_seed = seeds[1];
    self->rows_seed = seeds[2];
    self->cut_key = seeds[3];
    self->phase = lx__draw_below(seeds[4], lanes);
    return LX_OK;
}
