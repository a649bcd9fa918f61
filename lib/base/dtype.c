/* SPDX-License-Identifier: MIT */
#include <loaderx/dtype.h>

#include <string.h>

#include "base/error.h"

size_t lx_dtype_get_size(lx_dtype dtype)
{
    switch (dtype) {
#define SIZE(name, value, text, size)                                                              \
    case name:                                                                                     \
        return size;
        LX_DTYPE_MAP(SIZE)
#undef SIZE
    }
    return 0;
}

const char *lx_dtype_get_name(lx_dtype dtype)
{
    switch (dtype) {
#define NAME(name, value, text, size)                                                              \
    case name:                                                                                     \
        return text;
        LX_DTYPE_MAP(NAME)
#undef NAME
    }
    return NULL;
}

bool lx_dtype_is_bytes(lx_dtype dtype)
{
    return dtype == LX_BYTES || dtype == LX_STR || dtype == LX_JSON || dtype == LX_IMAGE;
}

lx_status lx_dtype_parse(const char *name, lx_dtype *dtype, lx_error *error)
{
    if (name == NULL)
        return lx__fail_null(error, "name");
    if (dtype == NULL)
        return lx__fail_null(error, "dtype");
#define COMPARE(constant, value, text, size)                                                       \
    if (strcmp(name, text) == 0) {                                                                 \
        *dtype = constant;                                                                         \
        return LX_OK;                                                                              \
    }
    LX_DTYPE_MAP(COMPARE)
#undef COMPARE
#define LIST(constant, value, text, size) " " text
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "unknown dtype '%.64s'; the known dtypes are" LX_DTYPE_MAP(LIST), name);
#undef LIST
}
