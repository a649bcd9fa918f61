/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How long jobs tell how far they are.
 */
#ifndef LOADERX_PROGRESS_H
#define LOADERX_PROGRESS_H

#include <stdint.h>

#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_progress_function Report the progress of a long call
 * @{ */

/** Told now and then how far a long job is: @p done of @p total records, or bytes, as the job says.
 * On the thread that called it. A return of other than #LX_OK ends the job with that status,
 * which the job's lx_error then tells too, unless the function has filled that in by itself, as it
 * can where @p user leads to it. It must not call what the job is done by. */
typedef lx_status (*lx_progress_function)(uint64_t done, uint64_t total, void *user);

/** @} */

LX_END_DECLS

#endif
