/* SPDX-License-Identifier: MIT */
/* Declarations for all files of the extension loaderx._images, which is separate from loaderx._core
 * so that only users of images load the libraries of the formats. */
#ifndef LXPY_IMAGES_H
#define LXPY_IMAGES_H

#include "../capsule.h"

/** The state of the module. */
typedef struct images_state {
    PyObject *core; /**< loaderx._core, to which @ref shared belongs. */
    const lxpy_capsule *shared;
} images_state;

/** Returns the state of the module to which a type belongs. */
images_state *images_state_find(PyTypeObject *type);

/** Adds a type to the module; returns 0 or -1. */
int images_add_type(PyObject *module, PyType_Spec *spec);

int images_add_encoder(PyObject *module);
int images_add_image(PyObject *module);
int images_add_transform(PyObject *module);

#endif
