/* SPDX-License-Identifier: MIT */
/* Declarations for all files of the extension. Each object has a file; typed Python calls it. */
#ifndef LXPY_H
#define LXPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <loaderx/loaderx.h>

#include <stdbool.h>
#include <stdint.h>

/* Python 3.9 lacks these. */
#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *Py_NewRef(PyObject *object)
{
    Py_INCREF(object);
    return object;
}
#endif

/** Types that only the extension makes objects of. Before 3.10 they take object's tp_new, which
 * lxpy_add_type() removes. */
#ifdef Py_TPFLAGS_DISALLOW_INSTANTIATION
#define LXPY_NO_INSTANTIATION Py_TPFLAGS_DISALLOW_INSTANTIATION
#else
#define LXPY_NO_INSTANTIATION 0
#endif

/* ------------------------------------------------------------- module state */

/** Objects that the module keeps, by name: LXPY(state, NDARRAY) is numpy.ndarray. */
#define LXPY_OBJECTS(X)                                                                            \
    X(LOADERX_ERROR)  /**< loaderx.errors.LoaderxError */                                          \
    X(CORRUPT_ERROR)  /**< loaderx.errors.CorruptError */                                          \
    X(NDARRAY)        /**< numpy.ndarray */                                                        \
    X(EMPTY)          /**< numpy.empty */                                                          \
    X(ASARRAY)        /**< numpy.asarray */                                                        \
    X(NUMPY_DTYPE)    /**< numpy.dtype */                                                          \
    X(CONVERT_RECORD) /**< loaderx.values.convert_record */                                        \
    X(CONVERT_COLUMN) /**< loaderx.values.convert_column */                                        \
    X(SPREAD_RECORD)  /**< loaderx.values.spread_record */                                         \
    X(MEMORY_TYPE)                                                                                 \
    X(ORDER_TYPE)                                                                                  \
    X(SOURCE_TYPE)                                                                                 \
    X(TOKENS_TYPE)                                                                                 \
    X(LOADER_TYPE)                                                                                 \
    X(EXECUTOR_TYPE)                                                                               \
    X(DATASET_TYPE)                                                                                \
    X(WRITER_TYPE)                                                                                 \
    X(TICKET_TYPE)

enum lxpy_object {
#define LXPY_OBJECT(name) LXPY_##name,
    LXPY_OBJECTS(LXPY_OBJECT)
#undef LXPY_OBJECT
        LXPY_OBJECT_COUNT
};

#define LXPY_DTYPE_COUNT (LX_COMPLEX128 + 1)

/** The state of the module. Valid as long as an object of one of its types exists. */
typedef struct lxpy_state {
    PyObject *objects[LXPY_OBJECT_COUNT];
    PyObject *dtypes[LXPY_DTYPE_COUNT]; /**< numpy.dtype by lx_dtype; None for #LX_BYTES. */
    char formats[LXPY_DTYPE_COUNT][4];  /**< Of the buffer protocol, by lx_dtype. */
} lxpy_state;

#define LXPY(state, name) ((state)->objects[LXPY_##name])

/** The state, by the module; and, for a tp_new, by the type or one that was derived of it. */
lxpy_state *lxpy_state_get(PyObject *module);
lxpy_state *lxpy_state_find(PyTypeObject *type);

/** Makes a type, adds it to the module under its name, and keeps it at @p place of the state. */
int lxpy_add_type(PyObject *module, PyType_Spec *spec, enum lxpy_object place);

/** One for each file with an object: adds what the file has to the module. */
int lxpy_add_memory(PyObject *module);
int lxpy_add_executor(PyObject *module);
int lxpy_add_collate(PyObject *module);
int lxpy_add_dataset(PyObject *module);
int lxpy_add_writer(PyObject *module);
int lxpy_add_ticket(PyObject *module);

/** Runs @p statement without the GIL; it must not return nor jump out. */
#define LXPY_WITHOUT_GIL(statement)                                                                \
    do {                                                                                           \
        Py_BEGIN_ALLOW_THREADS                                                                     \
        statement;                                                                                 \
        Py_END_ALLOW_THREADS                                                                       \
    } while (0)

/** How long a call waits without the GIL until it handles signals. */
#define LXPY_SLICE_NS ((uint64_t)50 * 1000 * 1000)

