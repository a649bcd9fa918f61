/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fields that an import fills: their names, and their types, which are set by the caller
 * or derived from the first records.
 */
#ifndef LX_IMPORTER_FIELDS_H
#define LX_IMPORTER_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/schema.h>

#include "importer/format.h"

/** How a field stores values. */
typedef enum lx__import_type {
    LX__IMPORT_AS_BYTES, /**< Any bytes. */
    LX__IMPORT_AS_STR,   /**< UTF-8. */
    LX__IMPORT_AS_JSON,  /**< The JSON text of any value. */
    LX__IMPORT_AS_DENSE, /**< Elements of a dtype. */
    LX__IMPORT_IGNORED   /**< Not at all. */
} lx__import_type;

/** What the first records contain for a field. */
typedef struct lx__import_seen {
    unsigned kinds; /**< Bit k: a value of lx__import_kind k. */
    bool fractions; /**< A number is not whole. */
    bool large;     /**< A whole number does not fit in an int64. */
    bool words;     /**< A word that is not empty is not a number. */
    bool irregular; /**< An array has another shape or dtype than the first one, or no elements. */
    lx_dtype dtype; /**< Of the arrays, as are the next two. */
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM];
} lx__import_seen;

/** A field. */
typedef struct lx__import_field {
    char *source; /**< What the inputs call it. */
    size_t source_size;
    char name[LX_MAX_FIELD_NAME + 1]; /**< @ref source with "_" for bytes that no name may have. */
    lx__import_type type;
    lx_dtype dtype; /**< Of a dense field, as are the next two. */
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM];
    size_t size;     /**< Of a dense value in bytes. */
    size_t position; /**< In the schema; unused if ignored. */
    lx__import_seen seen;
} lx__import_field;

typedef struct lx__import_fields {
    lx__import_field *list;
    size_t count, capacity;
} lx__import_fields;

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

/** Adds the fields of one of the first records, and notes what their values are. */
lx_status lx__import_fields_observe(lx__import_fields *self, const lx__import_record *record,
                                    lx_error *error);

/** Derives the types of all fields from what was observed. */
void lx__import_fields_derive(lx__import_fields *self);

/** Adds the fields to a schema, all of them raw, and sets their positions. */
lx_status lx__import_fields_fill(lx__import_fields *self, lx_schema *schema, lx_error *error);

/**
 * Sets the positions of the fields in the schema of an existing dataset. Dense fields of the
 * dataset decide their type.
 *
 * @retval LX_ERR_MISMATCH  Only one of the two has a field, or the types do not match.
 */
lx_status lx__import_fields_match(lx__import_fields *self, const lx_schema *schema,
                                  lx_error *error);

/** The fields as JSON, and back; NULL if memory runs out. */
json_t *lx__import_fields_save(const lx__import_fields *self);
lx_status lx__import_fields_load(lx__import_fields *self, const json_t *saved, lx_error *error);

/** Formats the type of a field, as lx__import_type_parse() reads it; returns @p text. */
char *lx__import_type_print(const lx__import_field *field, char *text, size_t size);

#endif
