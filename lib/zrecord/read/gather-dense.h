/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fast path for mapped dense fields.
 */
#ifndef LX_ZRECORD_GATHER_DENSE_H
#define LX_ZRECORD_GATHER_DENSE_H

#include "zrecord/read/damage.h"
#include "zrecord/snapshot/snapshot.h"

/** Copies dense records to @p out, @p stride bytes apart; writes zeros for missing values. */
lx_status lx__gather_dense(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                           lx_error *error);

#endif
