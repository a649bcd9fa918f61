/* SPDX-License-Identifier: MIT */
#include "recordio/output.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"

#define BUFFER_BYTES ((size_t)1 << 20)

/** Refuses what is not a file, such as a pipe. */
static lx_status check_path(const char *path, lx_error *error)
{
    struct stat about;
    if (strcmp(path, "-") != 0 && (stat(path, &about) != 0 || S_ISREG(about.st_mode)))
        return LX_OK;
    lx_fail(error, LX_ERR_ARGUMENT,
            "records can be written only to regular files, not to a pipe or the standard output");
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return LX_ERR_ARGUMENT;
}

lx_status lx__output_open(lx__output *self, const char *path, int flags, lx_error *error)
{
    lx_status status = check_path(path, error);
    if (status == LX_OK)
        status = lx__file_open(&self->file, LX__CWD, path, flags, error);
    if (status != LX_OK)
        return status;
    self->buffer = lx__alloc(BUFFER_BYTES);
    if (self->buffer == NULL)
        return lx__fail_memory(error, "a buffer for writing");
    return lx__file_size(&self->file, &self->offset, error);
}

static lx_status write_buffer(lx__output *self, lx_error *error)
{
    lx_status status = lx__file_write(&self->file, self->buffer, self->used, self->offset, error);
    self->offset += self->used;
    self->used = 0;
    return status;
}

lx_status lx__output_add(lx__output *self, const void *data, size_t size, lx_error *error)
{
    lx_status status = LX_OK;
    if (size > BUFFER_BYTES - self->used)
        status = write_buffer(self, error);
    if (status == LX_OK && size > BUFFER_BYTES) { /* not worth a copy */
        status = lx__file_write(&self->file, data, size, self->offset, error);
        self->offset += size;
    } else if (status == LX_OK && size != 0) {
        memcpy(self->buffer + self->used, data, size);
        self->used += size;
    }
    return status;
}

lx_status lx__output_finish(lx__output *self, lx_error *error)
{
    lx_status status = write_buffer(self, error);
    return status == LX_OK ? lx__file_sync(&self->file, error) : status;
}

void lx__output_close(lx__output *self)
{
    lx__file_close(&self->file);
    lx__free(self->buffer);
    self->buffer = NULL;
}
