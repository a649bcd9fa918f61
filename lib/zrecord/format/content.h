/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks the content of values whose type restricts it: texts and JSON.
 */
#ifndef LX_ZRECORD_CONTENT_H
#define LX_ZRECORD_CONTENT_H

#include <stdbool.h>

#include <loaderx/dtype.h>

/** Whether a type restricts the content of its values. */
static inline bool lx__content_is_restricted(lx_dtype dtype)
{
    return dtype == LX_STR || dtype == LX_JSON;
}

/**
 * Checks a value.
 * @return LX_OK if the type allows the value; otherwise @p failure, with a message that names the
 *         offset in the value at which it is invalid.
 */
lx_status lx__content_check(lx_dtype dtype, const void *data, size_t size, lx_status failure,
                            lx_error *error);

#endif
