/* SPDX-License-Identifier: MIT */
/* Transform: the steps from encoded images to tensors, and sources that take them. */
#include "images.h"

#include <loaderx/image/decoder.h>
#include <loaderx/image/transform.h>

typedef struct transform {
    PyObject_HEAD
    images_state *state;
    lx_image_transform *handle;
} transform;

/** Returns None, or raises the error. */
static PyObject *result_of(const transform *self, lx_status status, const lx_error *error)
{
    if (status != LX_OK)
        return self->state->shared->raise(self->state->shared->state, error);
    Py_RETURN_NONE;
}

static PyObject *transform_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"seed", "grey", "mxnet", "max_pixels", NULL};
    unsigned long long seed, max_pixels = LX_DEFAULT_IMAGE_PIXELS;
    int grey, mxnet = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Kp|pK:Transform", names, &seed, &grey, &mxnet,
                                     &max_pixels))
        return NULL;
    transform *self = (transform *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->state = images_state_find(type);
    self->handle = lx_image_transform_new();
    if (self->handle == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    lx_image_transform_set_seed(self->handle, seed);
    lx_image_transform_set_grey(self->handle, grey != 0);
    lx_image_transform_set_max_pixels(self->handle, max_pixels);
    if (mxnet)
        lx_image_transform_set_convention(self->handle, LX_IMAGE_MXNET, NULL);
    return (PyObject *)self;
}

static void transform_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    lx_image_transform_free(((transform *)object)->handle);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *add_resize(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    unsigned width, height;
    int filter;
    if (!PyArg_ParseTuple(args, "IIi", &width, &height, &filter))
        return NULL;
    lx_status status = lx_image_transform_add_resize(self->handle, width, height,
                                                     (lx_image_filter)filter, &error);
    return result_of(self, status, &error);
}

static PyObject *add_resize_shorter(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    unsigned side;
    int filter;
    if (!PyArg_ParseTuple(args, "Ii", &side, &filter))
        return NULL;
    lx_status status = lx_image_transform_add_resize_shorter(self->handle, side,
                                                             (lx_image_filter)filter, &error);
    return result_of(self, status, &error);
}

static PyObject *add_crop(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    unsigned width, height;
    int random;
    if (!PyArg_ParseTuple(args, "IIp", &width, &height, &random))
        return NULL;
    lx_status status =
        random ? lx_image_transform_add_random_crop(self->handle, width, height, &error)
               : lx_image_transform_add_center_crop(self->handle, width, height, &error);
    return result_of(self, status, &error);
}

static PyObject *add_random_resized_crop(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    unsigned width, height;
    double area[2], ratio[2];
    int filter;
    if (!PyArg_ParseTuple(args, "II(dd)(dd)i", &width, &height, &area[0], &area[1], &ratio[0],
                          &ratio[1], &filter))
        return NULL;
    lx_status status = lx_image_transform_add_random_resized_crop(
        self->handle, width, height, area, ratio, (lx_image_filter)filter, &error);
    return result_of(self, status, &error);
}

static PyObject *add_color_jitter(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    double b[2], c[2], s[2], h[2];
    if (!PyArg_ParseTuple(args, "(dd)(dd)(dd)(dd)", &b[0], &b[1], &c[0], &c[1], &s[0], &s[1], &h[0],
                          &h[1]))
        return NULL;
    lx_status status = lx_image_transform_add_color_jitter(self->handle, b, c, s, h, &error);
    return result_of(self, status, &error);
}

/** Adds a step that has one number. */
static PyObject *add_with_number(PyObject *object, PyObject *argument,
                                 lx_status (*add)(lx_image_transform *, double, lx_error *))
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    double number = PyFloat_AsDouble(argument);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    return result_of(self, add(self->handle, number, &error), &error);
}

static PyObject *add_mirror(PyObject *object, PyObject *probability)
{
    return add_with_number(object, probability, lx_image_transform_add_mirror);
}

static PyObject *add_grey(PyObject *object, PyObject *probability)
{
    return add_with_number(object, probability, lx_image_transform_add_grey);
}

