/* SPDX-License-Identifier: MIT */
/* Arguments of Python calls. Errors name the invalid argument. */
#include "lxpy.h"

#include <errno.h>
#include <string.h>

static Py_ssize_t find_name(const char *const *names, PyObject *name)
{
    for (Py_ssize_t i = 0; names[i] != NULL; i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0)
            return i;
    return -1;
}

static int take_keywords(const char *function, const char *const *names, PyObject *const *args,
                         PyObject *kwnames, PyObject **values)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        Py_ssize_t position = find_name(names, name);
        if (position < 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function,
                         name);
            return -1;
        }
        if (values[position] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", function,
                         names[position]);
            return -1;
        }
        values[position] = args[i];
    }
    return 0;
}

int lxpy_arguments(const char *function, const char *const *names, Py_ssize_t positional,
                   Py_ssize_t required, PyObject *const *args, Py_ssize_t count, PyObject *kwnames,
                   PyObject **values)
{
    if (count > positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd positional arguments, not %zd",
                     function, positional, count);
        return -1;
    }
    for (Py_ssize_t i = 0; names[i] != NULL; i++)
        values[i] = i < count ? args[i] : NULL;
    if (kwnames != NULL && take_keywords(function, names, args + count, kwnames, values) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < required; i++)
        if (values[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() is missing the required argument '%s'", function,
                         names[i]);
            return -1;
        }
    return 0;
}

bool lxpy_has_axes(PyObject *object)
{
    PyObject *number = PyObject_GetAttrString(object, "ndim");
    bool result = number != NULL && PyLong_Check(number) && PyObject_IsTrue(number) == 1;
    Py_XDECREF(number);
    PyErr_Clear();
    return result;
}

/** Whether @p object is a tensor that contains one bool. A tensor has __index__() even if it
 * contains bools or has axes. */
static bool is_bool_tensor(PyObject *object)
{
    if (PyLong_Check(object) || !PyIndex_Check(object) ||
        strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 || lxpy_has_axes(object))
        return false;
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *text = dtype != NULL ? PyObject_Str(dtype) : NULL;
    const char *name = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    bool result = name != NULL && strcmp(name, "torch.bool") == 0;
    Py_XDECREF(text);
    Py_XDECREF(dtype);
    PyErr_Clear();
    return result;
}

bool lxpy_is_bool(PyObject *object)
{
    const char *type = Py_TYPE(object)->tp_name; /* NumPy 2 renamed numpy.bool_ */
    return PyBool_Check(object) || strcmp(type, "numpy.bool_") == 0 ||
           strcmp(type, "numpy.bool") == 0 || is_bool_tensor(object);
}

int lxpy_uint64(PyObject *object, const char *argument, uint64_t minimum, uint64_t maximum,
                uint64_t *value)
{
    bool is_bool = lxpy_is_bool(object);
    PyObject *number = !is_bool ? PyNumber_Index(object) : NULL;
    if (number == NULL) {
        if (is_bool || PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be an int, not %.100s", argument,
                         Py_TYPE(object)->tp_name);
        return -1;
    }
    unsigned long long got = PyLong_AsUnsignedLongLong(number);
    bool failed = got == (unsigned long long)-1 && PyErr_Occurred() != NULL;
    if (failed || got < minimum || got > maximum) {
        if (failed && !PyErr_ExceptionMatches(PyExc_OverflowError)) {
            Py_DECREF(number);
            return -1;
        }
        PyErr_Format(PyExc_ValueError, "%s must be from %llu to %llu, not %S", argument,
                     (unsigned long long)minimum, (unsigned long long)maximum, number);
        Py_DECREF(number);
        return -1;
    }
    Py_DECREF(number);
    *value = got;
    return 0;
}

