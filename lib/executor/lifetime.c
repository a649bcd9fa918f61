/* SPDX-License-Identifier: MIT */
#include "executor/lifetime.h"

#include "base/alloc.h"
#include "executor/executor-private.h"

void lx__executor_hold(lx_executor *executor)
{
    atomic_fetch_add_explicit(&executor->holds, 1, memory_order_relaxed);
}

void lx__executor_release(lx_executor *executor)
{
    if (atomic_fetch_sub_explicit(&executor->holds, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < LX__QUEUES; i++)
        lx__queue_destroy(&executor->queues[i]);
    lx__free(executor);
}
