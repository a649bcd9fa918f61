/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The directory of a dataset: looked at before it is opened, made for a new one, and taken
 * away again if that fails; and the one that a file is to be made in.
 */
#ifndef LX_TOOLS_DIRECTORY_H
#define LX_TOOLS_DIRECTORY_H

#include <stdbool.h>

#include <loaderx/status.h>

/** Fails where @p path is there and no directory, which then is no dataset. */
lx_status directory_check(const char *path, lx_error *error);

/** Fails where the folder is not there in which @p path is to be made, and where that is empty. */
lx_status directory_check_parent(const char *path, lx_error *error);

/** Makes a new name in the directory that holds @p path durable. */
lx_status directory_sync_parent(const char *path, lx_error *error);

/**
 * Makes the directory of a new dataset, if it is not there.
 *
 * @param[in]  path   Where; the directory above it has to be there.
 * @param[out] made   Whether it was made now.
 * @param[out] error  Where a failure is told.
 */
lx_status directory_make(const char *path, bool *made, lx_error *error);

/**
 * Takes away the files of a dataset whose making failed, and the directory if it was @p made for
 * it. Anything else in it stays, and then so does the directory.
 *
 * @param[in] path    The directory.
 * @param[in] made    As directory_make() told.
 * @param[in] locked  Whether this process has the dataset's lock, by an open writer. If not, and
 *                    there is a meta.json, it may be somebody else's, and all is left as it is.
 */
void directory_discard(const char *path, bool made, bool locked);

#endif
