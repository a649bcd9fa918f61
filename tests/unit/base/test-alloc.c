/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdint.h>
#include <string.h>

#include "../unit.h"

static int live;

static void *counted_alloc(size_t size, void *user)
{
    ck_assert_uint_ne(size, 0);
    ++*(int *)user;
    return malloc(size);
}

static void *counted_resize(void *memory, size_t size, void *user)
{
    (void)user;
    ck_assert_ptr_nonnull(memory);
    return realloc(memory, size);
}

static void counted_release(void *memory, void *user)
{
    ck_assert_ptr_nonnull(memory);
    --*(int *)user;
    free(memory);
}

START_TEST(a_hooked_allocator_gets_everything)
{
    lx_error error = LX_ERROR_INIT;
    lx_allocator counted = {counted_alloc, counted_resize, counted_release, &live};
    unit_ok(lx_set_allocator(&counted, &error));
    char *text = lx__strdup("text");
    void *nothing = lx__alloc(0);
    int *numbers = lx__alloc_array(3, sizeof *numbers);
    numbers = lx__resize_array(numbers, 30, sizeof *numbers);
    ck_assert_int_eq(live, 3);
    ck_assert_int_eq(numbers[2], 0);
    lx__free(text);
    lx__free(nothing);
    lx__free(numbers);
    lx__free(NULL);
    ck_assert_int_eq(live, 0);
    unit_ok(lx_set_allocator(NULL, &error));
    lx__free(lx__alloc(1));
    ck_assert_int_eq(live, 0);
}
END_TEST

START_TEST(rejects_half_an_allocator)
{
    lx_error error = LX_ERROR_INIT;
    lx_allocator half = {counted_alloc, NULL, counted_release, &live};
    unit_fails(lx_set_allocator(&half, &error), LX_ERR_ARGUMENT);
    lx__free(lx__alloc(1));
    ck_assert_int_eq(live, 0);
}
END_TEST

START_TEST(rejects_sizes_that_overflow)
{
    ck_assert_ptr_null(lx__alloc_array(SIZE_MAX / 4, 8));
    ck_assert_ptr_null(lx__resize_array(NULL, SIZE_MAX / 4, 8));
    size_t capacity = SIZE_MAX / 8;
    ck_assert_ptr_null(lx__grow_array(NULL, capacity, &capacity, 8));
    ck_assert_uint_eq(capacity, SIZE_MAX / 8);
}
END_TEST

START_TEST(an_array_grows_and_keeps_its_content)
{
    uint64_t *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        array = lx__grow_array(array, i, &capacity, sizeof *array);
        ck_assert_ptr_nonnull(array);
        array[i] = i;
    }
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(array[i], i);
    lx__free(array);
}
END_TEST

static void *refuse_resize(void *memory, size_t size, void *user)
{
    (void)memory, (void)size, (void)user;
    return NULL;
}

START_TEST(reserving_keeps_the_content)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t *memory = NULL;
    size_t capacity = 0;
    ck_assert(lx__reserve(&memory, &capacity, 0));
    ck_assert(lx__reserve(&memory, &capacity, 5));
    ck_assert_uint_ge(capacity, 5);
    memcpy(memory, "bytes", 5);
    ck_assert(lx__reserve(&memory, &capacity, 100000));
    ck_assert_uint_ge(capacity, 100000);
    ck_assert_mem_eq(memory, "bytes", 5);
    memset(memory, 1, 100000);

    uint8_t *before = memory;
    size_t room = capacity;
    lx_allocator refusing = {counted_alloc, refuse_resize, counted_release, &live};
    unit_ok(lx_set_allocator(&refusing, &error));
    ck_assert(!lx__reserve(&memory, &capacity, room + 1));
    ck_assert(lx__reserve(&memory, &capacity, room)); /* no allocation is requested */
    ck_assert(lx__reserve(&memory, &capacity, 1));
    unit_ok(lx_set_allocator(NULL, &error));
    ck_assert_ptr_eq(memory, before);
    ck_assert_uint_eq(capacity, room);
    lx__free(memory);
}
END_TEST

UNIT_MAIN("base/alloc", a_hooked_allocator_gets_everything, rejects_half_an_allocator,
          rejects_sizes_that_overflow, an_array_grows_and_keeps_its_content,
          reserving_keeps_the_content)
