/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The directory of a dataset: checks it before the dataset is opened, creates it for a new
 * dataset, and removes it if creating the dataset fails. Also checks and syncs the parent directory
 * of a file.
 */
#ifndef LX_TOOLS_DIRECTORY_H
#define LX_TOOLS_DIRECTORY_H

#include <stdbool.h>

#include <loaderx/status.h>

/** Fails if @p path exists but is not a directory. */
lx_status directory_check(const char *path, lx_error *error);

/** Fails if @p path is empty or its parent directory does not exist. */
lx_status directory_check_parent(const char *path, lx_error *error);

/** Makes a new name in the parent directory of @p path durable. */
lx_status directory_sync_parent(const char *path, lx_error *error);

/**
 * Creates the directory of a new dataset unless it exists.
 *
 * @param[in]  path   The directory; its parent must exist.
 * @param[out] made   Whether this call created it.
 * @param[out] error  The failure.
 */
lx_status directory_make(const char *path, bool *made, lx_error *error);

/**
 * Removes the files of a dataset whose creation failed, and also the directory if it was @p made
 * for that dataset and contains no other files. Other files stay.
 *
 * @param[in] path    The directory.
 * @param[in] made    As set by directory_make().
 * @param[in] locked  Whether this process holds the dataset's lock through an open writer. If not,
 *                    and meta.json exists, the dataset may belong to another process, and nothing
 *                    is removed.
 */
void directory_discard(const char *path, bool made, bool locked);

#endif
