/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a handle does about damaged values, and how many it has met.
 */
#ifndef LX_ZRECORD_DAMAGE_H
#define LX_ZRECORD_DAMAGE_H

#include <stdatomic.h>

#include <loaderx/dataset.h>

/** Of a handle; any thread counts. */
typedef struct lx__damages {
    lx_damage policy; /**< RAISE or ZEROS. */
    _Atomic uint64_t met;
} lx__damages;

/** Counts, if @p status tells of damage. True: the value is to be read as missing. */
bool lx__damages_meet(lx__damages *damages, lx_status status);

#endif
