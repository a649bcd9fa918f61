/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Removes files that were never part of a dataset, and files that no longer are. See
 * doc/zrecord-format.md, 11.8.
 *
 * Files left by an interrupted installation are removed immediately. Files that an installation has
 * replaced are put on a list; each is removed as soon as no generation that used it has any
 * readers. Files that a writer leaves behind are found by the next writer.
 */
#ifndef LX_ZRECORD_ORPHANS_H
#define LX_ZRECORD_ORPHANS_H

#include <loaderx/writer.h>

#include "base/file.h"
#include "zrecord/format/meta.h"

/** A file that is no longer part of the dataset. */
typedef struct lx__obsolete_file {
    char *name;
    bool is_chunk;  /**< The file is in the chunk directory. */
    uint64_t first; /**< Readers may have opened the file in generations [first, end). */
    uint64_t end;
} lx__obsolete_file;

/** Files that readers may have open. A zeroed list is empty. */
typedef struct lx__obsolete_files {
    lx__obsolete_file *list;
    size_t count;
    size_t capacity;
    uint64_t tables_since; /**< The generation that made the current tables; 0: unknown. */
    uint64_t chunks_since; /**< The generation that made the oldest chunk; 0: unknown. */
} lx__obsolete_files;

/** Whether a file belongs to the dataset, regardless of whether it is current, obsolete or an
 * orphan. This does not include meta.json, LOCK and chunk, which always stay. The file must be a
 * regular file with a name that the format defines. The stems of dropped fields are not recorded.
 * If no field was ever dropped, and no field has the stem, only a table of zeros counts as
 * belonging to the dataset. If the addition of a field is interrupted, only such a table remains,
 * and removing it loses nothing. */
lx_status lx__file_is_ours(const lx__file *directory, const lx__meta *meta, const char *name,
                           bool *ours, lx_error *error);

/** Removes files that were never part of the dataset. Nothing else may be in progress. */
lx_status lx__orphans_remove(lx_writer *writer, lx_error *error);

/** Finds the files that earlier writers had to leave behind. All current files, and above all the
 * directories, must have been synced before this call; otherwise, a power loss could bring back a
 * meta.json that names a removed file. */
lx_status lx__obsolete_files_find(lx_writer *writer, lx_error *error);

/** Adds a file that was in use in generations [@p first, @p end). */
void lx__obsolete_files_add(lx__obsolete_files *obsolete, bool is_chunk, const char *name,
                            uint64_t first, uint64_t end);

/** Removes the files that no reader can have open. Files that a reader may have open, and files
 * that cannot be removed, stay on the list. */
void lx__obsolete_files_remove(lx_writer *writer);

void lx__obsolete_files_free(lx__obsolete_files *obsolete);

#endif
