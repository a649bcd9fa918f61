/* SPDX-License-Identifier: MIT */
#include "base/mapping.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

lx_status lx__mapping_open(lx__mapping *mapping, const lx__file *file, uint64_t size,
                           lx__advice advice, lx_error *error)
{
    assert(file->provider == NULL);
    *mapping = (lx__mapping){NULL, 0};
    if (size == 0)
        return LX_OK;
    if (size > SIZE_MAX / 2)
        return lx_fail(error, LX_ERR_LIMIT, "the file is too large to map on this machine");

    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (data == MAP_FAILED)
        return lx_fail_errno(error, errno, file->path, "cannot map");
    /* If the advice fails, only speed suffers. */
    static const int flags[] = {[LX__ADVICE_RANDOM] = MADV_RANDOM,
                                [LX__ADVICE_SEQUENTIAL] = MADV_SEQUENTIAL,
                                [LX__ADVICE_USUAL] = MADV_NORMAL};
    (void)madvise(data, (size_t)size, flags[advice]);
    *mapping = (lx__mapping){data, (size_t)size};
    return LX_OK;
}

void lx__mapping_will_need(const uint8_t *data, uint64_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)data % page;
    if (size != 0)
        (void)madvise((uint8_t *)data - before, (size_t)size + before, MADV_WILLNEED);
}

void lx__mapping_close(lx__mapping *mapping)
{
    if (mapping->data != NULL)
        munmap((void *)mapping->data, mapping->size);
    *mapping = (lx__mapping){NULL, 0};
}
