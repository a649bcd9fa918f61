/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Whether values are in memory or must be read from disk.
 *
 * Copying a value from a mapping takes one page fault after another for the pages that are not in
 * memory, and each waits for the disk. While values come from disk, a dataset with automatic access
 * therefore reads with pread, after it has asked the system for all values of a call at once.
 * The system then reads them at the same time, and keeps them in memory for the next epoch.
 *
 * The state is shared by all readers of a store. A wrong guess affects only speed. The values of a
 * dataset elsewhere always count as on disk; only the rows that are needed are requested then, not
 * whole tables.
 */
#ifndef LX_ZRECORD_RESIDENCY_H
#define LX_ZRECORD_RESIDENCY_H

#include "zrecord/read/dataset.h"

/** A part of a call that reads many records. */
typedef struct lx__residency_step {
    size_t count;     /**< How many of the records to read before the next step. */
    uint64_t started; /**< When the step began; 0 if it is not measured. */
} lx__residency_step;

/**
 * Begins the next step of a call that reads @p count records; asks the system for the values of the
 * step if they seem to be on disk. Nothing is requested for a handle that is read ahead, see
 * lx__dataset_read_ahead().
 */
lx__residency_step lx__residency_begin(const lx_dataset *dataset, lx__snapshot *snapshot,
                                       size_t field, const uint64_t *indices, size_t count);

/** Finds out whether values are on disk. If so, asks the system for all of them, without waiting
 * for them, and returns true. */
bool lx__residency_request(lx__snapshot *snapshot, size_t field, const uint64_t *indices,
                           size_t count);

/** Ends a step that read @p bytes bytes. If it took long because of page faults, the next step
 * finds out whether values are on disk. */
void lx__residency_end(const lx__snapshot *snapshot, const lx__residency_step *step,
                       uint64_t bytes);

/** Whether values may have to be read from disk, so that lx__dataset_read_ahead() is useful. */
LX_API bool lx__dataset_wants_read_ahead(lx_dataset *dataset);

/** Whether the files of the dataset are not on this machine, but come through a provider. */
LX_API bool lx__dataset_is_remote(lx_dataset *dataset);

/**
 * Asks the system for values that will be read soon, without waiting for them; returns whether they
 * are on disk. From the first call on, calls that read through this handle and through handles
 * pinned from it no longer do so themselves. Ignores invalid indices.
 */
LX_API bool lx__dataset_read_ahead(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                   size_t count);

/** Asks for the table rows of records from @p first on, which will be read in order, if the dataset
 * is elsewhere. */
LX_API void lx__dataset_ask_rows(lx_dataset *dataset, size_t field, uint64_t first, uint64_t count);

/** Whether values are read from disk with pread, in access modes other than pread, too. */
static inline bool lx__residency_is_on_disk(const lx__store *store)
{
    return atomic_load_explicit(&store->residency, memory_order_relaxed) == LX__ON_DISK;
}

#endif
