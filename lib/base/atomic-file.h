/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Atomic replacement of a file: write a temporary file, sync it, rename it, sync the
 * directory. Whatever interrupts that, the name has the old file or the whole new one.
 */
#ifndef LX_BASE_ATOMIC_FILE_H
#define LX_BASE_ATOMIC_FILE_H

#include "base/file.h"

/** A file that is being written. */
typedef struct lx__atomic_file {
    const lx__file *directory;
    char *name;
    char *temporary;
    lx__file file; /**< Open for reading and writing until it is installed. */
    bool created; /**< The temporary file exists, and is to be renamed or removed. */
} lx__atomic_file;

/**
 * Creates the temporary file in @p directory, which must stay open. lx__atomic_file_end() is due in
 * any case.
 *
 * @param name       The name that the file gets; from #LX__HERE it may be a path.
 * @param temporary  The name of the temporary file; one that an interrupted attempt left is
 *                   removed first, so there must be no other writer. NULL: the first free one of
 *                   NAME.0.new, NAME.1.new ..., for several writers at the same time.
 */
LX_API lx_status lx__atomic_file_begin(lx__atomic_file *self, const lx__file *directory,
                                       const char *name, const char *temporary, lx_error *error);

/** The three steps of a replacement: syncs the temporary file, renames it to its name, and syncs
 * the directory. */
LX_API lx_status lx__atomic_file_finish(lx__atomic_file *self, lx_error *error);

/** The second step alone: closes the temporary file and renames it. For a caller that must know
 * which step failed. */
LX_API lx_status lx__atomic_file_install(lx__atomic_file *self, lx_error *error);

/** Releases everything, and removes the temporary file unless it was installed. */
LX_API void lx__atomic_file_end(lx__atomic_file *self);

#endif
