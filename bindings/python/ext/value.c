/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <string.h>

void lxpy_value_owner_clear(lxpy_value_owner *owner)
{
    PyBuffer_Release(&owner->view);
    PyBuffer_Release(&owner->present);
    PyBuffer_Release(&owner->offsets);
    PyMem_Free(owner->block);
    *owner = (lxpy_value_owner){0};
}

/* ------------------------------------------------------------------- arrays */

/** Whether the extents of the view, from @p first on, are those of a record. */
static bool same_extents(const Py_buffer *view, int first, PyObject *shape)
{
    Py_ssize_t ndim = PyTuple_GET_SIZE(shape);
    if (view->ndim != first + ndim)
        return false;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *extent = PyTuple_GET_ITEM(shape, i);
        if (extent != Py_None && view->shape[first + i] != PyLong_AsSsize_t(extent))
            return false;
    }
    return true;
}

/** Gets the buffer of a NumPy array that has the stored form of the field. */
static bool take_stored_form(lxpy_value_owner *owner, lxpy_state *state, const lxpy_field *field,
                             PyObject *object, int first)
{
    if (!Py_IS_TYPE(object, (PyTypeObject *)LXPY(state, NDARRAY)))
        return false; /* a subclass may interpret its memory differently */
    if (PyObject_GetBuffer(object, &owner->view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        return false;
    }
    if (strcmp(owner->view.format, state->formats[field->type]) == 0 &&
        same_extents(&owner->view, first, field->shape) && PyBuffer_IsContiguous(&owner->view, 'C'))
        return true;
    PyBuffer_Release(&owner->view);
    return false;
}

int lxpy_arrays_take(lxpy_value_owner *owner, PyObject *arrays)
{
    PyObject *found[3];
    Py_buffer *views[] = {&owner->view, &owner->offsets, &owner->present};
    if (!PyArg_ParseTuple(arrays, "OOO", &found[0], &found[1], &found[2]))
        return -1;
    for (int i = 0; i < 3; i++)
        if (found[i] != Py_None && PyObject_GetBuffer(found[i], views[i], PyBUF_C_CONTIGUOUS) < 0)
            return -1;
    return 0;
}

/** Uses loaderx.values to convert values to arrays in stored form. */
static int convert(lxpy_value_owner *owner, lxpy_state *state, const lxpy_field *field,
                   PyObject *object, PyObject *casting, enum lxpy_object converter)
{
    PyObject *args[] = {object, field->type_name, field->shape, field->name, casting};
    PyObject *arrays = PyObject_Vectorcall(state->objects[converter], args, 5, NULL);
    int result = arrays != NULL ? lxpy_arrays_take(owner, arrays) : -1;
    Py_XDECREF(arrays); /* the buffers own the arrays */
    return result;
}

/* ------------------------------------------------------------------ numbers */

/** Returns whether the number fits in an integer of @p size bytes. */
static bool fits(long long number, uint64_t size, bool is_signed)
{
    int bits = (int)size * 8 - (is_signed ? 1 : 0);
    if (number < 0)
        return is_signed && number >= -1 - (long long)(((uint64_t)1 << bits) - 1);
    return bits == 64 || (uint64_t)number >> bits == 0;
}

/** Stores the bits of a Python int or float in @p bits. Returns false if the object needs a
 * conversion. */
static bool number_bits(uint64_t *bits, const lxpy_field *field, PyObject *object)
{
    if (PyLong_CheckExact(object) && field->type >= LX_INT8 && field->type <= LX_UINT64) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
        *bits = (uint64_t)number;
        return overflow == 0 && fits(number, field->size, field->type <= LX_INT64);
    }
    if (PyFloat_CheckExact(object) && field->type == LX_FLOAT64) {
        double number = PyFloat_AS_DOUBLE(object);
        memcpy(bits, &number, sizeof number);
        return true;
    }
    return false;
}

