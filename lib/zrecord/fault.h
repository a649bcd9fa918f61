/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Faults that the crash test (tests/faults/) plants to prove that it would detect such bugs.
 *
 * Installed builds contain no planted faults: LX__FAULT() is always false. The crash test links a
 * convenience library compiled with LX_PLANTED_FAULTS, in which LX__FAULT() checks whether the
 * given fault is the one currently planted.
 */
#ifndef LX_ZRECORD_FAULT_H
#define LX_ZRECORD_FAULT_H

#include <stdbool.h>

#ifdef LX_PLANTED_FAULTS

/* clang-format off */
#define LX__FAULTS(fault)                                                                          \
    fault(CHUNK_SYNC, "chunks are not synced")                                                     \
    fault(TABLE_SYNC, "tables are not synced")                                                     \
    fault(LOG_SYNC, "the WAL is not synced after a frame")                                         \
    fault(LOG_SYNC_BEFORE, "the WAL is not synced before a synced frame")                          \
    fault(CHUNK_DIRECTORY_SYNC, "the directory of a new chunk is not synced")                      \
    fault(CREATION_SYNC, "a new dataset's directory is not synced before meta.json")               \
    fault(PARENT_SYNC, "the parent directory of a new dataset is not synced")                      \
    fault(FRAME_BEFORE_DATA, "a frame is written before its data is synced")                       \
    fault(META_FILE_SYNC, "meta.json is renamed before it is synced")                              \
    fault(META_DIRECTORY_SYNC, "the directory is not synced after the rename of meta.json")        \
    fault(SEAL_SYNC, "files are not synced before meta.json marks the dataset as sealed")          \
    fault(UPDATES_STAY, "rows written to the tables do not drop their updates")                    \
    fault(BOOT, "the boot id of a frame is not checked")                                           \
    fault(FRAME_CRC, "the CRC of a frame is not checked")                                          \
    fault(UNSYNCED_DROPPED, "opening a dataset drops unsynced commits of the same boot")           \
    fault(OPENING_SYNC, "opening a dataset does not sync the synced frames that it finds")         \
    fault(WRITE_BACK, "nothing is written back after a failed sync")                               \
    fault(TRUNCATE, "the WAL is not truncated when a writer is opened")                            \
    fault(WORKER_SYNC, "only the chunks of the first flush task are synced")                       \
    fault(CHUNK_PREFIX, "a frame refers to payloads of later calls")                               \
    fault(CHUNK_ID_REUSE, "chunk ids are reused")                                                  \
    fault(STALE_UPDATES, "changes survive a rollback")                                             \
    fault(SHARED_COMMIT, "a call that shares a commit accepts any commit")                         \
    fault(SNAPSHOT_UPDATES, "a new WAL begins without the live updates")                           \
    fault(CHANGES, "a new WAL begins without the numbers of changes")                              \
    fault(INSTALL_TABLE_SYNC, "new tables are not synced before meta.json names them")             \
    fault(INSTALL_LOG_SYNC, "a new log is not synced before meta.json names it")                   \
    fault(INSTALL_CHUNK_SYNC, "new chunks are not synced before meta.json names them")             \
    fault(INSTALL_DIRECTORY_SYNC, "directories are not synced before meta.json names new files")   \
    fault(FIELD_SYNC, "the tables of a new field are not synced")                                  \
    fault(PENDING_ROWS, "rows are not written to the tables before an install")                    \
    fault(ORPHANS, "the orphans of an interrupted install are not removed")                        \
    fault(OBSOLETE_EARLY, "obsolete files are removed before the install is durable")              \
    fault(OBSOLETE_UNDER_READER, "obsolete files are removed while a reader uses them")
/* clang-format on */

#define LX__FAULT_NUMBER(name, description) LX__FAULT_##name,
enum lx__fault { LX__FAULT_NONE, LX__FAULTS(LX__FAULT_NUMBER) LX__FAULT_COUNT };
#undef LX__FAULT_NUMBER

/** The fault currently planted; the test defines this variable. */
extern enum lx__fault lx__fault;

#define LX__FAULT(name) (lx__fault == LX__FAULT_##name)
/** A limit of the library; the crash test uses a smaller limit, so that small datasets reach it. */
#define LX__SMALLER(limit, smaller) (smaller)
#else
#define LX__FAULT(name) false
#define LX__SMALLER(limit, smaller) (limit)
#endif

#endif
