/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include "log.h"
#include "thread-state.h"

#include <stdlib.h>
#include <time.h>

/** All engines that are not closed. */
static lxpy_engine *engines;

/** Whether some engines have lost their Loader within a transform. */
static bool has_orphans;

/** Whether the interpreter is ending; exit_thread is the thread that ends it. */
static bool exiting;
static unsigned long exit_thread;

/** Raises the error of a closed loader. While the interpreter ends, every thread other than
 * exit_thread is a daemon thread. A daemon thread gets SystemExit: for any other exception, Python
 * would print a traceback to a stream that is being closed, and abort the process. A thread within
 * a transform belongs to the library, and the loader receives the error. */
static void raise_closed(lxpy_state *state, const char *text)
{
    if (exiting && PyThread_get_thread_ident() != exit_thread && !lxpy_in_transform(NULL))
        PyErr_SetNone(PyExc_SystemExit); /* the threading module ignores this exception silently */
    else
        lxpy_raise_status(state, LX_ERR_STATE, text);
}

/* ---- opening */

/** Raises the exception for an error of lx_loader_open() or lx_loader_next(). Returns NULL. */
static PyObject *raise_error(lxpy_engine *self, const lx_error *error)
{
    /* a missing value is the only such error that names a record and no path */
    bool missing = error->status == LX_ERR_MISMATCH && error->record != LX_NONE &&
                   error->path[0] == '\0';
    return missing ? lxpy_raise_missing(self->state, error->field, error->record,
                                        "set missing= of a loaderx.Loader to 'mask', 'zeros' or a "
                                        "value, or ")
                   : lxpy_raise(self->state, error);
}

static int open_loader(lxpy_engine *self, lx_loader_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source = lxpy_source_get(self->state, self->source, "source");
    if (source == NULL)
        return -1;
    if (self->transform != NULL)
        lx_loader_options_set_transform(options, lxpy_transform, self, &error);
    if (self->allocate != NULL)
        lx_loader_options_set_memory(options, lxpy_allocate, lxpy_release, self, false, &error);
    LXPY_WITHOUT_GIL(lx_loader_open(source, options, &self->loader, &error));
    if (error.status == LX_OK)
        return 0;
    raise_error(self, &error);
    return -1;
}

static void unref(lxpy_engine *self)
{
    if (--self->references == 0) {
        lxpy_lock_free(&self->lock);
        free(self);
    }
}

/** Releases the engine's Python objects. The loader must be closed. */
static void clear(lxpy_engine *self)
{
    lxpy_result *results = self->results;
    self->results = NULL;
    lxpy_results_free(results);
    Py_CLEAR(self->kept);
    lxpy_columns_clear(&self->columns);
    Py_CLEAR(self->source);
    Py_CLEAR(self->transform);
    Py_CLEAR(self->receive);
    Py_CLEAR(self->allocate);
}

static void enlist(lxpy_engine *self)
{
    self->next = engines;
    self->link = &engines;
    if (self->next != NULL)
        self->next->link = &self->next;
    engines = self;
}

static void delist(lxpy_engine *self)
{
    *self->link = self->next;
    if (self->next != NULL)
        self->next->link = self->link;
}

lxpy_engine *lxpy_engine_open(lxpy_state *state, PyObject *source, lx_loader_options *options,
                              lxpy_functions functions, const uint64_t *seed, uint64_t end,
                              lxpy_missing missing)
{
    if (exiting) {
        raise_closed(state, "the interpreter is ending");
        return NULL;
    }
    lxpy_engine *self = calloc(1, sizeof *self);
    if (self == NULL)
        return (lxpy_engine *)PyErr_NoMemory();
    self->references = 1;
    self->state = state;
    self->forks = lxpy_forks();
    self->end = end;
    self->source = Py_NewRef(source);
    self->transform = Py_XNewRef(functions.transform);
    self->receive = Py_XNewRef(functions.receive);
    self->allocate = Py_XNewRef(functions.allocate);
    self->columns.missing = missing;
    self->columns.keyed = seed != NULL;
    self->columns.seed = seed != NULL ? *seed : 0;
    bool calls_python = self->transform != NULL || self->allocate != NULL;
    if (lxpy_lock_init(&self->lock) < 0 || (calls_python && lxpy_gil_prepare() < 0) ||
        open_loader(self, options) < 0) {
        clear(self);
        unref(self);
        return NULL;
    }
    enlist(self);
    return self;
}

