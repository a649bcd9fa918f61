/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/shared-array.h"

#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "../../scarce.h"
#include "../../unit.h"

START_TEST(is_zeroed_and_counted)
{
    uint64_t *numbers = lx__shared_new(100, sizeof *numbers);
    ck_assert_ptr_nonnull(numbers);
    ck_assert_uint_eq((uintptr_t)numbers % alignof(max_align_t), 0);
    for (size_t i = 0; i < 100; i++)
        ck_assert_uint_eq(numbers[i], 0);
    ck_assert(lx__shared_is_own(numbers));
    ck_assert_ptr_eq(lx__shared_ref(numbers), numbers);
    ck_assert(!lx__shared_is_own(numbers));
    lx__shared_unref(numbers);
    ck_assert(lx__shared_is_own(numbers));
    numbers[99] = 1;
    lx__shared_unref(numbers);
    ck_assert_ptr_null(lx__shared_ref(NULL));
    lx__shared_unref(NULL);
}
END_TEST

START_TEST(accepts_an_empty_array)
{
    void *nothing = lx__shared_new(0, 8);
    ck_assert_ptr_nonnull(nothing);
    lx__shared_unref(nothing);
}
END_TEST

START_TEST(returns_null_if_allocation_fails)
{
    ck_assert_ptr_null(lx__shared_new(SIZE_MAX, 2));
    ck_assert_ptr_null(lx__shared_new(SIZE_MAX, 1));
    ck_assert_ptr_null(lx__shared_new(SIZE_MAX - 8, 1));
    scarce_begin(0);
    ck_assert_ptr_null(lx__shared_new(1, 1));
}
END_TEST

static void *use(void *memory)
{
    for (int i = 0; i < 10000; i++)
        lx__shared_unref(lx__shared_ref(memory));
    lx__shared_unref(memory);
    return NULL;
}

START_TEST(the_last_thread_frees_it)
{
    pthread_t threads[3];
    int *memory = lx__shared_new(4, sizeof *memory);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use, lx__shared_ref(memory)), 0);
    lx__shared_unref(memory);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

UNIT_MAIN("zrecord/shared-array", is_zeroed_and_counted, accepts_an_empty_array,
          returns_null_if_allocation_fails, the_last_thread_frees_it)
