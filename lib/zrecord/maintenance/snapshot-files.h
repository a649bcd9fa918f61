/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Lists the files of a snapshot.
 */
#ifndef LX_ZRECORD_SNAPSHOT_FILES_H
#define LX_ZRECORD_SNAPSHOT_FILES_H

#include "zrecord/snapshot/snapshot.h"

typedef struct lx__snapshot_file {
    const lx__file *directory; /**< The open directory that contains the file. */
    bool is_chunk;             /**< The directory is that of the chunks. */
    bool is_table;
    const char *name;
    uint64_t bytes; /**< The number of committed bytes, from the start of the file. If it is 0, the
                         file may be missing. */
} lx__snapshot_file;

typedef lx_status lx__visit_file(void *user, const lx__snapshot_file *file, lx_error *error);

/** Visits all files except meta.json and LOCK. LOG comes last. A failure ends the visits. */
lx_status lx__snapshot_each_file(const lx__snapshot *snapshot, lx__visit_file *visit, void *user,
                                 lx_error *error);

#endif
