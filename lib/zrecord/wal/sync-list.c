/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/sync-list.h"

#include "base/alloc.h"
#include "base/error.h"

lx_status lx__sync_list_reserve(lx__sync_list *list, size_t more, lx_error *error)
{
    size_t wanted = list->count + more;
    if (wanted <= list->capacity)
        return LX_OK;
    size_t capacity = wanted < 16 ? 16 : wanted * 2;
    lx__file *files = lx__resize_array(list->files, capacity, sizeof *files);
    if (files != NULL)
        list->files = files;
    bool *directories = lx__resize_array(list->directories, capacity, sizeof *directories);
    if (directories != NULL)
        list->directories = directories;
    if (files == NULL || directories == NULL)
        return lx__fail_memory(error, "a commit");
    list->capacity = capacity;
    return LX_OK;
}

static void add(lx__sync_list *list, const lx__file *file, bool directory)
{
    list->directories[list->count] = directory;
    list->files[list->count++] = *file;
}

void lx__sync_list_add(lx__sync_list *list, const lx__file *file)
{
    add(list, file, false);
}

void lx__sync_list_add_directory(lx__sync_list *list, const lx__file *directory)
{
    add(list, directory, true);
}

lx_status lx__sync_list_run(lx__sync_list *list, lx_error *error)
{
    lx_status status = LX_OK;
    /* Start all syncs before waiting for the first, so that the device can combine them. */
    for (size_t i = 0; list->count > 1 && i < list->count; i++)
        if (!list->directories[i])
            lx__file_start_sync(&list->files[i], 0, 0);
    for (size_t i = 0; status == LX_OK && i < list->count; i++)
        status = list->directories[i] ? lx__file_sync(&list->files[i], error)
                                      : lx__file_sync_data(&list->files[i], error);
    list->count = 0;
    return status;
}

void lx__sync_list_free(lx__sync_list *list)
{
    lx__free(list->files);
    lx__free(list->directories);
    *list = (lx__sync_list){0};
}
