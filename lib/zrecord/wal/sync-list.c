/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/sync-list.h"

#include "base/alloc.h"
#include "base/error.h"

lx_status lx__barrier_reserve(lx__barrier *barrier, size_t more, lx_error *error)
{
    size_t wanted = barrier->count + more;
    if (wanted <= barrier->capacity)
        return LX_OK;
    size_t capacity = wanted < 16 ? 16 : wanted * 2;
    lx__file *files = lx__resize_array(barrier->files, capacity, sizeof *files);
    if (files != NULL)
        barrier->files = files;
    bool *directories = lx__resize_array(barrier->directories, capacity, sizeof *directories);
    if (directories != NULL)
        barrier->directories = directories;
    if (files == NULL || directories == NULL)
        return lx__fail_memory(error, "a commit");
    barrier->capacity = capacity;
    return LX_OK;
}

static void add(lx__barrier *barrier, const lx__file *file, bool directory)
{
    barrier->directories[barrier->count] = directory;
    barrier->files[barrier->count++] = *file;
}

void lx__barrier_add(lx__barrier *barrier, const lx__file *file)
{
    add(barrier, file, false);
}

void lx__barrier_add_directory(lx__barrier *barrier, const lx__file *directory)
{
    add(barrier, directory, true);
}

lx_status lx__barrier_run(lx__barrier *barrier, lx_error *error)
{
    lx_status status = LX_OK;
    /* Start them all, then wait for each: the device sees them together. */
    for (size_t i = 0; barrier->count > 1 && i < barrier->count; i++)
        if (!barrier->directories[i])
            lx__file_start_sync(&barrier->files[i], 0, 0);
    for (size_t i = 0; status == LX_OK && i < barrier->count; i++)
        status = barrier->directories[i] ? lx__file_sync(&barrier->files[i], error)
                                         : lx__file_sync_data(&barrier->files[i], error);
    barrier->count = 0;
    return status;
}

void lx__barrier_free(lx__barrier *barrier)
{
    lx__free(barrier->files);
    lx__free(barrier->directories);
    *barrier = (lx__barrier){0};
}
