/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Limits memory: after scarce_begin(), only #scarce_left allocations succeed.
 */
#ifndef LX_TESTS_SCARCE_H
#define LX_TESTS_SCARCE_H

#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <loaderx/hooks.h>

static atomic_int scarce_left; /* for all threads */

static inline void *scarce_alloc(size_t size, void *user)
{
    (void)user;
    return scarce_left-- > 0 ? malloc(size) : NULL;
}

static inline void *scarce_resize(void *memory, size_t size, void *user)
{
    (void)user;
    return scarce_left-- > 0 ? realloc(memory, size) : NULL;
}

static inline void scarce_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static inline void scarce_begin(int left)
{
    static const lx_allocator scarce = {scarce_alloc, scarce_resize, scarce_release, NULL};
    scarce_left = left;
    ck_assert_int_eq(lx_set_allocator(&scarce, NULL), LX_OK);
}

#endif
