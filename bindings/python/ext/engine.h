/* SPDX-License-Identifier: MIT */
/* The implementation of a Loader: an lx_loader, its transform, and how it ends. All calls need the
 * GIL; those that wait release it.
 *
 * An engine may outlive its Loader: code that drops the last reference to it within a transform
 * cannot wait for the transforms that run, so another thread closes the engine soon after. */
#ifndef LXPY_ENGINE_H
#define LXPY_ENGINE_H

#include "batch.h"
#include "objects.h"
#include "lock.h"

/** What a transform returned for a batch that next has not returned yet. It cannot belong to the
 * batch: it may hold arrays, and so a reference to the batch. */
typedef struct lxpy_result {
    struct lxpy_result *next, **link; /**< In the engine's list, and what points here. */
    PyObject *value;                  /**< What next returns; or */
    PyObject *type, *error, *trace;   /**< what it raises. */
} lxpy_result;

typedef struct lxpy_engine {
    size_t references;
    struct lxpy_engine *next, **link; /**< In the list of all that are not closed. */
    lxpy_state *state;
    lx_loader *loader;       /**< NULL once it is closed, or is being closed. */
    PyObject *source;        /**< A Source, and with it all that the loader reads. */
    PyObject *transform;     /**< NULL: none. */
    lxpy_columns columns;    /**< What is the same for all its batches. */
    lxpy_result *results;    /**< Those that next has not returned. */
    uint64_t failures;       /**< Batches from the library whose transform failed. */
    bool interrupted;        /**< Ctrl-C came within the transform of the batch at */
    uint64_t interrupted_at; /**< this position: the next call begins with it again. */
    PyObject *kept;          /**< The batch that an interrupted call of next had taken, or NULL. */
    uint64_t kept_at;        /**< Its position. */
    lxpy_lock lock;          /**< Of calls that may wait: next, seek. */
    unsigned forks;          /**< The process in which it was opened. */
    bool orphan;             /**< The next thread that calls closes it. */
} lxpy_engine;

/** Opens a loader; NULL with an exception raised. @p transform may be NULL, and so may @p seed, the
 * seed of keys in its batches. The function sets the transform in the options, and no other. */
lxpy_engine *lxpy_engine_open(lxpy_state *state, PyObject *source, lx_loader_options *options,
                              PyObject *transform, const uint64_t *seed);

/** Closes the loader, waits for what runs in it, and releases a reference; does nothing with NULL.
 * Within a transform this happens later. */
void lxpy_engine_end(lxpy_engine *engine);

/** Closes the loader now; not within a transform. May be called again. */
void lxpy_engine_close(lxpy_engine *engine);

/** Raises the error of a closed loader; in a daemon thread SystemExit while the interpreter ends.
 * Returns NULL. */
PyObject *lxpy_engine_fail_closed(lxpy_engine *engine);

/** Seeks back to the batch at which Ctrl-C interrupted a call of next, if there is one, so that the
 * library's state describes it as not returned; -1 with an exception raised. It may wait for
 * transforms that run, which the interrupted call did not. */
int lxpy_engine_settle(lxpy_engine *engine);

/** The position after the last batch that was returned to Python; the loader is open. */
uint64_t lxpy_engine_tell(const lxpy_engine *engine);

/** Continues with the next epochs after the end; -1 with an exception raised. */
int lxpy_engine_continue(lxpy_engine *engine);

/** The next batch as Python gets it; NULL with an exception raised, or without one at the end. */
PyObject *lxpy_engine_next(lxpy_engine *engine);

/** Seeks to a position, or to that of the state @p text if it is not NULL; -1 with an exception
 * raised. */
int lxpy_engine_seek(lxpy_engine *engine, uint64_t position, const char *text);

/** Registers a function that closes all engines when the interpreter ends, while their threads can
 * still use it. */
int lxpy_engine_watch_exit(void);

/* ---- transform.c */

/** The transform that a loader gets: calls that of the engine, @p user, with the GIL. */
lx_status lxpy_transform(lx_batch *batch, void *user, lx_error *error);

/** Whether this thread runs a transform of the engine; NULL: of any. */
bool lxpy_in_transform(const lxpy_engine *engine);

/** Takes the batch's result out of the list: returns it, or raises what the transform raised. */
PyObject *lxpy_result_take(lxpy_result *result);

/** Drops a list of results that nothing points to any more. */
void lxpy_results_free(lxpy_result *first);

#endif
