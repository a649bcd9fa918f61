/* SPDX-License-Identifier: MIT */
/* Functions that the files of orders, sources and loaders share. */
#ifndef LXPY_OBJECTS_H
#define LXPY_OBJECTS_H

#include "lxpy.h"

int lxpy_add_order(PyObject *module);
int lxpy_add_order_makers(PyObject *module);
int lxpy_add_blend(PyObject *module);
int lxpy_add_weighted(PyObject *module);
int lxpy_add_budgeted(PyObject *module);
int lxpy_add_grouped(PyObject *module);
int lxpy_add_parity_orders(PyObject *module);
int lxpy_add_source(PyObject *module);
int lxpy_add_source_makers(PyObject *module);
int lxpy_add_source_megatron(PyObject *module);
int lxpy_add_source_tokens(PyObject *module);
int lxpy_add_tokens(PyObject *module);
int lxpy_add_loader(PyObject *module);

/** An Order at position 0 over a rank's slice of @p handle, which it references. */
PyObject *lxpy_order_new(lxpy_state *state, lx_order *handle, uint64_t rank, uint64_t world);

/** An Order over all of @p handle, whose reference it takes; raises the error if @p handle is NULL.
 * */
PyObject *lxpy_order_wrap(lxpy_state *state, lx_order *handle, const lx_error *error);

/** Marks an Order as fast: a few indices take less time than releasing the GIL, as it makes no
 * table per epoch. */
void lxpy_order_set_quick(PyObject *object);

/** An array of uint64 over @p numbers of malloc(), which it owns even on failure. */
PyObject *lxpy_order_numbers(lxpy_state *state, uint64_t *numbers, uint64_t count);

/** The library's order of an Order, borrowed; NULL with a TypeError that names @p argument if it is
 * not an Order. */
lx_order *lxpy_order_get(lxpy_state *state, PyObject *object, const char *argument);

/** The library's source of a Source, in the same way. */
lx_source *lxpy_source_get(lxpy_state *state, PyObject *object, const char *argument);

/** The library's tokens of a Tokens, in the same way. */
lx_tokens *lxpy_tokens_get(lxpy_state *state, PyObject *object, const char *argument);

/** Writes a state, as lx_sampler_save() does. */
typedef lx_status (*lxpy_save_function)(const void *object, char *text, size_t size, size_t *length,
                                        lx_error *error);

/** The state that @p save makes, as a str. */
PyObject *lxpy_save(lxpy_state *state, lxpy_save_function save, const void *object);

#endif
