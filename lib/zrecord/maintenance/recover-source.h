/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a recovery reads from a damaged dataset: its meta.json, its state, and the number of
 * rows in its tables.
 */
#ifndef LX_ZRECORD_RECOVER_SOURCE_H
#define LX_ZRECORD_RECOVER_SOURCE_H

#include "zrecord/maintenance/wal-prefix.h"
#include "zrecord/maintenance/repair.h"
#include "zrecord/table/table-writer.h"

/** A recovery: what is read from the damaged dataset, and the parts of the new one. */
typedef struct lx__recovery {
    lx__repair repair;
    const char *path;
    char *into, *temporary;
    lx__file source, source_chunks, lock; /**< Files of the damaged dataset; source_chunks is closed
                                               if the chunk directory is missing. */
    lx__file directory, chunks;           /**< Directories of the new dataset. */
    bool made;                            /**< The new directory exists and must be removed on
                                               failure. */
    lx__meta meta;                        /**< The meta.json of the damaged dataset; later, that of
                                               the new dataset. */
    lx__wal_prefix log;                   /**< The valid frames of the log; their state is the state
                                               to recover. */
    uint32_t table_generation;            /**< Of the damaged dataset. */
    lx__table_writer tables;              /**< The new tables. */
    uint64_t *rows;     /**< For each field, the number of rows that are in both tables. */
    uint64_t committed; /**< Number of records in the state that have committed rows. */
    uint64_t kept;      /**< Number of these records that have rows in the tables of at least one
                             field. */
} lx__recovery;

/** Reads the damaged dataset at the path of @p self, and reports what is wrong with its meta.json,
 * log and tables. The length of the resulting state becomes that of the new dataset. */
lx_status lx__recovery_read(lx__recovery *self, lx_error *error);

/** Opens a table of the damaged dataset for reading, like lx__repair_open(). */
lx_status lx__recovery_open_table(const lx__recovery *self, size_t field, bool checks,
                                  lx__file *file, uint64_t *size, lx_error *error);

#endif
