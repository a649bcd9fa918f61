/* SPDX-License-Identifier: MIT */
#include "indices.h"

#include <string.h>

/* The minimum number of indices for which the conversion releases the GIL. */
#define MANY 4096

/* ------------------------------------------------------------------ memory */

static int reserve(lxpy_indices *indices, size_t count)
{
    indices->count = count;
    indices->numbers = indices->small;
    if (count > LXPY_INDICES_SMALL) {
        indices->numbers = count <= SIZE_MAX / sizeof(uint64_t)
                               ? PyMem_Malloc(count * sizeof(uint64_t))
                               : NULL;
        if (indices->numbers == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

void lxpy_indices_clear(lxpy_indices *indices)
{
    if (indices->numbers != indices->small)
        PyMem_Free(indices->numbers);
    indices->numbers = indices->small;
}

/* --------------------------------------------------------------- one index */

static int fail_range(PyObject *number, uint64_t length)
{
    PyErr_Format(PyExc_IndexError, "index %S is out of range: the dataset has %llu records", number,
                 (unsigned long long)length);
    return -1;
}

/** Resolves an index, which counts from the end if it is negative. */
static inline bool resolve(long long number, uint64_t length, uint64_t *index)
{
    *index = (uint64_t)number + (number < 0 ? length : 0);
    return number < 0 ? (uint64_t) - (number + 1) < length : (uint64_t)number < length;
}

bool lxpy_is_index(lxpy_state *state, PyObject *object)
{
    if (PyLong_CheckExact(object))
        return true;
    return PyIndex_Check(object) && !lxpy_is_bool(object) &&
           !PyObject_TypeCheck(object, (PyTypeObject *)LXPY(state, NDARRAY)) &&
           !lxpy_has_axes(object);
}

int lxpy_index_take(PyObject *object, uint64_t length, uint64_t *index)
{
    PyObject *integer = PyNumber_Index(object);
    int overflow;
    if (integer == NULL)
        return -1;
    long long number = PyLong_AsLongLongAndOverflow(integer, &overflow);
    int result = 0;
    if (overflow != 0 || !resolve(number, length, index))
        result = fail_range(integer, length);
    Py_DECREF(integer);
    return result;
}

/* ------------------------------------------------------------------ slices */

static int take_slice(lxpy_indices *indices, PyObject *slice, uint64_t length)
{
    Py_ssize_t start, stop, step;
    if (length > PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_OverflowError, "the dataset has more records than a slice can count");
        return -1;
    }
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0)
        return -1;
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)length, &start, &stop, step);
    if (reserve(indices, (size_t)count) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        indices->numbers[i] = (uint64_t)(start + i * step);
    return 0;
}

/* --------------------------------------------------------------- sequences */

static int fail_mask(size_t count, uint64_t length)
{
    PyErr_Format(PyExc_IndexError, "the mask has %zu elements, but the dataset has %llu records",
                 count, (unsigned long long)length);
    return -1;
}

