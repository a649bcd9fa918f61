/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Keeps the memory of an executor until its users, workers, tickets and batch pools are
 * gone.
 */
#ifndef LX_EXECUTOR_LIFETIME_H
#define LX_EXECUTOR_LIFETIME_H

#include <loaderx/executor.h>

/** Keeps the memory of an executor, but not its threads: for objects that may outlive the last user
 * of the executor. */
LX_API void lx__executor_hold(lx_executor *executor);

/** Undoes lx__executor_hold(). */
LX_API void lx__executor_release(lx_executor *executor);

#endif
