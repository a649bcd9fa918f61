/* SPDX-License-Identifier: MIT */
/* Loader: returns batches. The implementation is in engine.c.
 *
 * A Loader is its own iterator: when its epochs have ended, it can continue with the next ones. For
 * each of its passes, loaderx.Loader uses a Loader and an iterator that ends with the pass
 * (pass.c). */
#include "engine.h"
#include "log.h"

#include <stdlib.h>
#include <time.h>

typedef struct loader {
    PyObject_HEAD
    lxpy_engine *engine;
    uint64_t past_ns;            /* total time of the earlier passes */
    uint64_t begun_ns, ended_ns; /* when this pass's first next() began, and its last one ended */
    uint64_t used_ns;            /* when the last pass began, continued or was moved */
    PyObject *pass;              /**< The iterator that has not ended, borrowed; or NULL. */
} loader;

/* ---- opening */

/** The arguments that the Python class passes. The numbers are in range. */
typedef struct arguments {
    PyObject *source, *order, *fields, *threads, *executor, *prefetch_bytes, *transform;
    PyObject *on_damage, *keys, *missing, *skipped, *receive, *allocate;
    unsigned long long batch_size, epochs, first_epoch, start, rank, world, end;
    int drop_last, uneven, pad_last;
} arguments;

static int set_fields(lx_loader_options *options, PyObject *fields, lx_error *error)
{
    if (fields == Py_None)
        return 0;
    if (!PyTuple_Check(fields)) {
        PyErr_SetString(PyExc_TypeError, "fields must be a tuple or None");
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(fields);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    int result = names != NULL ? 0 : -1;
    if (names == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
        names[i] = lxpy_text(PyTuple_GET_ITEM(fields, i), "fields");
        result = names[i] != NULL ? 0 : -1;
    }
    if (result == 0)
        lx_loader_options_set_columns(options, names, (size_t)count, error);
    free(names);
    return result;
}

static int set_threads(lxpy_state *state, lx_loader_options *options, const arguments *params,
                       lx_error *error)
{
    uint64_t number;
    lx_executor *executor;
    if (params->threads != Py_None) {
        if (lxpy_uint64(params->threads, "threads", 0, LX_MAX_READERS, &number) < 0)
            return -1;
        lx_loader_options_set_reader_count(options, (uint32_t)number, error);
    }
    if (params->prefetch_bytes != Py_None) {
        if (lxpy_uint64(params->prefetch_bytes, "prefetch_bytes", 0, UINT64_MAX, &number) < 0)
            return -1;
        lx_loader_options_set_prefetch_bytes(options, number, error);
    }
    if (lxpy_executor_get(state, params->executor, "executor", &executor) < 0)
        return -1;
    lx_loader_options_set_executor(options, executor, error);
    lx_executor_unref(executor);
    return 0;
}

static int set_damage(lx_loader_options *options, PyObject *on_damage, lx_error *error)
{
    /* The names, in the order of lx_damage_policy. */
    static const char *const names[] = {"raise", "zeros", "skip", NULL};
    int damage;
    if (lxpy_choice(on_damage, "on_damage", names, &damage) < 0)
        return -1;
    lx_loader_options_set_damage_policy(options, (lx_damage_policy)damage, error);
    return 0;
}

/** Sets the rule for one field: a policy, or the bytes of a value. */
static int set_missing_of(lx_loader_options *options, PyObject *rule, lx_error *error)
{
    /* The names, in the order of lx_missing_policy. */
    static const char *const names[] = {"raise", "zeros", "mask", NULL};
    PyObject *name, *what;
    int policy;
    if (!PyArg_ParseTuple(rule, "UO", &name, &what))
        return -1;
    const char *text = lxpy_text(name, "missing");
    if (text == NULL)
        return -1;
    if (PyBytes_Check(what)) {
        lx_loader_options_set_missing_value(options, text, PyBytes_AS_STRING(what),
                                            (size_t)PyBytes_GET_SIZE(what), error);
        return 0;
    }
    if (lxpy_choice(what, "missing", names, &policy) < 0)
        return -1;
    lx_loader_options_set_missing(options, text, (lx_missing_policy)policy, error);
    return 0;
}

/** Sets the rules of the fields; None: batches are checked when they are returned. */
static int set_missing(lx_loader_options *options, PyObject *rules, lx_error *error)
{
    int result = 0;
    if (rules == Py_None) {
        lx_loader_options_set_missing(options, NULL, LX_MISSING_MASK, error);
        return 0;
    }
    if (!PyTuple_Check(rules)) {
        PyErr_SetString(PyExc_TypeError, "missing must be a tuple or None");
        return -1;
    }
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(rules); i++)
        result = set_missing_of(options, PyTuple_GET_ITEM(rules, i), error);
    return result;
}