/** Reads a list as a mask, because its first item is a bool. */
static int take_bools(lxpy_indices *indices, PyObject *list, uint64_t length, const char *argument)
{
    size_t count = (size_t)PySequence_Fast_GET_SIZE(list), used = 0;
    for (size_t i = 0; i < count; i++)
        if (!lxpy_is_bool(PySequence_Fast_GET_ITEM(list, (Py_ssize_t)i))) {
            PyErr_Format(PyExc_TypeError, "%s must be all bools or all integers", argument);
            return -1;
        }
    if (count != length)
        return fail_mask(count, length);
    if (reserve(indices, count) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (PyObject_IsTrue(PySequence_Fast_GET_ITEM(list, (Py_ssize_t)i)) == 1)
            indices->numbers[used++] = i;
    indices->count = used;
    return 0;
}

static int take_item(PyObject *item, uint64_t length, const char *argument, uint64_t *index)
{
    if (lxpy_is_bool(item)) {
        PyErr_Format(PyExc_TypeError, "%s must be all bools or all integers", argument);
        return -1;
    }
    if (!PyIndex_Check(item)) {
        PyErr_Format(PyExc_TypeError, "%s must be integers, not %.100s", argument,
                     Py_TYPE(item)->tp_name);
        return -1;
    }
    return lxpy_index_take(item, length, index);
}

static int take_list(lxpy_indices *indices, PyObject *list, uint64_t length, const char *argument)
{
    size_t count = (size_t)PySequence_Fast_GET_SIZE(list);
    if (count != 0 && lxpy_is_bool(PySequence_Fast_GET_ITEM(list, 0)))
        return take_bools(indices, list, length, argument);
    if (reserve(indices, count) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        /* an __index__ method may have changed the list */
        bool exists = (Py_ssize_t)i < PySequence_Fast_GET_SIZE(list);
        PyObject *item = exists ? Py_NewRef(PySequence_Fast_GET_ITEM(list, (Py_ssize_t)i)) : NULL;
        int result = exists ? take_item(item, length, argument, &indices->numbers[i]) : -1;
        if (!exists)
            PyErr_Format(PyExc_RuntimeError, "%s changed while it was being read", argument);
        Py_XDECREF(item);
        if (result < 0) {
            lxpy_indices_clear(indices);
            return -1;
        }
    }
    return 0;
}

static int take_sequence(lxpy_indices *indices, PyObject *object, uint64_t length,
                         const char *argument)
{
    PyObject *list = NULL;
    if (!PyUnicode_Check(object) && !PyBytes_Check(object) && !PyByteArray_Check(object) &&
        !PyLong_Check(object))
        list = PySequence_Fast(object, "");
    if (list == NULL) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be integers, a slice or a mask, not %.100s",
                         argument, Py_TYPE(object)->tp_name);
        return -1;
    }
    int result = take_list(indices, list, length, argument);
    Py_DECREF(list);
    return result;
}

/* ------------------------------------------------------------------ arrays */

/** Reads elements of @p type at @p from, and stops at the first element that is out of range. */
#define TAKE(type)                                                                                 \
    for (; i < count; i++) {                                                                       \
        type number;                                                                               \
        memcpy(&number, from + (Py_ssize_t)i * stride, sizeof number);                             \
        if (!resolve((long long)number, length, &to[i]))                                           \
            break;                                                                                 \
    }                                                                                              \
    break

/** Fills @p to, and returns the number of leading elements that are in range. */
static size_t take_numbers(uint64_t *to, const char *from, Py_ssize_t stride, size_t count,
                           char code, size_t size, uint64_t length)
{
    size_t i = 0;
    bool is_signed = strchr("bhilqn", code) != NULL;
    switch (size * 2 + is_signed) {
    case 2:
        TAKE(uint8_t);
    case 3:
        TAKE(int8_t);
    case 4:
        TAKE(uint16_t);
    case 5:
        TAKE(int16_t);
    case 8:
        TAKE(uint32_t);
    case 9:
        TAKE(int32_t);
    case 17:
        TAKE(int64_t);
    default: /* unsigned: no element is negative */
        for (; i < count; i++) {
            memcpy(&to[i], from + (Py_ssize_t)i * stride, sizeof *to);
            if (to[i] >= length)
                break;
        }
    }
    return i;
}

static size_t take_mask(uint64_t *to, const char *from, Py_ssize_t stride, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (from[(Py_ssize_t)i * stride] != 0)
            to[used++] = i;
    return used;
}

/** Raises the error for an array element that is out of range. */
static int fail_element(PyObject *object, size_t position, uint64_t length)
{
    PyObject *item = PySequence_GetItem(object, (Py_ssize_t)position);
    if (item != NULL)
        fail_range(item, length);
    Py_XDECREF(item);
    return -1;
}

static int take_view(lxpy_indices *indices, PyObject *object, const Py_buffer *view, char code,
                     uint64_t length)
{
    size_t count = (size_t)view->shape[0], done = 0;
    Py_ssize_t stride = view->strides[0];
    if (code == '?' && count != length)
        return fail_mask(count, length);
    if (reserve(indices, count) < 0)
        return -1;
    PyThreadState *thread = count >= MANY ? PyEval_SaveThread() : NULL;
    if (code == '?')
        indices->count = take_mask(indices->numbers, view->buf, stride, count);
    else
        done = take_numbers(indices->numbers, view->buf, stride, count, code,
                            (size_t)view->itemsize, length);
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    if (code != '?' && done != count) {
        lxpy_indices_clear(indices);
        return fail_element(object, done, length);
    }
    return 0;
}

