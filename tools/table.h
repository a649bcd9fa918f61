/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A table for people: columns as wide as their widest cell.
 */
#ifndef LX_TOOLS_TABLE_H
#define LX_TOOLS_TABLE_H

#include <stddef.h>

#include <loaderx/status.h>

/** Bytes of a cell, the NUL included; what is longer is cut. */
#define TABLE_CELL 80

/** A table being made. */
typedef struct table {
    size_t columns;
    size_t numbers_from; /**< Columns from this one on stand at the right. */
    size_t rows, capacity;
    char (*cells)[TABLE_CELL]; /**< Row by row. */
} table;

/** Begins a table with a row of headings. */
lx_status table_begin(table *self, const char *const *headings, size_t columns,
                      size_t numbers_from, lx_error *error);

/** Adds a row, and gives its first cell: empty, with the others behind it; NULL: no memory. */
char (*table_add(table *self, lx_error *error))[TABLE_CELL];

/** Prints it on standard output. */
void table_print(const table *self);

/** Ends it. */
void table_free(table *self);

#endif
