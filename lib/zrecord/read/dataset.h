/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A handle for reading a dataset. It refers to the newest snapshot that it has loaded.
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
    uint64_t length; /**< Maximum number of records to show; LX_NONE: all. */
    lx_damage_policy damage;
    lx_access access;
    lx_executor *executor; /**< Options own a reference; a dataset has only a hold, which keeps the
                                executor's memory allocated (see lifetime.h). */
};

struct lx_dataset {
    char *path;
    char *absolute_path; /**< Determined when the handle was opened; NULL if unknown. */
    lx_dataset_options options;
    lx_schema *schema; /**< The schema at the time the handle was opened; callers see this one. */
    pthread_mutex_t refreshing; /**< Serializes refreshes. Locked before @ref mutex. */
    /** Number of refreshes begun; changed only while @ref refreshing is locked. */
    _Atomic uint64_t refreshes;
    bool refreshed;              /**< The last refresh succeeded. Guarded by @ref refreshing. */
    pthread_mutex_t mutex;       /**< Guards @ref snapshot. */
    lx__snapshot *snapshot;      /**< The newest snapshot loaded; owns a reference. */
    atomic_bool read_ahead;      /**< lx__dataset_read_ahead() requests all values before they are
                                      read through this handle. */
    lx__damage_counter *damages; /**< Shared with pinned handles made from this handle. */
    lx__process process;         /**< The process that the mutexes belong to. */
};

/** Whether every call reads the newest commit. */
LX_API bool lx__dataset_is_live(const lx_dataset *dataset);

/** Takes over the handle in a child of fork(), on the first call there. */
void lx__dataset_check_process(lx_dataset *dataset);

/** Locks the mutex that guards the snapshot. */
void lx__dataset_lock(lx_dataset *dataset);

/** Returns a new reference to the newest snapshot loaded. */
lx__snapshot *lx__dataset_ref_snapshot(lx_dataset *dataset);

/** Fails unless @p field is a valid position in the schema. */
LX_API lx_status lx__dataset_check_field(const lx_dataset *dataset, size_t field, lx_error *error);

#endif
