/* SPDX-License-Identifier: MIT */
#include "base/mapping.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"

#define HUGE_PAGE ((size_t)2 << 20)

lx_status lx__mapping_open(lx__mapping *mapping, const lx__file *file, uint64_t size,
                           lx__access access, lx_error *error)
{
    *mapping = (lx__mapping){NULL, 0};
    if (size == 0)
        return LX_OK;
    if (size > SIZE_MAX / 2)
        return lx__fail(error, LX_ERR_LIMIT, "the file is too large to be mapped on this machine");

    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (data == MAP_FAILED)
        return lx__fail_errno(error, errno, file->path, "cannot map");
    /* Advice that is refused costs speed alone. */
    static const int advice[] = {[LX__ACCESS_RANDOM] = MADV_RANDOM,
                                 [LX__ACCESS_SEQUENTIAL] = MADV_SEQUENTIAL,
                                 [LX__ACCESS_USUAL] = MADV_NORMAL};
    (void)madvise(data, (size_t)size, advice[access]);
    *mapping = (lx__mapping){data, (size_t)size};
    return LX_OK;
}

void lx__mapping_close(lx__mapping *mapping)
{
    if (mapping->data != NULL)
        munmap((void *)mapping->data, mapping->size);
    *mapping = (lx__mapping){NULL, 0};
}

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

    /* mmap promises alignment to a small page only: take more, give back both ends. */
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
