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

#define LX__FAULTS(fault)                                                                          \
    fault(CHUNK_SYNC, "chunks are not synced")                                                     \
    fault(TABLE_SYNC, "tables are not synced")                                                     \
    fault(LOG_SYNC, "the log is not synced behind a frame")                                        \
    fault(LOG_BARRIER, "the log is not synced before a synced frame")                              \
    fault(CHUNK_DIRECTORY_SYNC, "the directory of a new chunk is not synced")                      \
    fault(CREATION_SYNC, "a new dataset's directory is not synced before meta.json")               \
    fault(PARENT_SYNC, "the directory that holds a new dataset is not synced")                     \
    fault(FRAME_BEFORE_DATA, "a frame is written before its data is synced")                       \
    fault(META_BEFORE_PARTS, "meta.json is renamed before it is synced")                           \
    fault(META_SYNC, "the directory is not synced after the rename of meta.json")                  \
    fault(SEAL_SYNC, "files are not synced before meta.json says sealed")                          \
    fault(SETS_STAY, "sets are not voided by rows")                                                \
    fault(BOOT, "the boot of a frame is not compared")                                             \
    fault(FRAME_CRC, "the CRC of a frame is not checked")                                          \
    fault(VALUE_CRC, "the CRC of a value is not checked in a recovery")                            \
    fault(OPENING_SYNC, "an opening does not sync what it found synced")                           \
    fault(WRITE_BACK, "nothing is written back after a failed sync")                               \
    fault(CUT, "the log is not cut when a writer opens")

#define LX__FAULT_NUMBER(name, what) LX__FAULT_##name,
enum lx__fault { LX__FAULT_NONE, LX__FAULTS(LX__FAULT_NUMBER) LX__FAULT_COUNT };
#undef LX__FAULT_NUMBER

/** The one that is planted; the test's. */
extern enum lx__fault lx__fault;

#define LX__FAULT(name) (lx__fault == LX__FAULT_##name)
#else
#define LX__FAULT(name) false
#endif

#endif
