/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Numbers the calls that change a dataset, and tracks how many have reached each stage.
 *
 * Calls are numbered from 1 in the order in which they end. Each number below is that of the last
 * call that has reached a stage, so committed <= applied <= made. Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_CALLS_H
#define LX_ZRECORD_CALLS_H

#include <stdbool.h>

#include <loaderx/status.h>

typedef struct lx__calls {
    uint64_t made;
    uint64_t applied; /**< Values are in chunks, and operations have been turned into entries. */
    uint64_t committed;
    uint64_t submitted; /**< Submitted for a commit that a rollback does not undo. */
    uint64_t rollbacks; /**< Number of rollbacks so far. */
    uint64_t kept;      /**< The last call that the latest rollback kept. */
    lx_error failure;   /**< Stays set until a rollback, or permanently if the writer is
                             poisoned. */
    uint64_t failed;    /**< The first call that cannot be committed because of the failure. */
} lx__calls;

/** Records a failure: call @p call and later calls cannot be committed until a rollback, or until
 * the dataset is opened again. Returns @p status; does nothing if @p status is LX_OK. */
lx_status lx__calls_fail(lx__calls *calls, uint64_t call, lx_status status, const lx_error *failure,
                         lx_error *error);

/** Poisons the writer unless it is already poisoned. Always returns LX_ERR_POISONED. */
lx_status lx__calls_poison(lx__calls *calls, const lx_error *failure, lx_error *error);

/** Returns the recorded failure; LX_OK if there is none. */
lx_status lx__calls_check(const lx__calls *calls, lx_error *error);

/** Clears the failure. */
void lx__calls_clear_failure(lx__calls *calls);

/** Marks all uncommitted calls as undone. */
void lx__calls_roll_back(lx__calls *calls);

/** Whether call @p call has been undone. @p rollbacks is the number of rollbacks at the time of the
 * call. */
bool lx__calls_is_undone(const lx__calls *calls, uint64_t call, uint64_t rollbacks);

#endif
