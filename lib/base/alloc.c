/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pages.h"

/* Arrays of at least this size benefit from huge pages: random lookups in them cause fewer TLB
 * misses. */
#define HUGE_MIN ((size_t)4 << 20)

static void *plain_alloc(size_t size, void *user)
{
    (void)user;
    return malloc(size);
}

static void *plain_resize(void *memory, size_t size, void *user)
{
    (void)user;
    return realloc(memory, size);
}

static void plain_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static const lx_allocator plain = {plain_alloc, plain_resize, plain_release, NULL};

/* Set before any other call (see lx_set_allocator), so access needs no lock. */
static lx_allocator current = {plain_alloc, plain_resize, plain_release, NULL};

lx_status lx_set_allocator(const lx_allocator *allocator, lx_error *error)
{
    if (allocator == NULL)
        allocator = &plain;
    if (allocator->alloc == NULL || allocator->resize == NULL || allocator->release == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "allocator: alloc, resize and release must not be NULL");
    current = *allocator;
    return LX_OK;
}

static int product_fits(size_t count, size_t size)
{
    return size == 0 || count <= SIZE_MAX / size;
}

/** Works with any allocator: the advice affects only how the kernel backs the memory. */
static void *prefer_huge(void *memory, size_t size)
{
    if (memory != NULL && size >= HUGE_MIN)
        lx__pages_prefer_huge(memory, size);
    return memory;
}

void *lx__alloc(size_t size)
{
    return current.alloc(size != 0 ? size : 1, current.user);
}

void *lx__alloc_array(size_t count, size_t size)
{
    if (!product_fits(count, size))
        return NULL;
    void *memory = prefer_huge(lx__alloc(count * size), count * size);
    if (memory != NULL)
        memset(memory, 0, count * size);
    return memory;
}

void *lx__resize_array(void *memory, size_t count, size_t size)
{
    if (!product_fits(count, size))
        return NULL;
    size_t bytes = count * size != 0 ? count * size : 1;
    return prefer_huge(memory == NULL ? current.alloc(bytes, current.user)
                                      : current.resize(memory, bytes, current.user),
                       bytes);
}

void *lx__grow_array(void *memory, size_t used, size_t *capacity, size_t size)
{
    if (used < *capacity)
        return memory;
    size_t wanted = *capacity < 8 ? 16 : *capacity * 2;
    if (wanted < *capacity)
        return NULL;
    void *grown = lx__resize_array(memory, wanted, size);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

bool lx__reserve(uint8_t **memory, size_t *capacity, size_t size)
{
    if (*capacity >= size)
        return true;
    uint8_t *larger = lx__resize_array(*memory, size, 1);
    if (larger == NULL)
        return false;
    *memory = larger;
    *capacity = size;
    return true;
}

char *lx__strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = lx__alloc(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

void lx__free(void *memory)
{
    if (memory != NULL)
        current.release(memory, current.user);
}
