/* SPDX-License-Identifier: MIT */
/* Calls the user's transform on the library's threads, and keeps its results until next() returns
 * them. */
#include "engine.h"

#include "thread-state.h"

#include <stdio.h>
#include <stdlib.h>

/** A transform that is running on this thread. Transforms may use other loaders, whose transforms
 * may also run on this thread. */
typedef struct frame {
    const lxpy_engine *engine;
    struct frame *outer;
} frame;

static _Thread_local frame *frames;

bool lxpy_in_transform(const lxpy_engine *engine)
{
    const frame *here = frames;
    while (here != NULL && engine != NULL && here->engine != engine)
        here = here->outer;
    return here != NULL;
}

/** Keeps the current exception. Replaces StopIteration, which would silently end the consumer's
 * loop. */
static void catch (lxpy_result *result)
{
    PyErr_Fetch(&result->type, &result->error, &result->trace);
    PyErr_NormalizeException(&result->type, &result->error, &result->trace);
    if (result->trace != NULL)
        PyException_SetTraceback(result->error, result->trace);
    if (!PyErr_GivenExceptionMatches(result->type, PyExc_StopIteration))
        return;
    PyObject *cause = result->error;
    Py_CLEAR(result->type);
    Py_CLEAR(result->trace);
    PyErr_SetString(PyExc_RuntimeError, "the transform raised StopIteration");
    PyErr_Fetch(&result->type, &result->error, &result->trace);
    PyErr_NormalizeException(&result->type, &result->error, &result->trace);
    PyException_SetCause(result->error, cause);
}

static lx_status run(lxpy_engine *engine, lx_batch *batch, lx_error *error)
{
    if (engine->orphan)
        return lx_fail(error, LX_ERR_CANCELED, "the loader was garbage-collected");
    lxpy_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        return lx_fail(error, LX_ERR_NOMEM, "not enough memory for the result of a transform");
    PyObject *dict = lxpy_batch_to_dict(engine->state, &engine->columns, lx_batch_ref(batch));
    if (dict != NULL)
        result->value = PyObject_CallOneArg(engine->transform, dict);
    if (result->value == NULL)
        catch (result);
    Py_XDECREF(dict);
    result->next = engine->results;
    result->link = &engine->results;
    if (result->next != NULL)
        result->next->link = &result->next;
    engine->results = result;
    lx_batch_set_result(batch, result, NULL);
    return LX_OK;
}

lx_status lxpy_transform(lx_batch *batch, void *user, lx_error *error)
{
    PyGILState_STATE gil;
    lx_status status = lxpy_gil_take(&gil, error);
    if (status != LX_OK)
        return status;
    frame here = {user, frames};
    frames = &here;
    status = run(user, batch, error);
    frames = here.outer;
    lxpy_gil_release(gil);
    return status;
}

PyObject *lxpy_result_take(lxpy_result *result)
{
    *result->link = result->next;
    if (result->next != NULL)
        result->next->link = result->link;
    PyObject *value = result->value;
    if (value == NULL)
        PyErr_Restore(result->type, result->error, result->trace);
    free(result);
    return value;
}

void lxpy_results_free(lxpy_result *first)
{
    while (first != NULL) {
        lxpy_result *result = first;
        first = result->next;
        Py_XDECREF(result->value);
        Py_XDECREF(result->type);
        Py_XDECREF(result->error);
        Py_XDECREF(result->trace);
        free(result);
    }
}
