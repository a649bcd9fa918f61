/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One field of an import: a file of one array, read a block of records at a time.
 */
#ifndef LX_TOOLS_COLUMN_H
#define LX_TOOLS_COLUMN_H

#include "array.h"
#include "input.h"

/** How a file tells what it holds. */
typedef enum column_kind { COLUMN_IDX, COLUMN_NPY } column_kind;

/** Blocks of a column: one is read while the other is written. */
#define COLUMN_BLOCKS 2

/** A column; zeroed but for its first four members until it is opened. */
typedef struct column {
    const char *field; /**< The command line's, as is @ref path. */
    const char *path;
    column_kind kind;
    lx_compression compression; /**< For a new field. */
    input *in;
    array_header header;
    uint64_t read;               /**< Records so far. */
    void *blocks[COLUMN_BLOCKS]; /**< By column_reserve(). */
} column;

/** Opens the file, reads its header, and holds it against the file's length where that is known. */
lx_status column_open(column *self, lx_error *error);

/** Takes memory for blocks of @p records. */
lx_status column_reserve(column *self, uint64_t records, lx_error *error);

/** Reads the next @p records into a block, as little-endian elements; with the last ones it sees
 * that the file ends there. */
lx_status column_read(column *self, size_t block, uint64_t records, lx_error *error);

/** Closes the file and frees the blocks. */
void column_close(column *self);

#endif
