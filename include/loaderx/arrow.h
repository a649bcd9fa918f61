/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Appending and reading records through the Arrow C data interface.
 */
#ifndef LOADERX_ARROW_H
#define LOADERX_ARROW_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dataset.h>
#include <loaderx/schema.h>
#include <loaderx/writer.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_arrow Exchange records with Arrow libraries
 *
 * pyarrow, polars, DuckDB, Arrow C++ and many other libraries exchange tables through three
 * structs, the Arrow C data and stream interfaces. The structs are defined here, in the form that
 * Arrow specifies, unless a different header has defined them. Nothing of Arrow is linked. Arrow's
 * values have the byte order of the machine; on a big-endian machine, the functions return
 * #LX_ERR_UNSUPPORTED.
 *
 * These types of columns have fields:
 * - bool, integers and floats: a scalar of the same dtype;
 * - dates and timestamps: a datetime64 scalar in the unit of the column, or an int64 scalar. date64
 *   has milliseconds; a timestamp with a time zone counts from 1970-01-01 in UTC;
 * - times of the day and durations: an int64 scalar, in the unit of the column;
 * - strings, also in their large and view forms: #LX_STR, #LX_JSON or #LX_BYTES;
 * - binary values, also in their large and view forms, and fixed-size binary values: #LX_BYTES,
 *   #LX_IMAGE, #LX_STR or #LX_JSON; fixed-size ones also an array of uint8;
 * - fixed-size lists of numbers, times or such lists: an array of that dtype and shape;
 * - lists of varying length: a ragged field, or an array, if each list has the length of the array;
 * - dictionaries: as for the type of the values;
 * - structs of the binary value "bytes" and the string "path", in which Hugging Face stores files:
 *   #LX_IMAGE or #LX_BYTES, from the bytes. A value with a path but no bytes does not fit: no path
 *   is followed;
 * - null: any field; all values are missing.
 *
 * A column of any other type, such as a decimal, another struct, a map or a union, has no field
 * type; the error names the column.
 *
 * The name of a column is that of its field, but bytes that no name may have become underscores, as
 * in lx_importer_run(). Two columns must not have the same field.
 *
 * Numbers may also become numbers of a wider dtype that can represent all of them: an int64 field
 * can take a column of int8, uint32 or int64. A flat list may have the number of elements of an
 * array with several dimensions. A null becomes a missing value, but an array cannot contain nulls.
 * Texts and JSON are checked. Arrow has no type for bfloat16, float8 and complex numbers, so only a
 * column of nulls fits fields of these types.
 *
 * @code
 * struct ArrowSchema columns;
 * struct ArrowArray rows;
 * stream->get_schema(stream, &columns);
 * lx_schema_add_arrow(schema, &columns, LX_COMPRESSION_RAW, &error);
 * lx_writer_create("table", schema, NULL, &writer, &error);
 * while (stream->get_next(stream, &rows) == 0 && rows.release != NULL) {
 *     lx_writer_append_arrow(writer, &columns, &rows, NULL, &error);
 *     rows.release(&rows);
 * }
 * columns.release(&columns);
 * lx_writer_close(writer, &error);
 * @endcode
 * @see lx_dataset, lx_error, lx_schema, lx_writer
 * @{
 */

#ifndef ARROW_C_DATA_INTERFACE
/** Says that a header has defined the structs of the Arrow C data interface. */
#define ARROW_C_DATA_INTERFACE

/** A flag of a schema: the order of the values of the dictionary has a meaning. */
#define ARROW_FLAG_DICTIONARY_ORDERED 1
/** A flag of a schema: values may be null. */
#define ARROW_FLAG_NULLABLE 2
/** A flag of a schema: the keys of each map are sorted. */
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** The type of an array, as specified by Arrow. */
struct ArrowSchema {
    const char *format;             /**< The type, for example "i" for int32. */
    const char *name;               /**< The name of the column; may be NULL. */
    const char *metadata;           /**< Keys and values in Arrow's encoding; may be NULL. */
    int64_t flags;                  /**< Flags, such as #ARROW_FLAG_NULLABLE. */
    int64_t n_children;             /**< The number of @ref children. */
    struct ArrowSchema **children;  /**< The types of the children. */
    struct ArrowSchema *dictionary; /**< The type of the values that integers refer to, or
                                           NULL. */
    void (*release)(struct ArrowSchema *schema); /**< Frees the schema; NULL in a freed one. */
    void *private_data;                          /**< Belongs to the producer. */
};

/** The values of an array, as specified by Arrow. */
struct ArrowArray {
    int64_t length;                /**< The number of values. */
    int64_t null_count;            /**< The number of nulls, or -1 if it is unknown. */
    int64_t offset;                /**< The number of values in the buffers before the first. */
    int64_t n_buffers;             /**< The number of @ref buffers. */
    int64_t n_children;            /**< The number of @ref children. */
    const void **buffers;          /**< The buffers, which depend on the type. */
    struct ArrowArray **children;  /**< The values of the children. */
    struct ArrowArray *dictionary; /**< The values that integers refer to, or NULL. */
    void (*release)(struct ArrowArray *array); /**< Frees the array; NULL in a freed one. */
    void *private_data;                        /**< Belongs to the producer. */
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
/** Says that a header has defined the struct of the Arrow C stream interface. */
#define ARROW_C_STREAM_INTERFACE

/** A stream of arrays of one type, as specified by Arrow. */
struct ArrowArrayStream {
    /** Stores the type of the arrays; returns 0 or an errno. The caller releases it. */
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    /** Stores the next array, or one whose @c release is NULL at the end of the stream; returns 0
     * or an errno. The caller releases the array. */
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    /** Returns the message of the last failure, valid until the next call; may return NULL. */
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream); /**< Frees the stream; NULL in a freed one. */
    void *private_data;                               /**< Belongs to the producer. */
};

#endif

/**
 * Adds a field for each column of an Arrow table. A binary column becomes a #LX_BYTES field, a
 * fixed-size binary column, too; a string column becomes #LX_STR, or #LX_JSON if it has the
 * extension type arrow.json; a date or a timestamp datetime64; a column of lists that vary in length
 * a ragged field; and one of arrow.fixed_shape_tensor an array of its shape. A struct of bytes and a
 * path becomes #LX_IMAGE, or #LX_BYTES if the metadata of Hugging Face names another feature, such
 * as Audio.
 *
 * @param[in] schema       A schema from lx_schema_new().
 * @param[in] columns      The type of the table: a struct with a child for each column. The call
 *                         does not release it.
 * @param[in] compression  How the values of the fields are stored.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The fields were added, in the order of the columns.
 * @retval LX_ERR_UNSUPPORTED  A column has no field type; the error names it. Or this library was
 *                             built without the compression.
 * @retval LX_ERR_ARGUMENT     @p columns is not a valid struct type, a name has no or more than
 *                             #LX_MAX_FIELD_NAME bytes, or a pointer is NULL.
 * @retval LX_ERR_EXISTS       Two fields would have the same name.
 * @retval LX_ERR_LIMIT        The schema would have more than #LX_MAX_FIELDS fields.
 * @retval LX_ERR_NOMEM        Out of memory. After any failure, some fields may have been added.
 */
LX_API lx_status lx_schema_add_arrow(lx_schema *schema, const struct ArrowSchema *columns,
                                     lx_compression compression, lx_error *error);

/**
 * Appends the rows of an Arrow array. Columns and fields are matched by name, in any order; each
 * field needs a column, and each column a field. The call checks all rows before it appends any.
 *
 * The interface does not tell how long a buffer is. The call checks everything else: numbers of
 * buffers and children, lengths, offsets, indices into dictionaries, and NULL pointers.
 *
 * @param[in]  writer   The writer.
 * @param[in]  columns  The type of the array: a struct with a child for each column.
 * @param[in]  rows     A struct array without null rows. The call neither changes nor releases it,
 *                      and does not use it after the call.
 * @param[out] first    Receives the index of the first appended record; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL. It names the column and, where one
 *                      row is to blame, the row.
 *
 * @retval LX_ERR_MISMATCH     A column has no field, a field has no column, or the type or a value
 *                             of a column does not fit its field; nothing was appended.
 * @retval LX_ERR_UNSUPPORTED  A column has a type that has no field type; nothing was appended.
 * @retval LX_ERR_ARGUMENT     The arrays are invalid, for example because offsets decrease, a text
 *                             is not valid UTF-8 or JSON, or a pointer is NULL; nothing was
 *                             appended.
 * @return Otherwise, any status that lx_writer_extend() returns.
 */
LX_API lx_status lx_writer_append_arrow(lx_writer *writer, const struct ArrowSchema *columns,
                                        const struct ArrowArray *rows, uint64_t *first,
                                        lx_error *error);

/**
 * Opens a stream of records as Arrow arrays. Each array is gathered when the stream is read, from
 * the snapshot that @p dataset has now. Values are copied once, to the buffers of the array.
 *
 * Missing values become nulls. #LX_BYTES and #LX_IMAGE become large binary, #LX_STR and #LX_JSON
 * large string. datetime64[D] becomes date32, the other datetime64 types a timestamp without a time
 * zone, and NaT null. A field with a shape becomes a fixed-size list, nested for each dimension;
 * the first dimension of a ragged field becomes a large list.
 *
 * @param[in]  dataset      The dataset, which may be closed before the stream is released.
 * @param[in]  fields       @p field_count positions in the schema; NULL for all fields. The call
 *                          copies them.
 * @param[in]  field_count  The number of fields; ignored if @p fields is NULL.
 * @param[in]  indices      @p count record indices, in any order; repeats are allowed. The call
 *                          copies them. NULL means the first @p count records.
 * @param[in]  count        The number of records; if @p indices is NULL, #LX_NONE means all
 *                          records.
 * @param[in]  bytes        The size at which an array is full; it has at least one record, and at
 *                          most 65,536. #LX_NONE: the stream has one array of all records.
 * @param[out] stream       Receives the stream; the caller releases it. The stream has at least one
 *                          array. Its functions return EINVAL, EIO or ENOMEM after a failure, and
 *                          get_last_error() describes the failure as lx_error_describe() does. Only
 *                          one thread at a time may use a stream.
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The stream was opened.
 * @retval LX_ERR_RANGE        An index is not less than the length.
 * @retval LX_ERR_UNSUPPORTED  A field has complex numbers, bfloat16 or float8, for which Arrow has
 *                             no type; the error names it. Leave the field out, or convert it with
 *                             lx_writer_convert_field(), for example to float32.
 * @retval LX_ERR_ARGUMENT     A field does not exist, or a pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, if @p dataset is live, any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_to_arrow(lx_dataset *dataset, const size_t *fields, size_t field_count,
                                     const uint64_t *indices, uint64_t count, uint64_t bytes,
                                     struct ArrowArrayStream *stream, lx_error *error);

/** @} */

LX_END_DECLS

#endif
