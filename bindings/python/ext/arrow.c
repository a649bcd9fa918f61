/* SPDX-License-Identifier: MIT */
/* Appends Arrow tables to a writer, and returns records of a dataset as Arrow streams. */
#include "arrow.h"

#include <errno.h>

#include "dataset.h"

/* ------------------------------------------------------------------- capsules */

/** Defines new_x(), which moves a struct to a capsule. Takes ownership, even on failure. */
#define CAPSULE(type, what, text)                                                                  \
    static void free_##what(PyObject *capsule)                                                     \
    {                                                                                              \
        struct type *moved = PyCapsule_GetPointer(capsule, text);                                  \
        if (moved->release != NULL)                                                                \
            LXPY_WITHOUT_GIL(moved->release(moved));                                               \
        PyMem_Free(moved);                                                                         \
    }                                                                                              \
    static PyObject *new_##what(struct type *from)                                                 \
    {                                                                                              \
        struct type *moved = PyMem_Malloc(sizeof *moved);                                          \
        PyObject *capsule = NULL;                                                                  \
        if (moved != NULL) {                                                                       \
            *moved = *from;                                                                        \
            capsule = PyCapsule_New(moved, text, free_##what);                                     \
        } else {                                                                                   \
            PyErr_NoMemory();                                                                      \
        }                                                                                          \
        if (capsule == NULL) {                                                                     \
            from->release(from);                                                                   \
            PyMem_Free(moved);                                                                     \
        }                                                                                          \
        return capsule;                                                                            \
    }

CAPSULE(ArrowSchema, schema, "arrow_schema")
CAPSULE(ArrowArray, array, "arrow_array")
CAPSULE(ArrowArrayStream, stream, "arrow_array_stream")

static struct ArrowArrayStream *get_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream != NULL && stream->release == NULL) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream was already read");
        return NULL;
    }
    return stream;
}

/** Raises the exception for a failure of a stream. Returns -1. */
static int fail_stream(struct ArrowArrayStream *stream, int errnum)
{
    const char *text = stream->get_last_error(stream);
    if (errnum == ENOMEM) {
        PyErr_SetString(PyExc_MemoryError, text != NULL ? text : "not enough memory");
        return -1;
    }
    PyObject *error = PyObject_CallFunction(
        PyExc_OSError, "is", errnum, text != NULL ? text : "the Arrow stream cannot be read");
    if (error != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return -1;
}

static int read_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    int errnum;
    LXPY_WITHOUT_GIL(errnum = stream->get_schema(stream, schema));
    return errnum == 0 ? 0 : fail_stream(stream, errnum);
}

static int read_array(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    int errnum;
    LXPY_WITHOUT_GIL(errnum = stream->get_next(stream, array));
    return errnum == 0 ? 0 : fail_stream(stream, errnum);
}

/* --------------------------------------------------------------------- extend */

PyObject *lxpy_arrow_export(lxpy_state *state, PyObject *object)
{
    return PyObject_CallOneArg(LXPY(state, ARROW_OF), object);
}

/** Appends the rows of one array. Errors count rows from @p before. */
static int append_array(lxpy_writer *self, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, uint64_t before, uint64_t *first)
{
    lx_error error = LX_ERROR_INIT;
    if (lxpy_writer_enter(self) < 0)
        return -1;
    LXPY_WITHOUT_GIL(lx_writer_append_arrow(self->handle, schema, array, first, &error));
    lxpy_writer_leave(self);
    if (error.status == LX_OK)
        return 0;
    if (error.record != LX_NONE)
        error.record += before;
    lxpy_raise(self->state, &error);
    return -1;
}

static int report(PyObject *progress, uint64_t rows)
{
    if (PyErr_CheckSignals() < 0)
        return -1;
    if (progress == NULL || progress == Py_None)
        return 0;
    PyObject *result = PyObject_CallFunction(progress, "K", (unsigned long long)rows);
    Py_XDECREF(result);
    return result != NULL ? 0 : -1;
}