int lxpy_timeout(PyObject *object, const char *argument, uint64_t *nanoseconds)
{
    *nanoseconds = LX_NONE;
    if (object == NULL || object == Py_None)
        return 0;
    bool is_bool = lxpy_is_bool(object);
    double seconds = !is_bool ? PyFloat_AsDouble(object) : -1.0;
    if (is_bool || (seconds == -1.0 && PyErr_Occurred() != NULL)) {
        if (is_bool || PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be a number of seconds or None, not %.100s",
                         argument, Py_TYPE(object)->tp_name);
        return -1;
    }
    if (!(seconds >= 0)) {
        PyErr_Format(PyExc_ValueError, "%s must not be negative, but is %R", argument, object);
        return -1;
    }
    if (seconds < 1e9) /* a time of more than 30 years means no limit */
        *nanoseconds = (uint64_t)(seconds * 1e9);
    return 0;
}

int lxpy_bool(PyObject *object, const char *argument, bool *value)
{
    if (!PyBool_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be True or False, not %.100s", argument,
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    *value = object == Py_True;
    return 0;
}

const char *lxpy_text(PyObject *object, const char *argument)
{
    Py_ssize_t size;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %.100s", argument,
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == NULL) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            PyErr_Format(PyExc_ValueError, "%s must not contain surrogates: %R", argument, object);
        return NULL;
    }
    if (strlen(text) == (size_t)size)
        return text;
    PyErr_Format(PyExc_ValueError, "%s must not contain NUL: %R", argument, object);
    return NULL;
}

/** Returns the choices as text, such as "'a', 'b' or 'c'", as a new reference. */
static PyObject *list_choices(const char *const *choices)
{
    PyObject *text = PyUnicode_FromFormat("'%s'", choices[0]);
    for (size_t i = 1; text != NULL && choices[i] != NULL; i++) {
        PyObject *longer = PyUnicode_FromFormat("%U%s'%s'", text,
                                                choices[i + 1] != NULL ? ", " : " or ", choices[i]);
        Py_SETREF(text, longer);
    }
    return text;
}

int lxpy_choice(PyObject *object, const char *argument, const char *const *choices, int *value)
{
    bool text = PyUnicode_Check(object);
    if (text)
        for (int i = 0; choices[i] != NULL; i++)
            if (PyUnicode_CompareWithASCIIString(object, choices[i]) == 0) {
                *value = i;
                return 0;
            }
    PyObject *list = list_choices(choices);
    if (list != NULL)
        PyErr_Format(text ? PyExc_ValueError : PyExc_TypeError, "%s must be %U, not %R", argument,
                     list, object);
    Py_XDECREF(list);
    return -1;
}

int lxpy_changed(PyObject *object, bool *allowed)
{
    static const char *const names[] = {"raise", "allow", NULL};
    int choice = 0;
    int result = lxpy_choice(object, "changed", names, &choice);
    *allowed = choice == 1;
    return result;
}

/** Raises the FileNotFoundError that the system reports for an empty path. */
static PyObject *fail_empty(const char *argument)
{
    PyObject *text = PyUnicode_FromFormat("%s is empty", argument);
    PyObject *exception = text != NULL
                              ? PyObject_CallFunction(PyExc_OSError, "iOs", ENOENT, text, "")
                              : NULL;
    if (exception != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    Py_XDECREF(text);
    return NULL;
}

PyObject *lxpy_path(PyObject *object, const char *argument)
{
    PyObject *path = NULL;
    if (PyUnicode_FSConverter(object, &path)) {
        if (PyBytes_GET_SIZE(path) != 0)
            return path;
        Py_DECREF(path);
        return fail_empty(argument);
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s must be a str, bytes or os.PathLike object, not %.100s",
                     argument, Py_TYPE(object)->tp_name);
    else if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        PyErr_Format(PyExc_ValueError, "%s must be a path that can be encoded, not %R", argument,
                     object);
    else if (PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_Format(PyExc_ValueError, "%s must not contain NUL: %R", argument, object);
    return NULL;
}

PyObject *lxpy_path_show(PyObject *path)
{
    PyObject *copy = PyBytes_FromStringAndSize(NULL, PyBytes_GET_SIZE(path));
    if (copy == NULL)
        return NULL;
    char *text = PyBytes_AS_STRING(copy);
    memcpy(text, PyBytes_AS_STRING(path), (size_t)PyBytes_GET_SIZE(path) + 1);
    lx_url_redact(text);
    PyObject *shown = PyUnicode_DecodeFSDefault(text);
    Py_DECREF(copy);
    return shown;
}
