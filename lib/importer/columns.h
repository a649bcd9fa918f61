/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records on their way to the writer: each value is converted to the type of its field, and
 * the values of a field are collected, so that lx_writer_extend() appends many records at once.
 */
#ifndef LX_IMPORTER_COLUMNS_H
#define LX_IMPORTER_COLUMNS_H

#include <loaderx/writer.h>

#include "importer/fields.h"

typedef struct lx__import_column lx__import_column;

/** The columns of a batch of records. */
typedef struct lx__import_columns {
    const lx__import_fields *fields; /**< Borrowed. */
    lx__import_column *list;         /**< One for each field, in the order of @ref fields. */
    lx_values *values;               /**< For the writer, in the order of the schema. */
    size_t value_count;
    size_t rows;        /**< Number of records. */
    uint64_t bytes;     /**< Size of their values. */
    uint64_t row_bytes; /**< Size of the values of the last record. */
    uint64_t number;    /**< Of the last record that was added or refused. */
} lx__import_columns;

/** Allocates columns for fields whose positions are set. */
lx_status lx__import_columns_init(lx__import_columns *self, const lx__import_fields *fields,
                                  lx_error *error);
void lx__import_columns_free(lx__import_columns *self);

/** Whether the batch should be written before another record is added. */
bool lx__import_columns_full(const lx__import_columns *self);

/**
 * Adds a record. If it fails, no part of the record was added.
 *
 * @retval LX_ERR_MISMATCH  A value does not fit its field, or there is no such field.
 * @retval LX_ERR_CORRUPT   A value of a str or json field is not UTF-8 or JSON, or two values have
 *                          the same name.
 */
lx_status lx__import_columns_add(lx__import_columns *self, const lx__import_record *record,
                                 lx_error *error);

/** Removes the last record, which was just added. */
void lx__import_columns_drop(lx__import_columns *self);

/** Whether a record that was added or refused had a value, or null, for the field @p i. */
bool lx__import_columns_saw(const lx__import_columns *self, size_t i);

/** Appends the records to the dataset, and empties the batch. */
lx_status lx__import_columns_write(lx__import_columns *self, lx_writer *writer, lx_error *error);

#endif
