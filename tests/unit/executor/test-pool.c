/* SPDX-License-Identifier: MIT */
#include "executor/pool.h"

#include <unistd.h>

#include "../scarce.h"
#include "workload.h"

#define MIB ((uint64_t)1 << 20)

START_TEST(reports_failed_allocations)
{
    lx_error error = LX_ERROR_INIT;
    lx__pool *pool = (lx__pool *)&error;
    lx__block *block = (lx__block *)&error;
    scarce_begin(100);
    lx_executor *executor = open_executor(0, 1, 1);
    scarce_left = 0;
    unit_fails(lx__pool_new(executor, MIB, &pool, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(pool);
    scarce_left = 1;
    unit_ok(lx__pool_new(executor, MIB, &pool, &error));
    unit_fails(lx__pool_take(pool, 1, &block, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(block);
    scarce_left = 1;
    unit_ok(lx__pool_take(pool, 1, &block, &error));
    lx__block_release(block);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

static lx__pool *pool_of(lx_executor *executor, uint64_t keep_bytes)
{
    lx_error error = LX_ERROR_INIT;
    lx__pool *pool;
    unit_ok(lx__pool_new(executor, keep_bytes, &pool, &error));
    return pool;
}

static lx__block *take(lx__pool *pool, uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx__block *block;
    unit_ok(lx__pool_take(pool, size, &block, &error));
    ck_assert_uint_ge(block->capacity, size);
    ck_assert_uint_eq((uintptr_t)block->data % 4096, 0);
    return block;
}

static lx__pool_stats pool_stats(lx__pool *pool)
{
    lx__pool_stats stats;
    lx__pool_read_stats(pool, &stats);
    return stats;
}

START_TEST(a_warm_pool_does_not_grow)
{
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, 64 * MIB);
    lx__block *blocks[4];
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 4; i++) {
            blocks[i] = take(pool, 200000);
            memset(blocks[i]->data, round, 200000);
        }
        for (int i = 0; i < 4; i++)
            lx__block_release(blocks[i]);
    }
    lx__pool_stats stats = pool_stats(pool);
    ck_assert_uint_eq(stats.blocks_made, 4);
    ck_assert_uint_eq(stats.blocks_out, 0);
    ck_assert_uint_eq(stats.bytes_out, 0);
    ck_assert_uint_eq(stats.bytes_kept, stats.bytes_mapped);
    ck_assert_uint_ge(stats.bytes_mapped, 4 * 200000);
    ck_assert_uint_le(stats.bytes_mapped, 4 * 200000 * 9 / 8 + 4 * 4096);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_GC).threads, 0);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(returns_the_warmest_block_first)
{
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, 64 * MIB);
    lx__block *a = take(pool, 100000), *b = take(pool, 100000);
    ck_assert_ptr_ne(a->data, b->data);
    lx__block_release(a);
    lx__block_release(b);
    ck_assert_ptr_eq(take(pool, 100000), b);
    ck_assert_ptr_eq(take(pool, 99000), a);
    lx__block_release(a);
    lx__block_release(b);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(returns_blocks_of_sufficient_size)
{
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, UINT64_MAX);
    for (uint64_t size = 1; size < 40 * MIB; size = size * 3 / 2 + 1)
        for (int around = -1; around < 2; around++) {
            uint64_t wanted = size + (uint64_t)around;
            if (wanted == 0)
                continue;
            lx__block *block = take(pool, wanted);
            ck_assert_uint_le(block->capacity, wanted < 32768 ? 65536 : wanted * 9 / 4);
            block->data[0] = block->data[wanted - 1] = 1;
            lx__block_release(block);
        }

    /* A large block serves a request of half its size, not a tiny one. */
    lx__pool *other = pool_of(executor, UINT64_MAX);
    lx__block *large = take(other, 8 * MIB);
    lx__block_release(large);
    lx__block *tiny = take(other, 4096);
    ck_assert_ptr_ne(tiny, large);
    ck_assert_ptr_eq(take(other, 5 * MIB), large);
    lx__block_release(large);
    lx__block_release(tiny);
    lx__pool_free(other);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(rejects_impossible_sizes)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, MIB);
    lx__block *block;
    unit_fails(lx__pool_take(pool, 0, &block, &error), LX_ERR_LIMIT);
    unit_fails(lx__pool_take(pool, LX__BLOCK_MAX + 1, &block, &error), LX_ERR_LIMIT);
    unit_fails(lx__pool_take(pool, UINT64_MAX, &block, &error), LX_ERR_LIMIT);
    unit_fails(lx__pool_take(pool, LX__BLOCK_MAX, &block, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(block);
    lx__block_release(NULL);
    lx__pool_free(NULL);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(limits_the_blocks_it_keeps)
{
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, 3 * MIB);
    enum { BLOCKS = 10 };
    lx__block *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = take(pool, MIB);
    ck_assert_uint_eq(pool_stats(pool).bytes_out, BLOCKS * MIB);
    for (int i = 0; i < BLOCKS; i++) {
        lx__block_release(blocks[i]);
        ck_assert_uint_le(pool_stats(pool).bytes_kept, 3 * MIB);
    }
    eventually(pool_stats(pool).bytes_mapped == 3 * MIB); /* a cleaner did it */
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_GC).tasks, BLOCKS - 3);

    /* The longest unused block was freed: a new size replaces the old one. */
    lx__block *two = take(pool, 2 * MIB);
    lx__block_release(two);
    eventually(pool_stats(pool).bytes_mapped == 3 * MIB);
    ck_assert_ptr_eq(take(pool, 2 * MIB), two);
    ck_assert_ptr_eq(take(pool, MIB), blocks[BLOCKS - 1]);
    lx__block_release(two);
    lx__block_release(blocks[BLOCKS - 1]);

    lx__block *huge = take(pool, 4 * MIB); /* above the limit: never reused */
    lx__block_release(huge);
    eventually(pool_stats(pool).bytes_mapped <= 3 * MIB);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(can_keep_no_blocks)
{
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, 0);
    for (int i = 0; i < 20; i++)
        lx__block_release(take(pool, 100000));
    ck_assert_uint_eq(pool_stats(pool).blocks_made, 20);
    eventually(pool_stats(pool).bytes_mapped == 0);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(blocks_outlive_pool_and_executor)
{
    for (int order = 0; order < 6; order++) {
        lx_executor *executor = open_executor(0, 1, 1);
        lx__pool *pool = pool_of(executor, 64 * MIB);
        lx__block *kept = take(pool, 50000), *out = take(pool, 50000);
        memset(out->data, 7, 50000);
        lx__block_release(kept);
        /* The three ends come in every order. */
        static const char orders[6][4] = {"bpe", "bep", "pbe", "peb", "ebp", "epb"};
        for (const char *at = orders[order]; *at != '\0'; at++) {
            if (*at == 'b') {
                ck_assert_int_eq(out->data[49999], 7);
                lx__block_release(out);
            } else if (*at == 'p') {
                lx__pool_free(pool);
            } else {
                lx_executor_close(executor);
            }
        }
    }
}
END_TEST

