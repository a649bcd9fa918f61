/* SPDX-License-Identifier: MIT */
/* Declarations for all files of the extension. Each object is implemented in its own file and
 * wrapped by typed Python code. */
#ifndef LXPY_H
#define LXPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <loaderx/loaderx.h>

#include <stdbool.h>
#include <stdint.h>

/* ------------------------------------------------------------- module state */

/** Objects that the module keeps, by name: LXPY(state, NDARRAY) is numpy.ndarray. */
#define LXPY_OBJECTS(X)                                                                            \
    X(LOADERX_ERROR)    /**< loaderx.errors.LoaderxError */                                        \
    X(CORRUPT_ERROR)    /**< loaderx.errors.CorruptError */                                        \
    X(NDARRAY)          /**< numpy.ndarray */                                                      \
    X(EMPTY)            /**< numpy.empty */                                                        \
    X(ASARRAY)          /**< numpy.asarray */                                                      \
    X(NUMPY_DTYPE)      /**< numpy.dtype */                                                        \
    X(CONVERT_RECORD)   /**< loaderx.values.convert_record */                                      \
    X(CONVERT_COLUMN)   /**< loaderx.values.convert_column */                                      \
    X(BROADCAST_RECORD) /**< loaderx.values.broadcast_record */                                    \
    X(CASTING)          /**< the str 'casting' */                                                  \
    X(LOG)              /**< loaderx._logging.log */                                               \
    X(BATCH)            /**< loaderx.batch.Batch */                                                \
    X(RAGGED)           /**< loaderx.ragged.Ragged */                                              \
    X(ORIGIN)           /**< the str '_origin' */                                                  \
    X(PRESENT)          /**< the str 'present' */                                                  \
    X(COLUMNS_OF)       /**< loaderx._tables.columns_of */                                         \
    X(ARROW_OF)         /**< loaderx._tables.arrow_of */                                           \
    X(FIND_DTYPE)       /**< loaderx._types.find_dtype */                                          \
    X(CONVERT_VARYING)  /**< loaderx.values.convert_varying */                                     \
    X(TO_JSON)          /**< loaderx.values.to_json */                                             \
    X(FROM_JSON)        /**< json.loads */                                                         \
    X(MEMORY_TYPE)                                                                                 \
    X(ORDER_TYPE)                                                                                  \
    X(SOURCE_TYPE)                                                                                 \
    X(TOKENS_TYPE)                                                                                 \
    X(LOADER_TYPE)                                                                                 \
    X(PASS_TYPE)                                                                                   \
    X(TRACE_TYPE)                                                                                  \
    X(EXECUTOR_TYPE)                                                                               \
    X(DATASET_TYPE)                                                                                \
    X(WRITER_TYPE)                                                                                 \
    X(TICKET_TYPE)                                                                                 \
    X(RECORDIO_READER_TYPE)                                                                        \
    X(RECORDIO_WRITER_TYPE)

enum lxpy_object {
#define LXPY_OBJECT(name) LXPY_##name,
    LXPY_OBJECTS(LXPY_OBJECT)
#undef LXPY_OBJECT
        LXPY_OBJECT_COUNT
};

#define LXPY_DTYPE_COUNT (LX_FLOAT8_E8M0FNU + 1)

/** The state of the module, valid while an object of one of its types exists. */
typedef struct lxpy_state {
    PyObject *objects[LXPY_OBJECT_COUNT];
    /** numpy.dtype by lx_dtype; None for byte strings. NULL for a type of ml_dtypes until an array
     * of it is needed: use lxpy_dtype(). */
    PyObject *dtypes[LXPY_DTYPE_COUNT];
    char formats[LXPY_DTYPE_COUNT][4]; /**< Buffer protocol formats by lx_dtype; "" for a type
                                            without one. */
} lxpy_state;

#define LXPY(state, name) ((state)->objects[LXPY_##name])

/** Return the state of a module or, for a tp_new, of a type or of a subclass of such a type. */
lxpy_state *lxpy_state_get(PyObject *module);
lxpy_state *lxpy_state_find(PyTypeObject *type);

/** Returns the numpy.dtype of a type, a borrowed reference; None for byte strings. If it is a type
 * of ml_dtypes, which is not installed, returns NULL with ImportError set. */
PyObject *lxpy_dtype(lxpy_state *state, lx_dtype dtype);

/** Creates a type, adds it to the module under its name, and stores it at @p place in the state. */
int lxpy_add_type(PyObject *module, PyType_Spec *spec, enum lxpy_object place);

/** Each file that implements an object has one of these functions, which adds the file's types and
 * functions to the module. */
int lxpy_add_memory(PyObject *module);
int lxpy_add_executor(PyObject *module);
int lxpy_add_collate(PyObject *module);
int lxpy_add_pad(PyObject *module);
int lxpy_add_arrow(PyObject *module);
int lxpy_add_ragged(PyObject *module);
int lxpy_add_dataset(PyObject *module);
int lxpy_add_elsewhere(PyObject *module);
int lxpy_add_import(PyObject *module);
int lxpy_add_writer(PyObject *module);
int lxpy_add_ticket(PyObject *module);
int lxpy_add_recordio(PyObject *module);
int lxpy_add_capsule(PyObject *module);

