/* SPDX-License-Identifier: MIT */
#include "loader/batch.h"

#include <unistd.h>

#include "../scarce.h"
#include "loader/loader-private.h"
#include "supply.h"

/** A ring over @p numbers for batches of @p rows; its layout holds the source. */
static lx__batch_pool *make_ring(lx_executor *executor, struct numbers *numbers,
                                 char *const *fields, size_t field_count, uint64_t rows)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source = numbers_source(numbers);
    lx__layout layout;
    lx__batch_pool *batch_pool;
    unit_ok(lx__layout_init(&layout, source, fields, field_count, rows, &error));
    lx_source_unref(source);
    unit_ok(
        lx__batch_pool_new(executor, &layout, &lx__loader_defaults.memory, 8, &batch_pool, &error));
    return batch_pool;
}

static lx_batch *take_batch(lx__batch_pool *batch_pool, uint64_t rows, uint64_t position)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    unit_ok(lx__batch_pool_take(batch_pool, rows, position, &batch, &error));
    return batch;
}

START_TEST(aligns_and_separates_columns)
{
    lx_executor *executor = open_executor(0, 1);
    for (uint64_t width = 0; width < 130; width += 13) {
        struct numbers numbers = {.length = 9, .width = width};
        lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
        lx_batch *batch = take_batch(batch_pool, 7, 0);
        const lx_column *label = lx_batch_get_column(batch, 0);
        const lx_column *image = lx_batch_get_column(batch, 1);
        const uint8_t *indices = (const uint8_t *)lx_batch_get_indices(batch);
        ck_assert_uint_eq((uintptr_t)label->data % 64, 0);
        ck_assert_uint_eq((uintptr_t)image->data % 64, 0);
        ck_assert_uint_eq((uintptr_t)indices % 64, 0);
        ck_assert((uint8_t *)label->data + 7 * 8 <= (uint8_t *)image->data);
        ck_assert((uint8_t *)image->data + 7 * width <= indices);
        ck_assert_uint_ge(batch->block.size,
                          (size_t)(indices - lx__batch_at(batch, 0)) + 7 * sizeof(uint64_t));
        ck_assert_uint_eq(batch->block.size, batch_pool->layout.bytes);
        memset(batch->block.data, 0xff, batch_pool->layout.bytes);
        ck_assert_uint_eq(label->size, 8);
        ck_assert_uint_eq(image->size, width);
        ck_assert_uint_eq(image->ndim, 1);
        ck_assert_uint_eq(image->shape[0], width);
        lx_batch_unref(batch);
        lx__batch_pool_close(batch_pool);
        ck_assert_uint_eq(numbers.released, 1);
    }
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_short_batch_reports_its_rows)
{
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch_unref(take_batch(batch_pool, 7, 0));
    lx_batch *batch = take_batch(batch_pool, 2, 49);
    ck_assert_uint_eq(lx_batch_get_row_count(batch), 2);
    ck_assert_uint_eq(lx_batch_get_position(batch), 49);
    ck_assert_uint_eq(lx_batch_find_column(batch, "image")->rows, 2);
    lx_batch_unref(batch);
    lx_batch_unref(NULL);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(reuses_released_batches)
{
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4000};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch *first = take_batch(batch_pool, 7, 0);
    uint8_t *data = first->block.data;
    lx_batch_unref(first);
    scarce_begin(0); /* a warm ring allocates nothing */
    for (int i = 0; i < 100; i++) {
        lx_batch *batch = take_batch(batch_pool, 7, 0);
        ck_assert_ptr_eq(batch, first);
        ck_assert_ptr_eq(batch->block.data, data);
        lx_batch_unref(batch);
    }
    ck_assert_uint_eq(batch_pool->blocks, 1);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_batch_outlives_ring_and_executor)
{
    lx_executor *executor = open_executor(1, 1);
    struct numbers numbers = {.length = 9, .width = 4};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch *batch = take_batch(batch_pool, 7, 0);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
    ck_assert_uint_eq(numbers.released, 0); /* names and shapes are those of the source */
    ck_assert_str_eq(lx_batch_get_column(batch, 1)->name, "image");
    memset(lx_batch_get_column(batch, 1)->data, 1, 28);
    lx_batch_unref(batch);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

static unsigned results_released;

static void release_result(void *result)
{
    results_released += *(unsigned *)result;
}

START_TEST(a_result_is_released_once)
{
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch *batch = take_batch(batch_pool, 7, 0);
    unsigned one = 1, hundred = 100;
    ck_assert_ptr_null(lx_batch_get_result(batch));
    lx_batch_set_result(batch, &one, release_result);
    ck_assert_ptr_eq(lx_batch_get_result(batch), &one);
    lx_batch_set_result(batch, &hundred, release_result);
    ck_assert_uint_eq(results_released, 1);
    lx_batch_unref(batch);
    ck_assert_uint_eq(results_released, 101);
    batch = take_batch(batch_pool, 7, 0);
    ck_assert_ptr_null(lx_batch_get_result(batch)); /* not the one of the earlier batch */
    lx_batch_set_result(batch, &one, NULL);
    lx_batch_unref(batch);
    ck_assert_uint_eq(results_released, 101);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
}
END_TEST

static atomic_uint left, released;

static void count_release(void *result)
{
    (void)result;
    atomic_fetch_add(&released, 1);
}

static lx_status leave_result(lx_batch *batch, void *user, lx_error *error)
{
    (void)error;
    atomic_fetch_add(&left, 1);
    lx_batch_set_result(batch, user, count_release);
    return lx_batch_get_position(batch) == 3 ? LX_ERR_CALLBACK : LX_OK;
}

START_TEST(releases_results_of_undelivered_batches)
{
    for (uint32_t threads = 0; threads <= 2; threads++) {
        struct numbers numbers = {.length = 100, .width = 4};
        lx_loader *loader = open_numbers(
            &numbers,
            (struct setup){.threads = threads, .transform = leave_result, .user = &numbers});
        for (int i = 0; i < 10; i++) {
            lx_batch *batch;
            lx_status status = lx_loader_next(loader, &batch, NULL);
            ck_assert_int_eq(status, i == 3 ? LX_ERR_CALLBACK : LX_OK);
            if (batch != NULL)
                ck_assert_ptr_eq(lx_batch_get_result(batch), &numbers);
            lx_batch_unref(batch);
        }
        lx_loader_close(loader);
        ck_assert_uint_eq(left, released);
        ck_assert_uint_ge(left, 10);
    }
}
END_TEST

START_TEST(a_failed_layout_leaks_nothing)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 9, .width = 4};
    lx_source *source = numbers_source(&numbers);
    char label[] = "label", image[] = "image", none[] = "none";
    char *unknown[] = {label, none}, *twice[] = {image, image};
    lx__layout layout;
    ck_assert_int_eq(lx__layout_init(&layout, source, unknown, 2, 7, &error), LX_ERR_NOT_FOUND);
    ck_assert_str_eq(error.field, "none");
    lx__layout_free(&layout);
    lx_error_clear(&error);
    ck_assert_int_eq(lx__layout_init(&layout, source, twice, 2, 7, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "'image'"));
    lx__layout_free(&layout);
    static const uint64_t rows[] = {UINT64_MAX, UINT64_MAX / 8, 1ull << 61, LX__BATCH_MAX / 12};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unit_fails(lx__layout_init(&layout, source, NULL, 0, rows[i], &error), LX_ERR_LIMIT);
        lx__layout_free(&layout);
    }
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        scarce_begin(memory);
        lx_error_clear(&error);
        status = lx__layout_init(&layout, source, NULL, 0, 7, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        lx__layout_free(&layout);
    }
    lx_source_unref(source);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