/* ---- ending */

void lxpy_engine_close(lxpy_engine *self)
{
    lx_loader *loader = self->loader;
    /* In a child of fork(), the loader has no threads, and its locks are copies of the parent's. */
    bool here = self->forks == lxpy_forks();
    if (loader == NULL)
        return;
    self->references++;
    self->loader = NULL;
    if (here) {
        lx_loader_cancel(loader);
        /* A thread in a library call holds the lock and is about to return. Later calls see that
         * the loader is NULL. */
        lxpy_lock_take_always(&self->lock);
        lxpy_lock_release(&self->lock);
    }
    LXPY_WITHOUT_GIL(lx_loader_close(loader));
    delist(self);
    clear(self);
    unref(self);
}

/** Closes the engines that their callers could not wait for. */
static void close_orphans(void)
{
    if (!has_orphans || lxpy_in_transform(NULL))
        return;
    has_orphans = false;
    for (lxpy_engine *engine = engines; engine != NULL;) {
        lxpy_engine *orphan = engine->orphan && engine->loader != NULL ? engine : NULL;
        engine = engine->next;
        if (orphan != NULL) {
            lxpy_engine_close(orphan);
            unref(orphan);
            engine = engines; /* the list may have changed in the meantime */
        }
    }
}

static int call_close_orphans(void *ignored)
{
    (void)ignored;
    close_orphans();
    return 0;
}

void lxpy_engine_end(lxpy_engine *self)
{
    if (self == NULL)
        return;
    if (self->loader != NULL && lxpy_in_transform(NULL)) {
        /* Waiting here could deadlock: the wait could be for this transform, or for another one
         * that waits for it. */
        lx_loader_cancel(self->loader);
        self->orphan = has_orphans = true;
        /* If this fails, the next call closes the engine. */
        (void)Py_AddPendingCall(call_close_orphans, NULL);
        return;
    }
    lxpy_engine_close(self);
    unref(self);
}

/** Returns an open engine, or NULL if all engines are closed or being closed. Sets @p leaving to
 * whether another thread is closing an engine. */
static lxpy_engine *find_open(bool *leaving)
{
    lxpy_engine *engine = engines;
    *leaving = false;
    while (engine != NULL && engine->loader == NULL) {
        /* in a child of fork(), no thread is closing the parent's engines */
        *leaving = *leaving || engine->forks == lxpy_forks();
        engine = engine->next;
    }
    return engine;
}

/** Called by atexit. After this call, the library's threads cannot take the GIL. */
static PyObject *close_all(PyObject *ignored, PyObject *nothing)
{
    const struct timespec moment = {0, 1000000};
    bool leaving = true;
    (void)ignored;
    (void)nothing;
    exiting = true;
    exit_thread = PyThread_get_thread_ident();
    while (leaving) {
        lxpy_engine *open = find_open(&leaving);
        if (open != NULL) {
            lxpy_engine_close(open);
            leaving = true;
        } else if (leaving) {
            LXPY_WITHOUT_GIL(nanosleep(&moment, NULL));
        }
    }
    lxpy_gil_stop();
    Py_RETURN_NONE;
}