static int set_skipped(lx_loader_options *options, PyObject *ranges, lx_error *error)
{
    Py_ssize_t count = PyTuple_Size(ranges); /* -1 with an exception if it is no tuple */
    for (Py_ssize_t i = 0; i < count; i++) {
        unsigned long long first, end;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(ranges, i), "KK", &first, &end))
            return -1;
        lx_loader_options_add_skipped(options, first, end, error);
    }
    return count < 0 ? -1 : 0;
}

/** Creates the options. Returns NULL with an exception on failure. */
static lx_loader_options *make_options(lxpy_state *state, const arguments *params)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = lxpy_order_get(state, params->order, "order");
    lx_loader_options *options = order != NULL ? lx_loader_options_new() : NULL;
    if (options == NULL)
        return order != NULL ? (lx_loader_options *)PyErr_NoMemory() : NULL;
    lx_loader_options_set_order(options, order, &error);
    if (params->batch_size != 0)
        lx_loader_options_set_batch_size(options, params->batch_size, &error);
    lx_loader_options_set_epoch_count(options, params->epochs, &error);
    lx_loader_options_set_first_epoch(options, params->first_epoch, &error);
    lx_loader_options_set_start(options, params->start, &error);
    lx_loader_options_set_rank(options, params->rank, params->world, &error);
    lx_loader_options_set_drop_last(options, params->drop_last != 0, &error);
    lx_loader_options_set_uneven(options, params->uneven != 0, &error);
    lx_loader_options_set_pad_last(options, params->pad_last != 0, &error);
    if (set_fields(options, params->fields, &error) == 0 &&
        set_threads(state, options, params, &error) == 0 &&
        set_damage(options, params->on_damage, &error) == 0 &&
        set_missing(options, params->missing, &error) == 0 &&
        set_skipped(options, params->skipped, &error) == 0) {
        if (error.status == LX_OK)
            return options;
        lxpy_raise(state, &error);
    }
    lx_loader_options_free(options);
    return NULL;
}

static PyObject *not_none(PyObject *object)
{
    return object != Py_None ? object : NULL;
}

static PyObject *loader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    arguments params = {.first_epoch = 0};
    uint64_t seed;
    lxpy_state *state = lxpy_state_find(type);
    if (state == NULL)
        return NULL;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0) {
        PyErr_SetString(PyExc_TypeError, "Loader takes positional arguments only");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOKKKKKpppOOOOOOKOOOO|K", &params.source, &params.order,
                          &params.fields, &params.batch_size, &params.epochs, &params.start,
                          &params.rank, &params.world, &params.drop_last, &params.uneven,
                          &params.pad_last, &params.threads, &params.executor,
                          &params.prefetch_bytes, &params.transform, &params.on_damage,
                          &params.keys, &params.end, &params.missing, &params.skipped,
                          &params.receive, &params.allocate, &params.first_epoch) ||
        (params.keys != Py_None && lxpy_uint64(params.keys, "keys", 0, UINT64_MAX, &seed) < 0))
        return NULL;
    lxpy_missing missing = params.missing == Py_None ? LXPY_MISSING_CHECK : LXPY_MISSING_CHOSEN;
    lx_loader_options *options = make_options(state, &params);
    loader *self = options != NULL ? (loader *)type->tp_alloc(type, 0) : NULL;
    if (self != NULL) {
        lxpy_functions functions = {not_none(params.transform), not_none(params.receive),
                                    not_none(params.allocate)};
        self->engine = lxpy_engine_open(state, params.source, options, functions,
                                        params.keys != Py_None ? &seed : NULL, params.end, missing);
        if (self->engine == NULL)
            Py_CLEAR(self);
    }
    lx_loader_options_free(options);
    lxpy_log_pass_on(state);
    return (PyObject *)self;
}

/* ---- ending */

static int loader_traverse(PyObject *object, visitproc visit, void *arg)
{
    lxpy_engine *engine = ((loader *)object)->engine;
    Py_VISIT(Py_TYPE(object));
    if (engine == NULL)
        return 0;
    Py_VISIT(engine->source);
    Py_VISIT(engine->transform);
    Py_VISIT(engine->receive);
    Py_VISIT(engine->allocate);
    Py_VISIT(engine->kept);
    for (const lxpy_result *result = engine->results; result != NULL; result = result->next) {
        Py_VISIT(result->value);
        Py_VISIT(result->error);
        Py_VISIT(result->trace);
    }
    return 0;
}

