/* SPDX-License-Identifier: MIT */
/* Threads and time: the same batches from any thread, failures in order, cancel, close, limits,
 * fork. */
#include "loader/loader-private.h"
#include "loader/pipeline.h"

#include "../sampler/orders.h"
#include "loaders.h"

/* A record of this width makes a batch of 16 large enough for threads. */
#define WIDE 16384

/** A digest of all batches to the end; failures count with their position. */
static uint64_t digest_of(struct numbers *numbers, struct setup setup)
{
    lx_loader *loader = open_numbers(numbers, setup);
    uint64_t digest = 14695981039346656037u;
    for (;;) {
        lx_error error = LX_ERROR_INIT;
        lx_batch *batch;
        lx_status status = lx_loader_next(loader, &batch, &error);
        if (status == LX_END)
            break;
        if (status == LX_OK) {
            digest = add_digest(digest, batch);
            lx_batch_unref(batch);
        } else {
            ck_assert_int_eq(error.status, status);
            digest = (digest ^ (uint64_t)(unsigned)-status) * 31 + lx_loader_tell(loader);
        }
    }
    lx_loader_close(loader);
    return digest;
}

/** Adds one to each byte of the images; fails for a batch with record 100. */
static lx_status brighten(lx_batch *batch, void *user, lx_error *error)
{
    const lx_column *image = lx_batch_find_column(batch, "image");
    for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++)
        if (user != NULL && lx_batch_get_indices(batch)[i] == 100)
            return LX_ERR_CALLBACK;
    for (uint64_t i = 0; i < image->rows * image->size; i++)
        ((uint8_t *)image->data)[i]++;
    (void)error;
    return LX_OK;
}

START_TEST(gives_the_same_result_with_any_number_of_threads)
{
    static const uint32_t threads[] = {1, 2, 16};
    for (int kind = 0; kind < 8; kind++) {
        uint64_t width = kind & 1 ? WIDE : 20;
        struct numbers numbers = {.length = 150,
                                  .width = width,
                                  .failing = kind & 2,
                                  .bad = 7,
                                  .bad_of = 50,
                                  .status = LX_ERR_CORRUPT};
        lx_order *order = make_order("shuffle", 150, 11, 0);
        struct setup setup = {.batch_size = 16,
                              .order = order,
                              .epochs = 2,
                              .transform = kind & 4 ? brighten : NULL,
                              .user = &numbers};
        uint64_t alone = digest_of(&numbers, setup);
        for (int i = 0; i < 3; i++) {
            setup.threads = threads[i];
            ck_assert_uint_eq(digest_of(&numbers, setup), alone);
        }
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(loaders_of_one_executor_do_not_mix)
{
    lx_executor *executor = open_executor(2, 1);
    struct numbers numbers[3];
    lx_loader *loaders[3];
    for (uint64_t i = 0; i < 3; i++) {
        numbers[i] = (struct numbers){.length = 64 + i, .width = WIDE};
        loaders[i] = open_numbers(&numbers[i],
                                  (struct setup){.batch_size = 16 + i, .executor = executor});
    }
    lx_executor_unref(executor); /* the loaders have their own references */
    for (int left = 3; left != 0;) {
        for (int i = 0; i < 3; i++) {
            if (loaders[i] == NULL)
                continue;
            lx_batch *batch = next_batch(loaders[i]);
            if (batch == NULL) {
                ck_assert_uint_eq(lx_loader_tell(loaders[i]), numbers[i].length);
                lx_loader_close(loaders[i]);
                loaders[i] = NULL;
                left--;
                continue;
            }
            check_numbers(batch);
            lx_batch_unref(batch);
        }
    }
}
END_TEST

START_TEST(the_caller_fills_small_batches)
{
    lx_executor *executor = open_executor(2, 1);
    struct numbers numbers = {.length = 64, .width = 20};
    lx_loader *loader = open_numbers(&numbers,
                                     (struct setup){.batch_size = 16, .executor = executor});
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
        check_numbers(batch);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, 0);
    lx_loader_close(loader);
    lx_executor_unref(executor);
}
END_TEST

START_TEST(failures_come_in_order_and_the_next_call_continues)
{
    for (uint32_t threads = 0; threads <= 2; threads++) {
        struct numbers numbers = {.length = 160,
                                  .width = WIDE,
                                  .failing = true,
                                  .bad = 33,
                                  .bad_of = 80,
                                  .status = LX_ERR_CORRUPT};
        lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 16,
                                                                  .threads = threads,
                                                                  .transform = brighten,
                                                                  .user = &numbers});
        for (uint64_t position = 0; position < 160; position += 16) {
            lx_error error = LX_ERROR_INIT;
            lx_batch *batch;
            lx_status expected = position == 32 || position == 112 ? LX_ERR_CORRUPT
                                 : position == 96                  ? LX_ERR_CALLBACK
                                                                   : LX_OK;
            ck_assert_int_eq(lx_loader_next(loader, &batch, &error), expected);
            ck_assert_int_eq(batch != NULL, expected == LX_OK);
            ck_assert_int_eq(error.status, expected);
            if (expected == LX_ERR_CORRUPT)
                ck_assert_uint_eq(error.record, position == 32 ? 33 : 113);
            if (expected == LX_ERR_CALLBACK)
                ck_assert_ptr_nonnull(strstr(error.message, "transform"));
            ck_assert_uint_eq(lx_loader_tell(loader), position + 16);
            lx_batch_unref(batch);
        }
        ck_assert_ptr_null(next_batch(loader));
        lx_loader_stats stats;
        lx_loader_get_stats(loader, &stats);
        ck_assert_uint_eq(stats.failures, 3);
        ck_assert_uint_eq(stats.batches, 7);
        lx_loader_close(loader);
    }
}
END_TEST

