/* SPDX-License-Identifier: MIT */
/* The values of fields, by name, for one record or many. */
#ifndef LXPY_FIELD_VALUES_H
#define LXPY_FIELD_VALUES_H

#include "value.h"

/** Values of some fields, in the form of the library. */
typedef struct lxpy_field_values {
    lxpy_schema *schema;     /**< The schema of the fields; an owned reference. */
    PyObject *named;         /**< The caller's dict, or a copy of it. */
    size_t count;            /**< Number of fields with values. */
    size_t *fields;          /**< Positions of these fields in the schema. */
    lxpy_value_owner *owner; /**< The owners of the values' memory. */
    lx_value *values;        /**< The values of one record, or */
    lx_values *columns;      /**< The values of many records. */
    uint64_t records; /**< Number of records in the columns; #LX_NONE if all fields are None. */
} lxpy_field_values;

/**
 * Takes the argument @c casting from the keywords of a call. The keyword is an argument rather than
 * the value of a field, unless the values are passed as keywords and a field has this name.
 * @param         first    The index in @p args of the dict of values, if it is given.
 * @param[in,out] kwargs   The keywords, borrowed or NULL; replaced with a new reference, without
 *                         the argument.
 * @param[out]    casting  A new reference to the name of a casting rule, or to None.
 * @return 0, or -1 with an exception set and both references NULL.
 */
int lxpy_casting_take(lxpy_state *state, const lxpy_schema *schema, PyObject *args,
                      Py_ssize_t first, PyObject **kwargs, PyObject **casting);

/** The fields that must have values. */
typedef enum lxpy_which { LXPY_ALL_FIELDS, LXPY_SOME_FIELDS } lxpy_which;

/** Returns the dict of a call, which is either its only argument at or after index @p first, or its
 * keywords. The result is a new reference to a dict that no other code changes. On failure, returns
 * NULL with a TypeError set that names @p function. */
PyObject *lxpy_field_values_names(const char *function, PyObject *args, Py_ssize_t first,
                                  PyObject *kwargs);

/**
 * Converts the values of one record from a dict.
 * @param named    The result of lxpy_field_values_names(); takes ownership of the reference. Fails
 *                 if it is NULL.
 * @param casting  The result of lxpy_casting_take(), or None; borrowed.
 * @return 0, or -1 with an exception set. Call lxpy_field_values_clear() in both cases.
 */
int lxpy_field_values_record(lxpy_field_values *parsed, lxpy_state *state, lxpy_schema *schema,
                             PyObject *named, PyObject *casting, lxpy_which which);

/** Converts the values of many records in the same way. */
int lxpy_field_values_columns(lxpy_field_values *parsed, lxpy_state *state, lxpy_schema *schema,
                              PyObject *named, PyObject *casting, lxpy_which which);

/** Converts the values of @p records records; a value of one record is repeated for all of them. */
int lxpy_field_values_broadcast(lxpy_field_values *parsed, lxpy_state *state, lxpy_schema *schema,
                                PyObject *named, PyObject *casting, uint64_t records);

/** Releases all memory and references. */
void lxpy_field_values_clear(lxpy_field_values *parsed);

#endif
