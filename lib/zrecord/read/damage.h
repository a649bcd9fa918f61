/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The damage policy of a handle, and its count of damaged values.
 */
#ifndef LX_ZRECORD_DAMAGE_H
#define LX_ZRECORD_DAMAGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <loaderx/dataset.h>

/** A handle's damage policy and count. Thread-safe. */
typedef struct lx__damage_counter {
    lx_damage_policy policy; /**< RAISE or ZEROS. */
    _Atomic uint64_t count;  /**< Number of damaged values that were read. */
} lx__damage_counter;

/** If @p status says that a value is damaged, counts the value. Returns true if it must be read as
 * missing. */
static inline bool lx__damage_count(lx__damage_counter *damages, lx_status status)
{
    if (status != LX_ERR_CORRUPT)
        return false;
    atomic_fetch_add_explicit(&damages->count, 1, memory_order_relaxed);
    return damages->policy == LX_DAMAGE_ZEROS;
}

#endif
