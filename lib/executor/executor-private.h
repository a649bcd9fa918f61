/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What an executor consists of, for the sources of this layer.
 */
#ifndef LX_EXECUTOR_PRIVATE_H
#define LX_EXECUTOR_PRIVATE_H

#include "base/process.h"
#include "executor/queue.h"

#define LX__QUEUES 3

/** As many readers as there are CPUs. */
#define LX__READERS_AUTOMATIC UINT32_MAX

struct lx_executor_options {
    uint32_t readers, writers, cleaners;
};

extern const lx_executor_options lx__executor_defaults;

struct lx_executor {
    lx__process process;         /**< Whose threads they are. */
    uint32_t limits[LX__QUEUES]; /**< Threads of each queue, as the options say. */
    atomic_uint users;           /**< References; all of them together are one hold. */
    atomic_uint holds;           /**< What keeps the memory: users, workers, tickets, pools. */
    lx__queue queues[LX__QUEUES];
};

#endif
