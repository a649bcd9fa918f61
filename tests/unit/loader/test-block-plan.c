/* SPDX-License-Identifier: MIT */
/* Loaders over values on another machine request the blocks of their order as a whole, once, before
 * they are read, and evenly. */
#include "loader/block-plan.h"

#include "loader/loader-private.h"
#include "loader/sources/source.h"

#include "../sampler/cut-orders.h"
#include "loaders.h"

#define LENGTH_MAX 20000
#define WIDE ((uint64_t)256 << 10) /* bytes a record, so that few are requested in advance */

/** A source that counts how often each index is requested. It fills in nothing. */
struct asked {
    lx_source source;
    pthread_mutex_t lock;
    uint64_t indices, requests, longest; /* in all, and in the longest request */
    unsigned times[LENGTH_MAX];
    atomic_bool failing;
    atomic_bool unasked; /* an index was filled before it was requested */
};

static lx_status asked_fill(lx_source *source, const uint64_t *indices, size_t count,
                            const lx_target *targets, lx_error *error)
{
    struct asked *self = (struct asked *)source;
    (void)targets;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < count; i++)
        if (self->times[indices[i]] == 0)
            atomic_store(&self->unasked, true);
    pthread_mutex_unlock(&self->lock);
    return atomic_load(&self->failing) ? lx_fail(error, LX_ERR_IO, "the network is down") : LX_OK;
}

static bool asked_read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices,
                             size_t count)
{
    struct asked *self = (struct asked *)source;
    ck_assert(wanted[0]);
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < count; i++)
        self->times[indices[i]]++;
    self->indices += count;
    self->requests++;
    self->longest = count > self->longest ? count : self->longest;
    pthread_mutex_unlock(&self->lock);
    return true;
}

static const lx__source_class asked_class = {
    .kind = "asked", .fill = asked_fill, .read_ahead = asked_read_ahead};

static struct asked *make_asked(uint64_t length, uint64_t width)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    const lx_column_info column = {.dtype = LX_UINT8, .ndim = 1, .shape = &width};
    ck_assert_uint_le(length, LENGTH_MAX);
    unit_ok(lx__source_new(&asked_class, sizeof(struct asked), length, 1, &source, &error));
    unit_ok(lx__source_set_column(source, 0, "x", &column, &error));
    pthread_mutex_init(&((struct asked *)source)->lock, NULL);
    return (struct asked *)source;
}

/** A loader to which the source seems to be on another machine. */
static lx_loader *open_remote(struct asked *asked, struct setup setup)
{
    lx_loader *loader = open_loader(&asked->source, setup);
    loader->read_ahead.remote = true;
    return loader;
}

static lx_order *lanes_of(uint64_t length, uint64_t lanes, uint64_t block)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_lanes(length, lanes, block, 7, &order, &error));
    return order;
}

static lx_order *blocks_of(uint64_t length, uint64_t block)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_blocks(length, block, 7, &order, &error));
    return order;
}

/** Reads to the end. Each record was requested before it is read; from the second batch on, at most
 * @p most records are requested per batch. */
static void read_all(struct asked *asked, lx_loader *loader, uint64_t most)
{
    uint64_t before = UINT64_MAX - most;
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        const uint64_t *indices = lx_batch_get_indices(batch);
        for (uint64_t i = 0; i < lx_batch_get_real_count(batch); i++)
            ck_assert_uint_ge(asked->times[indices[i]], 1);
        ck_assert_uint_le(asked->indices, before + most);
        before = asked->indices;
    }
}

/** Reads epochs of an order whose blocks belong to one rank each. */
static void check_ranks(lx_order *order, uint64_t world, uint64_t epochs, uint64_t block)
{
    uint64_t length = lx__order_get_bound(order), all = 0;
    struct asked *asked = make_asked(length, WIDE);
    for (uint64_t rank = 0; rank < world; rank++) {
        struct setup setup = {
            .batch_size = 16, .epochs = epochs, .order = order, .world = world, .rank = rank};
        lx_loader *loader = open_remote(asked, setup);
        read_all(asked, loader, 16 + 2 * block);
        ck_assert_uint_gt(asked->indices, all);
        all = asked->indices;
        lx_loader_close(loader);
    }
    /* No rank requests what another one does, and none does so twice in an epoch. */
    for (uint64_t i = 0; i < length; i++)
        ck_assert_uint_eq(asked->times[i], lx_order_get_length(order) / length * epochs);
    ck_assert_uint_ge(asked->longest, block); /* usually several blocks */
    lx_source_unref(&asked->source);
}

