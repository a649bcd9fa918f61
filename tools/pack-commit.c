/* SPDX-License-Identifier: MIT */
#include "pack-commit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "directory.h"
#include "failure.h"
#include "pack-output.h"

#define SUFFIX ".commit"

static lx_status make_name(pack_commit *self, const char *output, uint32_t tag, lx_error *error)
{
    char *stem = pack_output_name(output, tag);
    if (stem == NULL || asprintf(&self->path, "%s" SUFFIX, stem) == -1)
        self->path = NULL;
    free(stem);
    return self->path != NULL ? LX_OK : fail_memory(error, "a path");
}

static void close_file(pack_commit *self)
{
    if (self->file != NULL)
        fclose(self->file);
    self->file = NULL;
}

lx_status pack_commit_read(pack_commit *self, const char *output, uint32_t tag, lx_error *error)
{
    lx_status status = make_name(self, output, tag, error);
    if (status != LX_OK)
        return status;
    self->file = fopen(self->path, "r+");
    if (self->file == NULL)
        return errno == ENOENT ? LX_OK
                               : lx_fail_errno(error, errno, self->path, "cannot open the commit");
    status = pack_output_lock(fileno(self->file), output, error);
    if (status != LX_OK)
        return status;
    unsigned replaces = 0;
    char end = '\0'; /* of the line, without which the file was not completed */
    int read = fscanf(self->file, "%19" SCNu64 " %19" SCNu64 " %1u%c", &self->packed,
                      &self->skipped, &replaces, &end);
    self->found = read == 4 && end == '\n';
    self->replaces = replaces != 0;
    return LX_OK;
}

lx_status pack_commit_write(pack_commit *self, const char *output, lx_error *error)
{
    close_file(self);
    self->file = fopen(self->path, "w");
    if (self->file == NULL)
        return lx_fail_errno(error, errno, self->path, "cannot create the commit");
    lx_status status = pack_output_lock(fileno(self->file), output, error);
    if (status != LX_OK)
        return status;
    fprintf(self->file, "%" PRIu64 " %" PRIu64 " %d\n", self->packed, self->skipped,
            self->replaces);
    if (fflush(self->file) != 0 || fsync(fileno(self->file)) == -1)
        status = lx_fail_errno(error, errno, self->path, "cannot write the commit");
    if (status == LX_OK)
        status = directory_sync_parent(self->path, error);
    if (status != LX_OK)
        (void)pack_commit_remove(self, NULL);
    self->found = status == LX_OK;
    return status;
}

lx_status pack_commit_remove(pack_commit *self, lx_error *error)
{
    if (unlink(self->path) == -1 && errno != ENOENT)
        return lx_fail_errno(error, errno, self->path, "cannot remove the commit");
    self->found = false;
    return LX_OK;
}

void pack_commit_free(pack_commit *self)
{
    close_file(self);
    free(self->path);
    *self = (pack_commit){0};
}
