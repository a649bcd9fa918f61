/* SPDX-License-Identifier: MIT */
#include "pack-output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "failure.h"

lx_status pack_output_lock(int file, const char *path, lx_error *error)
{
    if (flock(file, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == EOPNOTSUPP)
        return LX_OK; /* or the file system has no locks */
    return errno == EWOULDBLOCK ? lx_fail(error, LX_ERR_BUSY, "another process packs %.400s", path)
                                : lx_fail_errno(error, errno, path, "cannot lock the file");
}

char *pack_output_name(const char *path, uint32_t tag)
{
    size_t size = strlen(path) + sizeof ".pack-01234567";
    char *name = malloc(size);
    if (name != NULL)
        snprintf(name, size, "%s.pack-%08" PRIx32, path, tag);
    return name;
}

lx_status pack_output_new(const char *path, uint32_t tag, pack_mode mode, bool committed,
                          lx_executor *executor, pack_output **output, lx_error *error)
{
    size_t length = strlen(path);
    bool records = length > 4 && strcmp(path + length - 4, ".rec") == 0;
    const pack_output_class *class = records ? &pack_records_class : &pack_dataset_class;
    pack_output *made = *output = calloc(1, class->size);
    if (made == NULL)
        return fail_memory(error, "an output");
    *made = (pack_output){class, path, pack_output_name(path, tag), tag, committed, executor};
    if (made->unfinished == NULL)
        return fail_memory(error, "a path");
    if (pack_output_is_named(made) && access(path, F_OK) != 0)
        return lx_fail(error, LX_ERR_NOT_FOUND,
                       "%.400s was complete, and is not there any more: --force begins again",
                       path);
    return class->check(made, mode, error);
}

void pack_output_free(pack_output *output)
{
    if (output == NULL)
        return;
    output->class->free(output);
    free(output->unfinished);
    free(output);
}

lx_status pack_output_take(void *user, uint64_t id, const void *record, size_t size,
                           lx_error *error)
{
    pack_output *self = user;
    return self->class->add(self, id, record, size, error);
}

bool pack_output_is_named(const pack_output *self)
{
    return self->committed && access(self->unfinished, F_OK) != 0;
}

lx_status pack_output_fail_begun(const char *name, lx_error *error)
{
    return lx_fail(
        error, LX_ERR_EXISTS,
        "%.400s is what an interrupted pack has left: --resume continues it, and --force "
        "begins again",
        name);
}

bool pack_images_match(const pack_images *self, size_t *at, uint64_t id)
{
    size_t next = *at, end = self->first + self->count;
    while (self->gaps && next < end && self->list->entries[next].id != id)
        next++;
    if (next == end || self->list->entries[next].id != id)
        return false;
    *at = next + 1;
    return true;
}
