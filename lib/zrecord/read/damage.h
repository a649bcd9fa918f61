/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a handle does about damaged values, and how many it has met.
 */
#ifndef LX_ZRECORD_DAMAGE_H
#define LX_ZRECORD_DAMAGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <loaderx/dataset.h>

/** Of a handle; any thread counts. */
typedef struct lx__damages {
    lx_damage_policy policy; /**< RAISE or ZEROS. */
    _Atomic uint64_t met;
} lx__damages;

/** Counts, if @p status reports damage. True: the value is read as missing. */
static inline bool lx__damages_meet(lx__damages *damages, lx_status status)
{
    if (status != LX_ERR_CORRUPT)
        return false;
    atomic_fetch_add_explicit(&damages->met, 1, memory_order_relaxed);
    return damages->policy == LX_DAMAGE_ZEROS;
}

#endif
