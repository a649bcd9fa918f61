/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks the content of values whose type restricts it: texts, JSON and images.
 */
#ifndef LX_ZRECORD_CONTENT_H
#define LX_ZRECORD_CONTENT_H

#include <stdbool.h>

#include <loaderx/dtype.h>

/** Whether a type restricts the content of new values. */
static inline bool lx__content_is_restricted(lx_dtype dtype)
{
    return dtype == LX_STR || dtype == LX_JSON || dtype == LX_IMAGE;
}

/**
 * Checks a value.
 * @return LX_OK if the type allows the value; otherwise @p failure, with a message that names the
 *         offset in the value at which it is invalid.
 */
lx_status lx__content_check(lx_dtype dtype, const void *data, size_t size, lx_status failure,
                            lx_error *error);

/**
 * Checks a new value. Unlike a stored value, which earlier versions did not check, an image must
 * begin as a file of a known format.
 * @retval LX_ERR_ARGUMENT  The type does not allow the value.
 */
lx_status lx__content_check_new(lx_dtype dtype, const void *data, size_t size, lx_error *error);

/** Whether a stored value is an image whose bytes begin as no known format. */
bool lx__content_is_no_image(lx_dtype dtype, const void *data, size_t size);

#endif
