/* SPDX-License-Identifier: MIT */
/* What loaderx._core gives to the other extensions of the package, in a capsule of this name, and
 * what it takes from loaderx._remote. They do not use lxpy.h. */
#ifndef LXPY_CAPSULE_H
#define LXPY_CAPSULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include <loaderx/progress.h>
#include <loaderx/source.h>

#define LXPY_CAPSULE "loaderx._core._capsule"

/** Valid while the module loaderx._core exists. */
typedef struct lxpy_capsule {
    struct lxpy_state *state; /**< The argument of the functions. */
    /** Raises the exception for @p error, chosen by its status. Returns NULL. */
    PyObject *(*raise)(struct lxpy_state *state, const lx_error *error);
    /** Returns the library's source of a Source, or NULL with a TypeError set that names
     * @p argument. */
    lx_source *(*get_source)(struct lxpy_state *state, PyObject *object, const char *argument);
    /** Returns a Source for @p handle, which reads another one; takes over the reference to
     * @p handle, even on failure. */
    PyObject *(*new_source)(struct lxpy_state *state, lx_source *handle, PyObject *reads);
    /** See thread-state.h for these. */
    int (*prepare_gil)(void);
    lx_status (*take_gil)(PyGILState_STATE *gil, lx_error *error);
    void (*release_gil)(PyGILState_STATE gil);
    /** See log.h. */
    void (*pass_on_log)(struct lxpy_state *state);
} lxpy_capsule;

#define LXPY_OPENER "loaderx._remote.opener"

/** Opens one dataset that is elsewhere: in a capsule of this name, which belongs to the Dataset. */
typedef struct lxpy_opener {
    void *options;
    uintptr_t credentials; /**< The number of a function in loaderx._elsewhere; 0: none. */
    const lxpy_capsule *shared;
    lx_status (*open)(const struct lxpy_opener *self, const char *url,
                      const lx_dataset_options *options, lx_dataset **dataset, lx_error *error);
    /** Publishes a dataset at a URL. */
    lx_status (*push)(const struct lxpy_opener *self, lx_dataset *dataset, const char *url,
                      bool replace, lx_progress_function progress, void *user, uint64_t *sent,
                      lx_error *error);
    /** Returns a dict of numbers: what was read through the dataset. */
    PyObject *(*get_stats)(const struct lxpy_opener *self, lx_dataset *dataset);
} lxpy_opener;

#endif
