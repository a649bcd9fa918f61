/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A writer's tables: rows that are not in them yet, and the files they go to.
 *
 * Rows wait in memory, in the form they have in the tables. They are appended to the tables in
 * bulk, or put into frames of the log one by one; until they are in the tables they stay here.
 */
#ifndef LX_ZRECORD_TABLE_WRITER_H
#define LX_ZRECORD_TABLE_WRITER_H

#include "base/file.h"
#include "zrecord/format/entry.h"
#include "zrecord/format/schema.h"
#include "zrecord/wal/sync-list.h"

/** Both tables of one field. */
typedef struct lx__table_files {
    lx__file offsets;
    lx__file checks;
    uint8_t *offset_rows; /**< Of the rows that wait. */
    uint8_t *check_rows;
} lx__table_files;

typedef struct lx__rows {
    lx__table_files *fields;
    size_t field_count;
    uint64_t first; /**< Index of the first row that waits. */
    size_t count;   /**< Rows that wait. */
    size_t capacity;
    bool dirty; /**< Rows were appended to the files since the last sync. */
} lx__rows;

/** Opens the tables of table generation @p generation of each field, which must have the
 * @p committed rows. Rows from @p first on are to wait. */
lx_status lx__rows_open(lx__rows *rows, const lx__file *directory, const lx_schema *schema,
                        uint32_t generation, uint64_t committed, uint64_t first, lx_error *error);

void lx__rows_close(lx__rows *rows);

/** Adds @p records records after the rows that wait. @p entries has one for each field of each of
 * them, @p stride bytes from one to the next; their CRCs lack the index's part. */
lx_status lx__rows_take(lx__rows *rows, const lx__entry *entries, size_t stride, uint64_t records,
                        lx_error *error);

/** Adds one row of missing values, to be filled in by lx__rows_put(). */
lx_status lx__rows_add(lx__rows *rows, lx_error *error);

/** Sets the entry of @p field in row @p index, which waits. */
void lx__rows_put(lx__rows *rows, size_t field, uint64_t index, const lx__entry *entry);

/** The entry of @p field in row @p index, which waits. */
lx__entry lx__rows_get(const lx__rows *rows, size_t field, uint64_t index);

/** Reads the entry of @p field in row @p index, which is in the tables. */
lx_status lx__rows_read(const lx__rows *rows, size_t field, uint64_t index, lx__entry *entry,
                        lx_error *error);

/** Appends all rows that wait to the tables; then none waits. */
lx_status lx__rows_write(lx__rows *rows, lx_error *error);

/** Forgets rows from @p end on, also those that are in the tables already. */
void lx__rows_cut(lx__rows *rows, uint64_t end);

/** Adds to @p barrier the tables, if they were written since the last sync. They count as synced
 * from here on. */
lx_status lx__rows_barrier(lx__rows *rows, lx__barrier *barrier, lx_error *error);

#endif
