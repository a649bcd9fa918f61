/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Asks the system for what a walk over all records will read next.
 *
 * Mappings are advised to be read at random: each page that is not in memory would be a read of its
 * own. A walk asks for ranges ahead, and finds them there.
 */
#ifndef LX_ZRECORD_AHEAD_H
#define LX_ZRECORD_AHEAD_H

#include "zrecord/snapshot.h"

/** Bytes of a stretch: enough to keep a disk busy, and a thread from being woken too often. */
#define LX__STRETCH_BYTES ((uint64_t)4 << 20)
/** Records of a stretch at most. */
#define LX__STRETCH_RECORDS 4096

/** A walk over the records of a snapshot, by one thread. */
typedef struct lx__ahead {
    lx__snapshot *snapshot; /**< The caller's reference. */
    uint64_t next;          /**< Where the next stretch starts. */
    uint64_t asked_rows;    /**< Rows of all tables that were asked for. */
} lx__ahead;

/** Asks for rows of the tables of some fields, up to some way behind @p index; to be called for
 * each index of a walk, which may be one of entries alone. */
void lx__ahead_rows(lx__ahead *ahead, size_t first_field, size_t end_field, uint64_t index);

/** Finds the next stretch of records, [@p first, @p end), and asks for all that is in it. False:
 * there is none. */
bool lx__ahead_stretch(lx__ahead *ahead, uint64_t *first, uint64_t *end);

#endif
