/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Formats of inputs. Each format is defined in its own source file format-<name>.c, declared
 * at the end of this file and listed in formats.c.
 *
 * A format turns an input into records, and a record into named values. It does not know the fields
 * of the dataset; columns.c converts each value to the type of its field.
 */
#ifndef LX_IMPORTER_FORMAT_H
#define LX_IMPORTER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/status.h>

#include "importer/class-labels.h"
#include "importer/input.h"

/** What a value is, before it is converted to the type of a field. */
typedef enum lx__import_kind {
    LX__IMPORT_MISSING, /**< The record has no such value (null in JSON, an empty word in CSV). */
    LX__IMPORT_BYTES,   /**< Bytes. */
    LX__IMPORT_IMAGE,   /**< An encoded image, which nothing has checked. */
    LX__IMPORT_TEXT,    /**< UTF-8; like the next four, it is checked unless it is @c unchecked. */
    LX__IMPORT_WORD,    /**< UTF-8 that may be a number. */
    LX__IMPORT_NUMBER,  /**< The text of a number, in the grammar of JSON. */
    LX__IMPORT_BOOL,    /**< The text "true" or "false". */
    LX__IMPORT_JSON,    /**< The text of a JSON value. */
    LX__IMPORT_ARRAY,   /**< Elements in little-endian order, without a byte between them. */
    LX__IMPORT_UNUSABLE /**< No value can be made; the data is a NUL-terminated text that says why,
                             and @c unchecked is set. */
} lx__import_kind;

/** A value of a record. */
typedef struct lx__import_value {
    const char *name; /**< What the input calls the field; not NUL-terminated. */
    size_t name_size;
    lx__import_kind kind;
    const void *data; /**< The bytes, text or elements; NULL if @c size is 0. */
    size_t size;
    const char *json; /**< A text: its JSON, with quotes, if it comes from JSON; otherwise NULL. */
    size_t json_size;
    lx_dtype dtype;        /**< Of an array, as are the next two. */
    size_t ndim;           /**< 0: a scalar. At most #LX_MAX_NDIM. */
    const uint64_t *shape; /**< @c size is the product of these extents and the element size. */
    bool unchecked; /**< The format says that this is text, JSON or, if it is a word, a number, but
                         has not checked it: the type of the field may accept any bytes. */
    bool varies;    /**< Of an array: other records may have other shapes, whatever the first ones
                        have. */
    bool list;      /**< Of an array: a list, so that a single element may be a scalar. */
    bool decimal;   /**< Of a word: a decimal number, all of whose digits count. */
    bool is_shape;  /**< The shape of an array, for fields that do not store it with the array. */
} lx__import_value;

/** A record. All pointers are valid until the next call for the same reader. */
typedef struct lx__import_record {
    const lx__import_value *values;
    size_t count;
    const char *key; /**< What the names of the members have in common, if the input may have them
                          in several places; also the @c data of its value. NULL: it may not. */
    size_t key_size;
    uint64_t offset; /**< Where the record begins in the input, after decompression. A format sets
                          it before it can fail. */
} lx__import_record;

/** What a format is told when an input is opened. */
typedef struct lx__import_source {
    const char *path;      /**< As the caller wrote it. */
    lx__input *input;      /**< Open at its beginning; NULL if the format opens paths itself. */
    uint64_t record_limit; /**< More bytes in one record are LX_ERR_LIMIT. */
    const char *const *options;     /**< The value of each option of the class; NULL: not set. */
    const lx__class_labels *labels; /**< If the format has classes: those of all inputs. */
} lx__import_source;

/** A reader of one input; each format embeds it as the first member of its own struct. */
typedef struct lx__import_reader {
    lx__import_source source; /**< What it points to stays valid until the reader is closed. */
    bool lost;                /**< next() failed and cannot find the next record. A failed input
                                   says so itself. */
    uint64_t read;            /**< If the format opens paths itself: bytes read, for progress. */
    uint64_t hidden;          /**< Names that were left out because they begin with a dot. */
} lx__import_reader;

/** The functions of a format. */
typedef struct lx__format_class {
    const char *name;
    const char *const *options; /**< Names of its options, ending with NULL; NULL: it has none. */
    bool opens_paths;           /**< Inputs are opened by open(), not as an lx__input. */

    /** Adds the classes of the records of an input, whose @c path and @c options are set; NULL: the
     * format has no classes. */
    lx_status (*add_classes)(const lx__import_source *source, lx__class_labels *labels,
                             lx_error *error);
    /** Creates a reader; the caller fills in @c source. A NULL means that memory ran out. */
    lx__import_reader *(*create)(void);
    /** Checks the options, and reads what comes before the first record. */
    lx_status (*open)(lx__import_reader *reader, lx_error *error);
    /**
     * Reads the next record; LX_END at the end of the input. LX_ERR_CORRUPT, LX_ERR_LIMIT,
     * LX_ERR_UNSUPPORTED and LX_ERR_NOT_FOUND mean that this record is bad: the next call continues
     * after it, unless @c lost or the @c failed of the input is set. Any other failure ends the
     * import. The importer adds path, record number and offset to the error.
     */
    lx_status (*next)(lx__import_reader *reader, lx__import_record *record, lx_error *error);
    /** Frees the reader. */
    void (*close)(lx__import_reader *reader);
} lx__format_class;

extern const lx__format_class lx__format_csv;
extern const lx__format_class lx__format_folder;
extern const lx__format_class lx__format_jsonl;
extern const lx__format_class lx__format_lines;
extern const lx__format_class lx__format_lmdb;
extern const lx__format_class lx__format_mds;
extern const lx__format_class lx__format_original;
extern const lx__format_class lx__format_tar;
extern const lx__format_class lx__format_tfrecord;

#endif
