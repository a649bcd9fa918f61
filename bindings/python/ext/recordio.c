/* SPDX-License-Identifier: MIT */
/* RecordioReader and RecordioWriter. */
#include "lxpy.h"

#include <loaderx/recordio.h>

#include "progress.h"

typedef struct recordio_reader {
    PyObject_HEAD
    lxpy_state *state;
    PyObject *path;
    lx_recordio_reader *handle; /**< NULL after close(). Protected by the GIL, like @ref busy. */
    bool busy;                  /**< A thread uses the handle without the GIL. */
    lxpy_callbacks callbacks;   /**< Handle signals while the handle waits for a pipe. */
} recordio_reader;

typedef struct recordio_writer {
    PyObject_HEAD
    lxpy_state *state;
    PyObject *path;
    lx_recordio_writer *handle;
    bool busy;
} recordio_writer;

/** Makes sure that no other thread uses the handle. */
static int check_free(lxpy_state *state, const void *handle, bool busy, const char *what,
                      PyObject *path)
{
    if (handle == NULL)
        lxpy_raise_closed(state, what, path);
    else if (busy)
        PyErr_Format(PyExc_RuntimeError,
                     "the %s of %R is in use by another thread: use one for each thread", what,
                     path);
    else
        return 0;
    return -1;
}

/* ---- reader */

/** Returns the paths in a list, which @p kept keeps; NULL with an exception. */
static const char **take_paths(PyObject *paths, PyObject *kept)
{
    Py_ssize_t count = PyList_GET_SIZE(paths);
    const char **names = PyMem_Calloc((size_t)count + 1, sizeof *names);
    if (names == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; names != NULL && i < count; i++) {
        PyObject *path = lxpy_path(PyList_GET_ITEM(paths, i), "a path");
        if (path == NULL || PyList_Append(kept, path) < 0) {
            PyMem_Free(names);
            names = NULL;
        } else {
            names[i] = PyBytes_AS_STRING(path);
        }
        Py_XDECREF(path);
    }
    return names;
}

/** Opens part @p part of @p parts of the files in a list of paths, by bytes, or by the indexes in
 * another list. */
static lx_recordio_reader *open_part(PyObject *paths, PyObject *indexes, bool skip, uint64_t part,
                                     uint64_t parts, lx_error *error)
{
    size_t count = (size_t)PyList_GET_SIZE(paths);
    lx_recordio_reader *handle = NULL;
    if (indexes != NULL && PyList_GET_SIZE(indexes) != PyList_GET_SIZE(paths)) {
        PyErr_Format(PyExc_ValueError, "%zd files have %zd indexes: give one for each",
                     PyList_GET_SIZE(paths), PyList_GET_SIZE(indexes));
        return NULL;
    }
    PyObject *kept = PyList_New(0);
    const char **names = kept != NULL ? take_paths(paths, kept) : NULL;
    const char **lines = names != NULL && indexes != NULL ? take_paths(indexes, kept) : NULL;
    if (lines != NULL)
        LXPY_WITHOUT_GIL(lx_recordio_reader_open_indexed(names, lines, count, part, parts, skip,
                                                         &handle, error));
    else if (names != NULL && indexes == NULL)
        LXPY_WITHOUT_GIL(
            lx_recordio_reader_open_part(names, count, part, parts, skip, &handle, error));
    PyMem_Free(names);
    PyMem_Free(lines);
    Py_XDECREF(kept);
    return handle;
}

static lx_recordio_reader *open_path(PyObject *given, bool skip, lxpy_callbacks *callbacks,
                                     lx_error *error)
{
    lx_recordio_reader *handle = NULL;
    PyObject *path = lxpy_path(given, "path");
    if (path == NULL)
        return NULL;
    lxpy_callbacks_begin(callbacks);
    lx_recordio_reader_open(PyBytes_AS_STRING(path), skip, lxpy_report_progress, callbacks, &handle,
                            error);
    lxpy_callbacks_end(callbacks);
    Py_DECREF(path);
    return handle;
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "skip", "part", "parts", "indexes", NULL};
    lxpy_state *state = lxpy_state_find(type);
    lx_error error = LX_ERROR_INIT;
    PyObject *given, *indexes = NULL;
    unsigned long long part = 0, parts = 1;
    int skip;
    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "Op|KKO!:RecordioReader", names, &given, &skip,
                                     &part, &parts, &PyList_Type, &indexes))
        return NULL;
    recordio_reader *self = (recordio_reader *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->state = state;
    self->path = Py_NewRef(given);
    self->callbacks = (lxpy_callbacks){.state = state};
    self->handle = PyList_Check(given) ? open_part(given, indexes, skip != 0, part, parts, &error)
                                       : open_path(given, skip != 0, &self->callbacks, &error);
    if (self->handle != NULL)
        return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_Occurred() ? NULL : lxpy_raise(state, &error);
}

