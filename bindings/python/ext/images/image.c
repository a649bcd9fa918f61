/* SPDX-License-Identifier: MIT */
/* Image: an open image file, which loaderx.images reads once and drops. */
#include "images.h"

#include <loaderx/image/decoder.h>

typedef struct image {
    PyObject_HEAD
    images_state *state;
    Py_buffer file;
    lx_image_decoder *decoder;
    lx_image_info info;
    uint32_t channels; /**< Of the pixels. */
} image;

/** Gets the bytes of the file, which must be a bytes-like object or an array of uint8. */
static int take_file(PyObject *object, Py_buffer *file)
{
    if (PyObject_GetBuffer(object, file, PyBUF_ND | PyBUF_FORMAT) < 0)
        return -1;
    const char *format = file->format != NULL ? file->format : "B";
    if (file->ndim == 1 && file->itemsize == 1 && strchr("Bbc", format[0]) != NULL)
        return 0;
    PyErr_Format(PyExc_TypeError,
                 "data must be bytes-like, or have one axis and the dtype uint8; it has %d axes of "
                 "the format '%s'",
                 file->ndim, format);
    PyBuffer_Release(file);
    return -1;
}

static int open_image(image *self, PyObject *data, int upright, unsigned scale,
                      unsigned long long max_pixels)
{
    lx_error error = LX_ERROR_INIT;
    self->decoder = lx_image_decoder_new();
    if (self->decoder == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    lx_image_decoder_set_upright(self->decoder, upright != 0);
    lx_image_decoder_set_max_pixels(self->decoder, max_pixels);
    if (lx_image_decoder_set_channels(self->decoder, self->channels, &error) == LX_OK &&
        lx_image_decoder_set_scale(self->decoder, scale, &error) == LX_OK) {
        if (take_file(data, &self->file) < 0)
            return -1;
        Py_BEGIN_ALLOW_THREADS(void)
        lx_image_decoder_open(self->decoder, self->file.buf, (size_t)self->file.len, &self->info,
                              &error);
        Py_END_ALLOW_THREADS
    }
    if (error.status != LX_OK) {
        self->state->shared->raise(self->state->shared->state, &error);
        return -1;
    }
    return 0;
}

static PyObject *image_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"data", "channels", "upright", "scale", "max_pixels", NULL};
    PyObject *data;
    unsigned channels, scale;
    unsigned long long max_pixels;
    int upright;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OIpIK:Image", names, &data, &channels, &upright,
                                     &scale, &max_pixels))
        return NULL;
    image *self = (image *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->state = images_state_find(type);
    self->channels = channels;
    if (open_image(self, data, upright, scale, max_pixels) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void image_dealloc(PyObject *object)
{
    image *self = (image *)object;
    PyTypeObject *type = Py_TYPE(object);
    lx_image_decoder_free(self->decoder);
    PyBuffer_Release(&self->file);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *image_info(PyObject *object, PyObject *ignored)
{
    const lx_image_info *info = &((image *)object)->info;
    (void)ignored;
    return Py_BuildValue("(sIIIII)", lx_image_format_get_name(info->format), info->width,
                         info->height, info->channels, info->bits, info->orientation);
}

/** Whether the memory has rows of bytes, each without gaps: an array (height, width, 3) or, for one
 * channel, (height, width). */
static bool has_rows(const Py_buffer *out, const lx_image_region *region, uint32_t channels)
{
    Py_ssize_t row = (Py_ssize_t)region->width * channels;
    if (out->itemsize != 1 || out->ndim != (channels == 1 ? 2 : 3) ||
        out->shape[0] != (Py_ssize_t)region->height || out->shape[1] != (Py_ssize_t)region->width ||
        out->strides[out->ndim - 1] != 1)
        return false;
    return (channels == 1 || (out->shape[2] == (Py_ssize_t)channels &&
                              (out->strides[1] == (Py_ssize_t)channels || region->width == 1))) &&
           (out->strides[0] >= row || region->height == 1);
}

static PyObject *image_read(PyObject *object, PyObject *args)
{
    image *self = (image *)object;
    lx_error error = LX_ERROR_INIT;
    lx_image_region region;
    PyObject *given;
    Py_buffer out;
    if (!PyArg_ParseTuple(args, "IIIIO:read", &region.left, &region.top, &region.width,
                          &region.height, &given) ||
        PyObject_GetBuffer(given, &out, PyBUF_WRITABLE | PyBUF_STRIDES) < 0)
        return NULL;
    if (has_rows(&out, &region, self->channels)) {
        size_t row = (size_t)region.width * self->channels;
        size_t stride = region.height > 1 ? (size_t)out.strides[0] : row;
        Py_BEGIN_ALLOW_THREADS(void)
        lx_image_decoder_read(self->decoder, &region, out.buf, stride, &error);
        Py_END_ALLOW_THREADS if (error.status != LX_OK)
            self->state->shared->raise(self->state->shared->state, &error);
    } else {
        PyErr_Format(PyExc_ValueError,
                     "out must have %u rows of %u pixels with %u bytes each, and no gaps in rows",
                     region.height, region.width, self->channels);
    }
    PyBuffer_Release(&out);
    self->state->shared->pass_on_log(self->state->shared->state);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"info", image_info, METH_NOARGS,
     "Return the format, width, height, channels, bits and orientation."},
    {"read", image_read, METH_VARARGS,
     "Decode the region (left, top, width, height) into an array."},
    {NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "An open image."},
    {Py_tp_new, image_new},
    {Py_tp_dealloc, image_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "loaderx._images.Image",
    .basicsize = sizeof(image),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int images_add_image(PyObject *module)
{
    return images_add_type(module, &spec);
}
