/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset open for reading: a handle on the newest snapshot that was asked for.
 */
#ifndef LX_ZRECORD_DATASET_H
#define LX_ZRECORD_DATASET_H

#include "executor/process.h"
#include "zrecord/snapshot.h"

struct lx_dataset_options {
    lx_verify verify;
    bool durable;
    lx_executor *executor; /**< Of options: referenced; of a dataset: held. */
};

struct lx_dataset {
    char *path;
    lx_dataset_options options;
    lx_schema *schema;          /**< As it was at the opening: what the caller was shown. */
    pthread_mutex_t refreshing; /**< One refresh at a time; taken before @ref mutex. */
    pthread_mutex_t mutex;      /**< For @ref snapshot. */
    lx__snapshot *snapshot;     /**< The one being read; holds a reference. */
    lx__process process;        /**< To which the mutexes belong. */
    _Atomic pid_t taken_over;   /**< By the child of fork() of that id, or being so. */
};

/** A reference to the snapshot being read, for one call or one view. */
lx__snapshot *lx__dataset_pin(lx_dataset *dataset);

/** Fails unless @p field is a position in the schema. */
lx_status lx__dataset_check_field(const lx_dataset *dataset, size_t field, lx_error *error);

#endif
