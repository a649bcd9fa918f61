/* SPDX-License-Identifier: MIT */
/* Encoder: turns arrays into image files. loaderx.images makes one for each call. */
#include "images.h"

#include <loaderx/image/encoder.h>

typedef struct encoder {
    PyObject_HEAD
    images_state *state;
    lx_image_encoder *handle;
} encoder;

static PyObject *encoder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"quality", "lossless", NULL};
    lx_error error = LX_ERROR_INIT;
    int quality, lossless;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ip:Encoder", names, &quality, &lossless))
        return NULL;
    encoder *self = (encoder *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->state = images_state_find(type);
    self->handle = lx_image_encoder_new();
    if (self->handle == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    lx_image_encoder_set_lossless(self->handle, lossless != 0);
    if (lx_image_encoder_set_quality(self->handle, quality, &error) != LX_OK) {
        self->state->shared->raise(self->state->shared->state, &error);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void encoder_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    lx_image_encoder_free(((encoder *)object)->handle);
    type->tp_free(object);
    Py_DECREF(type);
}

/** Gets the image in a contiguous array of bytes, (height, width, channels). */
static int get_image(const Py_buffer *pixels, lx_image *image)
{
    if (pixels->ndim != 3 || pixels->itemsize != 1 || pixels->shape[0] > UINT32_MAX ||
        pixels->shape[1] > UINT32_MAX || pixels->shape[2] > 3) {
        PyErr_SetString(PyExc_ValueError, "pixels must be (height, width, channels) bytes");
        return -1;
    }
    *image = (lx_image){.pixels = pixels->buf,
                        .stride = (size_t)(pixels->shape[1] * pixels->shape[2]),
                        .width = (uint32_t)pixels->shape[1],
                        .height = (uint32_t)pixels->shape[0],
                        .channels = (uint32_t)pixels->shape[2]};
    return 0;
}

static PyObject *encoder_encode(PyObject *object, PyObject *args)
{
    encoder *self = (encoder *)object;
    const lxpy_capsule *shared = self->state->shared;
    lx_error error = LX_ERROR_INIT;
    PyObject *given, *made = NULL;
    Py_buffer pixels;
    lx_image image;
    const void *bytes;
    size_t size;
    int format;
    if (!PyArg_ParseTuple(args, "Oi:encode", &given, &format) ||
        PyObject_GetBuffer(given, &pixels, PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    if (get_image(&pixels, &image) == 0) {
        Py_BEGIN_ALLOW_THREADS(void)
        lx_image_encoder_encode(self->handle, &image, (lx_image_format)format, &bytes, &size,
                                &error);
        Py_END_ALLOW_THREADS made = error.status != LX_OK
                                        ? shared->raise(shared->state, &error)
                                        : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    }
    PyBuffer_Release(&pixels);
    return made;
}

static PyMethodDef methods[] = {
    {"encode", encoder_encode, METH_VARARGS, "encode(pixels, format)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "An encoder of images."},
    {Py_tp_new, encoder_new},
    {Py_tp_dealloc, encoder_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "loaderx._images.Encoder",
    .basicsize = sizeof(encoder),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int images_add_encoder(PyObject *module)
{
    return images_add_type(module, &spec);
}