START_TEST(reports_the_lowest_of_several_failures)
{
    static const uint32_t threads[] = {0, 1, 2, 16};
    for (int i = 0; i < 4; i++) { /* records 5, 30 and 55; threads see 5 fail last */
        struct numbers numbers = {.length = 64,
                                  .width = WIDE,
                                  .failing = true,
                                  .bad = 5,
                                  .bad_of = 25,
                                  .slow_ns = 20 * MILLISECOND,
                                  .status = LX_ERR_CORRUPT};
        lx_loader *loader = open_numbers(
            &numbers, (struct setup){.batch_size = 64, .epochs = 5, .threads = threads[i]});
        for (int epoch = 0; epoch < 5; epoch++) {
            lx_error error = LX_ERROR_INIT;
            lx_batch *batch;
            ck_assert_int_eq(lx_loader_next(loader, &batch, &error), LX_ERR_CORRUPT);
            ck_assert_uint_eq(error.record, 5);
            ck_assert_ptr_null(batch);
        }
        lx_loader_close(loader);
    }
}
END_TEST

static lx_status fail_in_words(lx_batch *batch, void *user, lx_error *error)
{
    (void)batch;
    error->status = LX_ERR_LIMIT;
    snprintf(error->message, sizeof error->message, "too bright");
    return *(lx_status *)user;
}

START_TEST(passes_on_the_message_of_a_transform)
{
    struct numbers numbers = {.length = 4, .width = 1};
    lx_status status = LX_ERR_LIMIT;
    lx_loader *loader = open_numbers(
        &numbers, (struct setup){.transform = fail_in_words, .user = &status, .threads = 1});
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    ck_assert_int_eq(lx_loader_next(loader, &batch, &error), LX_ERR_LIMIT);
    ck_assert_str_eq(error.message, "too bright");
    ck_assert_int_eq(lx_loader_next(loader, &batch, NULL), LX_ERR_LIMIT);
    lx_loader_close(loader);
}
END_TEST

static lx_status do_nothing(lx_batch *batch, void *user, lx_error *error)
{
    (void)batch, (void)user, (void)error;
    return LX_OK;
}

