/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The files and directories to sync before a frame is written.
 *
 * The writer fills the list while no flush task is running. While the writer syncs the items, other
 * calls can continue.
 */
#ifndef LX_ZRECORD_SYNC_LIST_H
#define LX_ZRECORD_SYNC_LIST_H

#include "base/file.h"

typedef struct lx__sync_item {
    lx__file file; /**< Borrowed; must stay open until the list has been run. */
    bool directory;
} lx__sync_item;

/** Initialize it to zeros. */
typedef struct lx__sync_list {
    lx__sync_item *items;
    size_t count;
    size_t capacity;
} lx__sync_list;

/** Reserves room for @p more items, so that adding them cannot fail. */
lx_status lx__sync_list_reserve(lx__sync_list *list, size_t more, lx_error *error);

/** Adds a file whose data is to be synced. Room must have been reserved. */
void lx__sync_list_add(lx__sync_list *list, const lx__file *file);

/** Adds a directory, whose entries will be synced. Room must have been reserved. */
void lx__sync_list_add_directory(lx__sync_list *list, const lx__file *directory);

/** Syncs all items. Empties the list even on failure: a failed sync must not be repeated, because
 * the kernel may have dropped the data. */
lx_status lx__sync_list_run(lx__sync_list *list, lx_error *error);

void lx__sync_list_free(lx__sync_list *list);

#endif
