/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The callback that reports the progress of a long call.
 */
#ifndef LOADERX_PROGRESS_H
#define LOADERX_PROGRESS_H

#include <stdint.h>

#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_progress_function Report the progress of a long call
 * @see lx_dataset_backup(), lx_dataset_diff(), lx_dataset_digest(), lx_dataset_export_npy(),
 *      lx_dataset_repair(), lx_dataset_verify(), lx_source_open_recordio(), lx_writer_rebalance()
 * @{
 */

/**
 * Called periodically during a long call, on the thread that made the call. The function must not
 * use the object that the call works on.
 *
 * @param done   The number of records or bytes processed so far; the documentation of the call says
 *               which.
 * @param total  The total number of records or bytes.
 * @param user   The pointer that was passed to the call.
 * @param error  The error of the call, or NULL if the caller passed NULL. A function that ends the
 *               call may use it to describe the reason.
 * @return #LX_OK to continue. Any other status ends the call, which returns that status; if the
 *         function did not describe the failure in @p error, the library describes it.
 */
typedef lx_status (*lx_progress_function)(uint64_t done, uint64_t total, void *user,
                                          lx_error *error);

/** @} */

LX_END_DECLS

#endif
