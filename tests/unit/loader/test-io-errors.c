/* SPDX-License-Identifier: MIT */
/* A loader stays before a batch that could not be read because of the disk or the network. */
#include "../sampler/cut-orders.h"
#include "../zrecord/files.h"
#include "loaders.h"

#include "base/interrupt.h"

#define RECORDS 230

/** A source that is out of order: until it has failed @a left times, calls that read record @a lost
 * fail, and so do all others if @a all is set. Then, record @a damaged is still damaged. */
struct outage {
    struct numbers numbers;
    uint64_t lost, damaged;
    bool all;
    _Atomic int left;
    struct gate *gate; /* of the calls that do not read the lost record */
};

static lx_status outage_fill(const uint64_t *indices, size_t count, const lx_target *targets,
                             void *user, lx_error *error)
{
    struct outage *self = user;
    bool lost = false, damaged = false;
    for (size_t i = 0; i < count; i++) {
        lost |= indices[i] == self->lost;
        damaged |= indices[i] == self->damaged;
    }
    if (!lost && self->gate != NULL)
        gate_pass(self->gate);
    if (lost && atomic_load(&self->left) > 0) {
        atomic_fetch_sub(&self->left, 1);
        return lx_fail(error, LX_ERR_IO, "the network is down");
    }
    if (self->all && atomic_load(&self->left) > 0)
        return lx_fail(error, LX_ERR_IO, "the network is down for all");
    if (damaged)
        return lx_fail(error, LX_ERR_CORRUPT, "the record is damaged");
    return numbers_fill(indices, count, targets, &self->numbers, error);
}

/** A loader over an outage, whose other members are set. */
static lx_loader *open_outage(struct outage *outage, struct setup setup, uint64_t width)
{
    static const source_functions functions = {.fill = outage_fill};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    outage->numbers = (struct numbers){.length = RECORDS, .width = width};
    const lx_column_info columns[2] = {
        {.name = "label", .dtype = LX_UINT64},
        {.name = "image", .dtype = LX_UINT8, .ndim = 1, .shape = &outage->numbers.width}};
    unit_ok(new_source(&functions, outage, RECORDS, columns, 2, NULL, &source, &error));
    lx_loader *loader = open_loader(source, setup);
    lx_source_unref(source);
    return loader;
}

/** Reads to the end, and expects @p failures failed calls, none of which moves the position. */
static uint64_t read_through(lx_loader *loader, int failures)
{
    uint64_t digest = 1;
    lx_loader_stats stats;
    for (int failed = 0;;) {
        lx_error error = LX_ERROR_INIT;
        lx_batch *batch;
        uint64_t before = lx_loader_tell(loader);
        lx_status status = lx_loader_next(loader, &batch, &error);
        if (status == LX_END) {
            ck_assert_int_eq(failed, failures);
            break;
        }
        if (status == LX_OK) {
            digest = add_digest(digest, batch);
            lx_batch_unref(batch);
            continue;
        }
        ck_assert_int_eq(status, LX_ERR_IO);
        ck_assert_uint_eq(lx_loader_tell(loader), before);
        lx_loader_next_epoch(loader); /* does not lose the batch, even if it is the last one */
        ck_assert_uint_eq(lx_loader_tell(loader), before);
        failed++;
    }
    lx_loader_get_stats(loader, &stats);
    ck_assert_uint_eq(stats.failures, (uint64_t)failures);
    lx_loader_close(loader);
    return digest;
}

/** Compares loaders of all kinds that fail at record @p lost with one that does not. */
static void compare(struct setup setup, uint64_t lost)
{
    for (int kind = 0; kind < 12; kind++) {
        struct outage outage = {.lost = lost, .damaged = RECORDS};
        uint64_t width = kind & 1 ? 16 << 10 : 20; /* the caller fills small batches */
        setup.threads = kind % 6 / 2;
        setup.damage = kind < 6 ? LX_DAMAGE_RAISE : LX_DAMAGE_SKIP;
        uint64_t right = read_through(open_outage(&outage, setup, width), 0);
        for (int left = 1; left <= 3; left += 2) {
            outage.left = left;
            ck_assert_uint_eq(read_through(open_outage(&outage, setup, width), left), right);
        }
    }
}