START_TEST(each_block_is_requested_once_by_the_rank_that_reads_it)
{
    static const uint64_t lengths[] = {3072, 3000, 3001, 2999};
    for (size_t l = 0; l < 4; l++) {
        for (uint64_t world = 1; world <= 8; world *= 2) {
            lx_order *order = lanes_of(lengths[l], 8, 32);
            check_ranks(order, world, 2, 32);
            lx_order_unref(order);
        }
        lx_order *order = blocks_of(lengths[l], 100);
        check_ranks(order, 1, 2, 100);
        lx_order_unref(order);
        order = lanes_of(lengths[l], 7, 1);
        check_ranks(order, 7, 2, 1);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(orders_of_one_order_keep_its_blocks)
{
    lx_error error = LX_ERROR_INIT;
    static uint64_t costs[3000];
    lx_order *part = lanes_of(3000, 8, 32), *order;
    unit_ok(lx_order_new_repeat(part, 3, &order, &error));
    check_ranks(order, 4, 1, 32);
    lx_order_unref(order);
    unit_ok(lx_order_new_padded(part, 1024, &order, &error));
    struct asked *asked = make_asked(3000, WIDE);
    lx_loader *loader = open_remote(asked,
                                    (struct setup){.batch_size = 16, .order = order, .epochs = 2});
    read_all(asked, loader, 256); /* a stripe's blocks may be needed for 72 positions */
    ck_assert_uint_eq(asked->indices, 2 * (3000 + 256)); /* and the first blocks once more */
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
    for (size_t i = 0; i < 3000; i++)
        costs[i] = i % 5 + 1;
    unit_ok(new_budgeted(part, costs, 3000, 50, 16, false, &order, &error));
    asked = make_asked(3000, WIDE);
    loader = open_remote(asked, (struct setup){.order = order, .epochs = 2});
    read_all(asked, loader, 16 + 2 * 32);
    ck_assert_uint_eq(asked->indices, 6000);
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
    lx_order_unref(part);
}
END_TEST

START_TEST(a_stripe_is_requested_over_the_time_of_the_one_before)
{
    enum { LANES = 16, BLOCK = 128, WINDOW = LANES * BLOCK, AHEAD = 256 };
    lx_order *order = lanes_of(8 * WINDOW, LANES, BLOCK);
    struct asked *asked = make_asked(8 * WINDOW, WIDE);
    lx_loader *loader = open_remote(asked, (struct setup){.batch_size = 32, .order = order});
    for (uint64_t position = 0; position < 6 * WINDOW; position += 32) {
        lx_batch_unref(next_batch(loader));
        ck_assert_uint_ge(asked->indices, position + WINDOW + AHEAD);
        ck_assert_uint_lt(asked->indices, position + 32 + WINDOW + AHEAD + BLOCK);
    }
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
}
END_TEST

START_TEST(a_run_resumed_anywhere_requests_live_blocks_whole)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = lanes_of(3000, 8, 32);
    for (uint64_t position = 0; position < 3000; position += 208) {
        struct asked *asked = make_asked(3000, WIDE);
        lx_loader *loader = open_remote(asked, (struct setup){.batch_size = 16, .order = order});
        unit_ok(lx_loader_seek(loader, position, &error));
        read_all(asked, loader, 16 + 2 * 32);
        uint64_t stripe = position - position % 256;
        ck_assert_uint_eq(asked->indices, 3000 - stripe);
        for (uint64_t i = 0; i < 3000; i++)
            ck_assert_uint_le(asked->times[i], 1);
        lx_loader_close(loader);
        lx_source_unref(&asked->source);
    }
    lx_order_unref(order);
}
END_TEST

START_TEST(requests_again_after_a_seek_and_after_an_outage)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    lx_order *order = lanes_of(3000, 8, 32);
    struct asked *asked = make_asked(3000, WIDE);
    lx_loader *loader = open_remote(asked, (struct setup){.batch_size = 16, .order = order});
    lx_batch_unref(next_batch(loader));
    uint64_t first = asked->indices;
    unit_ok(lx_loader_seek(loader, 0, &error));
    lx_batch_unref(next_batch(loader));
    ck_assert_uint_eq(asked->indices, 2 * first);
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);

    order = lanes_of(256, 8, 32); /* one stripe */
    asked = make_asked(256, WIDE);
    atomic_store(&asked->failing, true);
    loader = open_remote(asked, (struct setup){.batch_size = 16, .order = order});
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_IO);
    ck_assert_uint_eq(asked->indices, 256);
    atomic_store(&asked->failing, false);
    lx_batch_unref(next_batch(loader));
    ck_assert_uint_eq(asked->indices, 2 * 256);
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
}
END_TEST

/** Four ranks read each block, which has 100 records. */
START_TEST(blocks_that_ranks_share_are_requested_whole_if_records_are_small)
{
    lx_order *order = blocks_of(3000, 100);
    for (int small = 0; small < 2; small++) {
        struct asked *asked = make_asked(3000, small ? 1000 : WIDE);
        lx_loader *loader = open_remote(
            asked, (struct setup){.batch_size = 16, .order = order, .world = 4, .rank = 1});
        read_all(asked, loader, 3000);
        ck_assert_uint_eq(asked->indices, small ? 3000 : 750);
        lx_loader_close(loader);
        lx_source_unref(&asked->source);
    }
    lx_order_unref(order);
}
END_TEST