static lx_status pass_gate(lx_batch *batch, void *user, lx_error *error)
{
    (void)batch, (void)error;
    gate_pass(user);
    return LX_OK;
}

static lx_status dawdle(lx_batch *batch, void *user, lx_error *error)
{
    (void)batch, (void)user, (void)error;
    nap(20 * MILLISECOND);
    return LX_OK;
}

START_TEST(a_timeout_loses_nothing)
{
    struct numbers numbers = {.length = 60, .width = 8};
    lx_loader *loader =
        open_numbers(&numbers, (struct setup){.batch_size = 10, .threads = 2, .transform = dawdle});
    uint64_t position = 0;
    for (unsigned tries = 0; tries < 100000; tries++) {
        lx_error error = LX_ERROR_INIT;
        lx_batch *batch;
        lx_status status = lx_loader_next_timed(loader, MILLISECOND, &batch, &error);
        if (status == LX_END)
            break;
        if (status == LX_ERR_TIMEOUT) {
            ck_assert_int_eq(error.status, LX_OK);
            ck_assert_ptr_null(batch);
            ck_assert_uint_eq(lx_loader_tell(loader), position);
            continue;
        }
        unit_ok(status);
        ck_assert_uint_eq(lx_batch_get_position(batch), position);
        check_numbers(batch);
        lx_batch_unref(batch);
        position += 10;
    }
    ck_assert_uint_eq(position, 60);
    lx_loader_stats stats;
    lx_loader_get_stats(loader, &stats);
    ck_assert_uint_gt(stats.transform_ns, 6 * 20 * MILLISECOND - 1);
    lx_loader_close(loader);
}
END_TEST

/** Calls next until it reports that the loader was canceled. */
static void *consume(void *user)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    for (;;) {
        lx_error_clear(&error);
        lx_status status = lx_loader_next(user, &batch, &error);
        if (status == LX_ERR_CANCELED)
            return NULL;
        ck_assert_int_eq(status, LX_OK);
        check_numbers(batch);
        lx_batch_unref(batch);
    }
}

START_TEST(cancel_at_any_moment_ends_each_next)
{
    uint64_t state = 675248u;
    struct numbers numbers = {.length = 200, .width = WIDE};
    lx_source *source = numbers_source(&numbers);
    for (int round = 0; round < 200; round++) {
        lx_loader *loader = open_loader(source,
                                        (struct setup){.batch_size = 16,
                                                       .endless = true,
                                                       .threads = (uint32_t)(round % 4),
                                                       .transform = round & 4 ? do_nothing : NULL});
        pthread_t consumers[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&consumers[i], NULL, consume, loader);
        nap(random_next(&state) % (MILLISECOND / 2));
        lx_loader_cancel(loader);
        for (int i = 0; i < 2; i++)
            pthread_join(consumers[i], NULL);
        lx_batch *batch;
        ck_assert_int_eq(lx_loader_next(loader, &batch, NULL), LX_ERR_CANCELED);
        lx_loader_close(loader);
    }
    lx_source_unref(source);
}
END_TEST

START_TEST(reports_a_cancel_at_the_end)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 2, .width = 2};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 2});
    lx_batch_unref(next_batch(loader));
    ck_assert_ptr_null(next_batch(loader));
    lx_loader_cancel(loader);
    lx_batch *batch;
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_CANCELED);
    unit_ok(lx_loader_seek(loader, 0, &error));
    unit_fails(lx_loader_next_timed(loader, 0, &batch, &error), LX_ERR_CANCELED);
    lx_loader_close(loader);
}
END_TEST

START_TEST(close_returns_at_any_moment)
{
    uint64_t state = 123456789u;
    for (int round = 0; round < 200; round++) {
        struct numbers numbers = {.length = 200, .width = round & 1 ? WIDE : 20};
        lx_loader *loader =
            open_numbers(&numbers, (struct setup){.batch_size = 16, .threads = 1 + round % 4u});
        for (uint64_t n = random_next(&state) % 4; n > 0; n--)
            lx_batch_unref(next_batch(loader));
        nap(random_next(&state) % (MILLISECOND / 4));
        lx_loader_close(loader);
        eventually(numbers.released == 1);
    }
}
END_TEST