/** Returns the format letter of an integer or bool in native byte order, or 0 for other formats. */
static char native_code(const char *format)
{
    if (format == NULL)
        return 0;
    if (*format == '@' || *format == '=')
        format++;
    return format[0] != '\0' && format[1] == '\0' && strchr("?bBhHiIlLqQnN", format[0]) != NULL
               ? format[0]
               : 0;
}

/** Converts integers that are not in native byte order. Any other dtype raises an error that names
 * the argument. */
static int take_converted(lxpy_indices *indices, lxpy_state *state, PyObject *object,
                          uint64_t length, const char *argument)
{
    PyObject *array = PyObject_CallOneArg(LXPY(state, ASARRAY), object);
    PyObject *dtype = array != NULL ? PyObject_GetAttrString(array, "dtype") : NULL;
    PyObject *kind = dtype != NULL ? PyObject_GetAttrString(dtype, "kind") : NULL;
    PyObject *converted = NULL;
    if (kind != NULL && (PyUnicode_CompareWithASCIIString(kind, "i") == 0 ||
                         PyUnicode_CompareWithASCIIString(kind, "u") == 0))
        converted = PyObject_CallMethod(
            array, "astype", "s", PyUnicode_CompareWithASCIIString(kind, "u") == 0 ? "u8" : "i8");
    else if (kind != NULL)
        PyErr_Format(PyExc_TypeError, "%s must be integers or bools, not %S", argument, dtype);
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    Py_XDECREF(array);
    if (converted == NULL)
        return -1;
    int result = lxpy_indices_take(indices, state, converted, length, argument);
    Py_DECREF(converted);
    return result;
}

static int take_buffer(lxpy_indices *indices, lxpy_state *state, PyObject *object, uint64_t length,
                       const char *argument)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        return take_converted(indices, state, object, length, argument);
    }
    char code = native_code(view.format);
    int result = -1;
    if (view.ndim != 1)
        PyErr_Format(PyExc_ValueError, "%s must have one axis, not %d", argument, view.ndim);
    else if (code == 0)
        result = take_converted(indices, state, object, length, argument);
    else
        result = take_view(indices, object, &view, code, length);
    PyBuffer_Release(&view);
    return result;
}

/** Converts a tensor, whose elements are not Python numbers. */
static int take_tensor(lxpy_indices *indices, lxpy_state *state, PyObject *object, uint64_t length,
                       const char *argument)
{
    PyObject *array = PyObject_CallOneArg(LXPY(state, ASARRAY), object);
    int result = array != NULL ? take_buffer(indices, state, array, length, argument) : -1;
    Py_XDECREF(array);
    return result;
}

int lxpy_indices_take(lxpy_indices *indices, lxpy_state *state, PyObject *object, uint64_t length,
                      const char *argument)
{
    if (PySlice_Check(object))
        return take_slice(indices, object, length);
    if (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object) &&
        !PyList_CheckExact(object) && !lxpy_is_bool(object))
        return take_buffer(indices, state, object, length, argument);
    if (!PyList_CheckExact(object) && lxpy_has_axes(object))
        return take_tensor(indices, state, object, length, argument);
    return take_sequence(indices, object, length, argument);
}

/* ---- places */

int lxpy_place_take(lxpy_place *place, PyObject *object, size_t rows)
{
    uint64_t first;
    if (object == Py_None)
        return 0;
    if (!PyTuple_Check(object))
        return lxpy_uint64(object, "place", 0, UINT64_MAX, &place->epoch);
    if (PyTuple_GET_SIZE(object) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "place must be None, an epoch, or an epoch and a position");
        return -1;
    }
    if (lxpy_uint64(PyTuple_GET_ITEM(object, 0), "place", 0, UINT64_MAX, &place->epoch) < 0 ||
        lxpy_uint64(PyTuple_GET_ITEM(object, 1), "place", 0, UINT64_MAX, &first) < 0)
        return -1;
    place->positions = calloc(rows + 1, sizeof *place->positions);
    if (place->positions == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < rows; i++)
        place->positions[i] = first + i;
    return 0;
}

void lxpy_place_clear(lxpy_place *place)
{
    free(place->positions);
}

lx_samples lxpy_samples_at(const lxpy_indices *indices, const lxpy_place *place)
{
    const uint64_t *positions = place->positions;
    return (lx_samples){.count = indices->count,
                        .indices = indices->numbers,
                        .positions = positions != NULL ? positions : indices->numbers,
                        .epoch = place->epoch};
}
