/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset open for reading: a handle on the newest snapshot that was asked for.
 */
#ifndef LX_ZRECORD_DATASET_H
#define LX_ZRECORD_DATASET_H

#include "base/process.h"
#include "zrecord/read/gather.h"
#include "zrecord/snapshot/snapshot.h"

struct lx_dataset_options {
    lx_verify_policy verify;
    bool durable;
    bool live;
    lx_damage_policy damage;
    lx_access access;
    lx_executor *executor; /**< Of options: referenced; of a dataset: held. */
};

struct lx_dataset {
    char *path;
    char *where; /**< The same, absolute when that was opened; NULL: nobody knows where that was. */
    lx_dataset_options options;
    lx_schema *schema;          /**< As it was at the opening: what the caller was shown. */
    pthread_mutex_t refreshing; /**< One refresh at a time; taken before @ref mutex. */
    _Atomic uint64_t refreshes; /**< Begun so far; counted under @ref refreshing. */
    bool refreshed;             /**< The last of them did not fail. Under @ref refreshing. */
    pthread_mutex_t mutex;      /**< For @ref snapshot. */
    lx__snapshot *snapshot;     /**< The one being read; holds a reference. */
    lx__damages *damages;       /**< Shared memory: pins of a handle count with it. */
    lx__process process;        /**< To which the mutexes belong. */
};

/** Whether each call goes on to the newest commit. */
LX_API bool lx__dataset_is_live(const lx_dataset *dataset);

/** In a child of fork(): makes the handle its own, if that was not done yet. */
void lx__dataset_check_process(lx_dataset *dataset);

/** Takes the mutex of the snapshot. */
void lx__dataset_lock(lx_dataset *dataset);

/** A reference to the snapshot that was found last. */
lx__snapshot *lx__dataset_ref_snapshot(lx_dataset *dataset);

/**
 * @name In show.c: of a pin that is not refreshed, and a raw field of it that is mapped
 * A slice is readable as long as the pin is open.
 */
/** @{ */

/** As lx_dataset_view() of one record. */
LX_API lx_status lx__dataset_show(lx_dataset *pinned, size_t field, uint64_t index,
                                  lx_slice *slice, lx_error *error);

/** Finds a value to have its memory fetched ahead, which is read later, by lx__dataset_show():
 * nothing but its row is looked at. False where that does not tell. */
LX_API bool lx__dataset_foresee(const lx_dataset *pinned, size_t field, uint64_t index,
                                lx_slice *slice);

/** @} */

/** Fails unless @p field is a position in the schema. */
LX_API lx_status lx__dataset_check_field(const lx_dataset *dataset, size_t field,
                                         lx_error *error);

#endif
