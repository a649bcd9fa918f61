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
    lx__value_reader reader;
} lx__prefetch;

/** Requests values, without waiting for them. Neighbors are requested together. Skips values that
 * cannot be located, which the read will report. Waits for table rows; if the dataset is elsewhere,
 * first requests them all. */
void lx__prefetch_values(lx__value_reader *reader, size_t field, const uint64_t *indices,
                         size_t count);

/** Like lx__prefetch_values(), but only if the dataset is elsewhere: before values are read one by
 * one, which would wait for each of them. */
static inline void lx__prefetch_elsewhere(lx__value_reader *reader, size_t field,
                                          const uint64_t *indices, size_t count)
{
    if (lx__store_is_elsewhere(reader->snapshot->store))
        lx__prefetch_values(reader, field, indices, count);
}

/** Requests extents, all of which must have a chunk. Neighbors are requested together. */
void lx__prefetch_extents(lx__value_reader *reader, size_t field, const lx__extent *extents,
                          size_t count);

/** Determines the next range of records, [@p first, @p end), and requests its values from the
 * system. Returns false at the end of the dataset. */
bool lx__prefetch_next(lx__prefetch *ahead, uint64_t *first, uint64_t *end);

/** Frees the resources of a scan. */
void lx__prefetch_end(lx__prefetch *ahead);

#endif
