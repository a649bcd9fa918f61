/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The calls that change a dataset, by number: how far each stage of their work is.
 *
 * Calls are numbered from 1 in the order in which they end. Each number below is that of the last
 * call for which its stage is done, so committed <= applied <= made. Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_CALLS_H
#define LX_ZRECORD_CALLS_H

#include <stdbool.h>

#include <loaderx/status.h>

typedef struct lx__calls {
    uint64_t made;
    uint64_t applied; /**< Its values are in chunks, and its operations have become entries. */
    uint64_t committed;
    uint64_t submitted; /**< A commit of it was submitted, which a rollback does not undo. */
    uint64_t rollbacks; /**< How often calls were undone, */
    uint64_t kept;      /**< and the last call that stayed when they were undone last. */
    lx_error failure;   /**< Until a rollback, or for good if poisoned. */
    uint64_t failed;    /**< The first call that the failure keeps from being committed. */
} lx__calls;

/** Keeps a failure, which only a rollback or a new opening ends, and which keeps calls from
 * @p call on from being committed. Returns its status; LX_OK does nothing. */
lx_status lx__calls_fail(lx__calls *calls, uint64_t call, lx_status status, const lx_error *failure,
                         lx_error *error);

/** Poisons the writer for this reason, unless it is poisoned. Always LX_ERR_POISONED. */
lx_status lx__calls_poison(lx__calls *calls, const lx_error *failure, lx_error *error);

/** Returns the failure, if there is one. */
lx_status lx__calls_check(const lx__calls *calls, lx_error *error);

/** Forgets the failure. */
void lx__calls_clear_failure(lx__calls *calls);

/** All calls that are not committed are undone. */
void lx__calls_roll_back(lx__calls *calls);

/** Whether call @p call, made when there had been @p rollbacks, was undone since. */
bool lx__calls_is_undone(const lx__calls *calls, uint64_t call, uint64_t rollbacks);

#endif
