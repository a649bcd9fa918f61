/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The callback by which a long call reports its progress.
 */
#ifndef LOADERX_PROGRESS_H
#define LOADERX_PROGRESS_H

#include <stdint.h>

#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_progress_function Report the progress of a long call
 * @see lx_dataset_backup(), lx_dataset_export_npy(), lx_dataset_repair(), lx_dataset_verify(),
 *      lx_writer_rebalance()
 * @{
 */

/**
 * Receives the progress of a long call now and then, on the thread that made the call. The function
 * must not use the object that the call works on.
 *
 * @param done   Records or bytes that are done; the call says which.
 * @param total  Records or bytes in all.
 * @param user   As given to the call.
 * @param error  That of the call: the function may describe there why it ends the call. NULL if the
 *               caller of the library passed NULL.
 * @return #LX_OK to continue. Any other status ends the call with that status, which the error
 *         reports if the function did not describe it.
 */
typedef lx_status (*lx_progress_function)(uint64_t done, uint64_t total, void *user,
                                          lx_error *error);

/** @} */

LX_END_DECLS

#endif