int lxpy_engine_watch_exit(void)
{
    static PyMethodDef function = {"close_all", close_all, METH_NOARGS, NULL};
    PyObject *callable = PyCFunction_New(&function, NULL);
    PyObject *atexit = PyImport_ImportModule("atexit"), *done = NULL;
    if (callable != NULL && atexit != NULL)
        done = PyObject_CallMethod(atexit, "register", "O", callable);
    Py_XDECREF(callable);
    Py_XDECREF(atexit);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* ---- calls that may wait */

PyObject *lxpy_engine_fail_closed(lxpy_engine *self)
{
    raise_closed(self->state, "the loader is closed");
    return NULL;
}

int lxpy_engine_check_transform(lxpy_engine *self)
{
    if (self->loader == NULL || !lxpy_in_transform(self))
        return 0;
    lxpy_raise_status(self->state, LX_ERR_STATE,
                      "a transform cannot use the loader that is waiting for it");
    return -1;
}

/** Takes the lock of an open loader. Returns -1 with an exception on failure. */
static int enter(lxpy_engine *self)
{
    if (has_orphans)
        close_orphans();
    if (lxpy_engine_check_transform(self) < 0)
        return -1;
    if (lxpy_lock_take(&self->lock) < 0)
        return -1;
    if (self->loader != NULL)
        return 0;
    lxpy_lock_release(&self->lock);
    lxpy_engine_fail_closed(self);
    return -1;
}

uint64_t lxpy_engine_tell(const lxpy_engine *self)
{
    uint64_t position = lx_loader_tell(self->loader);
    if (self->kept != NULL && self->kept_at < position)
        position = self->kept_at;
    if (self->peeked_end && self->ended_at < position)
        position = self->ended_at;
    return self->interrupted && self->interrupted_at < position ? self->interrupted_at : position;
}

/** Repeats the batch whose transform Ctrl-C interrupted. */
static int repeat_interrupted(lxpy_engine *self)
{
    return self->interrupted ? lxpy_engine_seek(self, self->interrupted_at, NULL) : 0;
}

int lxpy_engine_continue(lxpy_engine *self, uint64_t end, PyObject *pass)
{
    if (repeat_interrupted(self) < 0 || enter(self) < 0)
        return -1;
    lx_loader *loader = self->loader;
    if (self->kept == NULL) /* a kept batch belongs to the current epoch */
        LXPY_WITHOUT_GIL(lx_loader_next_epoch(loader));
    self->peeked_end = false;
    bool ended = self->loader != NULL && lxpy_engine_tell(self) >= end;
    /* End the pass before releasing the lock: other threads of the pass that wait for the lock must
     * not take a batch of the next pass. */
    if (ended && pass != NULL)
        lxpy_pass_end(pass);
    lxpy_lock_release(&self->lock);
    return ended;
}

/** Moves to a position or, if @p text is not NULL, to that of a state; @p changed tells whether
 * records may have changed since the state was saved. */
static int move_to(lxpy_engine *self, uint64_t position, const char *text, bool changed)
{
    lx_error error = LX_ERROR_INIT;
    if (enter(self) < 0)
        return -1;
    lx_loader *loader = self->loader;
    if (text != NULL)
        LXPY_WITHOUT_GIL(changed ? lx_loader_restore_changed(loader, text, &error)
                                 : lx_loader_restore(loader, text, &error));
    else
        LXPY_WITHOUT_GIL(lx_loader_seek(loader, position, &error));
    /* The library has dropped all prepared batches, so nothing refers to their results. This thread
     * holds the lock, so no new result was added. The results are freed without the lock, since
     * freeing them may run arbitrary code. */
    lxpy_result *results = NULL;
    PyObject *kept = NULL;
    if (error.status == LX_OK) {
        results = self->results;
        kept = self->kept;
        self->results = NULL;
        self->kept = NULL;
        self->interrupted = self->peeked_end = false;
    }
    lxpy_lock_release(&self->lock);
    lxpy_results_free(results);
    Py_XDECREF(kept);
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(self->state, &error);
    return -1;
}

int lxpy_engine_seek(lxpy_engine *self, uint64_t position, const char *text)
{
    return move_to(self, position, text, false);
}

int lxpy_engine_restore_changed(lxpy_engine *self, const char *text)
{
    return move_to(self, 0, text, true);
}

int lxpy_engine_trace(lxpy_engine *self, lx_trace *trace)
{
    lx_error error = LX_ERROR_INIT;
    if (enter(self) < 0)
        return -1;
    lx_loader *loader = self->loader;
    LXPY_WITHOUT_GIL(lx_loader_set_trace(loader, trace, &error));
    lxpy_lock_release(&self->lock);
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(self->state, &error);
    return -1;
}

/** Returns the batch for Python, which receive() has converted, or NULL with an exception. Releases
 * @p batch. */
static PyObject *receive(lxpy_engine *self, lx_batch *batch)
{
    PyObject *dict = lxpy_batch_to_dict(self->state, &self->columns, batch);
    if (dict == NULL || self->receive == NULL)
        return dict;
    PyObject *function = Py_NewRef(self->receive); /* another thread may close the engine */
    PyObject *value = PyObject_CallOneArg(function, dict);
    Py_DECREF(function);
    Py_DECREF(dict);
    return value;
}

/** Returns what next() returns for @p batch, or NULL with an exception. Releases @p batch. */
static PyObject *convert(lxpy_engine *self, lx_batch *batch)
{
    lxpy_result *result = lx_batch_get_result(batch);
    uint64_t position = lx_batch_get_position(batch);
    PyObject *value = result != NULL ? lxpy_result_take(result) : NULL;
    if (result != NULL)
        lx_batch_unref(batch);
    else
        value = receive(self, batch);
    if (value != NULL)
        return value;
    self->failures++;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) &&
        (!self->interrupted || position < self->interrupted_at)) {
        self->interrupted = true;
        self->interrupted_at = position;
    }
    return NULL;
}

