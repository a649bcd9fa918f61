/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A table in a file, in the format of doc/orders.md, section 15: written once and mapped by
 * all processes that read it.
 *
 * Opening the file takes constant time. The numbers are divided into blocks, each with a checksum
 * that is verified when the block is first accessed. If another process truncates the file while it
 * is mapped, or the disk fails to read a sector of the file, the access raises SIGBUS.
 */
#ifndef LX_SAMPLER_INDEX_TABLE_FILE_H
#define LX_SAMPLER_INDEX_TABLE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

/** An open table file.
 * @par Thread safety
 * Thread-safe until it is closed. */
typedef struct lx__index_table_file lx__index_table_file;

/** The expected properties of a table. */
typedef struct lx__index_table_form {
    const char *inputs; /**< JSON with everything that the numbers depend on. */
    uint64_t count;     /**< The count of numbers; #LX__INDEX_TABLE_ANY accepts the count that the
                             file states. */
    uint64_t bound;     /**< Upper limit of the numbers, exclusive. */
    size_t width;       /**< Bytes per number, 4 or 8. */
} lx__index_table_form;

#define LX__INDEX_TABLE_ANY UINT64_MAX

/** Maximum size of the JSON in bytes. */
#define LX__INDEX_TABLE_JSON_MAX 65536

/**
 * Opens a table with these properties.
 *
 * @param[in,out] form   Receives the count.
 * @param[out]    data   The numbers.
 *
 * @retval LX_ERR_NOT_FOUND    The file does not exist.
 * @retval LX_ERR_CORRUPT      The file is damaged, or is not a table.
 * @retval LX_ERR_UNSUPPORTED  The file's format version is not supported, or this machine is
 *                             big-endian.
 * @retval LX_ERR_MISMATCH     The file contains a different table; the message describes both
 *                             tables.
 */
lx_status lx__index_table_file_open(const lx__file *folder, const char *name,
                                    lx__index_table_form *form, lx__index_table_file **file,
                                    const void **data, lx_error *error);

/** Closes a table file; @p file may be NULL. */
void lx__index_table_file_close(lx__index_table_file *file);

/** Writes numbers to a new file, which must be open and empty. */
lx_status lx__index_table_file_write(const lx__file *file, const lx__index_table_form *form,
                                     const void *data, lx_error *error);

/** Verifies the blocks that contain the numbers at @p count places, all below the table's count.
 * @retval LX_ERR_CORRUPT  A block is damaged. */
lx_status lx__index_table_file_check(lx__index_table_file *file, const uint64_t *places,
                                     size_t count, lx_error *error);

/** Like lx__index_table_file_check(), for the @p count places starting at @p first. */
LX_API lx_status lx__index_table_file_check_range(lx__index_table_file *file, uint64_t first,
                                                  uint64_t count, lx_error *error);

/** Returns LX_ERR_CORRUPT with a message that names the file and says what to do. @p file is NULL
 * for a table in memory. */
lx_status lx__index_table_file_fail(const lx__index_table_file *file, const char *why,
                                    lx_error *error);

#endif
