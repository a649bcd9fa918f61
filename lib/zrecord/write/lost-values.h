/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Values that were committed, were not synced, and are lost.
 *
 * A kill leaves frames that are not synced whole, since the kernel has their data. But a sync that
 * failed, or a disk that was pulled out and put back, can lose pages within one boot. The commits
 * stay; the lost pages read as damaged values (doc/zrecord-format.md, 10.3).
 */
#ifndef LX_ZRECORD_LOST_VALUES_H
#define LX_ZRECORD_LOST_VALUES_H

#include "zrecord/write/writer.h"

/**
 * Counts the values of @p writer's state that fail their checks, of those that @p durable, the state
 * at the last synced frame, does not have. Reads their payloads, which is bounded by what is not
 * synced. The tables of the writer are open, and its state has its sets.
 */
lx_status lx__lost_values_count(const lx_writer *writer, const lx__state *durable, uint64_t *lost,
                                lx_error *error);

#endif
