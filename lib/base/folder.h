/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The folders of files that are named by a path below a directory, such as
 * "part/a/chunk/0.zr". Each is opened in the one before, because the system would follow symbolic
 * links in the path of a folder.
 */
#ifndef LX_BASE_FOLDER_H
#define LX_BASE_FOLDER_H

#include "base/file.h"

/**
 * Opens the folder that contains the file at @p path.
 *
 * @param[out] name  Receives the name of the file in its folder, which is the end of @p path.
 * @retval LX_ERR_CORRUPT  A folder is a symbolic link or a file.
 * @retval LX_ERR_ARGUMENT  A component of the path is not a name.
 */
LX_API lx_status lx__folder_open(lx__file *folder, const lx__file *directory, const char *path,
                                 const char **name, lx_error *error);

/** Opens the file at @p path; fails like lx__folder_open() and lx__file_open(). A provider gets the
 * whole path. */
LX_API lx_status lx__folder_open_file(lx__file *file, const lx__file *directory, const char *path,
                                      int flags, lx_error *error);

/** Makes those folders of the file at @p path that do not exist; fails like lx__folder_open(). */
LX_API lx_status lx__folder_make(const lx__file *directory, const char *path, lx_error *error);

/** Makes the names in all folders of the file at @p path durable, but not those in @p directory. */
LX_API lx_status lx__folder_sync(const lx__file *directory, const char *path, lx_error *error);

/** Removes those folders of the file at @p path that are empty; shortens @p path. Needs no memory,
 * but follows symbolic links: for folders that the caller has made. */
LX_API void lx__folder_remove(const lx__file *directory, char *path);

/** Whether the files at two paths are in the same folder. */
LX_API bool lx__folder_is_shared(const char *one, const char *other);

#endif
