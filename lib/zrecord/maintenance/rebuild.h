/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The generation that a repair makes: new tables with what was rescued, a new log with
 * nothing but frame 0, and then a meta.json that names both. See doc/zrecord-format.md, 11.9.
 */
#ifndef LX_ZRECORD_REBUILD_H
#define LX_ZRECORD_REBUILD_H

#include "zrecord/table/table-writer.h"
#include "zrecord/maintenance/aside.h"
#include "zrecord/maintenance/rescue.h"

typedef struct lx__rebuild {
    lx__rescue *rescue; /**< With the writer's lock. */
    lx__rows rows;      /**< Of the new tables. */
    uint32_t table_generation;
    uint64_t *deleted; /**< Records that are to go, ascending. */
    size_t deleted_count, deleted_capacity;
    uint64_t length;  /**< Records so far, then those that are left. */
    bool made;        /**< There are new files. */
} lx__rebuild;

/** Makes the new tables, empty. End it in any case. */
lx_status lx__rebuild_begin(lx__rebuild *rebuild, lx__rescue *rescue, lx_error *error);

/** Adds the next record, all values missing. */
lx_status lx__rebuild_add(lx__rebuild *rebuild, lx_error *error);

/** Gives the record that was added last a value: that of record @p index of the damaged dataset. */
void lx__rebuild_put(lx__rebuild *rebuild, size_t field, uint64_t index, const lx__entry *entry);

/** Notes that the record that was added last is to go. */
lx_status lx__rebuild_delete(lx__rebuild *rebuild, lx_error *error);

/** Fills the places of records that are to go with the last ones, and notes these moves in
 * @p aside. All were added. */
lx_status lx__rebuild_close_up(lx__rebuild *rebuild, lx__aside *aside, lx_error *error);

/**
 * Makes the log, makes all that it names durable, and replaces meta.json, which is not sealed then.
 * Until the last of this the dataset is as it was, wherever it is interrupted.
 */
lx_status lx__rebuild_switch(lx__rebuild *rebuild, lx_error *error);

/** Removes what was made, unless meta.json names it. */
void lx__rebuild_end(lx__rebuild *rebuild);

#endif