static int loader_clear(PyObject *object)
{
    loader *self = (loader *)object;
    lxpy_engine *engine = self->engine;
    self->engine = NULL;
    lxpy_engine_end(engine);
    return 0;
}

/** Waits for running transforms before the garbage collector clears the objects of a cycle, which
 * the transforms may use. A finalizer within a transform cannot wait; in this case, the engine
 * leaves the cycle and keeps the objects alive. */
static void loader_finalize(PyObject *object)
{
    lxpy_engine *engine = ((loader *)object)->engine;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    if (lxpy_in_transform(NULL))
        loader_clear(object);
    else if (engine != NULL)
        lxpy_engine_close(engine);
    PyErr_Restore(type, error, trace);
}

static void loader_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (PyObject_CallFinalizerFromDealloc(object) < 0)
        return;
    PyObject_GC_UnTrack(object);
    loader_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

/** Returns the engine, or NULL with an exception if the garbage collector has cleared it. */
static lxpy_engine *engine_of(PyObject *object)
{
    lxpy_engine *engine = ((loader *)object)->engine;
    if (engine == NULL)
        PyErr_SetString(PyExc_ReferenceError, "the loader has been garbage-collected");
    return engine;
}

/** Returns the library's loader, or NULL with an exception if the loader is closed. For calls that
 * neither wait nor release the GIL. */
static lx_loader *open_handle(PyObject *object)
{
    lxpy_engine *engine = engine_of(object);
    if (engine != NULL && engine->loader == NULL)
        lxpy_engine_fail_closed(engine);
    return engine != NULL ? engine->loader : NULL;
}

static PyObject *loader_close(PyObject *object, PyObject *ignored)
{
    lxpy_engine *engine = engine_of(object);
    (void)ignored;
    if (engine == NULL)
        return NULL;
    if (engine->loader != NULL && lxpy_in_transform(engine))
        return lxpy_raise_status(
            engine->state, LX_ERR_STATE,
            "a transform cannot close its own loader: close the loader after next() has returned");
    lxpy_engine_close(engine);
    Py_RETURN_NONE;
}

static PyObject *loader_cancel(PyObject *object, PyObject *ignored)
{
    lxpy_engine *engine = engine_of(object);
    (void)ignored;
    if (engine == NULL)
        return NULL;
    if (engine->loader != NULL)
        lx_loader_cancel(engine->loader);
    Py_RETURN_NONE;
}

