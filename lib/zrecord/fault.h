/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Faults that the crash test plants, to show that it finds such ones (tests/faults/).
 *
 * The library that is built to be used has none: LX__FAULT() is false there. With
 * LX_PLANTED_FAULTS, for a convenience library of the test alone, it asks for the one that is
 * planted now.
 */
#ifndef LX_ZRECORD_FAULT_H
#define LX_ZRECORD_FAULT_H

#include <stdbool.h>

#ifdef LX_PLANTED_FAULTS

/* clang-format off */
#define LX__FAULTS(fault)                                                                          \
    fault(CHUNK_SYNC, "chunks are not synced")                                                     \
    fault(TABLE_SYNC, "tables are not synced")                                                     \
    fault(LOG_SYNC, "the log is not synced behind a frame")                                        \
    fault(LOG_SYNC_BEFORE, "the log is not synced before a synced frame")                              \
    fault(CHUNK_DIRECTORY_SYNC, "the directory of a new chunk is not synced")                      \
    fault(CREATION_SYNC, "a new dataset's directory is not synced before meta.json")               \
    fault(PARENT_SYNC, "the directory that holds a new dataset is not synced")                     \
    fault(FRAME_BEFORE_DATA, "a frame is written before its data is synced")                       \
    fault(META_BEFORE_PARTS, "meta.json is renamed before it is synced")                           \
    fault(META_SYNC, "the directory is not synced after the rename of meta.json")                  \
    fault(SEAL_SYNC, "files are not synced before meta.json says sealed")                          \
    fault(UPDATES_STAY, "sets are not voided by rows")                                                \
    fault(BOOT, "the boot of a frame is not compared")                                             \
    fault(FRAME_CRC, "the CRC of a frame is not checked")                                          \
    fault(UNSYNCED, "an opening drops the commits of its boot that are not synced")                \
    fault(OPENING_SYNC, "an opening does not sync what it found synced")                           \
    fault(WRITE_BACK, "nothing is written back after a failed sync")                               \
    fault(TRUNCATE, "the log is not cut when a writer opens")                                           \
    fault(WORKER_SYNC, "the chunks of all lanes but the first are not synced")                    \
    fault(CHUNK_PREFIX, "a frame names more of a chunk than its calls have placed")                \
    fault(CHUNK_IDS, "ids of chunks are given out again")                                          \
    fault(STALE_CHANGES, "changes stay after a rollback")                                          \
    fault(SHARED_COMMIT, "who shares a commit takes any for its own")                              \
    fault(SNAPSHOT_UPDATES, "the log that replaces another begins without live sets")                     \
    fault(INSTALL_TABLE_SYNC, "new tables are not synced before meta.json names them")              \
    fault(INSTALL_LOG_SYNC, "a new log is not synced before meta.json names it")                    \
    fault(INSTALL_CHUNK_SYNC, "new chunks are not synced before meta.json names them")              \
    fault(INSTALL_DIRECTORY_SYNC, "directories of new files are not synced before that")            \
    fault(FIELD_SYNC, "the tables of a new field are not synced")                                  \
    fault(PENDING_ROWS, "rows are not moved to the tables before a switch")                        \
    fault(ORPHANS, "what an interrupted switch has left is not removed")                         \
    fault(OBSOLETE_EARLY, "old files are removed before the switch is durable")                         \
    fault(OBSOLETE_UNDER_READER, "old files are removed under a reader")
/* clang-format on */

#define LX__FAULT_NUMBER(name, what) LX__FAULT_##name,
enum lx__fault { LX__FAULT_NONE, LX__FAULTS(LX__FAULT_NUMBER) LX__FAULT_COUNT };
#undef LX__FAULT_NUMBER

/** The one that is planted; the test's. */
extern enum lx__fault lx__fault;

#define LX__FAULT(name) (lx__fault == LX__FAULT_##name)
/** A limit: that of the library, and a smaller one, which small datasets reach. */
#define LX__SMALLER(limit, smaller) (smaller)
#else
#define LX__FAULT(name) false
#define LX__SMALLER(limit, smaller) (limit)
#endif

#endif
