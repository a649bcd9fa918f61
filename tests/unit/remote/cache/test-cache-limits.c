/* SPDX-License-Identifier: MIT */
/* The bounds of a cache, and the datasets that are removed to keep them. */
#include "../../skip-clock.h"
#include "caches.h"

#define DATASET (10 * MIB)

START_TEST(reserves_up_to_the_limit)
{
    char *scratch = scratch_make();
    lx__cache *cache = open_cache(10 * MIB), *larger = open_cache(11 * MIB);
    ck_assert(lx__cache_reserve(cache, 6 * MIB));
    ck_assert(!lx__cache_reserve(cache, 5 * MIB));
    ck_assert(lx__cache_reserve(cache, 4 * MIB)); /* a smaller request is admitted at once */
    ck_assert(!lx__cache_reserve(cache, 1));
    lx__cache_unreserve(cache, MIB);
    ck_assert(lx__cache_reserve(cache, MIB));
    ck_assert(!lx__cache_reserve(cache, UINT64_MAX));
    /* Each process has its own limit. */
    ck_assert(lx__cache_reserve(larger, MIB));
    ck_assert(!lx__cache_reserve(larger, 1));
    ck_assert_uint_eq(get_reserved(), 11 * MIB);
    lx__cache_close(larger);
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

#define PROCESSES 4

START_TEST(processes_that_race_store_no_more_than_the_limit)
{
    char *scratch = scratch_make();
    pid_t children[PROCESSES];
    const uint64_t limit = 64 * LX__PAGE_BYTES;
    lx__cache *cache = open_cache(limit);
    use_dataset(cache, 1);
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            alarm(UNIT_CHILD_TIMEOUT);
            uint8_t page[LX__PAGE_BYTES] = {0};
            char name[10];
            lx__cache_file *file;
            lx__cache_take_over(cache);
            snprintf(name, sizeof name, "%d.zr", i);
            if (lx__cache_open_file(cache, "chunk", name, MIB, &file, NULL) != LX_OK)
                _exit(255);
            uint8_t stored = 0;
            for (uint64_t first = 0; first < 100; first++) {
                if (!lx__cache_reserve(cache, sizeof page))
                    continue;
                if (lx__cache_file_store(file, first, page, sizeof page, NULL) != LX_OK)
                    _exit(255);
                stored++;
            }
            _exit(stored);
        }
    int sum = 0;
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status));
        ck_assert_int_ne(WEXITSTATUS(status), 255);
        sum += WEXITSTATUS(status);
    }
    ck_assert_int_eq(sum, 64);
    ck_assert_uint_eq(get_reserved(), limit);
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

START_TEST(removes_what_was_used_least_recently)
{
    char *scratch = scratch_make();
    make_dataset(1, DATASET, 3000);
    make_dataset(2, DATASET, 1000);
    make_dataset(3, DATASET, 2000);
    make_dataset(4, DATASET, 4000);
    lx__cache *user = open_cache(LX_NONE), *cache = open_cache(45 * MIB);
    use_dataset(user, 2); /* the oldest is in use, and then the newest */
    use_dataset(cache, 5);
    ck_assert(lx__cache_reserve(cache, 4 * MIB));
    ck_assert(has_dataset(1) && has_dataset(2) && has_dataset(3) && has_dataset(4));
    ck_assert(lx__cache_reserve(cache, 4 * MIB));
    ck_assert(has_dataset(1) && has_dataset(2) && !has_dataset(3) && has_dataset(4));
    ck_assert(lx__cache_reserve(cache, 20 * MIB)); /* needs both */
    ck_assert(!has_dataset(1) && has_dataset(2) && !has_dataset(4) && has_dataset(5));
    ck_assert(!lx__cache_reserve(cache, 20 * MIB)); /* the datasets that are left are in use */
    ck_assert(has_dataset(2) && has_dataset(5));
    ck_assert_uint_eq(count_names(), 3);
    lx__cache_close(cache);
    lx__cache_close(user);
    scratch_remove(scratch);
}
END_TEST