/** Appends the rows of all arrays. The writer is free while the stream makes the next array. */
static int append_arrays(lxpy_writer *self, struct ArrowArrayStream *stream,
                         const struct ArrowSchema *schema, PyObject *progress, uint64_t *first)
{
    uint64_t rows = 0, index;
    for (;;) {
        struct ArrowArray array = {0};
        if (read_array(stream, &array) < 0)
            return -1;
        if (array.release == NULL)
            return 0;
        int result = append_array(self, schema, &array, rows, rows == 0 ? first : &index);
        rows += (uint64_t)array.length;
        LXPY_WITHOUT_GIL(array.release(&array));
        if (result < 0 || report(progress, rows) < 0)
            return -1;
    }
}

static int append_stream(lxpy_writer *self, PyObject *capsule, PyObject *progress, uint64_t *first)
{
    struct ArrowSchema schema = {0};
    struct ArrowArrayStream *stream = get_stream(capsule);
    if (stream == NULL || lxpy_writer_length(self, first) < 0 || read_schema(stream, &schema) < 0)
        return -1;
    int result = append_arrays(self, stream, &schema, progress, first);
    if (schema.release != NULL)
        schema.release(&schema);
    return result;
}

static int append_pair(lxpy_writer *self, PyObject *pair, uint64_t before, uint64_t *first)
{
    PyObject *schema, *array;
    if (!PyArg_ParseTuple(pair, "OO", &schema, &array))
        return -1;
    const struct ArrowSchema *columns = PyCapsule_GetPointer(schema, "arrow_schema");
    const struct ArrowArray *rows = columns != NULL ? PyCapsule_GetPointer(array, "arrow_array")
                                                    : NULL;
    return rows != NULL ? append_array(self, columns, rows, before, first) : -1;
}

/** Errors in one array count its rows from @p before. */
static PyObject *extend(lxpy_writer *self, PyObject *exported, PyObject *progress, uint64_t before)
{
    uint64_t first;
    int result = PyTuple_Check(exported) ? append_pair(self, exported, before, &first)
                                         : append_stream(self, exported, progress, &first);
    return result == 0 ? PyLong_FromUnsignedLongLong(first) : NULL;
}

PyObject *lxpy_arrow_extend(lxpy_writer *self, PyObject *exported)
{
    return extend(self, exported, NULL, 0);
}

PyObject *lxpy_writer_extend_arrow(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"exported", "progress", "before", NULL};
    PyObject *values[3];
    uint64_t before = 0;
    if (lxpy_arguments("_extend_arrow", names, 3, 2, args, count, NULL, values) < 0 ||
        (values[2] != NULL && lxpy_uint64(values[2], names[2], 0, INT64_MAX, &before) < 0))
        return NULL;
    return extend((lxpy_writer *)object, values[0], values[1], before);
}

/* ------------------------------------------------------------------ to_arrow */

static PyObject *to_arrow(lxpy_reading *self, const lxpy_indices *indices, const size_t *positions,
                          size_t count, void *user)
{
    lx_error error = LX_ERROR_INIT;
    struct ArrowArrayStream stream;
    const uint64_t *bytes = user;
    lx_dataset_to_arrow(self->handle, positions, count, indices != NULL ? indices->numbers : NULL,
                        indices != NULL ? indices->count : LX_NONE, *bytes, &stream, &error);
    return error.status == LX_OK ? new_stream(&stream) : lxpy_raise(self->state, &error);
}

PyObject *lxpy_dataset_to_arrow(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"indices", "fields", "bytes", NULL};
    PyObject *values[3];
    uint64_t bytes = LX_NONE;
    if (lxpy_arguments("_to_arrow", names, 3, 3, args, count, NULL, values) < 0 ||
        (values[2] != Py_None && lxpy_uint64(values[2], names[2], 0, LX_NONE, &bytes) < 0))
        return NULL;
    return lxpy_reading_call(object, values[0] != Py_None ? values[0] : NULL, values[1], to_arrow,
                             &bytes);
}

/* ------------------------------------------------------------------ functions */

static PyObject *arrow_schema(PyObject *module, PyObject *capsule)
{
    struct ArrowSchema schema = {0};
    struct ArrowArrayStream *stream = get_stream(capsule);
    (void)module;
    return stream != NULL && read_schema(stream, &schema) == 0 ? new_schema(&schema) : NULL;
}