static void *open_later(void *user)
{
    nap(5 * MILLISECOND);
    gate_open(user);
    return NULL;
}

/** The number of threads that are in lx_loader_next(): one waits for a batch, the others for it. */
static size_t count_users(lx_loader *loader)
{
    pthread_mutex_lock(&loader->mutex.mutex);
    size_t users = loader->mutex.users;
    pthread_mutex_unlock(&loader->mutex.mutex);
    return users;
}

START_TEST(close_wakes_all_waiting_threads)
{
    for (int round = 0; round < 20; round++) {
        struct gate gate = GATE_SHUT;
        struct numbers numbers = {.length = 200, .width = WIDE, .gate = &gate};
        lx_loader *loader = open_numbers(
            &numbers, (struct setup){.batch_size = 16, .threads = (uint32_t)(round % 3)});
        pthread_t consumers[3], opener;
        for (int i = 0; i < 3; i++)
            pthread_create(&consumers[i], NULL, consume, loader);
        gate_await(&gate, 1);
        /* A thread that has not entered the loader yet must not find it closed. */
        eventually(count_users(loader) == 3);
        pthread_create(&opener, NULL, open_later, &gate);
        lx_loader_close(loader);
        for (int i = 0; i < 3; i++)
            pthread_join(consumers[i], NULL);
        pthread_join(opener, NULL);
    }
}
END_TEST

START_TEST(a_timeout_holds_while_another_thread_waits)
{
    struct gate gate = GATE_SHUT;
    struct numbers numbers = {.length = 200, .width = WIDE, .gate = &gate};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 16, .threads = 0});
    pthread_t consumer;
    lx_batch *batch;
    pthread_create(&consumer, NULL, consume, loader);
    gate_await(&gate, 1);
    ck_assert_int_eq(lx_loader_next_timed(loader, 10 * MILLISECOND, &batch, NULL), LX_ERR_TIMEOUT);
    lx_loader_cancel(loader);
    gate_open(&gate);
    pthread_join(consumer, NULL);
    lx_loader_close(loader);
}
END_TEST

START_TEST(batches_can_all_be_kept_and_read_after_close)
{
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        struct numbers numbers = {.length = 320, .width = WIDE};
        lx_loader *loader = open_numbers(
            &numbers,
            (struct setup){.batch_size = 16, .threads = threads, .prefetch_bytes = 1 << 20});
        lx_batch *kept[20];
        for (int i = 0; i < 20; i++)
            ck_assert_ptr_nonnull(kept[i] = next_batch(loader));
        ck_assert_ptr_null(next_batch(loader));
        lx_loader_stats stats;
        lx_loader_get_stats(loader, &stats);
        ck_assert_uint_ge(stats.blocks, 20);
        ck_assert_uint_ge(stats.block_bytes, 20 * 16 * WIDE);
        lx_loader_close(loader);
        for (uint64_t i = 0; i < 20; i++) {
            ck_assert_uint_eq(lx_batch_get_position(kept[i]), i * 16);
            check_numbers(kept[i]);
            lx_batch_unref(kept[i]);
        }
        eventually(numbers.released == 1);
    }
}
END_TEST

START_TEST(the_ring_does_not_grow_with_epochs)
{
    static const uint64_t widths[] = {0, 20, 1000, WIDE, WIDE + 1};
    for (int kind = 0; kind < 10; kind++) {
        struct numbers numbers = {.length = 64, .width = widths[kind / 2]};
        lx_loader *loader = open_numbers(
            &numbers, (struct setup){.batch_size = 16, .threads = kind % 2 * 2u, .endless = true});
        uint64_t before = 0;
        for (int i = 0; i < 200; i++) {
            lx_batch_unref(next_batch(loader));
            lx_loader_stats stats;
            lx_loader_get_stats(loader, &stats);
            if (i == 50)
                before = stats.blocks;
            if (i > 50)
                ck_assert_uint_eq(stats.blocks, before);
        }
        lx_loader_close(loader);
    }
}
END_TEST

