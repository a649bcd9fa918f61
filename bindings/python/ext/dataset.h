/* SPDX-License-Identifier: MIT */
/* Private to the implementation of Dataset. */
#ifndef LXPY_DATASET_H
#define LXPY_DATASET_H

#include "missing.h"
#include "schema.h"

/** A reference-counted handle of the library; dropping the last reference closes the handle. */
typedef struct lxpy_handle {
    Py_ssize_t references; /**< Held by the Dataset, by reading calls and by sources. */
    lx_dataset *dataset;
} lxpy_handle;

/** A dataset that is open for reading. Its members are protected by the GIL, but any number of
 * threads may read without the GIL. A refresh replaces the current handle, so that each call, and
 * each loader, reads one snapshot from beginning to end. Closing does not wait for readers. */
typedef struct lxpy_dataset {
    PyObject_HEAD
    lxpy_state *state;
    lxpy_handle *current; /**< NULL after close(). */
    bool live;            /**< Each call reads the newest snapshot. */
    uint64_t damaged;     /**< Count of damaged values from the handle that was closed last. */
    PyObject *path;
    PyObject *opener; /**< A capsule of an lxpy_opener, if the dataset is elsewhere; otherwise NULL.
                           Pins share it. */
    lxpy_schema *schema;
} lxpy_dataset;

/** The context of one reading call: everything that the call needs from one snapshot. */
typedef struct lxpy_reading {
    lxpy_state *state;
    lx_dataset *handle;
    const lxpy_schema *schema;
    lxpy_dataset *dataset;
    lxpy_handle *current; /**< The reference that the call holds. */
    bool pinned;          /**< The call owns @ref handle, a pin of a live dataset. */
} lxpy_reading;

/** Returns 0, or -1 with a TypeError that names @p argument if @p object is not a Dataset. */
int lxpy_dataset_check(lxpy_state *state, PyObject *object, const char *argument);

/** Creates a handle with one reference; takes ownership of @p dataset, even on failure. Returns
 * NULL with an exception set on failure. */
lxpy_handle *lxpy_handle_new(lx_dataset *dataset);

/** Begins a reading call; returns -1 with an exception set on failure, which is LoaderxError if the
 * dataset is closed. */
int lxpy_reading_begin(lxpy_reading *reading, PyObject *dataset);
void lxpy_reading_end(lxpy_reading *reading);

/** Makes an object from the records at @p indices (NULL: all) and the @p count fields at
 * @p positions; returns NULL with an exception set on failure. */
typedef PyObject *lxpy_select(lxpy_reading *reading, const lxpy_indices *indices,
                              const size_t *positions, size_t count, void *user);

/** Runs a reading call: calls @p select with the records @p which (NULL: all) and the fields
 * @p fields of @p dataset, and with @p user. */
PyObject *lxpy_reading_call(PyObject *dataset, PyObject *which, PyObject *fields,
                            lxpy_select *select, void *user);

/** Returns a reference to the current handle; returns NULL with LoaderxError set if the dataset is
 * closed. */
lxpy_handle *lxpy_dataset_enter(lxpy_dataset *dataset);
void lxpy_dataset_leave(lxpy_dataset *dataset, lxpy_handle *handle);

/** Replaces the current handle with @p dataset and takes ownership of it, even on failure; returns
 * -1 with an exception set on failure. */
int lxpy_dataset_install(lxpy_dataset *self, lx_dataset *dataset);

/* refresh.c */
PyObject *lxpy_dataset_refresh(PyObject *self, PyObject *ignored);
PyObject *lxpy_dataset_wait(PyObject *self, PyObject *const *args, Py_ssize_t count,
                            PyObject *kwnames);

/* elsewhere.c */

/** The arguments for a remote dataset. One that was not passed is NULL. */
typedef struct lxpy_elsewhere {
    PyObject *cache, *limit, *memory, *connections, *patience, *tier;
    PyObject *endpoint, *region, *anonymous, *credentials;
} lxpy_elsewhere;

