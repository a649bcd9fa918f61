/* SPDX-License-Identifier: MIT */
#include <loaderx/dtype.h>

#include <string.h>

#include "../unit.h"

START_TEST(converts_names_and_sizes_both_ways)
{
    lx_error error = LX_ERROR_INIT;
    lx_dtype parsed;
#define BOTH_WAYS(name, value, text, size)                                                         \
    unit_ok(lx_dtype_parse(text, &parsed, &error));                                                \
    ck_assert_int_eq(parsed, name);                                                                \
    ck_assert_str_eq(lx_dtype_get_name(name), text);                                               \
    ck_assert_uint_eq(lx_dtype_get_size(name), size);
    LX_DTYPE_MAP(BOTH_WAYS)
}
END_TEST

START_TEST(tells_byte_strings_from_arrays)
{
    size_t strings = 0, all = 0;
#define COUNT(name, value, text, size)                                                             \
    strings += lx_dtype_is_bytes(name);                                                            \
    all++;
    LX_DTYPE_MAP(COUNT)
    ck_assert_uint_eq(strings, 4);
    ck_assert_uint_eq(all, LX_FLOAT8_E8M0FNU + 1);
    ck_assert(lx_dtype_is_bytes(LX_BYTES) && lx_dtype_is_bytes(LX_STR));
    ck_assert(lx_dtype_is_bytes(LX_JSON) && lx_dtype_is_bytes(LX_IMAGE));
    ck_assert(!lx_dtype_is_bytes((lx_dtype)99));
}
END_TEST

START_TEST(rejects_unknown_dtypes_by_name)
{
    lx_error error = LX_ERROR_INIT;
    lx_dtype dtype;
    ck_assert_int_eq(lx_dtype_parse("float8", &dtype, &error), LX_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "'float8'"));
    ck_assert_ptr_nonnull(strstr(error.message, "complex128"));
    ck_assert_ptr_null(lx_dtype_get_name((lx_dtype)99));
    ck_assert_uint_eq(lx_dtype_get_size((lx_dtype)99), 0);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    lx_dtype dtype;
    unit_refuses_null(lx_dtype_parse(NULL, &dtype, &error), "name");
    unit_refuses_null(lx_dtype_parse("uint8", NULL, &error), "dtype");
}
END_TEST

UNIT_MAIN("base/dtype", converts_names_and_sizes_both_ways, tells_byte_strings_from_arrays,
          rejects_unknown_dtypes_by_name, rejects_null_by_name)
