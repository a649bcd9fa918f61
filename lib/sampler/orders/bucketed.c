/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include <loaderx/batching.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/order-options.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/orders/group-members.h"
#include "sampler/random/fisher-yates.h"
#include "sampler/random/stream-key.h"

struct bucketed {
    lx_order order;
    uint64_t seed, batches_seed;
    uint64_t batch, bucket;
    uint32_t crc;          /* CRC-32C of the lengths */
    lx__index_table table; /* the indices, by ascending length */
};

struct bucketed_scratch {
    lx__permutation batches, within;
};

/** Reads the first of an epoch's offsets and those that follow it in the same batch, and sets @p
 * here to the number read. */
static lx_status read_batch(const lx_order *order, void *memory, uint64_t epoch,
                            uint64_t *positions, size_t count, size_t *here, lx_error *error)
{
    const struct bucketed *self = (const struct bucketed *)order;
    struct bucketed_scratch *scratch = memory;
    uint64_t length = self->order.length, whole = length / self->batch;
    uint64_t number = positions[0] / self->batch, begin = number * self->batch, seed;
    uint64_t room = number < whole ? self->batch : length - begin; /* a partial batch stays last */
    lx_status status = LX_OK;
    size_t n = 0;
    for (; n < count && positions[n] >= begin && positions[n] - begin < room; n++)
        continue;
    *here = n;
    if (number < whole) {
        status = lx__permutation_set(&scratch->batches, whole, self->batches_seed, epoch,
                                     LX__FISHER_YATES_LENGTH, error);
        if (status == LX_OK)
            lx__permutation_map(&scratch->batches, &number, 1);
    }
    uint64_t bucket = number * self->batch / self->bucket, first = bucket * self->bucket;
    uint64_t members = length - first < self->bucket ? length - first : self->bucket;
    lx__key(self->seed, bucket, LX__STREAM_BUCKET, 1, &seed);
    if (status == LX_OK)
        status = lx__permutation_set(&scratch->within, members, seed, epoch, LX__GROUP_TABLE,
                                     error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        positions[i] = number * self->batch - first + (positions[i] - begin);
    lx__permutation_map(&scratch->within, positions, n);
    for (size_t i = 0; i < n; i++)
        positions[i] += first;
    return lx__index_table_map(&self->table, positions, n, error);
}

static lx_status bucketed_read(const lx_order *order, void *memory, uint64_t *positions,
                               size_t count, lx_error *error)
{
    return lx__order_read_pieces(order, memory, positions, count, read_batch, error);
}

static void bucketed_clear(void *memory)
{
    struct bucketed_scratch *scratch = memory;
    lx__permutation_clear(&scratch->batches);
    lx__permutation_clear(&scratch->within);
}

static int bucketed_describe(const lx_order *order, json_t *object)
{
    const struct bucketed *self = (const struct bucketed *)order;
    int failed = json_object_set_new(object, "lengths", lx__state_crc(self->crc));
    failed |= json_object_set_new(object, "batch", lx__state_number(self->batch));
    failed |= json_object_set_new(object, "bucket", lx__state_number(self->bucket));
    failed |= json_object_set_new(object, "seed", lx__state_number(self->seed));
    return failed;
}

static void bucketed_dispose(lx_order *order)
{
    lx__index_table_free(&((struct bucketed *)order)->table);
}

static const lx__order_class bucketed_class = {.kind = "bucketed",
                                               .formula = 1,
                                               .scratch_size = sizeof(struct bucketed_scratch),
                                               .clear_scratch = bucketed_clear,
                                               .read = bucketed_read,
                                               .describe = bucketed_describe,
                                               .dispose = bucketed_dispose};

/* ---- table */

struct given {
    const uint64_t *lengths;
    uint64_t count;
    uint32_t crc;
};

static int describe_table(const void *user, json_t *what)
{
    const struct given *given = user;
    return lx__index_table_describe(what, "bucketed", given->count, "lengths", given->crc);
}

static lx_status make_table(void *user, lx__index_table *table, lx_error *error)
{
    const struct given *given = user;
    uint32_t *members;
    lx_status status = lx__group_members_sort(given->lengths, (size_t)given->count, &members, NULL,
                                              error);
    if (status == LX_OK)
        table->narrow = members;
    return status;
}

static lx_status sort(struct bucketed *self, const uint64_t *lengths, const char *tables,
                      lx_error *error)
{
    static const lx__index_table_maker maker = {"bucketed", describe_table, make_table};
    uint64_t count = self->order.length;
    for (uint64_t i = 0; i < count; i++)
        self->crc = lx__state_add(self->crc, lengths[i]);
    struct given given = {lengths, count, self->crc};
    self->table = (lx__index_table){.count = count, .bound = count};
    return lx__index_table_cache_get(tables, &maker, &given, &self->table, error);
}

/** Default number of batches in a bucket: enough for buckets to shuffle well. */
#define BUCKET_BATCHES 100

static lx_status check_sizes(uint64_t batch, uint64_t bucket, lx_error *error)
{
    if (batch == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "batch must be at least 1");
    if (bucket == 0 || bucket % batch != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "bucket_size (%" PRIu64 ") is not a multiple of batch (%" PRIu64
                       "): a bucket consists of one or more whole batches",
                       bucket, batch);
    return LX_OK;
}

lx_status lx_order_new_bucketed(const uint64_t *lengths, uint64_t count, uint64_t batch,
                                const lx_order_options *options, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    uint64_t bucket;
    lx_status status = lx__order_options_take(
        options, LX__ORDER_BUCKET | LX__ORDER_SEED | LX__ORDER_TABLES, &how, error);
    if (status == LX_OK)
        status = lx__group_members_check("lengths", lengths, count, order, error);
    if ((how.given & LX__ORDER_BUCKET) != 0)
        bucket = how.bucket_size;
    else if (!lx__multiply_fits(batch, BUCKET_BATCHES, &bucket))
        bucket = batch; /* more than the maximum number of indices, so all of them are in one
                           batch */
    if (status == LX_OK)
        status = check_sizes(batch, bucket, error);
    if (status == LX_OK)
        status = lx__order_new(&bucketed_class, sizeof(struct bucketed), count, count, order,
                               error);
    if (status != LX_OK)
        return status;
    struct bucketed *self = (struct bucketed *)*order;
    self->seed = how.seed;
    self->batch = batch;
    self->bucket = bucket;
    lx__key(how.seed, 0, LX__STREAM_BATCHES, 1, &self->batches_seed);
    status = sort(self, lengths, how.tables, error);
    return lx__order_finish(order, status);
}