/** Makes the opener for the dataset at @p path (bytes), if it is elsewhere: the path is a URL, or
 * there are arguments. Otherwise, stores NULL. Returns -1 with an exception on failure. */
int lxpy_opener_make(PyObject *path, const lxpy_elsewhere *arguments, PyObject **opener);

/** Opens the dataset at @p path with @p opener; NULL: the dataset is here. */
void lxpy_opener_open(PyObject *opener, const char *path, const lx_dataset_options *options,
                      lx_dataset **dataset, lx_error *error);

PyObject *lxpy_dataset_remote_stats(PyObject *self, PyObject *ignored);

/** Adds the statistics of @p dataset to the dict @p found, under the identity of its opener, if the
 * dataset is elsewhere. Returns -1 with an exception set on failure. */
int lxpy_add_remote_stats(const lxpy_dataset *self, lx_dataset *dataset, PyObject *found);

/* gather.c */
PyObject *lxpy_dataset_gather(PyObject *self, PyObject *const *args, Py_ssize_t count);

/** Reads one field of records into @p out or, if @p out is NULL, into a new array; if its values
 * vary in length, into a list, whatever @p lacking (missing.h) is. */
PyObject *lxpy_gather_field(lxpy_reading *reading, size_t position, const lxpy_indices *indices,
                            PyObject *out, PyObject *lacking);

/** Copies dense records to consecutive memory at @p out. */
int lxpy_copy_dense(lxpy_reading *reading, size_t position, const uint64_t *indices, size_t count,
                    char *out);

/** Returns the number of records of @p size bytes to read between two checks for signals. */
static inline size_t lxpy_piece_of(uint64_t size)
{
    const uint64_t bytes = (uint64_t)64 << 20;
    return size < bytes ? (size_t)(bytes / (size != 0 ? size : 1)) : 1;
}

/* varying.c */

/** Reads one value of @p size bytes. If it is not present, only counts a damaged value. */
PyObject *lxpy_varying_item(lxpy_reading *reading, size_t position, uint64_t index, uint64_t size,
                            bool present);

/** Reads values into a list, with None for missing ones. */
PyObject *lxpy_gather_varying(lxpy_reading *reading, size_t position, const lxpy_indices *indices);

/* part.c */
PyObject *lxpy_dataset_read_part(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* item.c */
PyObject *lxpy_dataset_get(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_record(PyObject *self, PyObject *index);
PyObject *lxpy_dataset_present(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_sizes(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* arrow.c */
PyObject *lxpy_dataset_to_arrow(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* views.c */
PyObject *lxpy_dataset_views(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* card.c */

/** Returns the card as a dict. */
PyObject *lxpy_card_read(lxpy_reading *reading);
PyObject *lxpy_dataset_card(PyObject *self, PyObject *ignored);

/* report.c */
PyObject *lxpy_dataset_stat(PyObject *self, PyObject *ignored);

/** Returns the name of an access mode in Python. */
const char *lxpy_access_name(lx_access access);
PyObject *lxpy_dataset_verify(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_probe(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *kwnames);
PyObject *lxpy_dataset_resolve(PyObject *self, PyObject *indices);

/* elsewhere.c */
PyObject *lxpy_dataset_push(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* maintenance.c; the first argument of the last three functions is the type */
PyObject *lxpy_dataset_digest(PyObject *self, PyObject *progress);
PyObject *lxpy_dataset_diff(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_backup(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_export(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_repair(PyObject *type, PyObject *const *args, Py_ssize_t count);
PyObject *lxpy_dataset_remove(PyObject *type, PyObject *path);
PyObject *lxpy_dataset_unseal(PyObject *type, PyObject *path);

/* join.c; the first argument is the type */
PyObject *lxpy_dataset_join(PyObject *type, PyObject *const *args, Py_ssize_t count);

#endif
