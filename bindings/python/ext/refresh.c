/* SPDX-License-Identifier: MIT */
/* Refreshes a Dataset: replaces its handle, while running calls keep the old handle. */
#include "dataset.h"

/* Another thread has replaced the current handle in the meantime. */
#define SUPERSEDED 2

/** Moves a handle to the newest commit. Called without the GIL. May store in @p changed whether the
 * snapshot changed. #LX_ERR_TIMEOUT is returned without setting @p error. */
typedef lx_status (*advance_function)(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                                      bool *changed, lx_error *error);

static lx_status refresh_handle(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                                bool *changed, lx_error *error)
{
    (void)length;
    (void)nanoseconds;
    return lx_dataset_refresh(dataset, changed, error);
}

static lx_status wait_handle(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                             bool *changed, lx_error *error)
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

/** Installs @p newer if it is a different snapshot. Returns -1 with an exception on failure. */
static int install_newer(lxpy_dataset *self, const lxpy_handle *current, lx_dataset *newer)
{
    if (!same_state(current->dataset, newer))
        return lxpy_dataset_install(self, newer);
    LXPY_WITHOUT_GIL(lx_dataset_close(newer));
    return 0;
}

/** Advances from @p current with @p function, unless another thread has advanced in the meantime,
 * in which case that thread's snapshot may predate this call. Returns whether the snapshot changed,
 * -1 with an exception, or #SUPERSEDED. */
static int advance_from(lxpy_dataset *self, const lxpy_handle *current, advance_function function,
                        uint64_t length, uint64_t nanoseconds, lx_status *status)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *newer = NULL;
    bool changed = false;
    Py_BEGIN_ALLOW_THREADS
    *status = lx_dataset_pin(current->dataset, &newer, &error);
    if (*status == LX_OK)
        *status = function(newer, length, nanoseconds, &changed, &error);
    Py_END_ALLOW_THREADS if (error.status == LX_OK &&
                             self->current == current) return install_newer(self, current, newer) <
            0
        ? -1
        : changed;
    LXPY_WITHOUT_GIL(lx_dataset_close(newer));
    if (error.status == LX_OK)
        return SUPERSEDED;
    lxpy_raise(self->state, &error);
    return -1;
}

static int advance_current(lxpy_dataset *self, advance_function function, uint64_t length,
                           uint64_t nanoseconds, lx_status *status)
{
    bool superseded = false;
    for (;;) {
        lxpy_handle *current = lxpy_dataset_enter(self);
        if (current == NULL)
            return -1;
        int changed = advance_from(self, current, function, length, nanoseconds, status);
        lxpy_dataset_leave(self, current);
        if (changed != SUPERSEDED)
            return changed >= 0 ? changed || superseded : -1;
        superseded = true;
    }
}

/** Advances a live dataset, whose only handle refreshes itself. */
static int advance_live(lxpy_dataset *self, advance_function function, uint64_t length,
                        uint64_t nanoseconds, lx_status *status)
{
    lx_error error = LX_ERROR_INIT;
    bool changed = false;
    lxpy_handle *current = lxpy_dataset_enter(self);
    if (current == NULL)
        return -1;
    LXPY_WITHOUT_GIL(*status = function(current->dataset, length, nanoseconds, &changed, &error));
    lxpy_dataset_leave(self, current);
    if (error.status == LX_OK)
        return changed;
    lxpy_raise(self->state, &error);
    return -1;
}

static int advance(lxpy_dataset *self, advance_function function, uint64_t length,
                   uint64_t nanoseconds, lx_status *status)
{
    return self->live ? advance_live(self, function, length, nanoseconds, status)
                      : advance_current(self, function, length, nanoseconds, status);
}

PyObject *lxpy_dataset_refresh(PyObject *object, PyObject *ignored)
{
    lx_status status;
    (void)ignored;
    int changed = advance((lxpy_dataset *)object, refresh_handle, 0, 0, &status);
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
        uint64_t slice = nanoseconds < LXPY_SLICE_NS ? nanoseconds : LXPY_SLICE_NS;
        if (advance(self, wait_handle, length, slice, &status) < 0)
            return NULL;
        if (status == LX_OK) {
            Py_ssize_t records = PyObject_Length(object);
            return records >= 0 ? PyLong_FromSsize_t(records) : NULL;
        }
        if (PyErr_CheckSignals() < 0)
            return NULL;
        if (nanoseconds != LX_NONE)
            nanoseconds -= slice;
        if (nanoseconds == 0)
            return lxpy_raise_status(self->state, LX_ERR_TIMEOUT,
                                     "the dataset does not have %llu records yet",
                                     (unsigned long long)length);
    }
}