/** Of the batches that are prefetched while the caller takes none, at most @p most. */
static void check_bound(uint64_t prefetch_bytes, uint64_t most)
{
    struct gate gate = GATE_SHUT;
    struct numbers numbers = {.length = 6400, .width = WIDE, .gate = &gate};
    struct setup setup = {.batch_size = 16, .threads = 4, .prefetch_bytes = prefetch_bytes};
    lx_loader *loader = open_numbers(&numbers, setup);
    lx_batch *batch;
    pthread_t opener;
    pthread_create(&opener, NULL, open_later, &gate);
    while (lx_loader_next_timed(loader, MILLISECOND, &batch, NULL) == LX_ERR_TIMEOUT)
        ;
    pthread_join(opener, NULL);
    for (int i = 0; i < 20; i++) {
        lx_loader_stats stats;
        lx_loader_get_stats(loader, &stats);
        ck_assert_uint_ge(stats.prefetched, 1);
        ck_assert_uint_le(stats.prefetched, most);
        /* The caller holds one; blocks are a little larger than requested. */
        ck_assert_uint_le(stats.block_bytes, (most + 1) * (16 * WIDE + 4096) * 5 / 4);
        lx_batch_unref(batch);
        batch = next_batch(loader);
    }
    lx_batch_unref(batch);
    lx_loader_close(loader);
}

START_TEST(prefetch_is_bounded_in_bytes)
{
    check_bound(1, 1); /* a batch larger than the limit */
    check_bound(16 * (WIDE + 16) * 3 + 8192, 3);
    check_bound(1ull << 40, 16); /* then the threads fill it */
}
END_TEST

START_TEST(counts_prefetched_bytes_before_the_first_batch)
{
    struct gate gate = GATE_SHUT;
    struct numbers numbers = {.length = 6400, .width = WIDE};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 16,
                                                              .threads = 1,
                                                              .transform = pass_gate,
                                                              .user = &gate,
                                                              .prefetch_bytes = 600000});
    pthread_t consumer;
    pthread_create(&consumer, NULL, consume, loader);
    gate_await(&gate, 1);
    lx_loader_stats stats;
    eventually((lx_loader_get_stats(loader, &stats), stats.prefetched == 2));
    ck_assert_uint_eq(stats.batches, 0);
    lx_loader_cancel(loader);
    gate_open(&gate);
    pthread_join(consumer, NULL);
    lx_loader_close(loader);
}
END_TEST

START_TEST(a_seek_drops_prefetched_batches)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t state = 99u;
    struct numbers numbers = {.length = 200, .width = WIDE};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 16, .threads = 3});
    for (int round = 0; round < 100; round++) {
        uint64_t position = random_next(&state) % 200;
        unit_ok(lx_loader_seek(loader, position, &error));
        ck_assert_uint_eq(lx_loader_tell(loader), position);
        lx_loader_stats stats;
        lx_loader_get_stats(loader, &stats);
        ck_assert_uint_eq(stats.prefetched, 0);
        lx_batch *batch = next_batch(loader);
        ck_assert_uint_eq(lx_batch_get_position(batch), position);
        ck_assert_uint_eq(lx_batch_get_indices(batch)[0], position);
        check_numbers(batch);
        lx_batch_unref(batch);
    }
    lx_loader_close(loader);
}
END_TEST