START_TEST(a_ring_stays_usable_after_a_failed_allocation)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch *batch;
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        scarce_begin(memory);
        lx_error_clear(&error);
        status = lx__batch_pool_take(batch_pool, 7, 0, &batch, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    memset(batch->block.data, 1, batch_pool->layout.bytes);
    lx_batch_unref(batch);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

struct hand {
    lx__batch_pool *batch_pool;
    atomic_bool stop;
    _Atomic(lx_batch *) slots[4];
};

static void *release_others(void *user)
{
    struct hand *hand = user;
    while (!atomic_load(&hand->stop))
        for (int i = 0; i < 4; i++)
            lx_batch_unref(atomic_exchange(&hand->slots[i], NULL));
    return NULL;
}

START_TEST(any_thread_can_release)
{
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4};
    struct hand hand = {.batch_pool = make_ring(executor, &numbers, NULL, 0, 7)};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, release_others, &hand);
    for (uint64_t i = 0; i < 5000; i++) {
        lx_batch *batch = take_batch(hand.batch_pool, 7, i);
        memset(lx_batch_get_column(batch, 0)->data, (int)i, 56);
        lx_batch_unref(atomic_exchange(&hand.slots[i % 4], batch));
    }
    atomic_store(&hand.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        lx_batch_unref(hand.slots[i]);
    ck_assert_uint_le(hand.batch_pool->blocks, 8);
    ck_assert_uint_eq(hand.batch_pool->block_bytes,
                      hand.batch_pool->blocks * hand.batch_pool->layout.bytes);
    lx__batch_pool_close(hand.batch_pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(frees_surplus_batches)
{
    enum { BATCHES = 20, IDLE = 8 };
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4000};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    uint64_t bytes = batch_pool->layout.bytes;
    lx_batch *batches[BATCHES];
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < BATCHES; i++)
            batches[i] = take_batch(batch_pool, 7, i);
        ck_assert_uint_eq(batch_pool->block_bytes, BATCHES * bytes);
        for (int i = 0; i < BATCHES; i++)
            lx_batch_unref(batches[i]);
        ck_assert_uint_eq(batch_pool->block_bytes, IDLE * bytes);
    }
    ck_assert_uint_eq(batch_pool->blocks, 2 * BATCHES - IDLE);
    for (uint64_t i = 0; i < 3; i++)
        batches[i] = take_batch(batch_pool, 7, i);
    lx__batch_pool_close(batch_pool);
    ck_assert_uint_eq(batch_pool->block_bytes, 3 * bytes);
    lx_batch_unref(batches[0]);
    lx_batch_unref(batches[1]);
    ck_assert_uint_eq(batch_pool->block_bytes, bytes);
    lx_executor_close(executor);
    lx_batch_unref(batches[2]);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

