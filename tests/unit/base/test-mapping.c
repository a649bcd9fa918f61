/* SPDX-License-Identifier: MIT */
#include "base/mapping.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../scratch.h"
#include "../unit.h"

START_TEST(growth_appears_at_the_mapped_address)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file file;
    lx__mapping mapping;
    unit_ok(lx__file_open(&file, LX__HERE, "f", O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_write(&file, "first", 5, 0, &error));
    unit_ok(lx__mapping_open(&mapping, &file, 1 << 30, LX__ACCESS_RANDOM, &error));
    ck_assert_mem_eq(mapping.data, "first", 5);
    unit_ok(lx__file_write(&file, "later", 5, 100000, &error));
    lx__file_close(&file);
    ck_assert_mem_eq(mapping.data + 100000, "later", 5);
    lx__mapping_close(&mapping);
    lx__mapping_close(&mapping);
    ck_assert_ptr_null(mapping.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(nothing_is_mapped_for_no_bytes_and_too_many_are_refused)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file file;
    lx__mapping mapping;
    unit_ok(lx__file_open(&file, LX__HERE, "f", O_RDWR | O_CREAT, &error));
    unit_ok(lx__mapping_open(&mapping, &file, 0, LX__ACCESS_SEQUENTIAL, &error));
    ck_assert_ptr_null(mapping.data);
    unit_fails(lx__mapping_open(&mapping, &file, UINT64_MAX, LX__ACCESS_RANDOM, &error),
               LX_ERR_LIMIT);
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

START_TEST(pages_are_zeroed_aligned_and_given_back)
{
    static const size_t sizes[] = {1, 4096, 100000, 2 << 20, (2 << 20) + 1, 9999999};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *memory = lx__pages_alloc(sizes[i]);
        ck_assert_ptr_nonnull(memory);
        ck_assert_uint_eq((uintptr_t)memory % (sizes[i] >= 2 << 20 ? 2 << 20 : 4096), 0);
        ck_assert_int_eq(memory[0] | memory[sizes[i] - 1], 0);
        memset(memory, 1, sizes[i]);
        lx__pages_free(memory, sizes[i]);
    }
    ck_assert_ptr_null(lx__pages_alloc(0));
    ck_assert_ptr_null(lx__pages_alloc(SIZE_MAX));
    lx__pages_free(NULL, 0);
}
END_TEST

/* The last call of madvise(), which refuses all. */
static uintptr_t advised_from, advised_to;

int madvise(void *memory, size_t size, int advice)
{
    (void)advice;
    advised_from = (uintptr_t)memory;
    advised_to = advised_from + size;
    errno = EINVAL;
    return -1;
}

START_TEST(huge_pages_are_asked_for_within_memory_and_may_be_refused)
{
    size_t huge = 2 << 20, size = 4 * huge + 1000;
    uint8_t *memory = malloc(size);
    ck_assert_ptr_nonnull(memory);
    memset(memory, 1, size);
    size_t aligned = huge - (uintptr_t)memory % huge;
    advised_from = 0;
    lx__pages_prefer_huge(memory + aligned + 1, 1000); /* no huge page begins in it */
    lx__pages_prefer_huge(memory, 0);
    ck_assert_uint_eq(advised_from, 0);
    lx__pages_prefer_huge(memory + 1, size - 1);
    ck_assert_uint_eq(advised_from % huge, 0);
    ck_assert_uint_eq(advised_from, (uintptr_t)memory + aligned);
    ck_assert_uint_eq(advised_to, (uintptr_t)memory + size);
    for (size_t i = 0; i < size; i++)
        if (memory[i] != 1)
            ck_abort_msg("byte %zu has changed", i);
    free(memory);
}
END_TEST

UNIT_MAIN("base/mapping", growth_appears_at_the_mapped_address,
          nothing_is_mapped_for_no_bytes_and_too_many_are_refused,
          pages_are_zeroed_aligned_and_given_back,
          huge_pages_are_asked_for_within_memory_and_may_be_refused)
