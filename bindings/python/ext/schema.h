/* SPDX-License-Identifier: MIT */
/* The fields of a dataset as Python objects. */
#ifndef LXPY_SCHEMA_H
#define LXPY_SCHEMA_H

#include "lxpy.h"

/** One field. */
typedef struct lxpy_field {
    PyObject *name;
    PyObject *type_name; /**< The name of the type. */
    PyObject *shape;     /**< A tuple; the first extent is None if it varies. */
    lx_dtype type;
    uint64_t size;      /**< Bytes per record; #LX_NONE if it varies. */
    uint64_t item_size; /**< Bytes of a record at one index of its first axis. */
    lx_compression compression;
    int level;
    uint32_t dictionary;
} lxpy_field;

/** All fields, in the dataset's order. Immutable; users hold references, because the dataset may
 * replace its schema. */
typedef struct lxpy_schema {
    size_t references;
    size_t count;
    lxpy_field *fields;
    PyObject *positions; /**< A dict from name to position in @ref fields. */
} lxpy_schema;

/** Copies the fields of @p from; returns NULL with an exception set on failure. */
lxpy_schema *lxpy_schema_new(const lx_schema *from);

/** Adds a reference. */
lxpy_schema *lxpy_schema_ref(lxpy_schema *schema);

/** Drops a reference; NULL is a no-op. */
void lxpy_schema_unref(lxpy_schema *schema);

/** Returns the position of the field @p name; on failure, returns -1 with KeyError set or, if @p
 * name is not a str, TypeError. */
Py_ssize_t lxpy_schema_find(const lxpy_schema *schema, PyObject *name);

/** Returns the shape of a record with @p items items: a new reference. */
PyObject *lxpy_field_shape(const lxpy_field *field, uint64_t items);

/** Returns a tuple of (name, type name, shape, compress, level, dictionary) for each field. */
PyObject *lxpy_schema_describe(const lxpy_schema *schema);

/** The description of a new field. */
typedef struct lxpy_description {
    const char *name; /**< Owned by the tuple that was parsed. */
    lx_dtype type;
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM];
    lx_compression compression;
    int level;           /**< 0: the default. */
    uint32_t dictionary; /**< Size in bytes; 0: none. */
} lxpy_description;

/** Parses a tuple (name, type name, shape, compress, level, dictionary). The last two may be
 * absent. Returns -1 with an exception set on failure. */
int lxpy_description_take(lxpy_description *description, lxpy_state *state, PyObject *tuple);

/** Finds a compression by its name; returns -1 with an exception set if there is none. */
int lxpy_compression_take(PyObject *name, lx_compression *compression);

/** Returns a schema with only the described field; NULL with an exception set on failure. */
lxpy_schema *lxpy_schema_describing(const lxpy_description *description, lxpy_state *state);

/** Returns the name of a compression in loaderx.Field: "raw", "flate" or "zstd". */
const char *lxpy_compression_name(lx_compression compression);

#endif
