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
    lx__sync_item *items = lx__resize_array(list->items, capacity, sizeof *items);
    if (items == NULL)
        return lx__fail_memory(error, "a commit");
    list->items = items;
    list->capacity = capacity;
    return LX_OK;
}

void lx__sync_list_add(lx__sync_list *list, const lx__file *file)
{
    list->items[list->count++] = (lx__sync_item){*file, false};
}

void lx__sync_list_add_directory(lx__sync_list *list, const lx__file *directory)
{
    list->items[list->count++] = (lx__sync_item){*directory, true};
}

lx_status lx__sync_list_run(lx__sync_list *list, lx_error *error)
{
    lx_status status = LX_OK;
    /* Start writing all files before waiting for the first one, so that the device can combine the
     * writes. */
    for (size_t i = 0; list->count > 1 && i < list->count; i++)
        if (!list->items[i].directory)
            lx__file_start_writeback(&list->items[i].file, 0, 0);
    for (size_t i = 0; status == LX_OK && i < list->count; i++)
        status = list->items[i].directory ? lx__file_sync(&list->items[i].file, error)
                                          : lx__file_sync_data(&list->items[i].file, error);
    list->count = 0;
    return status;
}

void lx__sync_list_free(lx__sync_list *list)
{
    lx__free(list->items);
    *list = (lx__sync_list){0};
}
