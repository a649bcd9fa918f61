/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a recovery reads of a damaged dataset: its meta.json, its state, and the number of
 * rows of its tables.
 */
#ifndef LX_ZRECORD_RECOVER_SOURCE_H
#define LX_ZRECORD_RECOVER_SOURCE_H

#include "zrecord/maintenance/log-prefix.h"
#include "zrecord/maintenance/repair.h"
#include "zrecord/table/table-writer.h"

/** A recovery: what is read of the damaged dataset, and the parts of the new one. */
typedef struct lx__recovery {
    lx__repair repair;
    const char *path;
    char *into, *temporary;
    lx__file source, source_chunks, lock; /**< Of the damaged dataset; source_chunks is closed if
                                               that directory is absent. */
    lx__file directory, chunks;           /**< Of the new dataset. */
    bool made;                            /**< Whether its directory exists, to be removed. */
    lx__meta meta;                        /**< Of the damaged dataset, then of the new one. */
    lx__log_prefix log;                   /**< Its state is the one that is recovered. */
    lx__table_writer tables;              /**< The new tables. */
    uint64_t *rows;     /**< For each field, the rows that both its tables have. */
    uint64_t committed; /**< Rows that the state has, */
    uint64_t kept;      /**< and those of them that a table has. */
} lx__recovery;

/** Reads the damaged dataset at the path of @p self, and reports what is wrong with its meta.json,
 * its log and its tables. The length of the state becomes that of the new dataset. */
lx_status lx__recovery_read(lx__recovery *self, lx_error *error);

/** Opens one of its tables for reading, as lx__repair_open(). */
lx_status lx__recovery_open_table(const lx__recovery *self, size_t field, bool checks,
                                  lx__file *file, uint64_t *size, lx_error *error);

#endif