static PyObject *add_lighting(PyObject *object, PyObject *deviation)
{
    return add_with_number(object, deviation, lx_image_transform_add_lighting);
}

static PyObject *add_pad(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    unsigned sides[4];
    uint8_t fill[3];
    if (!PyArg_ParseTuple(args, "(IIII)(bbb)", &sides[0], &sides[1], &sides[2], &sides[3], &fill[0],
                          &fill[1], &fill[2]))
        return NULL;
    return result_of(self, lx_image_transform_add_pad(self->handle, sides, fill, &error), &error);
}

static PyObject *add_rotation(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    double degrees[2];
    int filter;
    uint8_t fill[3];
    if (!PyArg_ParseTuple(args, "(dd)i(bbb)", &degrees[0], &degrees[1], &filter, &fill[0], &fill[1],
                          &fill[2]))
        return NULL;
    lx_status status = lx_image_transform_add_rotation(self->handle, degrees,
                                                       (lx_image_filter)filter, fill, &error);
    return result_of(self, status, &error);
}

static PyObject *add_blur(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    unsigned width, height;
    double deviations[2];
    if (!PyArg_ParseTuple(args, "II(dd)", &width, &height, &deviations[0], &deviations[1]))
        return NULL;
    lx_status status = lx_image_transform_add_blur(self->handle, width, height, deviations, &error);
    return result_of(self, status, &error);
}

static PyObject *add_erasing(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    double probability, area[2], ratio[2];
    float values[3];
    if (!PyArg_ParseTuple(args, "d(dd)(dd)(fff)", &probability, &area[0], &area[1], &ratio[0],
                          &ratio[1], &values[0], &values[1], &values[2]))
        return NULL;
    lx_status status = lx_image_transform_add_erasing(self->handle, probability, area, ratio,
                                                      values, &error);
    return result_of(self, status, &error);
}

static PyObject *add_mask(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    const char *column;
    uint8_t fill;
    if (!PyArg_ParseTuple(args, "sb", &column, &fill))
        return NULL;
    return result_of(self, lx_image_transform_add_mask(self->handle, column, fill, &error), &error);
}

static PyObject *add_boxes(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    const char *column;
    int format;
    if (!PyArg_ParseTuple(args, "si", &column, &format))
        return NULL;
    lx_status status = lx_image_transform_add_boxes(self->handle, column,
                                                    (lx_image_box_format)format, &error);
    return result_of(self, status, &error);
}

static PyObject *add_points(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    const char *column;
    if (!PyArg_ParseTuple(args, "s", &column))
        return NULL;
    return result_of(self, lx_image_transform_add_points(self->handle, column, &error), &error);
}

static PyObject *set_tensor(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    const char *name;
    int last;
    float divisor, mean[3], std[3];
    lx_dtype dtype;
    if (!PyArg_ParseTuple(args, "spf(fff)(fff)", &name, &last, &divisor, &mean[0], &mean[1],
                          &mean[2], &std[0], &std[1], &std[2]))
        return NULL;
    lx_status status = lx_dtype_parse(name, &dtype, &error);
    if (status == LX_OK)
        status = lx_image_transform_set_tensor(
            self->handle, dtype, last ? LX_IMAGE_HWC : LX_IMAGE_CHW, divisor, mean, std, &error);
    return result_of(self, status, &error);
}

static PyObject *set_scaled_tensor(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    const char *name;
    int last;
    float mean[3], factor[3];
    lx_dtype dtype;
    if (!PyArg_ParseTuple(args, "sp(fff)(fff)", &name, &last, &mean[0], &mean[1], &mean[2],
                          &factor[0], &factor[1], &factor[2]))
        return NULL;
    lx_status status = lx_dtype_parse(name, &dtype, &error);
    if (status == LX_OK)
        status = lx_image_transform_set_scaled_tensor(
            self->handle, dtype, last ? LX_IMAGE_HWC : LX_IMAGE_CHW, mean, factor, &error);
    return result_of(self, status, &error);
}

