/* SPDX-License-Identifier: MIT */
/* Functions shared by the files that implement orders, sources and loaders. */
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
int lxpy_add_pass(PyObject *module);
int lxpy_add_trace(PyObject *module);

/** Creates an Order at position 0 over a rank's slice of @p handle; the Order references @p
 * handle. */
PyObject *lxpy_order_new(lxpy_state *state, lx_order *handle, uint64_t rank, uint64_t world);

/** Creates an Order over all of @p handle, and takes ownership of the reference; raises the error
 * if @p handle is NULL. */
PyObject *lxpy_order_wrap(lxpy_state *state, lx_order *handle, const lx_error *error);

/** Marks an Order as quick: it has no table per epoch, so reading a few indices takes less time
 * than releasing the GIL. */
void lxpy_order_set_quick(PyObject *object);

/** Creates a uint64 array over @p numbers, which malloc() allocated; takes ownership of them, even
 * on failure. */
PyObject *lxpy_order_numbers(lxpy_state *state, uint64_t *numbers, uint64_t count);

/** Returns a borrowed reference to the library's order of an Order, or NULL with a TypeError set
 * that names @p argument if the object is not an Order. */
lx_order *lxpy_order_get(lxpy_state *state, PyObject *object, const char *argument);

/** Returns the library's source of a Source in the same way. */
lx_source *lxpy_source_get(lxpy_state *state, PyObject *object, const char *argument);

/** Returns the library's tokens of a Tokens in the same way. */
lx_tokens *lxpy_tokens_get(lxpy_state *state, PyObject *object, const char *argument);

/** Returns the library's trace of a Trace in the same way. */
lx_trace *lxpy_trace_get(lxpy_state *state, PyObject *object, const char *argument);

/** Checks offsets of type int64 of values that vary in length: they must ascend from 0 to at most
 * @p items, and there must be at least one. Stores the number of values in @p rows. Returns -1 with
 * a ValueError set if the offsets are wrong. */
int lxpy_check_offsets(const Py_buffer *offsets, uint64_t items, uint64_t *rows);

/** Writes a state; has the signature of lx_sampler_save(). */
typedef lx_status (*lxpy_save_function)(const void *object, char *text, size_t size, size_t *length,
                                        lx_error *error);

/** Returns the state that @p save writes, as a str. */
PyObject *lxpy_save(lxpy_state *state, lxpy_save_function save, const void *object);

#endif
