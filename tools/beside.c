/* SPDX-License-Identifier: MIT */
#include "beside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "failure.h"

#define SUFFIX ".XXXXXX"

lx_status beside_begin(beside *self, const char *path, lx_error *error)
{
    *self = (beside){.path = path, .name = malloc(strlen(path) + sizeof SUFFIX), .file = -1};
    if (self->name == NULL)
        return fail_memory(error, "a name");
    strcpy(self->name, path);
    strcat(self->name, SUFFIX);
    self->file = mkstemp(self->name);
    if (self->file == -1)
        return fail_errno(error, errno, path, "cannot make a file beside it");
    return LX_OK;
}

/** Gives the file what a new one has: mkstemp() leaves it to its owner alone. */
static int give_rights(int file)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(file, 0666 & ~mask);
}

lx_status beside_finish(beside *self, lx_error *error)
{
    if (give_rights(self->file) == -1 || fsync(self->file) == -1)
        return fail_errno(error, errno, self->path, "cannot write it");
    if (rename(self->name, self->path) == -1)
        return fail_errno(error, errno, self->path, "cannot put it there");
    close(self->file);
    self->file = -1;
    return directory_sync_parent(self->path, error);
}

void beside_end(beside *self)
{
    if (self->file != -1) {
        close(self->file);
        unlink(self->name);
    }
    free(self->name);
    *self = (beside){.file = -1};
}
