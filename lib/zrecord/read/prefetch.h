/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Readahead for chosen values, and for a scan of all records.
 *
 * Values may be in the chunks in any order, so the system's own readahead does not help. A scan
 * instead requests each range of records before reading it, so it does not have to wait for each
 * value.
 */
#ifndef LX_ZRECORD_PREFETCH_H
#define LX_ZRECORD_PREFETCH_H

#include "zrecord/read/value-reader.h"

/** Size of a range in bytes: enough to keep a disk busy and to wake a thread only rarely. */
#define LX__PREFETCH_BYTES ((uint64_t)4 << 20)
/** Maximum number of records in a range. */
#define LX__PREFETCH_RECORDS 4096

/** A scan of the records of a snapshot, by one thread. Set @ref snapshot and zero all other
 * members. */
typedef struct lx__prefetch {
    lx__snapshot *snapshot; /**< The caller keeps the reference. */
    uint64_t next;          /**< First record of the next range. */
    bool stopped;           /**< Rows elsewhere could not be fetched, so nothing is requested. */
    lx__value_reader reader;
} lx__prefetch;

/**
 * Requests values, without waiting for them. Neighbors are requested together. Skips values that
 * cannot be located, which the read will report. Waits for table rows; if the dataset is elsewhere,
 * first requests them all.
 *
 * @return LX_OK, unless memory runs out or rows that are elsewhere cannot be fetched.
 */
lx_status lx__prefetch_values(lx__value_reader *reader, size_t field, const uint64_t *indices,
                              size_t count, lx_error *error);

/** For a loop that reads @p count values one by one, and is about to read number @p done: requests
 * a block of them in each LX__VALUE_BLOCK-th call, if the dataset is elsewhere, so that the loop
 * does not wait for each of them. @p indices may be NULL for the records from 0 on. */
lx_status lx__prefetch_block(lx__value_reader *reader, size_t field, const uint64_t *indices,
                             uint64_t count, uint64_t done, lx_error *error);

/** For a loop over the rows of @p count records that is about to read number @p done, a multiple of
 * LX__VALUE_BLOCK: requests the rows of many records in some of the calls, if the dataset is
 * elsewhere. */
void lx__prefetch_rows(lx__value_reader *reader, size_t field, const uint64_t *indices,
                       size_t count, size_t done);

/** Requests extents, all of which must have a chunk. Neighbors are requested together. */
void lx__prefetch_extents(lx__value_reader *reader, size_t field, const lx__extent *extents,
                          size_t count);

/** Determines the next range of records, [@p first, @p end), and requests its values from the
 * system. Returns false at the end of the dataset. */
bool lx__prefetch_next(lx__prefetch *ahead, uint64_t *first, uint64_t *end);

/** Frees the resources of a scan. */
void lx__prefetch_end(lx__prefetch *ahead);

#endif