static PyObject *arrow_array(PyObject *module, PyObject *capsule)
{
    struct ArrowArray array = {0};
    struct ArrowArrayStream *stream = get_stream(capsule);
    (void)module;
    return stream != NULL && read_array(stream, &array) == 0 ? new_array(&array) : NULL;
}

/** Returns the names of the columns, and the fields for them. */
static PyObject *describe(const struct ArrowSchema *columns, const lx_schema *schema)
{
    lxpy_schema *fields = lxpy_schema_new(schema);
    PyObject *described = fields != NULL ? lxpy_schema_describe(fields) : NULL;
    PyObject *names = described != NULL ? PyTuple_New((Py_ssize_t)columns->n_children) : NULL;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyUnicode_FromString(columns->children[i]->name);
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, i, name);
    }
    PyObject *result = names != NULL ? PyTuple_Pack(2, names, described) : NULL;
    Py_XDECREF(names);
    Py_XDECREF(described);
    lxpy_schema_unref(fields);
    return result;
}

/** Replaces the types of those columns that contain only nulls and whose names are in @p given: the
 * caller sets their fields. */
static int replace_nulls(struct ArrowSchema *columns, struct ArrowSchema **children,
                         struct ArrowSchema *replaced, PyObject *given)
{
    for (int64_t i = 0; i < columns->n_children; i++) {
        children[i] = columns->children[i];
        if (children[i]->format == NULL || strcmp(children[i]->format, "n") != 0)
            continue;
        PyObject *name = PyUnicode_FromString(children[i]->name != NULL ? children[i]->name : "");
        int found = name != NULL ? PySequence_Contains(given, name) : -1;
        Py_XDECREF(name);
        if (found < 0)
            return -1;
        replaced[i] = *children[i];
        replaced[i].format = "b"; /* any type */
        children[i] = found != 0 ? &replaced[i] : children[i];
    }
    columns->children = children;
    return 0;
}

static PyObject *choose_fields(lxpy_state *state, const struct ArrowSchema *columns)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    PyObject *result = NULL;
    if (schema == NULL)
        PyErr_NoMemory();
    else if (lx_schema_add_arrow(schema, columns, LX_COMPRESSION_RAW, &error) == LX_OK)
        result = describe(columns, schema);
    else
        lxpy_raise(state, &error);
    lx_schema_free(schema);
    return result;
}

static PyObject *arrow_fields(PyObject *module, PyObject *args)
{
    PyObject *capsule, *given, *result = NULL;
    if (!PyArg_ParseTuple(args, "OO:arrow_fields", &capsule, &given))
        return NULL;
    const struct ArrowSchema *from = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (from == NULL)
        return NULL;
    struct ArrowSchema columns = *from; /* never released */
    size_t count = from->n_children > 0 ? (size_t)from->n_children : 0;
    struct ArrowSchema **children = PyMem_Calloc(count + 1, sizeof(struct ArrowSchema *));
    struct ArrowSchema *replaced = PyMem_Calloc(count + 1, sizeof(struct ArrowSchema));
    if (children == NULL || replaced == NULL)
        PyErr_NoMemory();
    else if (replace_nulls(&columns, children, replaced, given) == 0)
        result = choose_fields(lxpy_state_get(module), &columns);
    PyMem_Free(children);
    PyMem_Free(replaced);
    return result;
}

static PyMethodDef functions[] = {
    {"arrow_schema", arrow_schema, METH_O,
     "arrow_schema(stream)\n--\n\nReturn the type of the arrays of a stream, as a capsule."},
    {"arrow_array", arrow_array, METH_O,
     "arrow_array(stream)\n--\n\nReturn the next array of a stream, as a capsule."},
    {"arrow_fields", arrow_fields, METH_VARARGS,
     "arrow_fields(schema, given)\n--\n\n"
     "Return the names of the columns of a table, and the fields for them, as tuples. Columns of\n"
     "nulls must be in the collection given; their fields are any."},
    {NULL, NULL, 0, NULL},
};

int lxpy_add_arrow(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
