/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The types of array elements, with NumPy's names.
 */
#ifndef LOADERX_DTYPE_H
#define LOADERX_DTYPE_H

#include <stddef.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_dtype Types of array elements
 * @see lx_schema
 * @{
 */

/**
 * Lists every element type: its constant, its value (part of the ABI), its name, and its size in
 * bytes.
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
    X(LX_COMPLEX128, 14, "complex128", 16)

/**
 * The type of an element. Values are little-endian on every machine: in files, in the caller's
 * memory and in batches. A value of type #LX_BYTES is a byte string of any length. A value of any
 * other type is a dense array, and all values of a field have the same shape.
 */
typedef enum lx_dtype {
#define LX_DTYPE_CONSTANT(name, value, text, size) name = value,
    LX_DTYPE_MAP(LX_DTYPE_CONSTANT)
#undef LX_DTYPE_CONSTANT
} lx_dtype;

/** Returns the size of one element in bytes; 0 if the value is invalid. */
LX_API size_t lx_dtype_get_size(lx_dtype dtype);

/** Returns NumPy's name for a type, for example "uint8"; NULL if the value is invalid. */
LX_API const char *lx_dtype_get_name(lx_dtype dtype);

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
