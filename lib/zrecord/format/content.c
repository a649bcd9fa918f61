/* SPDX-License-Identifier: MIT */
#include "zrecord/format/content.h"

#include "base/error.h"
#include "base/image-signature.h"
#include "base/json-scan.h"
#include "base/utf8.h"

static lx_status check_text(const char *text, size_t size, lx_status failure, lx_error *error)
{
    size_t at = lx__utf8_span(text, size);
    if (at == size)
        return LX_OK;
    return lx_fail(error, failure,
                   "the text is not valid UTF-8 at byte %zu of its %zu bytes (0x%02x)", at, size,
                   (unsigned char)text[at]);
}

static lx_status check_json(const char *text, size_t size, lx_status failure, lx_error *error)
{
    const char *expected;
    size_t at = lx__json_scan_check(text, size, &expected);
    if (at > size)
        return LX_OK;
    return lx_fail(error, failure,
                   "the text is not valid JSON: expected %s at byte %zu of its %zu "
                   "bytes",
                   expected, at, size);
}

lx_status lx__content_check(lx_dtype dtype, const void *data, size_t size, lx_status failure,
                            lx_error *error)
{
    const char *text = data != NULL ? data : "";
    if (dtype == LX_STR)
        return check_text(text, size, failure, error);
    return dtype == LX_JSON ? check_json(text, size, failure, error) : LX_OK;
}

bool lx__content_is_no_image(lx_dtype dtype, const void *data, size_t size)
{
    return dtype == LX_IMAGE && lx__image_signature_find(data, size) == LX__IMAGE_NONE;
}

lx_status lx__content_check_new(lx_dtype dtype, const void *data, size_t size, lx_error *error)
{
    if (lx__content_is_no_image(dtype, data, size))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       LX__NO_IMAGE "; encode pixels first, or use a field of bytes", size);
    return lx__content_check(dtype, data, size, LX_ERR_ARGUMENT, error);
}
