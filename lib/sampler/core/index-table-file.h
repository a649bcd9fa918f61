/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A table in a file, as doc/orders.md, section 15, has it: written once, and mapped by all
 * processes that read it.
 *
 * Opening it takes as long for a table of any length. Its numbers lie in blocks with a checksum
 * each, which is checked when the first number of the block is needed. If another process truncates
 * the file while it is mapped, or the disk cannot read a sector of it, the read raises SIGBUS.
 */
#ifndef LX_SAMPLER_INDEX_TABLE_FILE_H
#define LX_SAMPLER_INDEX_TABLE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

/** One that is open.
 * @par Thread safety
 * Any thread, any time, until it is closed. */
typedef struct lx__table_file lx__table_file;

/** What is told of a table's numbers. */
typedef struct lx__table_form {
    const char *what; /**< JSON of all that they depend on. */
    uint64_t count;   /**< How many there are; #LX__TABLE_ANY, for a file that says it. */
    uint64_t bound;   /**< All are below. */
    size_t width;     /**< Bytes of each, 4 or 8. */
} lx__table_form;

#define LX__TABLE_ANY UINT64_MAX

/** Longest of the JSON. */
#define LX__TABLE_WHAT_MAX 65536

/**
 * Opens a table of this form.
 *
 * @param[in,out] form   Gets the count.
 * @param[out]    data   Its numbers.
 *
 * @retval LX_ERR_NOT_FOUND    There is none of this name.
 * @retval LX_ERR_CORRUPT      It is damaged, or not a table.
 * @retval LX_ERR_UNSUPPORTED  It is of another version, or this machine is big-endian.
 * @retval LX_ERR_MISMATCH     It is another table; the message has both.
 */
lx_status lx__table_file_open(const lx__file *folder, const char *name, lx__table_form *form,
                              lx__table_file **file, const void **data, lx_error *error);

/** NULL is nothing. */
void lx__table_file_close(lx__table_file *file);

/** Writes numbers to a new file, which is open and empty. */
lx_status lx__table_file_write(const lx__file *file, const lx__table_form *form, const void *data,
                               lx_error *error);

/** Has the blocks of @p count places, all below the table's count, be whole.
 * @retval LX_ERR_CORRUPT  One is not. */
lx_status lx__table_file_check(lx__table_file *file, const uint64_t *places, size_t count,
                               lx_error *error);

/** The same of @p count places from @p first on. */
LX_API lx_status lx__table_file_check_range(lx__table_file *file, uint64_t first, uint64_t count,
                                            lx_error *error);

/** LX_ERR_CORRUPT, with the file, and what can be done. NULL is a table in memory. */
lx_status lx__table_file_refuse(const lx__table_file *file, const char *why, lx_error *error);

#endif
