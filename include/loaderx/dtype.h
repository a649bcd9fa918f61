/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The types of values, with the names of NumPy and ml_dtypes.
 */
#ifndef LOADERX_DTYPE_H
#define LOADERX_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_dtype Types of values
 * @see lx_schema
 * @{
 */

/**
 * Lists every type: its constant, its value (part of the ABI), its name, and the size of an element
 * in bytes.
 */
#define LX_DTYPE_MAP(X)                                                                            \
    X(LX_BYTES, 0, "bytes", 1)                                                                     \
    X(LX_BOOL, 1, "bool", 1)                                                                       \
    X(LX_INT8, 2, "int8", 1)                                                                       \
    X(LX_INT16, 3, "int16", 2)                                                                     \
    X(LX_INT32, 4, "int32", 4)                                                                     \
    X(LX_INT64, 5, "int64", 8)                                                                     \
    X(LX_UINT8, 6, "uint8", 1)                                                                     \
    X(LX_UINT16, 7, "uint16", 2)                                                                   \
    X(LX_UINT32, 8, "uint32", 4)                                                                   \
    X(LX_UINT64, 9, "uint64", 8)                                                                   \
    X(LX_FLOAT16, 10, "float16", 2)                                                                \
    X(LX_FLOAT32, 11, "float32", 4)                                                                \
    X(LX_FLOAT64, 12, "float64", 8)                                                                \
    X(LX_COMPLEX64, 13, "complex64", 8)                                                            \
    X(LX_COMPLEX128, 14, "complex128", 16)                                                         \
    X(LX_BFLOAT16, 15, "bfloat16", 2)                                                              \
    X(LX_FLOAT8_E4M3FN, 16, "float8_e4m3fn", 1)                                                    \
    X(LX_FLOAT8_E5M2, 17, "float8_e5m2", 1)                                                        \
    X(LX_DATETIME64_D, 18, "datetime64[D]", 8)                                                     \
    X(LX_DATETIME64_S, 19, "datetime64[s]", 8)                                                     \
    X(LX_DATETIME64_MS, 20, "datetime64[ms]", 8)                                                   \
    X(LX_DATETIME64_US, 21, "datetime64[us]", 8)                                                   \
    X(LX_DATETIME64_NS, 22, "datetime64[ns]", 8)                                                   \
    X(LX_STR, 23, "str", 1)                                                                        \
    X(LX_JSON, 24, "json", 1)                                                                      \
    X(LX_IMAGE, 25, "image", 1)                                                                    \
    X(LX_FLOAT8_E4M3FNUZ, 26, "float8_e4m3fnuz", 1)                                                \
    X(LX_FLOAT8_E5M2FNUZ, 27, "float8_e5m2fnuz", 1)                                                \
    X(LX_FLOAT8_E8M0FNU, 28, "float8_e8m0fnu", 1)

/**
 * The type of the elements of a value. Elements are little-endian on every machine: in files, in
 * the caller's memory and in batches.
 *
 * - A value of type #LX_BYTES is a byte string of any length. #LX_STR is text in UTF-8 (RFC 3629),
 *   #LX_JSON a JSON text in UTF-8 (RFC 8259) with at most 512 levels of nesting, and #LX_IMAGE an
 *   encoded image, such as a JPEG. They are byte strings, too; writers and lx_dataset_verify()
 *   check the content of texts and JSON, but not that of images.
 * - A value of any other type is an array. The values of a dense field all have the same shape;
 *   those of a ragged field differ in their first extent.
 * - #LX_BFLOAT16 and the types that begin with LX_FLOAT8_ are the floating-point formats of
 *   ml_dtypes, torch and JAX that have these names.
 * - The types that begin with LX_DATETIME64_ count days, seconds, milliseconds, microseconds or
 *   nanoseconds since 1970-01-01 as a signed 64-bit integer, without a time zone. The smallest
 *   integer stands for no time (NaT).
 */
typedef enum lx_dtype {
#define LX_DTYPE_CONSTANT(name, value, text, size) name = value,
    LX_DTYPE_MAP(LX_DTYPE_CONSTANT)
#undef LX_DTYPE_CONSTANT
} lx_dtype;

/** Returns the size of one element in bytes; 0 if the value is invalid. */
LX_API size_t lx_dtype_get_size(lx_dtype dtype);

/**
 * Returns the name of a type, for example "uint8" or "datetime64[ns]"; NULL if the value is
 * invalid.
 */
LX_API const char *lx_dtype_get_name(lx_dtype dtype);

/** Whether a value is a byte string: #LX_BYTES, #LX_STR, #LX_JSON or #LX_IMAGE. */
LX_API bool lx_dtype_is_bytes(lx_dtype dtype);

/**
 * Finds the type named @p name.
 *
 * @retval LX_OK               The type was stored in @p dtype.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  No type has this name; the error lists the valid ones.
 */
LX_API lx_status lx_dtype_parse(const char *name, lx_dtype *dtype, lx_error *error);

/** @} */

LX_END_DECLS

#endif
