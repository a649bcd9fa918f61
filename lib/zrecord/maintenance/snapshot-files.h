/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Lists the files of a snapshot.
 */
#ifndef LX_ZRECORD_SNAPSHOT_FILES_H
#define LX_ZRECORD_SNAPSHOT_FILES_H

#include "zrecord/snapshot/snapshot.h"

typedef struct lx__snapshot_file {
    const char *path; /**< Relative to the dataset, such as "chunk/3.zr". */
    bool is_chunk, is_table;
    uint64_t bytes; /**< The number of committed bytes, from the start of the file. If it is 0, the
                         file may be missing. */
} lx__snapshot_file;

typedef lx_status lx__visit_file(void *user, const lx__snapshot_file *file, lx_error *error);

/** Visits all files except meta.json and LOCK. LOG comes last. A failure ends the visits. */
LX_API lx_status lx__snapshot_each_file(const lx__snapshot *snapshot, lx__visit_file *visit,
                                        void *user, lx_error *error);

/** Visits a file in each folder, whether it exists or not: in that of the chunks, which every
 * dataset has, and in those of parts. Visits some folders several times. */
lx_status lx__snapshot_each_folder(const lx__snapshot *snapshot, lx__visit_file *visit, void *user,
                                   lx_error *error);

/** lx__visit_file functions for the folders of a copy in the directory @p user: make it, make its
 * names durable, remove it if it is empty. */
lx_status lx__snapshot_make_folder(void *user, const lx__snapshot_file *file, lx_error *error);
lx_status lx__snapshot_sync_folder(void *user, const lx__snapshot_file *file, lx_error *error);
lx_status lx__snapshot_remove_folder(void *user, const lx__snapshot_file *file, lx_error *error);

#endif