START_TEST(the_next_call_reads_the_same_batch)
{
    for (uint64_t lost = 0; lost < RECORDS; lost += 32)
        compare((struct setup){.batch_size = 32}, lost);
    compare((struct setup){.batch_size = 32}, RECORDS - 1);
    compare((struct setup){.batch_size = 32, .epochs = 1, .skipped = {{32, 96}}}, 100);
    compare((struct setup){.batch_size = 10, .world = 3, .rank = 1}, 229);
}
END_TEST

START_TEST(batches_that_the_order_forms_stay_the_same)
{
    cut_order cut = {.budget = 300, .rows = 40};
    uint64_t state = 5;
    make_cut(&cut, "sequential", RECORDS, 20, &state);
    for (uint64_t lost = 0; lost < RECORDS; lost += 45)
        compare((struct setup){.order = cut.order}, index_at(cut.order, lost));
    lx_order_unref(cut.order);
}
END_TEST

START_TEST(batches_that_failed_in_advance_are_read_again)
{
    for (uint32_t threads = 0; threads < 4; threads++) {
        struct outage outage = {.lost = 40, .damaged = RECORDS};
        struct setup setup = {.batch_size = 16, .threads = threads};
        uint64_t right = read_through(open_outage(&outage, setup, 16 << 10), 0);
        outage = (struct outage){.lost = 0, .damaged = RECORDS, .all = true, .left = 2};
        ck_assert_uint_eq(read_through(open_outage(&outage, setup, 16 << 10), 2), right);
    }
}
END_TEST

START_TEST(a_state_saved_after_a_failure_begins_with_the_batch)
{
    lx_error error = LX_ERROR_INIT;
    char state[4096];
    lx_batch *batch;
    struct outage outage = {.lost = 40, .damaged = RECORDS, .left = 1};
    struct setup setup = {.batch_size = 16, .threads = 2};
    lx_loader *loader = open_outage(&outage, setup, 16 << 10);
    for (uint64_t position = 0; position < 32; position += 16)
        lx_batch_unref(next_batch(loader));
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_IO);
    lx_error_clear(&error);
    unit_ok(lx_loader_save(loader, state, sizeof state, NULL, &error));
    lx_loader_close(loader);
    loader = open_outage(&outage, setup, 16 << 10);
    unit_ok(lx_loader_restore(loader, state, &error));
    batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_position(batch), 32);
    check_numbers(batch);
    lx_batch_unref(batch);
    lx_loader_close(loader);
}
END_TEST

START_TEST(a_seek_leaves_the_batch_out)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    struct outage outage = {.lost = 0, .damaged = RECORDS, .left = 1000};
    lx_loader *loader = open_outage(&outage, (struct setup){.batch_size = 16, .threads = 1},
                                    16 << 10);
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_IO);
    lx_error_clear(&error);
    unit_ok(lx_loader_seek(loader, 16, &error));
    batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_position(batch), 16);
    lx_batch_unref(batch);
    lx_loader_close(loader);
}
END_TEST

/** One damaged record and one that cannot be read, in the same batch or alone in their batches. */
START_TEST(no_policy_takes_it_for_damage)
{
    for (int kind = 0; kind < 12; kind++) {
        uint64_t size = kind % 2 ? 1 : 16;
        struct setup setup = {.batch_size = size,
                              .threads = kind / 2 % 3,
                              .damage = kind < 6 ? LX_DAMAGE_ZEROS : LX_DAMAGE_SKIP};
        struct outage outage = {.lost = 36, .damaged = 35};
        uint64_t right = read_through(open_outage(&outage, setup, 4096), 0);
        outage.left = 2;
        ck_assert_uint_eq(read_through(open_outage(&outage, setup, 4096), 2), right);
    }
}
END_TEST

/** Fails once for the batch at position 32. */
static lx_status fail_once(lx_batch *batch, void *user, lx_error *error)
{
    atomic_int *left = user;
    bool fails = lx_batch_get_position(batch) == 32 && atomic_fetch_sub(left, 1) > 0;
    uint8_t *image = (uint8_t *)lx_batch_find_column(batch, "image")->data;
    *image ^= 1;
    return fails ? lx_fail(error, LX_ERR_IO, "the device is busy") : LX_OK;
}

