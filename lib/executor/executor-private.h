/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The members of an executor, private to this layer.
 */
#ifndef LX_EXECUTOR_PRIVATE_H
#define LX_EXECUTOR_PRIVATE_H

#include "base/process.h"
#include "executor/queue.h"

#define LX__QUEUES 2

/** One reader per CPU. */
#define LX__READERS_AUTOMATIC UINT32_MAX

struct lx_executor_options {
    uint32_t readers, writers;
};

extern const lx_executor_options lx__executor_defaults;

struct lx_executor {
    lx__process process;         /**< Owner of the threads. */
    uint32_t limits[LX__QUEUES]; /**< Maximum number of threads per queue, from the options. */
    atomic_uint users;           /**< References; together they count as one hold. */
    atomic_uint holds;           /**< Holds, which keep the memory alive: see lifetime.h. */
    lx__queue queues[LX__QUEUES];
};

#endif