static void reader_dealloc(PyObject *object)
{
    recordio_reader *self = (recordio_reader *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_recordio_reader_close(self->handle);
    Py_XDECREF(self->path);
    type->tp_free(object);
    Py_DECREF(type);
}

static recordio_reader *reader_enter(PyObject *object)
{
    recordio_reader *self = (recordio_reader *)object;
    return check_free(self->state, self->handle, self->busy, "reader", self->path) == 0 ? self
                                                                                        : NULL;
}

static PyObject *reader_read(PyObject *object, PyObject *ignored)
{
    recordio_reader *self = reader_enter(object);
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    lx_status status;
    (void)ignored;
    if (self == NULL)
        return NULL;
    self->busy = true;
    self->callbacks.raised = false;
    lxpy_callbacks_begin(&self->callbacks);
    status = lx_recordio_reader_next(self->handle, &record, &error);
    lxpy_callbacks_end(&self->callbacks);
    self->busy = false;
    if (self->callbacks.raised)
        return NULL;
    if (status == LX_END)
        Py_RETURN_NONE;
    if (status != LX_OK)
        return lxpy_raise(self->state, &error);
    return PyBytes_FromStringAndSize(record.data, (Py_ssize_t)record.size);
}

static PyObject *reader_seek(PyObject *object, PyObject *offset)
{
    recordio_reader *self = reader_enter(object);
    lx_error error = LX_ERROR_INIT;
    uint64_t to;
    if (self == NULL || lxpy_uint64(offset, "offset", 0, INT64_MAX, &to) < 0)
        return NULL;
    if (lx_recordio_reader_seek(self->handle, to, &error) != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

static PyObject *reader_shuffle(PyObject *object, PyObject *args)
{
    recordio_reader *self = reader_enter(object);
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    unsigned long long chunks, seed, epoch;
    if (self == NULL || !PyArg_ParseTuple(args, "KKK:shuffle", &chunks, &seed, &epoch))
        return NULL;
    self->busy = true;
    LXPY_WITHOUT_GIL(
        status = lx_recordio_reader_shuffle(self->handle, chunks, seed, epoch, &error));
    self->busy = false;
    if (status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

static PyObject *reader_tell(PyObject *object, PyObject *ignored)
{
    recordio_reader *self = reader_enter(object);
    (void)ignored;
    return self != NULL ? PyLong_FromUnsignedLongLong(lx_recordio_reader_tell(self->handle)) : NULL;
}

static PyObject *reader_skipped(PyObject *object, PyObject *ignored)
{
    recordio_reader *self = reader_enter(object);
    (void)ignored;
    if (self == NULL)
        return NULL;
    lx_recordio_skipped skipped = lx_recordio_reader_get_skipped(self->handle);
    return Py_BuildValue("(KKO)", (unsigned long long)skipped.places,
                         (unsigned long long)skipped.bytes, skipped.rest ? Py_True : Py_False);
}

static PyObject *reader_close(PyObject *object, PyObject *ignored)
{
    recordio_reader *self = (recordio_reader *)object;
    (void)ignored;
    if (self->handle != NULL && reader_enter(object) == NULL)
        return NULL;
    lx_recordio_reader_close(self->handle);
    self->handle = NULL;
    Py_RETURN_NONE;
}

static PyMethodDef reader_methods[] = {
    {"read", reader_read, METH_NOARGS, "Return the next record; None at the end."},
    {"seek", reader_seek, METH_O, "Move to the record at an offset."},
    {"shuffle", reader_shuffle, METH_VARARGS,
     "Return to the beginning of a part, cut into chunks in the order of a seed and an epoch."},
    {"tell", reader_tell, METH_NOARGS, "Return the offset of the next record."},
    {"skipped", reader_skipped, METH_NOARGS,
     "Return the number of damaged places, of bytes passed over there, and whether the rest is "
     "lost."},
    {"close", reader_close, METH_NOARGS, "Close the file."},
    {NULL},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_doc, "A reader of a RecordIO file."},
    {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, reader_methods},
    {0, NULL},
};

static PyType_Spec reader_spec = {
    .name = "loaderx._core.RecordioReader",
    .basicsize = sizeof(recordio_reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = reader_slots,
};

/* ---- writer */

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "index", "append", NULL};
    lxpy_state *state = lxpy_state_find(type);
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *handle = NULL;
    PyObject *given, *given_index, *index = NULL;
    int append;
    if (state == NULL || !PyArg_ParseTupleAndKeywords(args, kwargs, "OOp:RecordioWriter", names,
                                                      &given, &given_index, &append))
        return NULL;
    PyObject *path = lxpy_path(given, "path");
    if (path != NULL && given_index != Py_None)
        index = lxpy_path(given_index, "index");
    if (path != NULL && (index != NULL || given_index == Py_None)) {
        const char *records = PyBytes_AS_STRING(path);
        const char *lines = index != NULL ? PyBytes_AS_STRING(index) : NULL;
        LXPY_WITHOUT_GIL(append ? lx_recordio_writer_append(records, lines, &handle, &error)
                                : lx_recordio_writer_create(records, lines, true, &handle, &error));
        if (handle == NULL)
            lxpy_raise(state, &error);
    }
    Py_XDECREF(path);
    Py_XDECREF(index);
    recordio_writer *self = handle != NULL ? (recordio_writer *)type->tp_alloc(type, 0) : NULL;
    if (self == NULL) {
        lx_recordio_writer_close(handle, NULL);
        return NULL;
    }
    self->state = state;
    self->path = Py_NewRef(given);
    self->handle = handle;
    return (PyObject *)self;
}

static void writer_dealloc(PyObject *object)
{
    recordio_writer *self = (recordio_writer *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_recordio_writer_close(self->handle, NULL);
    Py_XDECREF(self->path);
    type->tp_free(object);
    Py_DECREF(type);
}

static recordio_writer *writer_enter(PyObject *object)
{
    recordio_writer *self = (recordio_writer *)object;
    return check_free(self->state, self->handle, self->busy, "writer", self->path) == 0 ? self
                                                                                        : NULL;
}

static PyObject *writer_write(PyObject *object, PyObject *args)
{
    recordio_writer *self = writer_enter(object);
    lx_error error = LX_ERROR_INIT;
    Py_buffer data;
    PyObject *given;
    if (self == NULL || !PyArg_ParseTuple(args, "y*O:write", &data, &given))
        return NULL;
    const char *key = given != Py_None ? lxpy_text(given, "key") : NULL;
    if (key != NULL || given == Py_None) {
        self->busy = true;
        LXPY_WITHOUT_GIL(
            lx_recordio_writer_write(self->handle, key, data.buf, (size_t)data.len, &error));
        self->busy = false;
        if (error.status != LX_OK)
            lxpy_raise(self->state, &error);
    }
    PyBuffer_Release(&data);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *writer_tell(PyObject *object, PyObject *ignored)
{
    recordio_writer *self = writer_enter(object);
    (void)ignored;
    return self != NULL ? PyLong_FromUnsignedLongLong(lx_recordio_writer_get_offset(self->handle))
                        : NULL;
}

static PyObject *writer_close(PyObject *object, PyObject *ignored)
{
    recordio_writer *self = (recordio_writer *)object;
    lx_recordio_writer *handle = self->handle;
    lx_error error = LX_ERROR_INIT;
    (void)ignored;
    if (handle != NULL && writer_enter(object) == NULL)
        return NULL;
    self->handle = NULL;
    LXPY_WITHOUT_GIL(lx_recordio_writer_close(handle, &error));
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

static PyMethodDef writer_methods[] = {
    {"write", writer_write, METH_VARARGS, "Write a record; its key is a str or None."},
    {"tell", writer_tell, METH_NOARGS, "Return the offset of the next record."},
    {"close", writer_close, METH_NOARGS, "Write what is buffered, and close the files."},
    {NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "A writer of a RecordIO file."},
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, writer_methods},
    {0, NULL},
};

static PyType_Spec writer_spec = {
    .name = "loaderx._core.RecordioWriter",
    .basicsize = sizeof(recordio_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = writer_slots,
};

/* ---- index */

/** Returns [(key, offset), ...]. */
static PyObject *list_index(const lx_recordio_index *index)
{
    Py_ssize_t count = (Py_ssize_t)lx_recordio_index_get_count(index);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        const char *text = lx_recordio_index_get_key(index, (uint64_t)i);
        uint64_t offset = lx_recordio_index_get_offset(index, (uint64_t)i);
        PyObject *key = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
        PyObject *pair = key != NULL ? Py_BuildValue("(NK)", key, (unsigned long long)offset)
                                     : NULL;
        if (pair == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, pair);
    }
    return list;
}

static PyObject *read_index(PyObject *module, PyObject *given)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_index *index = NULL;
    PyObject *path = lxpy_path(given, "path");
    if (path == NULL)
        return NULL;
    LXPY_WITHOUT_GIL(lx_recordio_index_open(PyBytes_AS_STRING(path), &index, &error));
    Py_DECREF(path);
    if (index == NULL)
        return lxpy_raise(lxpy_state_get(module), &error);
    PyObject *list = list_index(index);
    lx_recordio_index_free(index);
    return list;
}

static PyMethodDef functions[] = {
    {"recordio_index", read_index, METH_O, "Return the keys and offsets of an index, as pairs."},
    {NULL},
};

int lxpy_add_recordio(PyObject *module)
{
    return lxpy_add_type(module, &reader_spec, LXPY_RECORDIO_READER_TYPE) < 0 ||
                   lxpy_add_type(module, &writer_spec, LXPY_RECORDIO_WRITER_TYPE) < 0
               ? -1
               : PyModule_AddFunctions(module, functions);
}