static PyObject *loader_check_transform(PyObject *object, PyObject *ignored)
{
    lxpy_engine *engine = engine_of(object);
    (void)ignored;
    if (engine == NULL || lxpy_engine_check_transform(engine) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- batches */

static PyObject *loader_iter(PyObject *object)
{
    lxpy_engine *engine = engine_of(object);
    if (engine == NULL || lxpy_engine_continue(engine, UINT64_MAX, NULL) < 0)
        return NULL;
    return Py_NewRef(object);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

PyObject *lxpy_loader_next(PyObject *object, PyObject *pass)
{
    loader *self = (loader *)object;
    lxpy_engine *engine = engine_of(object);
    if (engine == NULL)
        return NULL;
    if (self->begun_ns == 0)
        self->begun_ns = now_ns();
    PyObject *value = lxpy_engine_next(engine, pass);
    self->used_ns = self->ended_ns = now_ns();
    return value;
}

static PyObject *loader_next(PyObject *object)
{
    return lxpy_loader_next(object, NULL);
}

static PyObject *loader_peek(PyObject *object, PyObject *ignored)
{
    lxpy_engine *engine = engine_of(object);
    (void)ignored;
    PyObject *value = engine != NULL ? lxpy_engine_peek(engine) : NULL;
    if (value == NULL && !PyErr_Occurred())
        PyErr_SetNone(PyExc_StopIteration);
    return value;
}

/** Returns the total time of all passes, each from the start of its first call to next() to the end
 * of its last. */
static uint64_t time_of(const loader *self)
{
    /* During the first call, ended_ns is 0. */
    uint64_t end = self->ended_ns != 0 ? self->ended_ns : self->begun_ns;
    return self->past_ns + (end - self->begun_ns);
}

/** Returns a new iterator, or None if another one has not ended. */
static PyObject *loader_iterate(PyObject *object, PyObject *ignored)
{
    loader *self = (loader *)object;
    (void)ignored;
    if (open_handle(object) == NULL)
        return NULL;
    if (self->pass != NULL)
        Py_RETURN_NONE;
    self->past_ns = time_of(self);
    self->begun_ns = self->ended_ns = 0;
    self->used_ns = now_ns();
    self->pass = lxpy_pass_new(engine_of(object)->state, object);
    return self->pass;
}

void lxpy_loader_release(PyObject *object)
{
    ((loader *)object)->pass = NULL;
}

/** Returns when the last pass was used, in ns, and whether its iterator has not ended. */
static PyObject *loader_last_use(PyObject *object, PyObject *ignored)
{
    const loader *self = (loader *)object;
    (void)ignored;
    return Py_BuildValue("(KN)", (unsigned long long)self->used_ns,
                         PyBool_FromLong(self->pass != NULL));
}

/** Returns whether no batch is left before the position at which the pass ends. If so, moves there
 * and ends the iterator. */
static PyObject *loader_finish(PyObject *object, PyObject *argument)
{
    lxpy_engine *engine = engine_of(object);
    uint64_t end;
    if (engine == NULL || lxpy_uint64(argument, "end", 0, UINT64_MAX, &end) < 0)
        return NULL;
    PyObject *pass = ((loader *)object)->pass;
    Py_XINCREF(pass); /* another thread may drop it */
    int ended = lxpy_engine_continue(engine, end, pass);
    Py_XDECREF(pass);
    return ended >= 0 ? PyBool_FromLong(ended) : NULL;
}

static Py_ssize_t loader_length(PyObject *object)
{
    lx_loader *handle = open_handle(object);
    if (handle == NULL)
        return -1;
    lx_error error = LX_ERROR_INIT;
    uint64_t batches;
    if (lx_loader_get_batch_count(handle, &batches, &error) != LX_OK) {
        lxpy_raise(engine_of(object)->state, &error);
        return -1;
    }
    if (batches <= PY_SSIZE_T_MAX)
        return (Py_ssize_t)batches;
    PyErr_SetString(PyExc_OverflowError, "an epoch has more batches than len() can return");
    return -1;
}

/* ---- positions */

static PyObject *loader_seek(PyObject *object, PyObject *argument)
{
    uint64_t position;
    lxpy_engine *engine = engine_of(object);
    if (engine == NULL || lxpy_uint64(argument, "samples", 0, UINT64_MAX - 1, &position) < 0 ||
        lxpy_engine_seek(engine, position, NULL) < 0)
        return NULL;
    ((loader *)object)->used_ns = now_ns();
    Py_RETURN_NONE;
}

static PyObject *loader_tell(PyObject *object, PyObject *ignored)
{
    lx_loader *handle = open_handle(object);
    (void)ignored;
    if (handle == NULL)
        return NULL;
    return PyLong_FromUnsignedLongLong(lxpy_engine_tell(((loader *)object)->engine));
}

static lx_status save(const void *engine, char *text, size_t size, size_t *length, lx_error *error)
{
    const lxpy_engine *self = engine;
    return lx_loader_save_at(self->loader, lxpy_engine_tell(self), text, size, length, error);
}

static PyObject *loader_save(PyObject *object, PyObject *ignored)
{
    const lxpy_engine *engine = engine_of(object);
    (void)ignored;
    return open_handle(object) != NULL ? lxpy_save(engine->state, save, engine) : NULL;
}

static PyObject *loader_restore(PyObject *object, PyObject *args)
{
    PyObject *state, *choice;
    bool changed;
    lxpy_engine *engine = engine_of(object);
    if (engine == NULL || !PyArg_ParseTuple(args, "OO", &state, &choice) ||
        lxpy_changed(choice, &changed) < 0)
        return NULL;
    const char *text = lxpy_text(state, "state");
    if (text == NULL)
        return NULL;
    int result = changed ? lxpy_engine_restore_changed(engine, text)
                         : lxpy_engine_seek(engine, 0, text);
    lxpy_log_pass_on(engine->state);
    if (result < 0)
        return NULL;
    ((loader *)object)->used_ns = now_ns();
    Py_RETURN_NONE;
}

/* ---- inspection */

static PyObject *loader_set_trace(PyObject *object, PyObject *argument)
{
    lxpy_engine *engine = engine_of(object);
    lx_trace *trace = NULL;
    if (engine == NULL)
        return NULL;
    if (argument != Py_None && (trace = lxpy_trace_get(engine->state, argument, "trace")) == NULL)
        return NULL;
    if (lxpy_engine_trace(engine, trace) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *loader_stats(PyObject *object, PyObject *ignored)
{
    lx_loader_stats stats;
    const loader *self = (loader *)object;
    lx_loader *handle = open_handle(object);
    (void)ignored;
    if (handle == NULL)
        return NULL;
    lx_loader_get_stats(handle, &stats);
    /* The library counts a batch as returned even if its transform raised an exception, but the
     * user did not get the batch. */
    uint64_t failures = self->engine->failures;
    return Py_BuildValue(
        "{s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K}", "batches",
        (unsigned long long)(stats.batches - failures), "records",
        (unsigned long long)stats.records, "bytes", (unsigned long long)stats.bytes, "failures",
        (unsigned long long)(stats.failures + failures), "time_ns",
        (unsigned long long)time_of(self), "wait_ns", (unsigned long long)stats.wait_ns, "fill_ns",
        (unsigned long long)stats.fill_ns, "map_ns", (unsigned long long)stats.map_ns,
        "transform_ns", (unsigned long long)stats.transform_ns, "blocks",
        (unsigned long long)stats.blocks, "block_bytes", (unsigned long long)stats.block_bytes,
        "prefetched", (unsigned long long)stats.prefetched, "damaged",
        (unsigned long long)stats.damaged, "read_ahead", (unsigned long long)stats.read_ahead);
}

static PyObject *loader_get_closed(PyObject *object, void *ignored)
{
    lxpy_engine *engine = ((loader *)object)->engine;
    (void)ignored;
    return PyBool_FromLong(engine == NULL || engine->loader == NULL);
}

static PyMethodDef loader_methods[] = {
    {"close", loader_close, METH_NOARGS,
     "close()\n--\n\n"
     "Close the loader.\n\n"
     "Any thread can close the loader at any time, except within the loader's own transform. A\n"
     "thread that waits for a batch gets a LoaderxError. The call waits only for running\n"
     "transforms and reads. Arrays of earlier batches remain valid. Further calls have no effect."},
    {"cancel", loader_cancel, METH_NOARGS,
     "cancel()\n--\n\n"
     "Make all current and later calls to ``next()`` raise LoaderxError (LX_ERR_CANCELED)."},
    {"_check_transform", loader_check_transform, METH_NOARGS, NULL},
    {"_peek", loader_peek, METH_NOARGS, NULL},
    {"_iterate", loader_iterate, METH_NOARGS, NULL},
    {"_finish", loader_finish, METH_O, NULL},
    {"_last_use", loader_last_use, METH_NOARGS, NULL},
    {"seek", loader_seek, METH_O,
     "seek(samples)\n--\n\n"
     "Seek to a position in the global order: the number of preceding samples over all ranks."},
    {"tell", loader_tell, METH_NOARGS,
     "tell()\n--\n\n"
     "Return the position after the last returned batch, in samples over all ranks."},
    {"_save", loader_save, METH_NOARGS, NULL},
    {"_restore", loader_restore, METH_VARARGS, NULL},
    {"_set_trace", loader_set_trace, METH_O, NULL},
    {"stats", loader_stats, METH_NOARGS,
     "stats()\n--\n\n"
     "Return the numbers of ``loaderx.Loader.stats()`` as a dict."},
    {NULL},
};

static PyGetSetDef loader_getset[] = {
    {"closed", loader_get_closed, NULL, "Whether the loader is closed.", NULL},
    {NULL},
};

static PyType_Slot loader_slots[] = {
    {Py_tp_doc, "An iterator over the batches of a source."},
    {Py_tp_new, loader_new},
    {Py_tp_dealloc, loader_dealloc},
    {Py_tp_finalize, loader_finalize},
    {Py_tp_traverse, loader_traverse},
    {Py_tp_clear, loader_clear},
    {Py_tp_iter, loader_iter},
    {Py_tp_iternext, loader_next},
    {Py_mp_length, loader_length},
    {Py_tp_methods, loader_methods},
    {Py_tp_getset, loader_getset},
    {0, NULL},
};

static PyType_Spec loader_spec = {
    .name = "loaderx._core.Loader",
    .basicsize = sizeof(loader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = loader_slots,
};

int lxpy_add_loader(PyObject *module)
{
    return lxpy_engine_watch_exit() < 0 ? -1
                                        : lxpy_add_type(module, &loader_spec, LXPY_LOADER_TYPE);
}