START_TEST(long_requests_are_made_in_parts)
{
    lx_order *order = blocks_of(LENGTH_MAX, 9999);
    struct asked *asked = make_asked(LENGTH_MAX, WIDE);
    lx_loader *loader = open_remote(asked, (struct setup){.batch_size = 64, .order = order});
    read_all(asked, loader, LENGTH_MAX);
    ck_assert_uint_eq(asked->indices, LENGTH_MAX);
    ck_assert_uint_eq(asked->longest, 4096);
    ck_assert_uint_eq(asked->requests, (LENGTH_MAX + 4095) / 4096);
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
}
END_TEST

START_TEST(values_on_this_machine_are_requested_one_by_one)
{
    lx_order *order = lanes_of(3000, 8, 32);
    struct asked *asked = make_asked(3000, WIDE);
    lx_loader *loader = open_loader(&asked->source,
                                    (struct setup){.batch_size = 16, .order = order});
    loader->read_ahead.until = UINT64_MAX; /* as after a fault that waited for a disk */
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
        ck_assert_uint_eq(asked->indices % 16, batch->position >= 2000 ? asked->indices % 16 : 0);
    ck_assert_uint_eq(asked->longest, 16);
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
}
END_TEST

START_TEST(threads_request_each_block_once)
{
    lx_order *order = lanes_of(3000, 8, 32);
    struct asked *asked = make_asked(3000, WIDE);
    lx_loader *loader = open_remote(
        asked, (struct setup){.batch_size = 4, .order = order, .threads = 3, .epochs = 3});
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
        continue;
    for (uint64_t i = 0; i < 3000; i++)
        ck_assert_uint_le(asked->times[i], 3);
    ck_assert_uint_gt(asked->indices, 3000);
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
}
END_TEST

START_TEST(ends_where_no_rank_has_a_position)
{
    lx_order *order = blocks_of(2, 2);
    struct asked *asked = make_asked(2, WIDE);
    lx_loader *loader = open_remote(
        asked,
        (struct setup){.batch_size = 1, .order = order, .endless = true, .world = 5, .rank = 4});
    for (int i = 0; i < 10; i++)
        lx_batch_unref(next_batch(loader));
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
}
END_TEST

static void count_warnings(lx_log_level level, const char *message, void *user)
{
    ck_assert_int_eq(level, LX_LOG_WARNING);
    ck_assert_ptr_nonnull(strstr(message, "each of 3 ranks"));
    ck_assert_ptr_nonnull(strstr(message, "multiple of world, 12"));
    ++*(int *)user;
}

START_TEST(warns_if_ranks_share_blocks)
{
    lx_error error = LX_ERROR_INIT;
    int warnings = 0;
    lx_set_log_hook(count_warnings, &warnings);
    for (uint64_t lanes = 8; lanes <= 24; lanes += 4) { /* 12 and 24 are multiples */
        lx_order *order = lanes_of(3000, lanes, 32);
        lx_loader_options *options = make_options((struct setup){.batch_size = 4, .world = 12});
        lx__batch_schedule schedule;
        lx__scratch *scratch;
        lx__block_plan plan = {.order = NULL};
        unit_ok(lx__scratch_new(order, &scratch, &error));
        unit_ok(lx__batch_schedule_init(&schedule, order, options, &error));
        ck_assert(lx__block_plan_open(&plan, order, scratch, &schedule));
        ck_assert_uint_eq(plan.ranks, lanes % 12 == 0 ? 1 : 3);
        lx__block_plan_warn(&plan, &schedule);
        lx__block_plan_close(&plan);
        lx__batch_schedule_clear(&schedule);
        lx_loader_options_free(options);
        lx__scratch_free(scratch);
        lx_order_unref(order);
    }
    lx_set_log_hook(NULL, NULL);
    ck_assert_int_eq(warnings, 3);
}
END_TEST

/* The thread that fills the first batch may be faster than the one that has scheduled it. */
START_TEST(the_first_batch_waits_until_its_blocks_are_requested)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = lanes_of(3000, 8, 32);
    struct asked *asked = make_asked(3000, WIDE);
    lx_loader *loader = open_remote(asked,
                                    (struct setup){.batch_size = 16, .order = order, .threads = 2});
    for (uint64_t i = 0; i < 3000; i++) {
        unit_ok(lx_loader_seek(loader, i % 180 * 16, &error));
        memset(asked->times, 0, sizeof asked->times); /* nothing is being filled now */
        lx_batch_unref(next_batch(loader));
    }
    ck_assert(!atomic_load(&asked->unasked));
    lx_loader_close(loader);
    lx_source_unref(&asked->source);
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("loader/block-plan", each_block_is_requested_once_by_the_rank_that_reads_it,
          orders_of_one_order_keep_its_blocks,
          a_stripe_is_requested_over_the_time_of_the_one_before,
          a_run_resumed_anywhere_requests_live_blocks_whole,
          requests_again_after_a_seek_and_after_an_outage,
          blocks_that_ranks_share_are_requested_whole_if_records_are_small,
          long_requests_are_made_in_parts, values_on_this_machine_are_requested_one_by_one,
          threads_request_each_block_once, ends_where_no_rank_has_a_position,
          warns_if_ranks_share_blocks, the_first_batch_waits_until_its_blocks_are_requested)
