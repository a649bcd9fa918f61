/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a recovery reads of a damaged dataset: its meta.json, its state, and how many rows
 * its tables have.
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
    lx__file source, source_chunks, lock; /**< That of chunks is closed if it is not there. */
    lx__file directory, chunks;           /**< Of the new dataset. */
    bool made;                            /**< Its directory, and it is to be removed. */
    lx__meta meta;                        /**< Of the old one, then of the new one. */
    lx__log_prefix log;                   /**< Its state is the one that is recovered. */
    lx__table_writer tables;              /**< The new ones. */
    uint64_t *rows;  /**< Of each field, those that both of its old tables have. */
    uint64_t *lost;  /**< Of each field, values of records whose row is lost. */
    uint64_t kept;   /**< Records [0, kept) keep their indices. */
    uint64_t end;    /**< Records [kept, end) are in no table, and are left out. */
    uint64_t length; /**< Of the new dataset. */
} lx__recovery;

/** Reads the damaged dataset at the path of @p self, and reports what is wrong with its meta.json,
 * its log and its tables. */
lx_status lx__recovery_read(lx__recovery *self, lx_error *error);

/** Opens one of its tables for reading; one that is absent is empty. */
lx_status lx__recovery_open_table(const lx__recovery *self, size_t field, bool checks,
                                  lx__file *file, uint64_t *size, lx_error *error);

#endif