START_TEST(closing_the_executor_of_a_loader_is_an_error)
{
    struct numbers numbers = {.length = 640, .width = WIDE};
    lx_executor *executor = open_executor(2, 1);
    lx_loader *loader = open_numbers(&numbers,
                                     (struct setup){.batch_size = 16, .executor = executor});
    lx_batch_unref(next_batch(loader));
    lx_executor_close(executor);
    lx_status status;
    unsigned ready = 0;
    for (;; ready++) {
        lx_batch *batch;
        status = lx_loader_next(loader, &batch, NULL);
        if (status != LX_OK)
            break;
        check_numbers(batch);
        lx_batch_unref(batch);
    }
    ck_assert_int_eq(status, LX_ERR_STATE);
    ck_assert_uint_le(ready, LX__DEPTH_MAX);
    lx_loader_close(loader);
}
END_TEST

/** In the child, every call returns, and close does not wait. */
static void use_in_child(lx_loader *loader, lx_batch *batch)
{
    lx_batch *none;
    lx_loader_stats stats;
    char text[4096];
    int bad = lx_loader_next(loader, &none, NULL) != LX_ERR_FORKED;
    bad |= lx_loader_next_timed(loader, SECOND, &none, NULL) != LX_ERR_FORKED;
    bad |= lx_loader_seek(loader, 3, NULL) != LX_ERR_FORKED;
    bad |= lx_loader_save(loader, text, sizeof text, NULL, NULL) != LX_OK;
    bad |= lx_loader_restore(loader, text, NULL) != LX_ERR_FORKED;
    lx_loader_next_epoch(loader);
    lx_loader_cancel(loader);
    lx_loader_get_stats(loader, &stats);
    bad |= lx_batch_get_row_count(batch) != 16; /* delivered batches can be read */
    lx_batch_unref(batch);
    lx_loader_close(loader);
    _exit(bad ? 1 : 0);
}

START_TEST(a_child_gets_an_error_and_never_hangs)
{
    /* Also while another thread of the parent waits in next and holds any locks. */
    for (int round = 0; round < 20; round++) {
        struct gate gate = GATE_SHUT;
        struct numbers numbers = {.length = 6400, .width = round & 1 ? WIDE : 20};
        lx_loader *loader = open_numbers(&numbers,
                                         (struct setup){.batch_size = 16,
                                                        .endless = true,
                                                        .transform = pass_gate,
                                                        .user = &gate,
                                                        .threads = (uint32_t)(round % 3)});
        gate.is_open = true;
        lx_batch *batch = next_batch(loader);
        pthread_t consumer;
        bool waiting = round >= 6;
        pthread_mutex_lock(&gate.lock);
        gate.is_open = !waiting;
        unsigned arrived = gate.arrived;
        pthread_mutex_unlock(&gate.lock);
        if (waiting) {
            pthread_create(&consumer, NULL, consume, loader);
            if (round < 12)
                gate_await(&gate, arrived);
            else
                gate_open(&gate);
            nap(MILLISECOND);
        }
        if (unit_in_child())
            use_in_child(loader, batch);
        lx_loader_cancel(loader);
        gate_open(&gate);
        if (waiting)
            pthread_join(consumer, NULL);
        lx_batch_unref(batch);
        lx_loader_close(loader);
    }
}
END_TEST

UNIT_MAIN("loader/pipeline", gives_the_same_result_with_any_number_of_threads,
          loaders_of_one_executor_do_not_mix, the_caller_fills_small_batches,
          failures_come_in_order_and_the_next_call_continues,
          reports_the_lowest_of_several_failures, passes_on_the_message_of_a_transform,
          a_timeout_loses_nothing, cancel_at_any_moment_ends_each_next, reports_a_cancel_at_the_end,
          close_returns_at_any_moment, close_wakes_all_waiting_threads,
          a_timeout_holds_while_another_thread_waits, batches_can_all_be_kept_and_read_after_close,
          the_ring_does_not_grow_with_epochs, prefetch_is_bounded_in_bytes,
          counts_prefetched_bytes_before_the_first_batch, a_seek_drops_prefetched_batches,
          closing_the_executor_of_a_loader_is_an_error, a_child_gets_an_error_and_never_hangs)
