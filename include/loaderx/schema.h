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
 * A schema lists the fields of a dataset in order. Other calls identify a field by its position in
 * the schema, counted from 0.
 *
 * @code
 * const uint64_t shape[] = {28, 28};
 * lx_schema *schema = lx_schema_new();
 * lx_schema_add_field(schema, "data", LX_UINT8, shape, 2,
 *                     LX_COMPRESSION_RAW, &error);
 * lx_schema_add_field(schema, "label", LX_INT64, NULL, 0,
 *                     LX_COMPRESSION_RAW, &error);
 * @endcode
 *
 * The values of a field are of one of three kinds. In a **dense** field, all values are arrays of
 * the same shape. In a **ragged** field, the first extent of the shape is #LX_NONE and varies from
 * value to value; the other extents are fixed. In a **bytes** field, values are byte strings,
 * texts, JSON or images (lx_dtype_is_bytes()). The sizes of values vary in ragged fields and in
 * bytes fields. This example adds a field for any number of boxes, each with 4 coordinates:
 *
 * @code
 * const uint64_t boxes[] = {LX_NONE, 4};
 * lx_schema_add_field(schema, "boxes", LX_FLOAT32, boxes, 2,
 *                     LX_COMPRESSION_RAW, &error);
 * @endcode
 * @see lx_dtype, lx_error, lx_writer, lx_writer_add_field(), zrecord(5)
 * @{
 */

/** How the values of a field are stored. */
typedef enum lx_compression {
    LX_COMPRESSION_RAW = 0,   /**< Values are stored uncompressed, and can be read without copying
                                  them. */
    LX_COMPRESSION_FLATE = 1, /**< Each value is stored as a raw Deflate stream (RFC 1951) if that
                                   is smaller than the value itself. */
    LX_COMPRESSION_ZSTD = 2   /**< Each value is stored as a Zstandard frame (RFC 8878) if that is
                                   smaller than the value itself. */
} lx_compression;

/** The maximum length of a field name in bytes, excluding the NUL. */
#define LX_MAX_FIELD_NAME 64
/**
 * The maximum number of fields in a dataset. It is limited because each name is compared with all
 * others, which takes time quadratic in the number of fields.
 */
#define LX_MAX_FIELDS 4096
/**
 * The maximum number of dimensions of a value, which is the limit of NumPy 1.x for arrays.
 */
#define LX_MAX_NDIM 32
/** The maximum size of a value, in bytes. */
#define LX_MAX_VALUE UINT32_MAX
/** The maximum size of the dictionary of a field, in bytes: 16 MiB. */
#define LX_MAX_DICTIONARY ((uint32_t)1 << 24)
/** The size of a dictionary that is usually a good choice, in bytes: 110 KiB, as in zstd(1). */
#define LX_DEFAULT_DICTIONARY ((uint32_t)110 << 10)

/** A field, as returned by lx_schema_get_field(). The schema owns it. */
typedef struct lx_field {
    const char *name;           /**< The name; see lx_schema_add_field(). */
    lx_dtype dtype;             /**< The type of the values. */
    size_t ndim;                /**< The number of dimensions of a value; 0 for a scalar and for a
                                     bytes field. */
    const uint64_t *shape;      /**< @ref ndim extents in C order; the first is #LX_NONE in a ragged
                                     field. The size of an element times all nonzero extents is at
                                     most #LX_MAX_VALUE. */
    uint64_t size;              /**< The size of a value in bytes; #LX_NONE if it varies. */
    lx_compression compression; /**< How values are stored. */
    uint32_t align;             /**< The alignment of values in chunks, in bytes: a power of two
                                     from 1 to 4096. */
    uint32_t id;                /**< A number that identifies the field; the dataset never uses it
                                     for a different field. */
    int level;                  /**< The compression level; 0: the writer chooses it. */
    uint32_t dictionary;        /**< The maximum size in bytes of the field's dictionary; 0: the
                                     field has none, and a writer trains none. */
    uint64_t item_size;         /**< The size in bytes of an item, which is a part of a value at one
                                     index of the first dimension: 1 for a bytes field, and the size
                                     of a value for a scalar. The size of a value is a multiple of
                                     it. */
} lx_field;

/**
 * The fields of a dataset, in order.
 *
 * @par Thread safety
 * Only one thread at a time may add fields. After that, any number of threads may use the schema.
 */
typedef struct lx_schema lx_schema;

/** Returns a new schema without fields; NULL if out of memory. */
LX_API lx_schema *lx_schema_new(void);

/** Frees a schema from lx_schema_new(). NULL is allowed. */
LX_API void lx_schema_free(lx_schema *schema);

/**
 * Adds a field.
 *
 * @param[in] schema       A schema from lx_schema_new().
 * @param[in] name         The name, which must be unique in the schema. It consists of 1 to
 *                         #LX_MAX_FIELD_NAME letters (A-Z and a-z), digits, underscores, dots and
 *                         hyphens, and must not start with a dot.
 * @param[in] dtype        The type of the values.
 * @param[in] shape        @p ndim extents in C order; NULL if @p ndim is 0. If the first extent is
 *                         #LX_NONE, it varies from value to value, and no other extent may be
 *                         #LX_NONE or 0.
 * @param[in] ndim         The number of dimensions of a value, up to #LX_MAX_NDIM; 0 for a scalar
 *                         and for a bytes field.
 * @param[in] compression  How values are stored.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The field was added at the end of the schema.
 * @retval LX_ERR_ARGUMENT  The name, the dtype, the shape or the compression is invalid, a value
 *                          would be larger than #LX_MAX_VALUE (counting extents of 0 as 1), or a
 *                          pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  @p compression is #LX_COMPRESSION_ZSTD, and this library was built
 *                             without libzstd.
 * @retval LX_ERR_EXISTS    The schema already has a field with that name.
 * @retval LX_ERR_LIMIT     The schema already has #LX_MAX_FIELDS fields.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_schema_add_field(lx_schema *schema, const char *name, lx_dtype dtype,
                                     const uint64_t *shape, size_t ndim, lx_compression compression,
                                     lx_error *error);

/**
 * Sets how the values of a compressed field are compressed. The dataset stores these settings with
 * the field, so they apply to all writers.
 *
 * A dictionary contains what many values of the field have in common, so that even short values,
 * such as texts of 1 KiB, shrink a lot. Only #LX_COMPRESSION_ZSTD has dictionaries. The first
 * writer that has appended 100 times the size of the dictionary (at most 64 MiB) trains it on these
 * values, and compresses later values with it. A writer that is closed before that logs a warning;
 * lx_writer_train_dictionary() trains the dictionary on fewer values.
 *
 * @param[in]  schema      A schema from lx_schema_new().
 * @param[in]  name        The name of a field with a compression other than #LX_COMPRESSION_RAW.
 * @param[in]  level       1 (fastest) to 9 (smallest) for #LX_COMPRESSION_FLATE, 1 to 22 for
 *                         #LX_COMPRESSION_ZSTD; 0: the level of the writer
 *                         (lx_writer_options_set_compression_level()), by default 6 for
 *                         #LX_COMPRESSION_FLATE and 3 for #LX_COMPRESSION_ZSTD.
 * @param[in]  dictionary  The maximum size of the dictionary in bytes, usually
 *                         #LX_DEFAULT_DICTIONARY, at most #LX_MAX_DICTIONARY; less than 1024 counts
 *                         as 1024. 0: no dictionary.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK             Success.
 * @retval LX_ERR_NOT_FOUND  The schema has no field with that name.
 * @retval LX_ERR_ARGUMENT   A number is out of range, the compression has no levels or no
 *                           dictionaries, or a pointer is NULL.
 */
LX_API lx_status lx_schema_set_compression(lx_schema *schema, const char *name, int level,
                                           uint32_t dictionary, lx_error *error);

/** Returns the number of fields. */
LX_API size_t lx_schema_get_field_count(const lx_schema *schema);

/**
 * Returns the field at @p position; NULL if @p position is not less than
 * lx_schema_get_field_count(). The field is valid as long as the schema is.
 */
LX_API const lx_field *lx_schema_get_field(const lx_schema *schema, size_t position);

/**
 * Finds the position of a field by its name.
 *
 * @retval LX_OK             The position was stored in @p position.
 * @retval LX_ERR_NOT_FOUND  The schema has no field with that name; the error lists the existing
 *                           names.
 * @retval LX_ERR_ARGUMENT   A pointer is NULL.
 */
LX_API lx_status lx_schema_find_field(const lx_schema *schema, const char *name, size_t *position,
                                      lx_error *error);

/** @} */

LX_END_DECLS

#endif
