/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Makes the tables of a field that is being added, and stores its values for the existing
 * records.
 *
 * Values are added in the order of the records. Records for which none is added have no value.
 */
#ifndef LX_ZRECORD_FIELD_FILLER_H
#define LX_ZRECORD_FIELD_FILLER_H

#include "zrecord/write/install.h"

typedef struct lx__field_filler {
    lx_writer *writer;
    const lx__field *field;
    lx__entry_rules rules;
    int level; /**< The level of compression; 0 if the field is not compressed. */
    lx__file offsets, checks;
    uint8_t *buffer; /**< Rows of the offset table, followed by those of the check table. */
    size_t count;    /**< Number of rows that are not written yet. */
    uint64_t first;  /**< The record of the first of them. */
    uint64_t length; /**< Number of records. */
    uint64_t rows;   /**< Number of rows of the tables, at least @ref length. */
    bool missing;    /**< Some values are missing. */
    lx__shared shared;
    lx__chunk_output output;
    lx__deflater *deflater;
    uint8_t *compressed; /**< For compressed values. */
    size_t capacity;
} lx__field_filler;

/** Makes the tables of @p field, in which all values are missing. The caller must then call
 * lx__field_filler_close(), even on failure. */
lx_status lx__field_filler_open(lx__field_filler *filler, lx__install *install,
                                const lx__field *field, lx_error *error);

/** Stores the value of the next record, which must be valid. */
lx_status lx__field_filler_add(lx__field_filler *filler, const lx_value *value, lx_error *error);

/** Stores the same value for each of the remaining records; a long value is stored only once. */
lx_status lx__field_filler_repeat(lx__field_filler *filler, const lx_value *value, lx_error *error);

/** Makes the tables and the new chunks durable. The caller syncs the directories.
 * @retval LX_ERR_POISONED  A sync failed. */
lx_status lx__field_filler_finish(lx__field_filler *filler, lx_error *error);

void lx__field_filler_close(lx__field_filler *filler);

#endif