/** Runs @p statement without the GIL; the statement must neither return nor jump out. */
#define LXPY_WITHOUT_GIL(statement)                                                                \
    do {                                                                                           \
        Py_BEGIN_ALLOW_THREADS                                                                     \
        statement;                                                                                 \
        Py_END_ALLOW_THREADS                                                                       \
    } while (0)

/** Maximum time that a call waits without the GIL before it handles signals. */
#define LXPY_SLICE_NS ((uint64_t)50 * 1000 * 1000)

/* ------------------------------------------------------------------- errors */

/** Raises the exception for @p error, chosen by its status. Returns NULL. */
PyObject *lxpy_raise(lxpy_state *state, const lx_error *error);

/** Creates the exception that lxpy_raise() would raise; returns NULL with a different exception set
 * if that fails. */
PyObject *lxpy_exception_new(lxpy_state *state, const lx_error *error);

/** Returns the details of an error as a dict: field, record, path, offset and message. */
PyObject *lxpy_damage_new(const lx_error *damage);

/** Raises LoaderxError with this status and message. Returns NULL. */
PyObject *lxpy_raise_status(lxpy_state *state, lx_status status, const char *format, ...);

/** Raises the ValueError for a record without a value in a field. The message names the ways out:
 * to leave such records out, and @p choices, which is "" or ends with "or ". Returns NULL. */
PyObject *lxpy_raise_missing(lxpy_state *state, const char *field, uint64_t record,
                             const char *choices);

/** Raises a LoaderxError that says that the @p what (a noun) at @p path (a str) is closed. Returns
 * NULL. */
PyObject *lxpy_raise_closed(lxpy_state *state, const char *what, PyObject *path);

/* ---------------------------------------------------------------- arguments */

/** Parses the arguments of a METH_FASTCALL | METH_KEYWORDS function. */
int lxpy_arguments(const char *function, const char *const *names, Py_ssize_t positional,
                   Py_ssize_t required, PyObject *const *args, Py_ssize_t count, PyObject *kwnames,
                   PyObject **values);

/** Whether the object is a Python or NumPy bool, which must not be accepted as a number. */
bool lxpy_is_bool(PyObject *object);

/** Whether @p object is an array or a tensor with at least one axis. */
bool lxpy_has_axes(PyObject *object);

/** Converts an int from @p minimum to @p maximum; bools are invalid. TypeError and ValueError name
 * @p argument. */
int lxpy_uint64(PyObject *object, const char *argument, uint64_t minimum, uint64_t maximum,
                uint64_t *value);

/** Converts seconds to nanoseconds; NULL and None become #LX_NONE, which means no limit. */
int lxpy_timeout(PyObject *object, const char *argument, uint64_t *nanoseconds);

/** Converts True or False; any other object raises a TypeError that names @p argument. */
int lxpy_bool(PyObject *object, const char *argument, bool *value);

/** Returns the UTF-8 text of a str, which owns it. Any other object raises TypeError; a str with
 * NUL or surrogates raises ValueError. Both errors name @p argument. */
const char *lxpy_text(PyObject *object, const char *argument);

/** Finds a str among @p choices, terminated by NULL. Errors name @p argument and list the
 * choices. */
int lxpy_choice(PyObject *object, const char *argument, const char *const *choices, int *value);

/** Converts the argument @c changed, which tells whether records may have changed since a state was
 * saved. */
int lxpy_changed(PyObject *object, bool *allowed);

/** Converts a str, bytes or path object to bytes for PyBytes_AS_STRING(), and returns a new
 * reference. An empty path raises FileNotFoundError. */
PyObject *lxpy_path(PyObject *object, const char *argument);

/** Returns a path or URL (bytes) as a str for people, without what lx_url_redact() removes. */
PyObject *lxpy_path_show(PyObject *path);

/* ------------------------------------------------------------------- memory */

/** Creates an object that owns memory and exposes it through the buffer protocol. Arrays over the
 * memory reference the object, so the memory outlives them. */
PyObject *lxpy_memory_new(lxpy_state *state, void *data, size_t size, bool writable, void *owner,
                          void (*release)(void *owner));

/** Creates a numpy.ndarray of @p dtype and @p shape (a tuple) at byte @p offset of a memory
 * object. */
PyObject *lxpy_array_new(lxpy_state *state, PyObject *memory, size_t offset, PyObject *dtype,
                         PyObject *shape);

/** Returns a tuple of ints: @p rows, unless it is #LX_NONE, followed by @p ndim extents. An extent
 * that varies is None. */
PyObject *lxpy_shape_new(uint64_t rows, const uint64_t *shape, size_t ndim);

/* ----------------------------------------------------------------- executor */

/** Gets the executor that was passed as an argument: a new reference, to be released with
 * lx_executor_unref(); it is NULL if the argument is NULL or None. */
int lxpy_executor_get(lxpy_state *state, PyObject *object, const char *argument,
                      lx_executor **executor);

#endif