START_TEST(an_idle_batch_grows)
{
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4000};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch_unref(take_batch(batch_pool, 7, 0));
    batch_pool->layout.bytes *= 3;
    lx_batch *batch = take_batch(batch_pool, 7, 0);
    ck_assert_uint_ge(batch->block.size, batch_pool->layout.bytes);
    memset(batch->block.data, 1, batch_pool->layout.bytes);
    ck_assert_uint_eq(batch_pool->block_bytes, batch_pool->layout.bytes);
    lx_batch_unref(batch);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(frees_idle_batches_when_memory_is_short)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4000};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch *one = take_batch(batch_pool, 7, 0), *two = take_batch(batch_pool, 7, 0);
    uint64_t bytes = batch_pool->layout.bytes;
    lx_batch_unref(one);
    lx_batch_unref(two);
    ck_assert_uint_eq(batch_pool->block_bytes, 2 * bytes);
    batch_pool->layout.bytes = (uint64_t)1 << 62; /* more than a process can map */
    lx_batch *batch;
    unit_fails(lx__batch_pool_take(batch_pool, 7, 0, &batch, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(batch);
    ck_assert_uint_eq(batch_pool->block_bytes, 0);
    batch_pool->layout.bytes = bytes;
    lx_batch_unref(take_batch(batch_pool, 7, 0));
    ck_assert_uint_eq(batch_pool->block_bytes, bytes);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(batch_pool_and_executor_end_in_any_order)
{
    static const char orders[6][4] = {"bpe", "bep", "pbe", "peb", "ebp", "epb"};
    for (int order = 0; order < 6; order++) {
        lx_executor *executor = open_executor(0, 1);
        struct numbers numbers = {.length = 9, .width = 4000};
        lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
        lx_batch *idle = take_batch(batch_pool, 7, 0), *used = take_batch(batch_pool, 7, 0);
        memset(used->block.data, 7, batch_pool->layout.bytes);
        lx_batch_unref(idle);
        for (const char *at = orders[order]; *at != '\0'; at++) {
            if (*at == 'b')
                lx_batch_unref(used);
            else if (*at == 'p')
                lx__batch_pool_close(batch_pool);
            else
                lx_executor_close(executor);
        }
        ck_assert_uint_eq(numbers.released, 1);
    }
}
END_TEST

START_TEST(a_child_does_not_touch_the_batch_pool)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    struct numbers numbers = {.length = 9, .width = 4000};
    lx__batch_pool *batch_pool = make_ring(executor, &numbers, NULL, 0, 7);
    lx_batch *batch = take_batch(batch_pool, 7, 0);
    uint8_t *data = batch->block.data;
    data[0] = 5;
    pthread_mutex_lock(&batch_pool->mutex); /* as by another thread at the moment of the fork */
    if (unit_in_child()) {
        lx_batch *none;
        lx_status status = lx__batch_pool_take(batch_pool, 7, 0, &none, &error);
        lx_batch_unref(batch);
        lx__batch_pool_close(batch_pool);
        _exit(status == LX_ERR_FORKED && none == NULL && data[0] == 5 ? 0 : 1);
    }
    pthread_mutex_unlock(&batch_pool->mutex);
    lx_batch_unref(batch);
    lx__batch_pool_close(batch_pool);
    lx_executor_close(executor);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

/** With any configuration, the batches are those of a loader with memory of its own. */
START_TEST(fills_memory_of_the_caller)
{
    struct numbers numbers = {.length = 1000, .width = 3000};
    lx_source *source = numbers_source(&numbers);
    for (unsigned way = 0; way < 8; way++) {
        struct supply supply = {0};
        struct setup setup = {.batch_size = 60, .threads = way % 2 * 2, .epochs = 2};
        bool keep = way / 2 % 2;
        lx_loader *own = open_loader(source, setup), *loader;
        loader = open_supplied(source, setup, &supply, keep);
        lx_batch *batch, *last = NULL;
        unsigned count = 0;
        while ((batch = next_batch(loader)) != NULL) {
            lx_batch *same = next_batch(own);
            count++;
            check_numbers(batch);
            ck_assert_uint_eq(add_digest(0, batch), add_digest(0, same));
            ck_assert(is_supplied(batch, 0, lx_batch_get_row_count(batch) * 8));
            ck_assert(is_supplied(batch, 1, lx_batch_get_row_count(batch) * 3000));
            ck_assert_ptr_null(lx_batch_get_memory(batch, 2));
            ck_assert_ptr_null(lx_batch_get_memory(same, 0));
            lx_batch_unref(same);
            lx_batch_unref(last); /* the consumer holds two batches */
            last = batch;
        }
        if (keep)
            ck_assert_uint_le(supply.allocated, loader->pipeline.depth + 2);
        else
            ck_assert_uint_eq(supply.allocated, count);
        lx_loader_close(own);
        lx_loader_close(loader);
        ck_assert_uint_eq(supply.released, supply.allocated - 1);
        check_numbers(last); /* the batch outlives its loader */
        lx_batch_unref(last);
        ck_assert_uint_eq(supply.released, supply.allocated);
    }
    lx_source_unref(source);
}
END_TEST

START_TEST(a_released_batch_gives_its_memory_back_at_once)
{
    struct numbers numbers = {.length = 100, .width = 10};
    struct supply supply = {0};
    lx_source *source = numbers_source(&numbers);
    lx_loader *loader = open_supplied(source, (struct setup){.batch_size = 10}, &supply, false);
    lx_batch *batch = next_batch(loader);
    lx_loader_stats stats;
    lx_loader_get_stats(loader, &stats);
    ck_assert_uint_eq(stats.block_bytes, loader->batch_pool->layout.bytes);
    lx_batch_unref(batch);
    ck_assert_uint_eq(supply.released, 1);
    lx_loader_get_stats(loader, &stats);
    ck_assert_uint_eq(stats.block_bytes, 0);
    ck_assert_uint_eq(stats.blocks, 1);
    lx_loader_close(loader);
    ck_assert_uint_eq(supply.released, 1);
    lx_source_unref(source);
}
END_TEST

/** When the function fails, the loader releases idle blocks, and the next call tries again. */
START_TEST(a_failed_allocation_by_the_caller_loses_no_batch)
{
    static const lx_status statuses[] = {LX_ERR_NOMEM, LX_ERR_CALLBACK, LX_ERR_TIMEOUT,
                                         LX_ERR_FORKED};
    struct numbers numbers = {.length = 40, .width = 10};
    lx_source *source = numbers_source(&numbers);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        struct supply supply = {.limit = 2, .status = statuses[i]};
        lx_error error = LX_ERROR_INIT;
        lx_loader *loader = open_supplied(source, (struct setup){.batch_size = 10}, &supply, true);
        lx_batch *one = next_batch(loader), *two = next_batch(loader), *batch;
        ck_assert_int_eq(lx_loader_next(loader, &batch, &error), LX_ERR_NOMEM);
        ck_assert_str_eq(error.message, "the supply is exhausted");
        ck_assert_int_eq(error.status, LX_ERR_NOMEM);
        lx_batch_unref(one);
        lx_batch_unref(two);
        batch = next_batch(loader); /* has the memory of an idle batch */
        ck_assert_uint_eq(lx_batch_get_position(batch), 20);
        check_numbers(batch);
        loader->batch_pool->layout.bytes *= 2; /* more than the idle batch has */
        lx_error_clear(&error);
        ck_assert_int_eq(lx_loader_next(loader, &one, &error), LX_ERR_NOMEM);
        ck_assert_uint_eq(supply.released, 1); /* it was released before the second attempt */
        lx_batch_unref(batch);
        lx_loader_close(loader);
        ck_assert_uint_eq(supply.released, 2);
    }
    lx_source_unref(source);
}
END_TEST

START_TEST(refuses_memory_that_is_not_aligned)
{
    struct numbers numbers = {.length = 40, .width = 10};
    struct supply supply = {.offset = 1};
    lx_error error = LX_ERROR_INIT;
    lx_source *source = numbers_source(&numbers);
    lx_loader *loader = open_supplied(source, (struct setup){.batch_size = 10}, &supply, true);
    lx_batch *batch;
    ck_assert_int_eq(lx_loader_next(loader, &batch, &error), LX_ERR_NOMEM);
    ck_assert_ptr_nonnull(strstr(error.message, "aligned to 64 bytes"));
    ck_assert_uint_eq(supply.released, 1);
    supply.offset = 0;
    batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_position(batch), 0);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

UNIT_MAIN("loader/batch", aligns_and_separates_columns, a_short_batch_reports_its_rows,
          reuses_released_batches, a_batch_outlives_ring_and_executor, a_result_is_released_once,
          releases_results_of_undelivered_batches, a_failed_layout_leaks_nothing,
          a_ring_stays_usable_after_a_failed_allocation, any_thread_can_release,
          frees_surplus_batches, an_idle_batch_grows, frees_idle_batches_when_memory_is_short,
          batch_pool_and_executor_end_in_any_order, a_child_does_not_touch_the_batch_pool,
          fills_memory_of_the_caller, a_released_batch_gives_its_memory_back_at_once,
          a_failed_allocation_by_the_caller_loses_no_batch, refuses_memory_that_is_not_aligned)
