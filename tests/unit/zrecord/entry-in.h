/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The entry of a record in a snapshot, valid or not.
 */
#ifndef LX_TESTS_UNIT_ZRECORD_ENTRY_IN_H
#define LX_TESTS_UNIT_ZRECORD_ENTRY_IN_H

#include "zrecord/snapshot/snapshot.h"

/** @p row receives whether it is from the table, not from an update. */
static inline lx__entry entry_in(const lx__snapshot *snapshot, size_t field, uint64_t index,
                                 bool *row)
{
    const lx__column *column = &snapshot->columns[field];
    const lx__update *update = lx__overlay_find_update(&snapshot->state.overlay, (uint32_t)field,
                                                       index);
    *row = update == NULL && index < snapshot->state.rows;
    if (update != NULL)
        return lx__update_entry(update);
    return *row ? lx__entry_load(column->offsets + index * LX__OFFSET_ROW,
                                 column->checks + index * LX__CHECK_ROW)
                : (lx__entry){0};
}

#endif
