/* SPDX-License-Identifier: MIT */
/* Converts library errors to Python exceptions. */
#include "lxpy.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

/* Space for a path, a field, numbers and a message, each of the maximum length in lx_error. */
#define LINE 1536

static PyObject *text_or_none(const char *text)
{
    return text[0] != '\0' ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                           : Py_NewRef(Py_None);
}

static PyObject *path_or_none(const char *path)
{
    return path[0] != '\0' ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

static PyObject *number_or_none(uint64_t number)
{
    return number != LX_NONE ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

/** Sets an attribute. Takes the reference to @p value; fails if @p value is NULL. */
static int set(PyObject *object, const char *name, PyObject *value)
{
    int result = value != NULL ? PyObject_SetAttrString(object, name, value) : -1;
    Py_XDECREF(value);
    return result;
}

/** Returns the whole error as one line of text. */
static PyObject *describe(const lx_error *error)
{
    char line[LINE];
    lx_error_describe(error, line, sizeof line);
    return PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "replace");
}

static PyObject *plain_new(PyObject *type, const lx_error *error)
{
    PyObject *text = describe(error);
    PyObject *exception = text != NULL ? PyObject_CallOneArg(type, text) : NULL;
    Py_XDECREF(text);
    return exception;
}

/** Creates a loaderx exception, with the details as attributes. */
static PyObject *loaderx_error_new(PyObject *type, const lx_error *error)
{
    PyObject *exception = plain_new(type, error);
    if (exception == NULL)
        return NULL;
    if (set(exception, "status", text_or_none(lx_status_get_name(error->status))) < 0 ||
        set(exception, "field", text_or_none(error->field)) < 0 ||
        set(exception, "record", number_or_none(error->record)) < 0 ||
        set(exception, "path", path_or_none(error->path)) < 0 ||
        set(exception, "offset", number_or_none(error->offset)) < 0 ||
        set(exception, "message", text_or_none(error->message)) < 0 ||
        set(exception, "errno",
            error->errnum != 0 ? PyLong_FromLong(error->errnum) : Py_NewRef(Py_None)) < 0)
        Py_CLEAR(exception);
    return exception;
}

/** Creates an OSError, which chooses its subclass by the error number. */
static PyObject *os_error_new(int number, const lx_error *error)
{
    lx_error rest = *error; /* without the path, which OSError itself stores and shows */
    rest.path[0] = '\0';
    PyObject *text = describe(&rest), *path = path_or_none(error->path), *exception = NULL;
    if (text != NULL && path != NULL)
        exception = path != Py_None
                        ? PyObject_CallFunction(PyExc_OSError, "iOO", number, text, path)
                        : PyObject_CallFunction(PyExc_OSError, "iO", number, text);
    Py_XDECREF(text);
    Py_XDECREF(path);
    return exception;
}

/** Determines the errno for a path that was not found, which the library does not report: ENOTDIR
 * if the path or one of its parents is not a directory, and otherwise ENOENT. */
static int not_found_errno(const char *path)
{
    struct stat about;
    int result;
    LXPY_WITHOUT_GIL(result = stat(path, &about) == 0 ? 0 : errno);
    return result == ENOTDIR || (result == 0 && !S_ISDIR(about.st_mode)) ? ENOTDIR : ENOENT;
}

PyObject *lxpy_exception_new(lxpy_state *state, const lx_error *error)
{
    switch (error->status) {
    case LX_ERR_NOMEM:
        return plain_new(PyExc_MemoryError, error);
    case LX_ERR_ARGUMENT:
    case LX_ERR_MISMATCH:
    case LX_ERR_LIMIT:
        return plain_new(PyExc_ValueError, error);
    case LX_ERR_RANGE:
        return plain_new(PyExc_IndexError, error);
    case LX_ERR_IO:
        return os_error_new(error->errnum != 0 ? error->errnum : EIO, error);
    case LX_ERR_NOT_FOUND: /* a path or a field name */
        if (error->errnum == 0 && (error->path[0] == '\0' || error->field[0] != '\0'))
            return plain_new(PyExc_KeyError, error);
        return os_error_new(not_found_errno(error->path), error);
    case LX_ERR_EXISTS:
        if (error->path[0] == '\0' || error->field[0] != '\0')
            return plain_new(PyExc_ValueError, error);
        return os_error_new(EEXIST, error);
    case LX_ERR_BUSY:
        return os_error_new(EAGAIN, error);
    case LX_ERR_TIMEOUT:
        return plain_new(PyExc_TimeoutError, error);
    case LX_ERR_CORRUPT:
        return loaderx_error_new(LXPY(state, CORRUPT_ERROR), error);
    default:
        return loaderx_error_new(LXPY(state, LOADERX_ERROR), error);
    }
}

PyObject *lxpy_damage_new(const lx_error *damage)
{
    return Py_BuildValue("{s:N, s:N, s:N, s:N, s:N}", "field", text_or_none(damage->field),
                         "record", number_or_none(damage->record), "path",
                         path_or_none(damage->path), "offset", number_or_none(damage->offset),
                         "message", text_or_none(damage->message));
}

PyObject *lxpy_raise(lxpy_state *state, const lx_error *error)
{
    PyObject *exception = lxpy_exception_new(state, error);
    if (exception != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    return NULL;
}

PyObject *lxpy_raise_status(lxpy_state *state, lx_status status, const char *format, ...)
{
    lx_error error = LX_ERROR_INIT;
    va_list args;
    va_start(args, format);
    PyOS_vsnprintf(error.message, sizeof error.message, format, args);
    va_end(args);
    error.status = status;
    return lxpy_raise(state, &error);
}

PyObject *lxpy_raise_missing(lxpy_state *state, const char *field, uint64_t record,
                             const char *choices)
{
    lx_error error = LX_ERROR_INIT;
    lx_fail(
        &error, LX_ERR_MISMATCH,
        "the value is missing and would read as zeros (empty, if the length varies): %sleave such "
        "records out, for example with ds.where(ds['%s'].present())",
        choices, field);
    lx_error_locate(&error, NULL, field, record, LX_NONE);
    return lxpy_raise(state, &error);
}

PyObject *lxpy_raise_closed(lxpy_state *state, const char *what, PyObject *path)
{
    lx_error error = LX_ERROR_INIT;
    PyObject *bytes = PyUnicode_EncodeFSDefault(path);
    if (bytes == NULL)
        return NULL;
    lx_fail(&error, LX_ERR_STATE, "the %s is closed", what);
    lx_error_locate(&error, PyBytes_AS_STRING(bytes), NULL, LX_NONE, LX_NONE);
    Py_DECREF(bytes);
    return lxpy_raise(state, &error);
}