/** Takes a Python number for a scalar field, the common case; other objects are converted. */
static bool take_number(lxpy_value_owner *owner, const lxpy_field *field, PyObject *object)
{
    uint64_t bits;
    if (PyTuple_GET_SIZE(field->shape) != 0 || !number_bits(&bits, field, object))
        return false;
    for (size_t i = 0; i < sizeof owner->number; i++)
        owner->number[i] = (uint8_t)(bits >> 8 * i);
    return true;
}

/* ------------------------------------------------------------- byte strings */

/** Gets the bytes of a str. */
static int take_text(Py_buffer *view, const lxpy_field *field, PyObject *object)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text != NULL)
        return PyBuffer_FillInfo(view, object, (void *)text, size, 1, PyBUF_SIMPLE);
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        PyErr_Format(PyExc_ValueError,
                     "field %R: the str contains surrogates, which UTF-8 does "
                     "not allow",
                     field->name);
    return -1;
}

/** Gets the bytes that the caller or encoded() passed; the str of a JSON field is a JSON text. */
static int take_bytes(Py_buffer *view, const lxpy_field *field, PyObject *object)
{
    bool is_str = PyUnicode_Check(object);
    bool takes_str = field->type == LX_STR || field->type == LX_JSON;
    if (is_str && takes_str)
        return take_text(view, field, object);
    if (is_str || !PyObject_CheckBuffer(object)) {
        PyErr_Format(PyExc_TypeError, "field %R must be %sbytes or None, not %.100s%s", field->name,
                     takes_str ? "str, " : "", Py_TYPE(object)->tp_name,
                     is_str ? "; encode it first" : "");
        return -1;
    }
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS) < 0) {
        PyErr_Format(PyExc_ValueError, "field %R: the %.100s is not contiguous", field->name,
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    if (takes_str || (view->ndim <= 1 && view->itemsize <= 1))
        return 0;
    PyErr_Format(PyExc_TypeError,
                 "field %R stores bytes, not a %.100s of %d dimensions with items of %zd bytes: "
                 "pass images.encode(pixels), or the bytes of a file",
                 field->name, Py_TYPE(object)->tp_name, view->ndim, view->itemsize);
    PyBuffer_Release(view); /* as bytes, pixels and numbers would lose their shape and type */
    return -1;
}

/** Returns the object whose bytes are stored: for a JSON field, the text of a value that is not
 * bytes. */
static PyObject *encoded(lxpy_state *state, const lxpy_field *field, PyObject *object)
{
    if (field->type != LX_JSON || object == Py_None || PyBytes_Check(object) ||
        PyByteArray_Check(object) || PyMemoryView_Check(object))
        return Py_NewRef(object);
    return PyObject_CallFunctionObjArgs(LXPY(state, TO_JSON), object, field->name, NULL);
}

static int take_byte_string(Py_buffer *view, lxpy_state *state, const lxpy_field *field,
                            PyObject *object)
{
    PyObject *bytes = encoded(state, field, object);
    int result = bytes != NULL ? take_bytes(view, field, bytes) : -1;
    Py_XDECREF(bytes);
    return result;
}

int lxpy_value_take(lx_value *value, lxpy_value_owner *owner, lxpy_state *state,
                    const lxpy_field *field, PyObject *object, PyObject *casting)
{
    if (object == Py_None) {
        *value = (lx_value){NULL, LX_NONE};
        return 0;
    }
    if (take_number(owner, field, object)) {
        *value = (lx_value){owner->number, field->size};
        return 0;
    }
    int result;
    if (lx_dtype_is_bytes(field->type))
        result = take_byte_string(&owner->view, state, field, object);
    else if (take_stored_form(owner, state, field, object, 0))
        result = 0;
    else
        result = convert(owner, state, field, object, casting, LXPY_CONVERT_RECORD);
    *value = (lx_value){owner->view.buf, (uint64_t)owner->view.len};
    return result;
}

/* ------------------------------------------------------- many byte strings */

/** The concatenated values of a list, in one block: the offsets, one mask byte per value, and the
 * bytes. */
typedef struct joined_values {
    uint64_t *offsets;
    uint8_t *present;
    char *data;
} joined_values;

/** Stores the length of each value. Returns the total length, or -1 with an exception. */
static Py_ssize_t measure_list(const lxpy_field *field, PyObject *list, uint64_t *offsets,
                               uint8_t *present)
{
    Py_ssize_t count = PyTuple_GET_SIZE(list), total = 0;
    offsets[0] = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GET_ITEM(list, i);
        Py_buffer view;
        present[i] = item != Py_None;
        if (present[i] != 0) {
            if (take_bytes(&view, field, item) < 0)
                return -1;
            bool fits = view.len <= PY_SSIZE_T_MAX - total;
            total += fits ? view.len : 0;
            PyBuffer_Release(&view);
            if (!fits) {
                PyErr_NoMemory();
                return -1;
            }
        }
        offsets[i + 1] = (uint64_t)total;
    }
    return total;
}