static PyObject *set_mean_image(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    unsigned channels, width, height;
    PyObject *result = NULL;
    Py_buffer mean;
    if (!PyArg_ParseTuple(args, "IIIy*", &channels, &width, &height, &mean))
        return NULL;
    if ((double)mean.len != (double)sizeof(float) * channels * width * height)
        PyErr_SetString(PyExc_ValueError, "the mean image has another size than its shape");
    else
        result = result_of(self,
                           lx_image_transform_set_mean_image(self->handle, channels, width, height,
                                                             mean.buf, &error),
                           &error);
    PyBuffer_Release(&mean);
    return result;
}

static PyObject *set_exposure(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    lx_error error = LX_ERROR_INIT;
    double contrast, light;
    if (!PyArg_ParseTuple(args, "dd", &contrast, &light))
        return NULL;
    return result_of(self, lx_image_transform_set_exposure(self->handle, contrast, light, &error),
                     &error);
}

/** Returns a source in which the column of encoded images is replaced by tensors, and annotations
 * change with them. */
static PyObject *apply(PyObject *object, PyObject *args)
{
    transform *self = (transform *)object;
    const lxpy_capsule *shared = self->state->shared;
    lx_error error = LX_ERROR_INIT;
    PyObject *part;
    const char *column;
    lx_source *source;
    if (!PyArg_ParseTuple(args, "Os", &part, &column))
        return NULL;
    lx_source *handle = shared->get_source(shared->state, part, "source");
    if (handle == NULL)
        return NULL;
    if (lx_source_new_images(handle, column, self->handle, &source, &error) != LX_OK)
        return shared->raise(shared->state, &error);
    return shared->new_source(shared->state, source, part);
}

static PyMethodDef methods[] = {
    {"add_resize", add_resize, METH_VARARGS, "add_resize(width, height, filter)"},
    {"add_resize_shorter", add_resize_shorter, METH_VARARGS, "add_resize_shorter(side, filter)"},
    {"add_crop", add_crop, METH_VARARGS, "add_crop(width, height, random)"},
    {"add_random_resized_crop", add_random_resized_crop, METH_VARARGS,
     "add_random_resized_crop(width, height, area, ratio, filter)"},
    {"add_color_jitter", add_color_jitter, METH_VARARGS,
     "add_color_jitter(brightness, contrast, saturation, hue)"},
    {"add_mirror", add_mirror, METH_O, "add_mirror(probability)"},
    {"add_grey", add_grey, METH_O, "add_grey(probability)"},
    {"add_lighting", add_lighting, METH_O, "add_lighting(deviation)"},
    {"add_pad", add_pad, METH_VARARGS, "add_pad(sides, fill)"},
    {"add_rotation", add_rotation, METH_VARARGS, "add_rotation(degrees, filter, fill)"},
    {"add_blur", add_blur, METH_VARARGS, "add_blur(width, height, deviations)"},
    {"add_erasing", add_erasing, METH_VARARGS, "add_erasing(probability, area, ratio, values)"},
    {"add_mask", add_mask, METH_VARARGS, "add_mask(column, fill)"},
    {"add_boxes", add_boxes, METH_VARARGS, "add_boxes(column, format)"},
    {"add_points", add_points, METH_VARARGS, "add_points(column)"},
    {"set_tensor", set_tensor, METH_VARARGS,
     "set_tensor(dtype, channels_last, divisor, mean, std)"},
    {"set_scaled_tensor", set_scaled_tensor, METH_VARARGS,
     "set_scaled_tensor(dtype, channels_last, mean, factor)"},
    {"set_mean_image", set_mean_image, METH_VARARGS,
     "set_mean_image(channels, width, height, mean)"},
    {"set_exposure", set_exposure, METH_VARARGS, "set_exposure(contrast, light)"},
    {"apply", apply, METH_VARARGS, "apply(source, column)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The steps from encoded images to tensors."},
    {Py_tp_new, transform_new},
    {Py_tp_dealloc, transform_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "loaderx._images.Transform",
    .basicsize = sizeof(transform),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int images_add_transform(PyObject *module)
{
    return images_add_type(module, &spec);
}
