/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What is to be made durable before a frame: files, and directories in which files were
 * made.
 *
 * It is filled while nothing is being placed, and run while other calls go on.
 */
#ifndef LX_ZRECORD_SYNC_LIST_H
#define LX_ZRECORD_SYNC_LIST_H

#include "base/file.h"

/** Zeroed, an empty one. */
typedef struct lx__sync_list {
    lx__file *files; /**< Borrowed: whoever added them closes none before the sync list was run. */
    bool *directories; /**< Beside files: what each is. */
    size_t count;
    size_t capacity;
} lx__sync_list;

/** Makes room for @p more, so that adding them cannot fail. */
lx_status lx__sync_list_reserve(lx__sync_list *list, size_t more, lx_error *error);

/** Adds a file, for which there is room: its data will be synced. */
void lx__sync_list_add(lx__sync_list *list, const lx__file *file);

/** Adds a directory, for which there is room: its entries will be synced. */
void lx__sync_list_add_directory(lx__sync_list *list, const lx__file *directory);

/** Syncs all that was added and forgets it, whatever fails: no sync is to be repeated. */
lx_status lx__sync_list_run(lx__sync_list *list, lx_error *error);

void lx__sync_list_free(lx__sync_list *list);

#endif