static PyObject *take_kept(lxpy_engine *self)
{
    PyObject *value = self->kept;
    self->kept = NULL;
    return value;
}

/** Runs the handlers of signals that arrived during the call, and then returns @p value. Otherwise,
 * the interpreter would run the handlers after the return and before the assignment to a variable,
 * and an exception in a handler would lose the batch. While the handlers run, the loader keeps the
 * batch; if a handler raises an exception, the next call returns the batch. */
static PyObject *return_safely(lxpy_engine *self, PyObject *value, uint64_t position)
{
    if (self->kept != NULL) /* kept by the only thread that can run handlers */
        return value;
    self->kept = value;
    self->kept_at = position;
    return PyErr_CheckSignals() == 0 ? take_kept(self) : NULL;
}

/** Does what lxpy_engine_next() does, for peek, too. */
static PyObject *take(lxpy_engine *self, PyObject *pass)
{
    for (;;) {
        lx_error error = LX_ERROR_INIT;
        lx_batch *batch;
        lx_status status;
        if (lxpy_pass_has_ended(pass))
            return NULL;
        if (self->kept != NULL && self->loader != NULL)
            return take_kept(self);
        if (repeat_interrupted(self) < 0 || enter(self) < 0)
            return NULL;
        lx_loader *loader = self->loader;
        uint64_t before = lx_loader_tell(loader);
        /* Another thread may have ended the pass, and a start position or a state may lie beyond
         * the end. */
        if (lxpy_pass_has_ended(pass) || before >= self->end)
            status = LX_END;
        else
            LXPY_WITHOUT_GIL(status = lx_loader_next_timed(loader, LXPY_SLICE_NS, &batch, &error));
        if (status == LX_END && !self->peeked_end)
            self->ended_at = before;
        lxpy_lock_release(&self->lock);
        if (status == LX_OK) {
            uint64_t position = lx_batch_get_position(batch);
            PyObject *value = convert(self, batch);
            value = value != NULL ? return_safely(self, value, position) : NULL;
            lxpy_log_pass_on(self->state);
            if (value != NULL || PyErr_Occurred())
                return value;
            continue;
        }
        if (status == LX_END)
            return NULL;
        lxpy_log_pass_on(self->state); /* the wait may be long: the server may be unavailable */
        if (status != LX_ERR_TIMEOUT)
            return self->loader != NULL ? raise_error(self, &error) : lxpy_engine_fail_closed(self);
        if (PyErr_CheckSignals() < 0)
            return NULL;
    }
}

PyObject *lxpy_engine_peek(lxpy_engine *self)
{
    uint64_t before = self->loader != NULL ? lxpy_engine_tell(self) : 0;
    PyObject *value = take(self, NULL);
    if (value != NULL && self->kept == NULL) {
        self->kept = Py_NewRef(value);
        self->kept_at = before;
    } else if ((value != NULL || PyErr_Occurred()) && self->loader != NULL &&
               lxpy_engine_tell(self) > before) {
        /* The batch failed, or another thread has peeked in the meantime: the next call must read
         * the batch again. */
        self->interrupted = true;
        self->interrupted_at = before;
    } else if (value == NULL && !PyErr_Occurred()) {
        self->peeked_end = true;
    }
    return value;
}

PyObject *lxpy_engine_next(lxpy_engine *self, PyObject *pass)
{
    PyObject *value = take(self, pass);
    self->peeked_end = false;
    return value;
}
