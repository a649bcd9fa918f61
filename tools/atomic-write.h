/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Atomic write of a file: writes a temporary file in the same directory, then renames it.
 */
#ifndef LX_TOOLS_ATOMIC_WRITE_H
#define LX_TOOLS_ATOMIC_WRITE_H

#include <loaderx/status.h>

typedef struct atomic_write {
    const char *path; /**< Final path; borrowed. */
    char *name;       /**< Path of the temporary file. */
    int file;         /**< The temporary file, open for writing; -1 if it is closed. */
} atomic_write;

/** Creates the temporary file. Call atomic_write_end() afterwards, even on failure. */
lx_status atomic_write_begin(atomic_write *self, const char *path, lx_error *error);

/** Syncs the file and renames it to its final path, replacing an existing file. */
lx_status atomic_write_finish(atomic_write *self, lx_error *error);

/** Releases the resources, and removes a temporary file that was not renamed. */
void atomic_write_end(atomic_write *self);

#endif
