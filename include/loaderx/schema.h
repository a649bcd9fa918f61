/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fields of a zrecord dataset: their names, types and compression.
 */
#ifndef LOADERX_SCHEMA_H
#define LOADERX_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_schema The fields of a dataset
 * @{ */

/** How the payloads of a field are kept. */
typedef enum lx_compression {
    LX_RAW = 0,  /**< As they are; can be read without a copy. */
    LX_FLATE = 1 /**< One raw Deflate stream (RFC 1951) a record, where that is smaller. */
} lx_compression;

/** Longest name of a field, without the NUL. */
#define LX_FIELD_NAME_MAX 64
/** Most fields of a dataset: comparing their names takes time quadratic in them. */
#define LX_FIELDS_MAX 4096
/** Most dimensions of a dense field. */
#define LX_NDIM_MAX 64
/** Largest record of one field, in bytes. */
#define LX_RECORD_MAX UINT32_MAX

/** One field, as lx_schema_get_field() shows it. Owned by the schema; new members come last. */
typedef struct lx_field {
    const char *name;           /**< 1 to 64 of A-Z a-z 0-9 _ . - without a leading dot. */
    lx_dtype dtype;             /**< #LX_BYTES, or the type of a dense field's elements. */
    size_t ndim;                /**< Dimensions of a record; 0 for a scalar and for bytes. */
    const uint64_t *shape;      /**< @ref ndim extents, C order. */
    uint64_t size;              /**< Bytes a record; #LX_NONE where they vary (bytes). */
    lx_compression compression; /**< How payloads are kept. */
    uint32_t align;             /**< Payloads lie at multiples of this, a power of two <= 4096. */
    uint32_t id;                /**< Never used twice within a dataset. */
} lx_field;

/**
 * The fields of a dataset, in order.
 * @par Thread safety
 * One thread at a time while fields are added; after that any number.
 */
typedef struct lx_schema lx_schema;

/** A schema without fields; NULL when out of memory. */
LX_API lx_schema *lx_schema_new(void);

/** Ends a schema of lx_schema_new(); NULL is nothing. */
LX_API void lx_schema_free(lx_schema *schema);

/**
 * Adds a field.
 *
 * @param[in] schema       A schema of lx_schema_new().
 * @param[in] name         Its name, unique in the schema.
 * @param[in] dtype        #LX_BYTES for strings of bytes of any length, else dense.
 * @param[in] shape        @p ndim extents of a dense record; NULL if @p ndim is 0.
 * @param[in] ndim         0 for a scalar and for #LX_BYTES.
 * @param[in] compression  How payloads are kept.
 * @param[out] error       Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  The name is not valid, the dtype or compression is none, the record
 *                          is larger than #LX_RECORD_MAX, or bytes were given a shape.
 * @retval LX_ERR_EXISTS    There is a field of that name.
 * @retval LX_ERR_LIMIT     There are #LX_FIELDS_MAX fields.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_schema_add_field(lx_schema *schema, const char *name, lx_dtype dtype,
                                     const uint64_t *shape, size_t ndim,
                                     lx_compression compression, lx_error *error);

/** Number of fields. */
LX_API size_t lx_schema_get_count(const lx_schema *schema);

/** Field number @p position, valid as long as the schema; NULL if there are not so many. */
LX_API const lx_field *lx_schema_get_field(const lx_schema *schema, size_t position);

/**
 * Finds a field by its name.
 * @retval LX_ERR_NOT_FOUND  There is none; the error lists the names that there are.
 */
LX_API lx_status lx_schema_find_field(const lx_schema *schema, const char *name,
                                      size_t *position, lx_error *error);

/** @} */

LX_END_DECLS

#endif
