/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Padding of values that vary in size.
 */
#ifndef LOADERX_PADDING_H
#define LOADERX_PADDING_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/batch.h>
#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_padding Pad values to a common size
 *
 * This example pads the texts of a batch with spaces:
 *
 * @code
 * const lx_column *texts = lx_batch_find_column(batch, "text");
 * uint64_t size = lx_column_get_max_size(texts);
 * char *padded = malloc(texts->rows * size);
 * lx_column_pad(texts, size, 1, " ", false, padded, NULL, &error);
 * @endcode
 * @see lx_batch, lx_error, lx_loader
 * @{
 */

/** Returns the size in bytes of the largest value of a column; 0 if there are no values. */
LX_API uint64_t lx_column_get_max_size(const lx_column *column);

/**
 * Copies the values of a column whose records vary in size, and pads them to the same size.
 *
 * @param[in]  column     The column.
 * @param[in]  size       The size of a padded value in bytes: at least lx_column_get_max_size(),
 *                        and a multiple of @p item_size.
 * @param[in]  item_size  The size in bytes of an item, of which all values consist.
 * @param[in]  item       The item to pad with; NULL means zeros.
 * @param[in]  left       Whether to put the padding before the values, instead of after them.
 * @param[out] out        Receives record i at @p out + i * @p size.
 * @param[out] mask       Receives size / item_size bytes for each record: 1 for an item of the
 *                        value, 0 for padding. May be NULL.
 * @param[out] error      Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The values were copied.
 * @retval LX_ERR_RANGE     A value is larger than @p size; the error reports its column, and as the
 *                          record its row in the batch.
 * @retval LX_ERR_ARGUMENT  All records of the column have the same size, a value or @p size is not
 *                          a multiple of @p item_size, @p item_size is 0, or a pointer is NULL.
 */
LX_API lx_status lx_column_pad(const lx_column *column, uint64_t size, uint64_t item_size,
                               const void *item, bool left, void *out, uint8_t *mask,
                               lx_error *error);

/** @} */

LX_END_DECLS

#endif
