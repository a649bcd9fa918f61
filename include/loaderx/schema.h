/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fields of a dataset: their names, types and compression.
 */
#ifndef LOADERX_SCHEMA_H
#define LOADERX_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_schema The fields of a dataset
 *
 * A schema lists the fields of a dataset in order. Other calls name a field by its position in the
 * schema, from 0.
 *
 * @code
 * const uint64_t shape[] = {28, 28};
 * lx_schema *schema = lx_schema_new();
 * lx_schema_add_field(schema, "data", LX_UINT8, shape, 2,
 *                     LX_COMPRESSION_RAW, &error);
 * lx_schema_add_field(schema, "label", LX_INT64, NULL, 0,
 *                     LX_COMPRESSION_RAW, &error);
 * @endcode
 * @see lx_dtype, lx_error, lx_writer, lx_writer_add_field(), zrecord(5)
 * @{
 */

/** How the values of a field are stored. */
typedef enum lx_compression {
    LX_COMPRESSION_RAW = 0,  /**< Uncompressed; such values can be read without a copy. */
    LX_COMPRESSION_FLATE = 1 /**< One raw Deflate stream (RFC 1951) per value, if it is smaller. */
} lx_compression;

/** The longest name of a field in bytes, without the NUL. */
#define LX_MAX_FIELD_NAME 64
/** The most fields of a dataset. Comparing their names takes time quadratic in their number. */
#define LX_MAX_FIELDS 4096
/** The most dimensions of a dense field: the limit of arrays in NumPy 1.x. */
#define LX_MAX_NDIM 32
/** The largest value of a field, in bytes. */
#define LX_MAX_VALUE UINT32_MAX

/** A field, as lx_schema_get_field() returns it. The schema owns it; new members are added last. */
typedef struct lx_field {
    const char *name;           /**< The name; see lx_schema_add_field(). */
    lx_dtype dtype;             /**< The type of the elements, or #LX_BYTES. */
    size_t ndim;                /**< Dimensions of a value; 0 for a scalar and for #LX_BYTES. */
    const uint64_t *shape;      /**< @ref ndim extents in C order. The product of those that are not
                                     0 and the size of an element is at most #LX_MAX_VALUE. */
    uint64_t size;              /**< Bytes per value; #LX_NONE for #LX_BYTES, where it varies. */
    lx_compression compression; /**< How values are stored. */
    uint32_t align;             /**< Bytes at which values in chunks are aligned: 1 to 4096,
                                     a power of two. */
    uint32_t id;                /**< A number that the dataset uses for no other field, ever. */
} lx_field;

/**
 * The fields of a dataset, in order.
 *
 * @par Thread safety
 * One thread at a time while fields are added; after that, any number.
 */
typedef struct lx_schema lx_schema;

/** Returns a new schema without fields; NULL when out of memory. */
LX_API lx_schema *lx_schema_new(void);

/** Frees a schema of lx_schema_new(). NULL is allowed. */
LX_API void lx_schema_free(lx_schema *schema);

/**
 * Adds a field.
 *
 * @param[in] schema       A schema of lx_schema_new().
 * @param[in] name         The name: 1 to #LX_MAX_FIELD_NAME letters A-Z and a-z, digits,
 *                         underscores, dots and hyphens, without a leading dot, and unique in the
 *                         schema.
 * @param[in] dtype        The type of the elements of a dense field; #LX_BYTES for strings of bytes
 *                         of any length.
 * @param[in] shape        @p ndim extents in C order; NULL if @p ndim is 0.
 * @param[in] ndim         Dimensions of a value, up to #LX_MAX_NDIM; 0 for a scalar and for
 *                         #LX_BYTES.
 * @param[in] compression  How values are stored.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The field is the last one of the schema.
 * @retval LX_ERR_ARGUMENT  The name, the dtype, the shape or the compression is invalid, a value
 *                          would be larger than #LX_MAX_VALUE, also if extents of 0 were 1, or a
 *                          pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  The compression is that of a zstd field of another dataset, which
 *                             this library cannot write.
 * @retval LX_ERR_EXISTS    The schema has a field of that name.
 * @retval LX_ERR_LIMIT     The schema has #LX_MAX_FIELDS fields.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_schema_add_field(lx_schema *schema, const char *name, lx_dtype dtype,
                                     const uint64_t *shape, size_t ndim, lx_compression compression,
                                     lx_error *error);

/** Returns the number of fields. */
LX_API size_t lx_schema_get_field_count(const lx_schema *schema);

/** Returns the field at @p position, valid as long as the schema; NULL if the position is not below
 * lx_schema_get_field_count(). */
LX_API const lx_field *lx_schema_get_field(const lx_schema *schema, size_t position);

/**
 * Finds a field by its name and stores its position.
 *
 * @retval LX_OK             @p position is set.
 * @retval LX_ERR_NOT_FOUND  The schema has no field of that name; the error lists those that it
 *                           has.
 * @retval LX_ERR_ARGUMENT   A pointer is NULL.
 */
LX_API lx_status lx_schema_find_field(const lx_schema *schema, const char *name, size_t *position,
                                      lx_error *error);

/** @} */

LX_END_DECLS

#endif