/** Copies the bytes objects. Called without the GIL. */
static void copy_constant(PyObject *list, const joined_values *j)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); i++) {
        PyObject *item = PyTuple_GET_ITEM(list, i);
        if (PyBytes_CheckExact(item))
            memcpy(j->data + j->offsets[i], PyBytes_AS_STRING(item),
                   (size_t)(j->offsets[i + 1] - j->offsets[i]));
    }
}

/** Copies any other value; if it is mutable, it may have changed since it was measured. */
static int copy_other(const lxpy_field *field, PyObject *item, char *to, uint64_t size)
{
    Py_buffer view;
    if (take_bytes(&view, field, item) < 0)
        return -1;
    bool same = (uint64_t)view.len == size;
    if (same)
        memcpy(to, view.buf, (size_t)size);
    PyBuffer_Release(&view);
    if (!same)
        PyErr_Format(PyExc_ValueError, "field %R changed while it was being read", field->name);
    return same ? 0 : -1;
}

static int copy_list(const lxpy_field *field, PyObject *list, const joined_values *j)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); i++) {
        PyObject *item = PyTuple_GET_ITEM(list, i);
        if (j->present[i] != 0 && !PyBytes_CheckExact(item) &&
            copy_other(field, item, j->data + j->offsets[i], j->offsets[i + 1] - j->offsets[i]) < 0)
            return -1;
    }
    LXPY_WITHOUT_GIL(copy_constant(list, j));
    return 0;
}

static int join_list(joined_values *j, lxpy_value_owner *owner, const lxpy_field *field,
                     PyObject *list)
{
    size_t count = (size_t)PyTuple_GET_SIZE(list);
    size_t head = (count + 1) * sizeof(uint64_t) + count;
    owner->block = PyMem_Malloc(head);
    if (owner->block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t total = measure_list(field, list, owner->block,
                                    (uint8_t *)((uint64_t *)owner->block + count + 1));
    if (total < 0)
        return -1;
    char *block = PyMem_Realloc(owner->block, head + (size_t)total);
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    owner->block = block;
    j->offsets = (uint64_t *)(void *)block;
    j->present = (uint8_t *)(j->offsets + count + 1);
    j->data = block + head;
    return copy_list(field, list, j);
}

/** Returns whether the object is a Ragged of strs for a field of texts, which are JSON texts if the
 * field is a JSON field, as in a batch; returns -1 with an exception on failure. */
static int holds_texts(lxpy_state *state, const lxpy_field *field, PyObject *object)
{
    if (field->type != LX_STR && field->type != LX_JSON)
        return 0;
    int result = PyObject_IsInstance(object, LXPY(state, RAGGED));
    PyObject *item = result > 0 ? PyObject_GetAttrString(object, "item") : NULL;
    if (result > 0)
        result = item == NULL ? -1 : item == (PyObject *)&PyUnicode_Type;
    Py_XDECREF(item);
    return result;
}

/** Encodes the values of a JSON field in place. */
static int encode_all(lxpy_state *state, const lxpy_field *field, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *bytes = encoded(state, field, PyList_GET_ITEM(list, i));
        if (bytes == NULL || PyList_SetItem(list, i, bytes) < 0)
            return -1;
    }
    return 0;
}

