/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/shared-array.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/alloc.h"

/** Precedes the elements in memory. */
typedef struct header {
    alignas(max_align_t) atomic_size_t references;
} header;

static header *header_of(const void *memory)
{
    return (header *)memory - 1;
}

void *lx__shared_new(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - sizeof(header))
        return NULL;
    header *made = lx__alloc_array(1, sizeof *made + bytes);
    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    return made + 1;
}

void *lx__shared_ref(void *memory)
{
    if (memory != NULL)
        atomic_fetch_add_explicit(&header_of(memory)->references, 1, memory_order_relaxed);
    return memory;
}

void lx__shared_unref(void *memory)
{
    if (memory != NULL &&
        atomic_fetch_sub_explicit(&header_of(memory)->references, 1, memory_order_acq_rel) == 1)
        lx__free(header_of(memory));
}

bool lx__shared_is_own(const void *memory)
{
    return atomic_load_explicit(&header_of(memory)->references, memory_order_acquire) == 1;
}
