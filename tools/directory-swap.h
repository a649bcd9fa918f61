/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Replaces a dataset with a new one, once the new one is complete.
 *
 * The new dataset is created as DIR.new. An interruption leaves the old dataset unchanged. However,
 * on a file system that cannot exchange two names, the last steps are to remove the old dataset and
 * to rename the new one.
 */
#ifndef LX_TOOLS_DIRECTORY_SWAP_H
#define LX_TOOLS_DIRECTORY_SWAP_H

#include <loaderx/zrecord.h>

typedef struct directory_swap {
    char *path;      /**< The path to replace, with links resolved. */
    char *made;      /**< The path of the new dataset. */
    bool there;      /**< A dataset exists at @ref path. */
    lx_writer *lock; /**< Excludes writers from that dataset; NULL if the dataset is sealed. */
    bool kept;       /**< After directory_swap_finish(): the old dataset could not be removed. */
    char *former;    /**< If so, its new path. */
    lx_error why;    /**< If so, the reason. */
    size_t former_size;
} directory_swap;

/**
 * @retval LX_ERR_BUSY    A writer uses the dataset at @p path.
 * @retval LX_ERR_EXISTS  A foreign file is at @p path or in the dataset there, or DIR.new exists.
 * @return Otherwise, any status that lx_writer_open() returns.
 */
lx_status directory_swap_begin(directory_swap *self, const char *path, lx_error *error);

/** Replaces the old dataset with the new one, which must be complete and closed, and removes the
 * old dataset. The old dataset is kept if readers still use it, or if it contains a foreign file
 * that was added in the meantime or has the name of a table. It is then renamed to DIR.former-N,
 * with the first free N, and can still be read; this is not a failure. Existing files with such
 * names are never removed, because they may belong to the user. */
lx_status directory_swap_finish(directory_swap *self, lx_error *error);

/** Releases the resources, whether or not the swap was finished. */
void directory_swap_end(directory_swap *self);

#endif
