/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A writer's table append buffer, and the table files to which the buffer is written.
 *
 * The buffer contains rows in the form that the tables use. The rows are appended to the tables in
 * bulk. A commit may write rows to WAL frames before that; these rows stay in the buffer until they
 * are in the tables.
 */
#ifndef LX_ZRECORD_TABLE_WRITER_H
#define LX_ZRECORD_TABLE_WRITER_H

#include "base/file.h"
#include "zrecord/format/entry.h"
#include "zrecord/format/schema.h"
#include "zrecord/wal/sync-list.h"

/** The tables of one field, and the field's part of the buffer. */
typedef struct lx__table_files {
    lx__file offsets;
    lx__file checks;
    uint8_t *offset_rows; /**< Buffered rows of the offset table. */
    uint8_t *check_rows;  /**< Buffered rows of the check table. */
    bool missing;         /**< A missing value was written to the tables. */
    bool marked;          /**< The frame under construction has a marker that says so. */
} lx__table_files;

typedef struct lx__table_writer {
    lx__table_files *fields;
    size_t field_count;
    uint64_t first; /**< Index of the first buffered row. */
    size_t count;   /**< Number of buffered rows. */
    size_t capacity;
    bool dirty; /**< Rows were appended to the files since the last sync. */
} lx__table_writer;

/** Opens the tables of table generation @p generation for each field; the tables must have @p
 * committed rows. The buffer is empty and starts at row @p first. */
lx_status lx__table_writer_open(lx__table_writer *tables, const lx__file *directory,
                                const lx_schema *schema, uint32_t generation, uint64_t committed,
                                uint64_t first, lx_error *error);

void lx__table_writer_close(lx__table_writer *tables);

/** Adds the rows of @p records records to the buffer. @p entries contains one entry per field of
 * each record, @p stride bytes apart; the CRCs of the entries do not include the index CRC yet. */
lx_status lx__table_writer_append(lx__table_writer *tables, const lx__entry *entries, size_t stride,
                                  uint64_t records, lx_error *error);

/** Sets @c missing in @p files if any of the @p count rows at @p offset_rows belongs to a missing
 * value. Only such rows have zeros in their first half. */
void lx__table_files_note_missing(lx__table_files *files, const uint8_t *offset_rows, size_t count);

/** Adds a row of missing values to the buffer; lx__table_writer_put() then sets its entries. */
lx_status lx__table_writer_add_row(lx__table_writer *tables, lx_error *error);

/** Sets the entry of @p field in the buffered row @p index. */
void lx__table_writer_put(lx__table_writer *tables, size_t field, uint64_t index,
                          const lx__entry *entry);

/** Returns the entry of @p field in the buffered row @p index. */
lx__entry lx__table_writer_get(const lx__table_writer *tables, size_t field, uint64_t index);

/** Reads the entry of @p field in row @p index of the tables. */
lx_status lx__table_writer_read(const lx__table_writer *tables, size_t field, uint64_t index,
                                lx__entry *entry, lx_error *error);

/** Appends all buffered rows to the tables and empties the buffer. */
lx_status lx__table_writer_write(lx__table_writer *tables, lx_error *error);

/** Drops all rows starting at @p end, both in the buffer and in the tables. The files keep their
 * size; later rows overwrite the dropped rows. */
void lx__table_writer_truncate(lx__table_writer *tables, uint64_t end);

/** Frees the space of rows that start at @p end, which no reader may have mapped. */
void lx__table_writer_trim(lx__table_writer *tables, uint64_t end);

/** Adds the tables to the sync list @p list if they were written since the last sync. After that,
 * the tables count as synced. */
lx_status lx__table_writer_list_syncs(lx__table_writer *tables, lx__sync_list *list,
                                      lx_error *error);

#endif
