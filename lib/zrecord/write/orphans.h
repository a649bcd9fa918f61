/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Files that a dataset never had, and those that it no longer has. See
 * doc/zrecord-format.md, 11.8.
 *
 * What an interrupted switch of generations left is removed at once. What a switch has replaced
 * goes when no reader of a generation in which it was in use is left; until then it waits in a
 * list. Whatever a writer leaves, the next one finds.
 */
#ifndef LX_ZRECORD_ORPHANS_H
#define LX_ZRECORD_ORPHANS_H

#include <loaderx/writer.h>

#include "base/file.h"
#include "zrecord/format/meta.h"

/** A file that the dataset does not have any more. */
typedef struct lx__obsolete_file {
    char *name;
    bool is_chunk;  /**< It is in the directory of chunks. */
    uint64_t first; /**< Generations in which it may have been opened: [first, end). */
    uint64_t end;
} lx__obsolete_file;

/** Those that readers may have open; a zeroed one is empty. */
typedef struct lx__obsolete_files {
    lx__obsolete_file *list;
    size_t count;
    size_t capacity;
    uint64_t tables_since; /**< The generation that made the present tables; 0: unknown. */
    uint64_t chunks_since; /**< The same of the oldest chunk. */
} lx__obsolete_files;

/**
 * Whether a file is one of the dataset's, present, old or orphaned, of those that are not there
 * for good (meta.json, LOCK, chunk). It is regular, and has a name of the format. Which stems
 * dropped fields had is written down nowhere; so where none was dropped, and no field has the stem,
 * only a table of zeros is taken for ours: that is all an interrupted addition leaves, and nobody
 * misses it.
 */
lx_status lx__file_is_ours(const lx__file *directory, const lx__meta *meta, const char *name,
                           bool *ours, lx_error *error);

/** Removes what was never a part of the dataset @p writer; nothing may be under way. */
lx_status lx__orphans_remove(lx_writer *writer, lx_error *error);

/** Looks for what earlier writers had to leave. What is there was synced before (the directories,
 * above all): else a loss of power could bring back a meta.json that still names it. */
lx_status lx__obsolete_files_find(lx_writer *writer, lx_error *error);

/** Notes a file that was in use in generations [@p first, @p end). */
void lx__obsolete_files_add(lx__obsolete_files *obsolete, bool is_chunk, const char *name,
                            uint64_t first, uint64_t end);

/** Removes those that no reader can have open; the others wait on. A file that cannot be removed
 * does, too. */
void lx__obsolete_files_remove(lx_writer *writer);

void lx__obsolete_files_free(lx__obsolete_files *obsolete);

#endif
