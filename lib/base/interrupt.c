/* SPDX-License-Identifier: MIT */
#include "base/interrupt.h"

#include <stddef.h>

static _Thread_local const atomic_bool *current;

const atomic_bool *lx__interrupt_by(const atomic_bool *flag)
{
    const atomic_bool *former = current;
    current = flag;
    return former;
}

bool lx__interrupted(void)
{
    return current != NULL && atomic_load_explicit(current, memory_order_relaxed);
}