/* ------------------------------------------------------------------- errors */

/** Raises the exception for @p error and its status. Returns NULL. */
PyObject *lxpy_raise(lxpy_state *state, const lx_error *error);

/** The exception that lxpy_raise() would raise, as a new object; NULL with another one raised. */
PyObject *lxpy_exception_new(lxpy_state *state, const lx_error *error);

/** The details of an error as a dict: field, record, path, offset and message. */
PyObject *lxpy_damage_new(const lx_error *damage);

/** Raises LoaderxError with this status and this text. Returns NULL. */
PyObject *lxpy_raise_status(lxpy_state *state, lx_status status, const char *format, ...);

/** Raises LoaderxError: the @p what (a noun) of @p path, a str, is closed. Returns NULL. */
PyObject *lxpy_raise_closed(lxpy_state *state, const char *what, PyObject *path);

/* ---------------------------------------------------------------- arguments */

/**
 * Sorts the arguments of a METH_FASTCALL | METH_KEYWORDS function.
 *
 * @param[in]  function    Its name, for errors.
 * @param[in]  names       Its parameters, ended by NULL.
 * @param[in]  positional  How many of them may be given by position.
 * @param[in]  required    How many of them, the first ones, must be given.
 * @param[out] values      One for each name, borrowed; NULL where it was not given.
 * @return 0, or -1 with TypeError raised.
 */
int lxpy_arguments(const char *function, const char *const *names, Py_ssize_t positional,
                   Py_ssize_t required, PyObject *const *args, Py_ssize_t count, PyObject *kwnames,
                   PyObject **values);

/** Whether it is True or False, of Python or NumPy, which must not pass for a number. */
bool lxpy_is_bool(PyObject *object);

/** Converts an int of minimum .. maximum; bools are invalid. TypeError and ValueError name @p
 * argument. */
int lxpy_uint64(PyObject *object, const char *argument, uint64_t minimum, uint64_t maximum,
                uint64_t *value);

/** Converts seconds; NULL and None give #LX_NONE, which is without an end. */
int lxpy_timeout(PyObject *object, const char *argument, uint64_t *nanoseconds);

/** Converts True or False; anything else is a TypeError that names @p argument. */
int lxpy_bool(PyObject *object, const char *argument, bool *value);

/** The UTF-8 text of a str, as long as that lives. What is no str is a TypeError, one with NUL or
 * surrogates a ValueError; both name @p argument. */
const char *lxpy_text(PyObject *object, const char *argument);

/** Finds a str among @p choices, ended by NULL. Errors name @p argument and list the choices. */
int lxpy_choice(PyObject *object, const char *argument, const char *const *choices, int *value);

/** Converts a str, bytes or path object to bytes, a new reference, for PyBytes_AS_STRING(). One
 * that is empty is a FileNotFoundError. */
PyObject *lxpy_path(PyObject *object, const char *argument);

/* ------------------------------------------------------------------- memory */

/**
 * An object that owns memory and shows it by the buffer protocol. Arrays are made on it, so they
 * keep it alive, and nothing can be used after it is freed.
 *
 * @param data     Its bytes; may be NULL if @p size is 0.
 * @param owner    Given to @p release, with the GIL held, when the object has no references any
 *                 more. On failure it stays the caller's.
 */
PyObject *lxpy_memory_new(lxpy_state *state, void *data, size_t size, bool writable, void *owner,
                          void (*release)(void *owner));

/** A numpy.ndarray of @p dtype and @p shape (a tuple) at @p offset bytes of a memory object. */
PyObject *lxpy_array_new(lxpy_state *state, PyObject *memory, size_t offset, PyObject *dtype,
                         PyObject *shape);

/** A tuple of ints: @p rows, unless it is #LX_NONE, and then @p ndim extents. */
PyObject *lxpy_shape_new(uint64_t rows, const uint64_t *shape, size_t ndim);

/* ----------------------------------------------------------------- executor */

/**
 * The library's executor of an argument: a new reference, to be given up with lx_executor_unref();
 * NULL if the argument is NULL or None.
 * @return 0, or -1 with TypeError (which names @p argument) or LoaderxError (closed) raised.
 */
int lxpy_executor_get(lxpy_state *state, PyObject *object, const char *argument,
                      lx_executor **executor);

#endif