/** Returns a tuple of the caller's values, which cannot change during the call. */
static PyObject *tuple_of(lxpy_state *state, const lxpy_field *field, PyObject *object)
{
    PyObject *list = NULL, *tuple = NULL;
    int texts = holds_texts(state, field, object);
    if (texts > 0) /* as bytes: the library checks them, and names the record of an invalid one */
        list = PyObject_CallMethod(object, "_encoded", NULL);
    else if (texts == 0 && !PyUnicode_Check(object) && !PyBytes_Check(object) &&
             !PyByteArray_Check(object) && !PyMemoryView_Check(object) && !PyDict_Check(object))
        list = PySequence_List(object);
    if (list == NULL && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)))
        PyErr_Format(PyExc_TypeError, "field %R must be a sequence of values or None, not %.100s",
                     field->name, Py_TYPE(object)->tp_name);
    bool ready = texts > 0 || field->type != LX_JSON;
    if (list != NULL && (ready || encode_all(state, field, list) == 0))
        tuple = PyList_AsTuple(list);
    Py_XDECREF(list);
    return tuple;
}

static int take_list(lx_values *values, lxpy_value_owner *owner, lxpy_state *state,
                     const lxpy_field *field, PyObject *object, uint64_t *count)
{
    joined_values j;
    PyObject *list = tuple_of(state, field, object);
    if (list == NULL)
        return -1;
    int result = join_list(&j, owner, field, list);
    *count = (uint64_t)PyTuple_GET_SIZE(list);
    Py_DECREF(list);
    if (result == 0)
        *values = (lx_values){j.data, j.offsets, j.present};
    return result;
}

/* ---------------------------------------------------------------- many records */

static int take_dense(lx_values *values, lxpy_value_owner *owner, lxpy_state *state,
                      const lxpy_field *field, PyObject *object, PyObject *casting, uint64_t *count)
{
    if (!take_stored_form(owner, state, field, object, 1) &&
        convert(owner, state, field, object, casting, LXPY_CONVERT_COLUMN) < 0)
        return -1;
    *count = (uint64_t)owner->view.shape[0];
    *values = (lx_values){owner->view.buf, NULL, owner->present.buf};
    return 0;
}

static int take_ragged(lx_values *values, lxpy_value_owner *owner, lxpy_state *state,
                       const lxpy_field *field, PyObject *object, PyObject *casting,
                       uint64_t *count)
{
    if (convert(owner, state, field, object, casting, LXPY_CONVERT_VARYING) < 0)
        return -1;
    const uint64_t *offsets = owner->offsets.buf;
    *count = (uint64_t)owner->offsets.shape[0] - 1;
    *values = (lx_values){owner->view.buf, offsets, owner->present.buf};
    if (offsets[*count] == (uint64_t)owner->view.len)
        return 0;
    PyErr_Format(PyExc_ValueError, "field %R changed while it was being read", field->name);
    return -1;
}

int lxpy_values_take(lx_values *values, lxpy_value_owner *owner, lxpy_state *state,
                     const lxpy_field *field, PyObject *object, PyObject *casting, uint64_t *count)
{
    uint64_t got = 0;
    *values = (lx_values){NULL, NULL, NULL};
    if (object == Py_None)
        return 0;
    int result;
    if (lx_dtype_is_bytes(field->type))
        result = take_list(values, owner, state, field, object, &got);
    else if (field->size == LX_NONE)
        result = take_ragged(values, owner, state, field, object, casting, &got);
    else
        result = take_dense(values, owner, state, field, object, casting, &got);
    if (result < 0)
        return -1;
    if (*count == LX_NONE)
        *count = got;
    if (*count == got)
        return 0;
    PyErr_Format(PyExc_ValueError, "field %R has %llu records, but the preceding fields have %llu",
                 field->name, (unsigned long long)got, (unsigned long long)*count);
    return -1;
}
