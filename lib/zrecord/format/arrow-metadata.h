/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the metadata of Arrow columns says: extension types, and features of Hugging Face.
 */
#ifndef LX_ZRECORD_ARROW_METADATA_H
#define LX_ZRECORD_ARROW_METADATA_H

#include <stdbool.h>

#include <loaderx/arrow.h>

/** Whether a column has the extension type @p name. */
bool lx__arrow_is_extension(const struct ArrowSchema *column, const char *name);

/**
 * Reads the shape of a column of tensors (arrow.fixed_shape_tensor) with @p items elements each.
 * @p ndim becomes 0 for other columns.
 *
 * @retval LX_ERR_UNSUPPORTED  The axes are permuted, so the elements are not in C order; or there
 *                             are more than #LX_MAX_NDIM.
 * @retval LX_ERR_ARGUMENT     The shape is missing, or has a different number of elements.
 */
lx_status lx__arrow_tensor_shape(const struct ArrowSchema *column, uint64_t items, uint64_t *shape,
                                 size_t *ndim, lx_error *error);

/** Whether the metadata of a table of Hugging Face says that the column @p name has another feature
 * than Image, such as Audio. */
bool lx__arrow_is_no_image(const struct ArrowSchema *columns, const char *name);

#endif