START_TEST(searches_again_only_after_a_while)
{
    char *scratch = scratch_make();
    lx__cache *user = open_cache(LX_NONE), *cache = open_cache(20 * MIB);
    use_dataset(user, 1);
    fill(user, "0.zr", DATASET);
    clock_stop();
    ck_assert(!lx__cache_reserve(cache, 15 * MIB)); /* finds that the dataset is in use */
    lx__cache_close(user);
    clock_skip((int64_t)5 * CLOCK_SECOND - 1);
    ck_assert(!lx__cache_reserve(cache, 15 * MIB));
    ck_assert(has_dataset(1));
    clock_skip(1);
    ck_assert(lx__cache_reserve(cache, 15 * MIB));
    ck_assert(!has_dataset(1));
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

START_TEST(leaves_a_part_of_the_disk_free)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_dataset(1, DATASET, 1);
    lx__cache *cache = open_cache(LX_NONE);
    use_dataset(cache, 2);
    disk = (struct statvfs){.f_frsize = 1 << 20, .f_blocks = 1000, .f_bavail = 60};
    ck_assert(lx__cache_reserve(cache, 10 * MIB));
    ck_assert(has_dataset(1));
    ck_assert(!lx__cache_reserve(cache, 10 * MIB + 1));
    ck_assert(!has_dataset(1)); /* it was removed, but this disk has no more space */
    disk.f_bavail = 49;
    ck_assert(!lx__cache_reserve(cache, 1));
    unit_ok(lx__cache_trim(cache, LX_NONE, &error));
    disk.f_bavail = 51;
    ck_assert(lx__cache_reserve(cache, MIB));
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_full_disk_removes_nothing_for_trim)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_dataset(1, DATASET, 1);
    make_dataset(2, DATASET, 2);
    disk.f_bavail = 0;
    lx__cache *cache = open_cache(LX_NONE);
    unit_ok(lx__cache_trim(cache, 15 * MIB, &error));
    ck_assert(!has_dataset(1) && has_dataset(2));
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

START_TEST(one_process_removes_at_a_time)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file state;
    make_dataset(1, DATASET, 1);
    lx__cache *cache = open_cache(15 * MIB);
    unit_ok(lx__file_open(&state, LX__CWD, "cache/state", O_RDWR, &error));
    unit_ok(lx__file_lock(&state, true, LX__CACHE_REMOVAL, 1, &error));
    ck_assert(!lx__cache_reserve(cache, DATASET));
    unit_fails(lx__cache_trim(cache, 0, &error), LX_ERR_BUSY);
    unit_fails(lx__cache_remove(cache, uuid_of(1), &error), LX_ERR_BUSY);
    ck_assert(has_dataset(1));
    lx__file_close(&state);
    ck_assert(lx__cache_reserve(cache, DATASET)); /* at once */
    ck_assert(!has_dataset(1));
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

#define THREADS 4

static atomic_uint kept; /* The number of pieces that the threads have kept. */

static void *reserve_pieces(void *user)
{
    for (int i = 0; i < 300; i++) {
        if (!lx__cache_reserve(user, MIB / 16))
            continue;
        if (i % 2 == 0)
            lx__cache_unreserve(user, MIB / 16);
        else
            atomic_fetch_add(&kept, 1);
    }
    return NULL;
}

START_TEST(threads_reserve_and_remove_at_the_same_time)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < 3; i++)
        make_dataset(i, 5 * MIB, i);
    lx__cache *cache = open_cache(16 * MIB);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, reserve_pieces, cache), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert(!has_dataset(0));
    ck_assert_uint_le(get_reserved(), 16 * MIB);
    unit_ok(lx__cache_trim(cache, 0, &error));
    ck_assert(!has_dataset(1) && !has_dataset(2));
    /* File systems may count the blocks of a file differently once they are written. */
    ck_assert_uint_le(get_reserved(), kept * MIB / 16 + 3 * 65536);
    ck_assert_uint_ge(get_reserved() + 3 * 65536, kept * MIB / 16);
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("remote/cache/cache-limits", reserves_up_to_the_limit,
          processes_that_race_store_no_more_than_the_limit, removes_what_was_used_least_recently,
          searches_again_only_after_a_while, leaves_a_part_of_the_disk_free,
          a_full_disk_removes_nothing_for_trim, one_process_removes_at_a_time,
          threads_reserve_and_remove_at_the_same_time)
