/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Replaces a dataset by a new one when that is complete.
 *
 * The new dataset is created as DIR.new. An interruption leaves the old dataset unchanged; but on a
 * file system that cannot exchange two names, the last steps are a removal and a rename.
 */
#ifndef LX_TOOLS_DIRECTORY_SWAP_H
#define LX_TOOLS_DIRECTORY_SWAP_H

#include <loaderx/zrecord.h>

typedef struct directory_swap {
    char *path;      /**< The path to replace, with links resolved. */
    char *made;      /**< The path of the new dataset. */
    bool there;      /**< A dataset exists at @ref path. */
    lx_writer *lock; /**< Excludes writers from it; NULL if it is sealed. */
    bool kept;       /**< After directory_swap_finish(): the old dataset could not be removed. */
    char *former;    /**< Its new path in that case. */
    lx_error why;    /**< The reason in that case. */
    size_t former_size;
} directory_swap;

/**
 * @retval LX_ERR_BUSY    A writer uses the dataset at @p path.
 * @retval LX_ERR_EXISTS  Another file is at @p path or in the dataset there, or DIR.new exists.
 * @return Otherwise like lx_writer_open().
 */
lx_status directory_swap_begin(directory_swap *self, const char *path, lx_error *error);

/** Replaces the old dataset by the new one, which must be complete and closed, and removes the old
 * one. If readers still use the old one, or if it contains a foreign file that was added meanwhile
 * or has the name of a table, it is kept as DIR.former-N, with the first free N, and can still be
 * read; this is not a failure. Existing files with such a name are never removed, since they may
 * belong to the user. */
lx_status directory_swap_finish(directory_swap *self, lx_error *error);

/** Releases the resources, whether finished or not. */
void directory_swap_end(directory_swap *self);

#endif
