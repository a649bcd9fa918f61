/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Atomic replacement of a file: write a temporary file, sync it, rename it, sync the
 * directory. After any interruption, the name refers either to the old file or to the complete new
 * file.
 */
#ifndef LX_BASE_ATOMIC_FILE_H
#define LX_BASE_ATOMIC_FILE_H

#include "base/file.h"

/** A file being replaced. */
typedef struct lx__atomic_file {
    const lx__file *directory;
    char *name;
    char *temporary;
    lx__file file; /**< Open for reading and writing until it is installed. */
    bool created;  /**< The temporary file exists, and must be renamed or removed. */
} lx__atomic_file;

/**
 * Finds the file that a caller's path leads to, which may be a symbolic link. The caller frees
 * @p place with lx__free(). Returns LX_ERR_EXISTS if it exists and is not a regular file.
 */
LX_API lx_status lx__atomic_file_find(const char *path, char **place, lx_error *error);

/**
 * Creates the temporary file in @p directory, which must stay open. Call lx__atomic_file_end()
 * afterwards, even on failure.
 *
 * @param name       Name of the final file; a path is allowed if @p directory is #LX__CWD.
 * @param temporary  Name of the temporary file. Any file with this name, left over from an
 *                   interrupted attempt, is removed first, so no other writer may be active. NULL:
 *                   the first unused name of NAME.0.new, NAME.1.new ..., which allows concurrent
 *                   writers. An existing file's permissions are kept.
 */
LX_API lx_status lx__atomic_file_begin(lx__atomic_file *self, const lx__file *directory,
                                       const char *name, const char *temporary, lx_error *error);

/** Performs the three steps of a replacement: syncs the temporary file, renames it, and syncs the
 * directory. */
LX_API lx_status lx__atomic_file_finish(lx__atomic_file *self, lx_error *error);

/** The same for a file that must be new. The system makes a hard link, so this is right for writers
 * on several hosts, too, but not all file systems have it.
 * @retval LX_ERR_EXISTS  There is a file with the name, which stays as it is. */
LX_API lx_status lx__atomic_file_finish_new(lx__atomic_file *self, lx_error *error);

/** Performs only the second step: closes the temporary file and renames it. For callers that must
 * know which step failed. */
LX_API lx_status lx__atomic_file_install(lx__atomic_file *self, lx_error *error);

/** Makes the entry of @p path in its directory durable. */
LX_API lx_status lx__path_sync_parent(const char *path, lx_error *error);

/** Releases all resources, and removes the temporary file unless it was installed. */
LX_API void lx__atomic_file_end(lx__atomic_file *self);

#endif
