/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"

#define HUGE_PAGE ((size_t)2 << 20)

static void *map_anonymous(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void *lx__pages_alloc(size_t size)
{
    if (size == 0 || size > SIZE_MAX / 2)
        return NULL;
    if (size < HUGE_PAGE)
        return map_anonymous(size);

    /* mmap only guarantees page alignment: map more, then unmap both ends. */
    uint8_t *memory = map_anonymous(size + HUGE_PAGE);
    if (memory == NULL)
        return NULL;
    size_t head = (size_t)(lx__align_up((uintptr_t)memory, HUGE_PAGE) - (uintptr_t)memory);
    uint8_t *aligned = memory + head;
    size_t kept = (size_t)lx__align_up(size, (uint64_t)sysconf(_SC_PAGESIZE));
    if (head != 0)
        munmap(memory, head);
    if (memory + size + HUGE_PAGE > aligned + kept)
        munmap(aligned + kept, (size_t)(memory + size + HUGE_PAGE - (aligned + kept)));
    lx__pages_prefer_huge(aligned, size);
    return aligned;
}

void lx__pages_prefer_huge(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    size_t head = (size_t)(lx__align_up((uintptr_t)memory, HUGE_PAGE) - (uintptr_t)memory);
    if (head < size)
        (void)madvise((uint8_t *)memory + head, size - head, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

void lx__pages_free(void *memory, size_t size)
{
    if (memory != NULL)
        munmap(memory, size);
}
