/* SPDX-License-Identifier: MIT */
/* The fields of a dataset, in the form in which Python needs them again and again. */
#ifndef LXPY_SCHEMA_H
#define LXPY_SCHEMA_H

#include "lxpy.h"

/** One field. */
typedef struct lxpy_field {
    PyObject *name;
    PyObject *dtype; /**< numpy.dtype; None for bytes. Borrowed from the module. */
    PyObject *shape; /**< A tuple. */
    lx_dtype type;
    uint64_t size;   /**< Bytes a record; #LX_NONE for bytes. */
    lx_compression compression;
} lxpy_field;

/** All fields, in the dataset's order. */
typedef struct lxpy_schema {
    size_t count;
    lxpy_field *fields;
    PyObject *positions; /**< A dict: the place in @ref fields by name. */
} lxpy_schema;

/** Takes over what @p from has; 0, or -1 with an exception. */
int lxpy_schema_take(lxpy_schema *schema, lxpy_state *state, const lx_schema *from);

/** Gives all up; a schema of zeros is nothing. */
void lxpy_schema_clear(lxpy_schema *schema);

/** The place of the field @p name; -1 with KeyError or, where @p name is no str, TypeError. */
Py_ssize_t lxpy_schema_find(const lxpy_schema *schema, PyObject *name);

/** A tuple of (name, dtype, shape, compress) for each field, as loaderx.Field takes them. */
PyObject *lxpy_schema_describe(const lxpy_schema *schema);

/** "raw" and "flate", by lx_compression, ended by NULL. */
extern const char *const lxpy_compressions[];

#endif
