/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Removes files that never were part of a dataset, and those that no longer are. See
 * doc/zrecord-format.md, 11.8.
 *
 * What an interrupted installation left is removed at once. What an installation has replaced is
 * removed when no reader is left in a generation in which it was in use; until then it is in a
 * list. The next writer finds what a writer leaves.
 */
#ifndef LX_ZRECORD_ORPHANS_H
#define LX_ZRECORD_ORPHANS_H

#include <loaderx/writer.h>

#include "base/file.h"
#include "zrecord/format/meta.h"

/** A file that is no longer part of the dataset. */
typedef struct lx__obsolete_file {
    char *name;
    bool is_chunk;  /**< It is in the chunk directory. */
    uint64_t first; /**< Generations [first, end) in which readers may have opened it. */
    uint64_t end;
} lx__obsolete_file;

/** Files that readers may have open. A zeroed list is empty. */
typedef struct lx__obsolete_files {
    lx__obsolete_file *list;
    size_t count;
    size_t capacity;
    uint64_t tables_since; /**< The generation that made the present tables; 0: unknown. */
    uint64_t chunks_since; /**< The generation that made the oldest chunk; 0: unknown. */
} lx__obsolete_files;

/** Whether a file is one of the dataset's: current, obsolete or orphaned, apart from meta.json,
 * LOCK and chunk, which always stay. It is a regular file with a name of the format. The stems of
 * dropped fields are not recorded. So if no field was dropped, and no field has the stem, only a
 * table of zeros counts as the dataset's: an interrupted addition leaves nothing else, and removing
 * it loses nothing. */
lx_status lx__file_is_ours(const lx__file *directory, const lx__meta *meta, const char *name,
                           bool *ours, lx_error *error);

/** Removes files that never were part of the dataset. No other work may be in progress. */
lx_status lx__orphans_remove(lx_writer *writer, lx_error *error);

/** Finds the files that earlier writers had to leave. Everything present must be synced before, the
 * directories above all: otherwise a power loss could bring back a meta.json that names a removed
 * file. */
lx_status lx__obsolete_files_find(lx_writer *writer, lx_error *error);

/** Adds a file that was in use in generations [@p first, @p end). */
void lx__obsolete_files_add(lx__obsolete_files *obsolete, bool is_chunk, const char *name,
                            uint64_t first, uint64_t end);

/** Removes the files that no reader can have open. The others, and those that cannot be removed,
 * stay in the list. */
void lx__obsolete_files_remove(lx_writer *writer);

void lx__obsolete_files_free(lx__obsolete_files *obsolete);

#endif