START_TEST(a_transform_gets_the_batch_as_it_was)
{
    for (uint32_t threads = 0; threads < 3; threads++) {
        struct outage outage = {.lost = RECORDS, .damaged = RECORDS};
        atomic_int left = 0;
        struct setup setup = {
            .batch_size = 16, .threads = threads, .transform = fail_once, .user = &left};
        uint64_t right = read_through(open_outage(&outage, setup, 16 << 10), 0);
        left = 2;
        ck_assert_uint_eq(read_through(open_outage(&outage, setup, 16 << 10), 2), right);
    }
}
END_TEST

START_TEST(waits_no_longer_than_asked_for_batches_to_drop)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    struct gate gate = GATE_SHUT;
    struct outage outage = {.lost = 0, .damaged = RECORDS, .left = 1, .gate = &gate};
    /* A batch of one record is one part, so no part of the first batch waits at the gate. */
    lx_loader *loader = open_outage(&outage, (struct setup){.batch_size = 1, .threads = 2},
                                    128 << 10);
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_IO);
    lx_error_clear(&error);
    gate_await(&gate, 1); /* a thread reads another batch */
    ck_assert_int_eq(lx_loader_next_timed(loader, 1000000, &batch, &error), LX_ERR_TIMEOUT);
    ck_assert_ptr_null(batch);
    gate_open(&gate);
    batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_position(batch), 0);
    lx_batch_unref(batch);
    lx_loader_cancel(loader);
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_CANCELED);
    lx_loader_close(loader);
}
END_TEST

/** Reads the first batch; for all others, waits for a network that does not answer. */
static lx_status hang(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *error)
{
    (void)count, (void)targets;
    if (indices[0] == 0)
        return LX_OK;
    atomic_store((atomic_bool *)user, true);
    while (!lx__interrupted())
        nap_ms(1);
    return lx_fail(error, LX_ERR_CANCELED, "the read was canceled");
}

static void *cancel_soon(void *loader)
{
    nap_ms(20);
    lx_loader_cancel(loader);
    return NULL;
}

START_TEST(reads_that_hang_end_with_their_loader)
{
    static const source_functions functions = {.fill = hang};
    uint64_t width = 128 << 10;
    const lx_column_info column = {.name = "image", .dtype = LX_UINT8, .ndim = 1, .shape = &width};
    for (uint32_t threads = 0; threads < 3; threads++) {
        lx_error error = LX_ERROR_INIT;
        atomic_bool hangs = false;
        lx_source *source;
        lx_batch *batch;
        pthread_t canceler;
        unit_ok(new_source(&functions, &hangs, RECORDS, &column, 1, NULL, &source, &error));
        /* A batch of one record is one part, so once a thread reads it, the caller does not. */
        lx_loader *loader = open_loader(source,
                                        (struct setup){.batch_size = 1, .threads = threads});
        lx_batch_unref(next_batch(loader));
        if (threads != 0) { /* a seek drops what hangs, too */
            while (!atomic_load(&hangs))
                nap_ms(1);
            ck_assert_int_eq(lx_loader_next_timed(loader, 1000000, &batch, &error), LX_ERR_TIMEOUT);
            unit_ok(lx_loader_seek(loader, 32, &error));
        }
        ck_assert_int_eq(pthread_create(&canceler, NULL, cancel_soon, loader), 0);
        unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_CANCELED);
        pthread_join(canceler, NULL);
        ck_assert(atomic_load(&hangs));
        lx_loader_close(loader);
        lx_source_unref(source);
    }
}
END_TEST

UNIT_MAIN("loader/io-errors", the_next_call_reads_the_same_batch,
          batches_that_the_order_forms_stay_the_same, batches_that_failed_in_advance_are_read_again,
          a_state_saved_after_a_failure_begins_with_the_batch, a_seek_leaves_the_batch_out,
          no_policy_takes_it_for_damage, a_transform_gets_the_batch_as_it_was,
          waits_no_longer_than_asked_for_batches_to_drop, reads_that_hang_end_with_their_loader)