START_TEST(waiting_to_be_unmapped_does_not_stop_close)
{
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, 0);
    struct gate shut = GATE_SHUT;
    struct job busy;
    job_init(&busy, 1);
    busy.gate = &shut;
    job_submit(executor, LX_QUEUE_GC, &busy);
    gate_await(&shut, 1);
    for (int i = 0; i < 5; i++)
        lx__block_release(take(pool, 100000));
    ck_assert_uint_gt(pool_stats(pool).bytes_mapped, 0);
    gate_open(&shut);
    lx_executor_close(executor);
    ck_assert_uint_eq(pool_stats(pool).bytes_mapped, 0);
    lx__block_release(take(pool, 100000)); /* continues without threads */
    ck_assert_uint_eq(pool_stats(pool).bytes_mapped, 0);
    lx__pool_free(pool);
    job_free(&busy);
}
END_TEST

struct handover {
    lx__pool *pool;
    _Atomic(lx__block *) slot;
    atomic_bool done;
    unsigned seed;
};

static void *release_what_comes(void *user)
{
    struct handover *handover = user;
    for (;;) {
        bool last = atomic_load(&handover->done);
        lx__block *block = atomic_exchange(&handover->slot, NULL);
        if (block != NULL) {
            ck_assert_int_eq(block->data[0], block->data[block->capacity - 1]);
            lx__block_release(block);
        } else if (last) {
            return NULL;
        }
    }
}

static void *take_and_hand_over(void *user)
{
    struct handover *handover = user;
    uint64_t random = handover->seed;
    for (int i = 0; i < 2000; i++) {
        lx__block *block = take(handover->pool, 1 + random_next(&random) % 300000);
        block->data[0] = block->data[block->capacity - 1] = (uint8_t)i;
        lx__block *other = atomic_exchange(&handover->slot, block);
        lx__block_release(other);
    }
    atomic_store(&handover->done, true);
    return NULL;
}

START_TEST(blocks_are_released_on_other_threads)
{
    enum { PAIRS = 3 };
    lx_executor *executor = open_executor(0, 1, 2);
    lx__pool *pool = pool_of(executor, 2 * MIB);
    struct handover handovers[PAIRS];
    pthread_t threads[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        handovers[i] = (struct handover){.pool = pool, .seed = 77u + (unsigned)i};
        ck_assert_int_eq(pthread_create(&threads[2 * i], NULL, take_and_hand_over, &handovers[i]),
                         0);
        ck_assert_int_eq(
            pthread_create(&threads[2 * i + 1], NULL, release_what_comes, &handovers[i]), 0);
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(threads[i], NULL);
    lx__pool_stats stats = pool_stats(pool);
    ck_assert_uint_eq(stats.blocks_out, 0);
    ck_assert_uint_eq(stats.bytes_out, 0);
    ck_assert_uint_le(stats.bytes_kept, 2 * MIB);
    eventually(pool_stats(pool).bytes_mapped == stats.bytes_kept);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_child_does_not_touch_the_pool)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1, 1);
    lx__pool *pool = pool_of(executor, MIB);
    lx__block *block = take(pool, 1000);
    block->data[0] = 5;
    if (unit_in_child()) {
        lx__block *none;
        bool right = lx__pool_take(pool, 1000, &none, &error) == LX_ERR_FORKED && none == NULL;
        lx__block_release(block);
        lx__pool_free(pool);
        _exit(right && block->data[0] == 5 ? 0 : 1);
    }
    ck_assert_uint_eq(pool_stats(pool).blocks_out, 1);
    lx__block_release(block);
    lx__pool_free(pool);
    lx_executor_close(executor);
}
END_TEST

UNIT_MAIN("executor/pool", a_warm_pool_does_not_grow, returns_the_warmest_block_first,
          returns_blocks_of_sufficient_size, rejects_impossible_sizes, limits_the_blocks_it_keeps,
          can_keep_no_blocks, blocks_outlive_pool_and_executor,
          waiting_to_be_unmapped_does_not_stop_close, blocks_are_released_on_other_threads,
          a_child_does_not_touch_the_pool, reports_failed_allocations)
