/* SPDX-License-Identifier: MIT */
/* How batches are divided among threads, and how many are prepared at the same time. */
#include "loader/loader-private.h"

#include "loaders.h"

#define ROWS 64
#define LARGE 70000 /* bytes */
#define IMAGE ((uint64_t)224 * 224 * 3 * 4)

/** Reads one batch; returns in how many parts it was filled. */
static unsigned count_parts(uint64_t width, uint32_t threads)
{
    struct numbers numbers = {.length = ROWS, .width = width};
    lx_source *source = numbers_source(&numbers);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = ROWS, .threads = threads});
    lx_batch *batch = next_batch(loader);
    check_numbers(batch);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(source);
    return atomic_load(&numbers.fills);
}

START_TEST(large_records_are_divided_among_all_threads)
{
    static const uint32_t threads[] = {1, 2, 5, 8, 16, 64};
    ck_assert_uint_eq(count_parts(LARGE, 0), 8);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        unsigned parts = count_parts(LARGE, threads[i]), all = 4 * threads[i];
        ck_assert_uint_ge(parts, all < ROWS ? all : ROWS);
        ck_assert_uint_le(parts, ROWS);
    }
}
END_TEST

START_TEST(small_records_are_not_divided)
{
    ck_assert_uint_eq(count_parts(500, 16), 1);
}
END_TEST

START_TEST(several_batches_of_images_are_prepared_at_the_same_time)
{
    struct numbers numbers = {.length = 10 * ROWS, .width = IMAGE};
    lx_source *source = numbers_source(&numbers);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = ROWS, .threads = 16});
    ck_assert_uint_ge(loader->pipeline.depth, 4);
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

UNIT_MAIN("loader/pipeline-parts", large_records_are_divided_among_all_threads,
          small_records_are_not_divided, several_batches_of_images_are_prepared_at_the_same_time)
