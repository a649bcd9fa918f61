/* SPDX-License-Identifier: MIT */
#include "base/copy.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

/* Buffer size where copy_file_range() is not supported. */
#define BUFFER ((size_t)1 << 20)
/* Bytes per copy_file_range() call; the return value is signed. */
#define CALL ((size_t)1 << 30)

/** Copies by reading and writing. */
static lx_status copy_through(const lx__file *from, uint64_t source, const lx__file *to,
                              uint64_t target, uint64_t size, lx_error *error)
{
    size_t room = size < BUFFER ? (size_t)size : BUFFER;
    uint8_t *buffer = lx__alloc(room);
    if (buffer == NULL)
        return lx__fail_memory(error, "a copy buffer");
    lx_status status = LX_OK;
    while (status == LX_OK && size != 0) {
        size_t step = size < room ? (size_t)size : room;
        status = lx__file_read(from, buffer, step, source, error);
        if (status == LX_OK)
            status = lx__file_write(to, buffer, step, target, error);
        source += step;
        target += step;
        size -= step;
    }
    lx__free(buffer);
    return status;
}

/** Whether the copy itself failed; other errors mean that copy_file_range() is not supported for
 * this pair of files. */
static bool is_failure(int errnum)
{
    return errnum == EIO || errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG ||
           errnum == ENOMEM;
}

lx_status lx__file_copy(const lx__file *from, uint64_t source, const lx__file *to, uint64_t target,
                        uint64_t size, lx_error *error)
{
    off_t here = (off_t)source, there = (off_t)target;
    while (size != 0) {
        size_t step = size < CALL ? (size_t)size : CALL;
        ssize_t moved = copy_file_range(from->fd, &here, to->fd, &there, step, 0);
        if (moved == -1 && is_failure(errno))
            return lx_fail_errno(error, errno, to->path, "cannot copy to the file");
        /* The file ended, the call was interrupted, or the file system accepts the call without
         * performing it. */
        if (moved <= 0)
            return copy_through(from, (uint64_t)here, to, (uint64_t)there, size, error);
        size -= (uint64_t)moved;
    }
    return LX_OK;
}

lx_status lx__file_write_back(const lx__file *file, uint64_t start, uint64_t end, lx_error *error)
{
    return start < end ? copy_through(file, start, file, start, end - start, error) : LX_OK;
}
