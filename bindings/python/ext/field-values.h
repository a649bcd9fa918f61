/* SPDX-License-Identifier: MIT */
/* The values of fields, by name: of one record, or of many. */
#ifndef LXPY_FIELD_VALUES_H
#define LXPY_FIELD_VALUES_H

#include "value.h"

/** Values of some fields, as the library takes them. */
typedef struct lxpy_field_values {
    lxpy_schema *schema; /**< Whose fields they are; a reference. */
    PyObject *named;     /**< The caller's dict, or a copy of it. */
    size_t count;        /**< Fields that have values. */
    size_t *fields;      /**< Their positions in the schema. */
    lxpy_held *held;     /**< What keeps the values. */
    lx_value *values;    /**< Of one record; or */
    lx_values *columns;  /**< of many, */
    uint64_t records;    /**< so many; #LX_NONE where all fields are None. */
} lxpy_field_values;

/** The fields that must have values. */
typedef enum lxpy_which { LXPY_ALL_FIELDS, LXPY_SOME_FIELDS } lxpy_which;

/** The dict of a call: its only argument from number @p first on, or its keywords; a new reference
 * to what no other code changes. NULL with TypeError raised, which names @p function. */
PyObject *lxpy_field_values_names(const char *function, PyObject *args, Py_ssize_t first,
                                  PyObject *kwargs);

/**
 * Takes the values of one record from a dict.
 * @param named  As lxpy_field_values_names() made it, given up in any case; NULL is a failure.
 * @return 0, or -1 with an exception. lxpy_field_values_clear() is due in both cases.
 */
int lxpy_field_values_record(lxpy_field_values *given, lxpy_state *state, lxpy_schema *schema,
                             PyObject *named, lxpy_which which);

/** Takes the values of many records, in the same way. */
int lxpy_field_values_columns(lxpy_field_values *given, lxpy_state *state, lxpy_schema *schema,
                              PyObject *named, lxpy_which which);

/** The same for @p records of them: a value that is one record's is that of each. */
int lxpy_field_values_spread(lxpy_field_values *given, lxpy_state *state, lxpy_schema *schema,
                             PyObject *named, uint64_t records);

/** Releases everything. */
void lxpy_field_values_clear(lxpy_field_values *given);

#endif
