/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The commit of a pack: a file which says that all outputs are complete.
 *
 * It exists while they get their names, one after the other. If this is interrupted, --resume finds
 * it and gives the others their names. A process locks it, so that no other gives them, too.
 */
#ifndef LX_TOOLS_PACK_COMMIT_H
#define LX_TOOLS_PACK_COMMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <loaderx/status.h>

/** A commit. Initialize with zeros, and free it with pack_commit_free(). */
typedef struct pack_commit {
    char *path;
    FILE *file;               /**< Locked; NULL: there was none. */
    bool found;               /**< It was written. */
    uint64_t packed, skipped; /**< Images. */
    bool replaces;            /**< Outputs replace existing files. */
} pack_commit;

/**
 * Reads the commit of the outputs of which @p output is the first, if there is one.
 * @retval LX_ERR_BUSY  Another process gives the outputs their names.
 */
lx_status pack_commit_read(pack_commit *self, const char *output, uint32_t tag, lx_error *error);

/** Writes the commit, which is then durable. */
lx_status pack_commit_write(pack_commit *self, const char *output, lx_error *error);

/** Removes the commit, if there is one. */
lx_status pack_commit_remove(pack_commit *self, lx_error *error);

void pack_commit_free(pack_commit *self);

#endif
