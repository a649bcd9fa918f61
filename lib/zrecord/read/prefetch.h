/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Asks the system for what a walk over all records will read next.
 *
 * Values lie in any order: each that is not in memory would be waited for. A walk asks for ranges
 * ahead, and finds them there.
 */
#ifndef LX_ZRECORD_PREFETCH_H
#define LX_ZRECORD_PREFETCH_H

#include "zrecord/read/value-reader.h"

/** Bytes of a stretch: enough to keep a disk busy, and a thread from being woken too often. */
#define LX__STRETCH_BYTES ((uint64_t)4 << 20)
/** Records of a stretch at most. */
#define LX__STRETCH_RECORDS 4096

/** A walk over the records of a snapshot, by one thread. All but the snapshot starts as zeros. */
typedef struct lx__ahead {
    lx__snapshot *snapshot; /**< The caller's reference. */
    uint64_t next;          /**< Where the next stretch starts. */
    lx__value_reader reader;
} lx__ahead;

/** Finds the next stretch of records, [@p first, @p end), and asks for all that is in it. False:
 * there is none. */
bool lx__ahead_stretch(lx__ahead *ahead, uint64_t *first, uint64_t *end);

/** Gives back what the walk took. */
void lx__ahead_end(lx__ahead *ahead);

#endif
