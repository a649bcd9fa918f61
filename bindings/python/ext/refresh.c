/* SPDX-License-Identifier: MIT */
/* Refreshes a Dataset: replaces its handle, while running calls keep the old one. */
#include "dataset.h"

/* Another thread has put another handle in the place of the one that was shown. */
#define OVERTAKEN 2

/** Moves a handle to the newest commit, without the GIL, and may report whether it changed.
 * #LX_ERR_TIMEOUT is only in the status. */
typedef lx_status (*advance_function)(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                                      bool *changed, lx_error *error);

static lx_status advance(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds, bool *changed,
                         lx_error *error)
{
    (void)length;
    (void)nanoseconds;
    return lx_dataset_refresh(dataset, changed, error);
}

static lx_status await(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds, bool *changed,
                       lx_error *error)
{
    (void)changed;
    return lx_dataset_wait(dataset, length, nanoseconds, error);
}

static bool same_state(lx_dataset *one, lx_dataset *other)
{
    lx_dataset_identity a, b;
    lx_dataset_get_identity(one, &a);
    lx_dataset_get_identity(other, &b);
    return a.generation == b.generation && a.sequence == b.sequence && a.checksum == b.checksum &&
           a.sealed == b.sealed;
}

/** Shows @p newer, if it is of another state; -1 with an exception. */
static int show_newer(lxpy_dataset *self, const lxpy_handle *shown, lx_dataset *newer)
{
    if (!same_state(shown->dataset, newer))
        return lxpy_dataset_show(self, newer);
    LXPY_WITHOUT_GIL(lx_dataset_close(newer));
    return 0;
}

/** Goes on from @p shown, as @p how does, unless another thread has done so meanwhile: then what
 * that found may be older than this call. Whether something had changed, or -1. */
static int go_on_from(lxpy_dataset *self, const lxpy_handle *shown, advance_function how,
                      uint64_t length, uint64_t nanoseconds, lx_status *status)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *newer = NULL;
    bool changed = false;
    Py_BEGIN_ALLOW_THREADS
    *status = lx_dataset_pin(shown->dataset, &newer, &error);
    if (*status == LX_OK)
        *status = how(newer, length, nanoseconds, &changed, &error);
    Py_END_ALLOW_THREADS if (error.status == LX_OK &&
                             self->shown == shown) return show_newer(self, shown, newer) < 0
        ? -1
        : changed;
    LXPY_WITHOUT_GIL(lx_dataset_close(newer));
    if (error.status == LX_OK)
        return OVERTAKEN;
    lxpy_raise(self->state, &error);
    return -1;
}

static int go_on(lxpy_dataset *self, advance_function how, uint64_t length, uint64_t nanoseconds,
                 lx_status *status)
{
    bool overtaken = false;
    for (;;) {
        lxpy_handle *shown = lxpy_dataset_enter(self);
        if (shown == NULL)
            return -1;
        int changed = go_on_from(self, shown, how, length, nanoseconds, status);
        lxpy_dataset_leave(self, shown);
        if (changed != OVERTAKEN)
            return changed >= 0 ? changed || overtaken : -1;
        overtaken = true;
    }
}

/** A live dataset has one handle, which refreshes itself. */
static int go_on_live(lxpy_dataset *self, advance_function how, uint64_t length,
                      uint64_t nanoseconds, lx_status *status)
{
    lx_error error = LX_ERROR_INIT;
    bool changed = false;
    lxpy_handle *shown = lxpy_dataset_enter(self);
    if (shown == NULL)
        return -1;
    LXPY_WITHOUT_GIL(*status = how(shown->dataset, length, nanoseconds, &changed, &error));
    lxpy_dataset_leave(self, shown);
    if (error.status == LX_OK)
        return changed;
    lxpy_raise(self->state, &error);
    return -1;
}

static int go_on_by(lxpy_dataset *self, advance_function how, uint64_t length, uint64_t nanoseconds,
                    lx_status *status)
{
    return self->live ? go_on_live(self, how, length, nanoseconds, status)
                      : go_on(self, how, length, nanoseconds, status);
}

PyObject *lxpy_dataset_refresh(PyObject *object, PyObject *ignored)
{
    lx_status status;
    (void)ignored;
    int changed = go_on_by((lxpy_dataset *)object, advance, 0, 0, &status);
    return changed >= 0 ? PyBool_FromLong(changed) : NULL;
}

PyObject *lxpy_dataset_wait(PyObject *object, PyObject *const *args, Py_ssize_t count,
                            PyObject *kwnames)
{
    static const char *const names[] = {"length", "timeout", NULL};
    lxpy_dataset *self = (lxpy_dataset *)object;
    lx_status status = LX_ERR_TIMEOUT;
    PyObject *values[2];
    uint64_t length, nanoseconds;
    if (lxpy_arguments("wait", names, 2, 1, args, count, kwnames, values) < 0 ||
        lxpy_uint64(values[0], names[0], 0, LX_NONE - 1, &length) < 0 ||
        lxpy_timeout(values[1], names[1], &nanoseconds) < 0)
        return NULL;
    for (;;) {
        uint64_t now = nanoseconds < LXPY_SLICE_NS ? nanoseconds : LXPY_SLICE_NS;
        if (go_on_by(self, await, length, now, &status) < 0)
            return NULL;
        if (status == LX_OK) {
            Py_ssize_t there = PyObject_Length(object);
            return there >= 0 ? PyLong_FromSsize_t(there) : NULL;
        }
        if (PyErr_CheckSignals() < 0)
            return NULL;
        if (nanoseconds != LX_NONE)
            nanoseconds -= now;
        if (nanoseconds == 0)
            return lxpy_raise_status(self->state, LX_ERR_TIMEOUT,
                                     "the dataset does not have %llu records yet",
                                     (unsigned long long)length);
    }
}
