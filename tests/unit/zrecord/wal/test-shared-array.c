/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/shared-array.h"

#include <pthread.h>
#include <stdint.h>

#include "../../scarce.h"
#include "../../unit.h"

START_TEST(it_is_zeroed_and_counted)
{
    uint64_t *numbers = lx__shared_new(100, sizeof *numbers);
    ck_assert_ptr_nonnull(numbers);
    ck_assert_uint_eq((uintptr_t)numbers % 16, 0);
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

START_TEST(none_is_one_too)
{
    void *nothing = lx__shared_new(0, 8);
    ck_assert_ptr_nonnull(nothing);
    lx__shared_unref(nothing);
}
END_TEST

START_TEST(what_cannot_be_had_is_null)
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

START_TEST(the_last_of_several_threads_frees_it)
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

UNIT_MAIN("zrecord/shared-array", it_is_zeroed_and_counted, none_is_one_too, what_cannot_be_had_is_null,
          the_last_of_several_threads_frees_it)
