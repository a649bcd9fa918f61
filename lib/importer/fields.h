/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fields that an import fills: their names, and their types, which are set by the caller
 * or derived from the first records.
 */
#ifndef LX_IMPORTER_FIELDS_H
#define LX_IMPORTER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/schema.h>

#include "importer/format.h"
#include "importer/number.h"

/** How a field stores values. */
typedef enum lx__import_type {
    LX__IMPORT_AS_BYTES,  /**< Any bytes. */
    LX__IMPORT_AS_STR,    /**< UTF-8. */
    LX__IMPORT_AS_JSON,   /**< The JSON text of any value. */
    LX__IMPORT_AS_IMAGE,  /**< An encoded image. */
    LX__IMPORT_AS_DENSE,  /**< Elements of a dtype, in arrays of one shape. */
    LX__IMPORT_AS_RAGGED, /**< Elements of a dtype, in arrays whose first extents vary. */
    LX__IMPORT_IGNORED    /**< Not at all. */
} lx__import_type;

/** What the first records contain for a field. */
typedef struct lx__import_seen {
    unsigned kinds; /**< Bit k: a value of lx__import_kind k. */
    lx__numbers numbers;
    bool words;     /**< A word that is not empty is not a number. */
    bool irregular; /**< The arrays differ in more than the first extent. */
    bool varies;    /**< The first extents of the arrays differ, or may differ. */
    bool list;      /**< An array is a list: a single element may be a scalar. */
    bool is_shape;  /**< The values are shapes of the arrays of another field. */
    bool has_shape; /**< The next three are those of the first array. */
    lx_dtype dtype;
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM];
} lx__import_seen;

/** A field. */
typedef struct lx__import_field {
    char *source; /**< What the inputs call it. */
    size_t source_size;
    char name[LX_MAX_FIELD_NAME + 1]; /**< @ref source with "_" for bytes that no name may have. */
    lx__import_type type;
    bool given;     /**< The caller set the type: numbers may be rounded to it. */
    lx_dtype dtype; /**< Of a dense or ragged field, as are the next three. */
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM]; /**< The first extent is #LX_NONE in a ragged field. */
    size_t size;                 /**< Of a dense value, or of an item of a ragged one, in bytes. */
    size_t position;             /**< In the schema; unused if ignored. */
    lx__import_seen seen;
} lx__import_field;

typedef struct lx__import_fields {
    lx__import_field *list;
    size_t count, capacity;
} lx__import_fields;

/** Whether a field stores elements of a dtype. */
static inline bool lx__import_field_is_array(const lx__import_field *field)
{
    return field->type == LX__IMPORT_AS_DENSE || field->type == LX__IMPORT_AS_RAGGED;
}

void lx__import_fields_free(lx__import_fields *self);

/** Finds the field that the inputs call @p name, starting at position @p hint; NULL: there is
 * none. */
lx__import_field *lx__import_fields_find(const lx__import_fields *self, size_t hint,
                                         const char *name, size_t size);

/** Reads the text of a type; see lx_importer_set_field(). */
lx_status lx__import_type_parse(const char *text, lx__import_field *field, lx_error *error);

/** Sets the type of a field, which is added if it does not exist. */
lx_status lx__import_fields_set(lx__import_fields *self, const char *name, const char *type,
                                lx_error *error);

/**
 * Checks what the format has left to the type of the field.
 *
 * @param field  NULL: the type of the field is to be derived.
 * @retval LX_ERR_CORRUPT      The value is not UTF-8, JSON or a number, but should be.
 * @retval LX_ERR_UNSUPPORTED  The value is unusable.
 */
lx_status lx__import_field_check(const lx__import_field *field, const lx__import_value *value,
                                 lx_error *error);

/** Checks the values of a record; @p self has the fields whose types are set. */
lx_status lx__import_fields_check(const lx__import_fields *self, const lx__import_record *record,
                                  lx_error *error);

/** Adds the fields of one of the first records, and notes what their values are. */
lx_status lx__import_fields_observe(lx__import_fields *self, const lx__import_record *record,
                                    lx_error *error);

/** Derives the types of all fields from what was observed. */
void lx__import_fields_derive(lx__import_fields *self);

/** Ignores the shapes of arrays whose own fields have a shape, unless their types were set. */
void lx__import_fields_drop_shapes(lx__import_fields *self);

/** Adds the fields to a schema, all of them raw, and sets their positions. */
lx_status lx__import_fields_fill(lx__import_fields *self, lx_schema *schema, lx_error *error);

/**
 * Sets the positions of the fields in the schema of an existing dataset. The types of its fields
 * decide, except that a field of bytes keeps the type that was derived or set.
 *
 * @retval LX_ERR_MISMATCH  Only one of the two has a field, or the types do not match.
 */
lx_status lx__import_fields_match(lx__import_fields *self, const lx_schema *schema,
                                  lx_error *error);

/** Formats the type of a field, as lx__import_type_parse() reads it; returns @p text. */
char *lx__import_type_print(const lx__import_field *field, char *text, size_t size);

#endif
