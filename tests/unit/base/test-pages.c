/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../unit.h"

START_TEST(pages_are_zeroed_aligned_and_freed)
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

/* The arguments of the last madvise(), which always fails. */
static uintptr_t advised_from, advised_to;

int madvise(void *memory, size_t size, int advice)
{
    (void)advice;
    advised_from = (uintptr_t)memory;
    advised_to = advised_from + size;
    errno = EINVAL;
    return -1;
}

START_TEST(huge_pages_are_requested_and_optional)
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

UNIT_MAIN("base/pages", pages_are_zeroed_aligned_and_freed, huge_pages_are_requested_and_optional)
