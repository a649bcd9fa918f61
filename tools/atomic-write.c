/* SPDX-License-Identifier: MIT */
#include "atomic-write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "failure.h"

#define SUFFIX ".XXXXXX"

lx_status atomic_write_begin(atomic_write *self, const char *path, lx_error *error)
{
    *self = (atomic_write){.path = path, .name = malloc(strlen(path) + sizeof SUFFIX), .file = -1};
    if (self->name == NULL)
        return fail_memory(error, "a name");
    strcpy(self->name, path);
    strcat(self->name, SUFFIX);
    self->file = mkstemp(self->name);
    if (self->file == -1)
        return lx_fail_errno(error, errno, path, "cannot create a temporary file next to it");
    return LX_OK;
}

/** Sets the default permissions: mkstemp() grants access to the owner only. */
static int give_rights(int file)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(file, 0666 & ~mask);
}

lx_status atomic_write_finish(atomic_write *self, lx_error *error)
{
    if (give_rights(self->file) == -1 || fsync(self->file) == -1)
        return lx_fail_errno(error, errno, self->path, "cannot write the file");
    if (rename(self->name, self->path) == -1)
        return lx_fail_errno(error, errno, self->path,
                             "cannot rename the finished file into place");
    close(self->file);
    self->file = -1;
    return directory_sync_parent(self->path, error);
}

void atomic_write_end(atomic_write *self)
{
    if (self->file != -1) {
        close(self->file);
        unlink(self->name);
    }
    free(self->name);
    *self = (atomic_write){.file = -1};
}
