/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A field to import: a file with one array, which is read in blocks of records.
 */
#ifndef LX_TOOLS_COLUMN_H
#define LX_TOOLS_COLUMN_H

#include "array.h"
#include "input.h"

/** The format of a file. */
typedef enum column_kind { COLUMN_IDX, COLUMN_NPY } column_kind;

/** Number of blocks of a column: one block is read while the other is written. */
#define COLUMN_BLOCKS 2

/** A column; before it is opened, all members from @c in on must be zero. */
typedef struct column {
    const char *field; /**< From the command line, as is @ref path. */
    const char *path;
    column_kind kind;
    lx_compression compression; /**< Applies to a new field, as do the next two. */
    int level;
    uint32_t dictionary;
    input *in;
    array_header header;
    uint64_t read;               /**< Number of records read so far. */
    void *blocks[COLUMN_BLOCKS]; /**< Allocated by column_reserve(). */
} column;

/** Opens the file, reads its header, and checks the header against the file's length if that is
 * known. */
lx_status column_open(column *self, lx_error *error);

/** Allocates memory for blocks of @p records records. */
lx_status column_reserve(column *self, uint64_t records, lx_error *error);

/** Reads the next @p records records into a block, as little-endian elements. After the last
 * records, checks that the file ends there. */
lx_status column_read(column *self, size_t block, uint64_t records, lx_error *error);

/** Closes the file and frees the blocks. */
void column_close(column *self);

#endif
