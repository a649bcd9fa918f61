/* SPDX-License-Identifier: MIT */
/* Orders, sources and loaders: what their files have for each other. */
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

/** An Order, at position 0, of a rank's share of @p handle, of which it takes a reference. */
PyObject *lxpy_order_new(lxpy_state *state, lx_order *handle, uint64_t rank, uint64_t world);

/** The same of all of @p handle, whose reference it takes; or raises why there is none. */
PyObject *lxpy_order_wrap(lxpy_state *state, lx_order *handle, const lx_error *error);

/** Tells that a few indices of an Order take less time than to give up the GIL: it has no table of
 * an epoch to make first. */
void lxpy_order_set_quick(PyObject *object);

/** An array of uint64 on @p numbers, of malloc(), whose memory it takes, also where it fails. */
PyObject *lxpy_order_numbers(lxpy_state *state, uint64_t *numbers, uint64_t count);

/** The library's order of an Order, borrowed; NULL with TypeError raised, which names @p argument,
 * where it is none. */
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
