/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A text table: each column is as wide as its widest cell.
 */
#ifndef LX_TOOLS_TABLE_H
#define LX_TOOLS_TABLE_H

#include <stddef.h>

#include <loaderx/status.h>

/** Size of a cell, including the NUL; longer text is truncated. */
#define TABLE_CELL 80

/** A table under construction. */
typedef struct table {
    size_t columns;
    size_t numbers_from; /**< The first of the right-aligned columns. */
    size_t rows, capacity;
    char (*cells)[TABLE_CELL]; /**< Rows of cells. */
} table;

/** Starts a table with a row of headings. */
lx_status table_begin(table *self, const char *const *headings, size_t columns, size_t numbers_from,
                      lx_error *error);

/** Adds an empty row and returns a pointer to its first cell, which the other cells follow; returns
 * NULL when out of memory. */
char (*table_add(table *self, lx_error *error))[TABLE_CELL];

/** Prints the table to standard output. */
void table_print(const table *self);

/** Releases the table. */
void table_free(table *self);

#endif
