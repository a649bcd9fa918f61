/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Counts lost values that were committed without a sync.
 *
 * After a writer is killed, its unsynced frames are complete, because the kernel has their data.
 * But if a sync has failed, or a disk was removed and reconnected, pages can be lost without a
 * reboot. The commits stay, and values in lost pages are read as damaged (doc/zrecord-format.md,
 * 10.3).
 */
#ifndef LX_ZRECORD_LOST_VALUES_H
#define LX_ZRECORD_LOST_VALUES_H

#include "zrecord/write/writer.h"

/** Counts the values in @p writer's state that fail their checks, except those that were already in
 * @p durable, the state at the last synced frame. Reads the payloads of the values that it checks;
 * the amount of data is bounded by the unsynced part of the dataset. The writer's tables must be
 * open, and its state must include its updates. */
lx_status lx__lost_values_count(const lx_writer *writer, const lx__state *durable, uint64_t *lost,
                                lx_error *error);

#endif
