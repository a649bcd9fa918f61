/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Counts values that were committed without a sync and are lost.
 *
 * After a kill, unsynced frames are complete, because the kernel has their data. But a sync that
 * failed, or a disk that was removed and reconnected, can lose pages within one boot. The commits
 * stay; the lost pages read as damaged values (doc/zrecord-format.md, 10.3).
 */
#ifndef LX_ZRECORD_LOST_VALUES_H
#define LX_ZRECORD_LOST_VALUES_H

#include "zrecord/write/writer.h"

/** Counts the values of @p writer's state that fail their checks, except for those that were in @p
 * durable, the state at the last synced frame. Reads their payloads, which is bounded by the
 * unsynced part. The writer's tables are open, and its state has its updates. */
lx_status lx__lost_values_count(const lx_writer *writer, const lx__state *durable, uint64_t *lost,
                                lx_error *error);

#endif
