/* SPDX-License-Identifier: MIT */
/* What stands behind a Loader: an lx_loader, its transform, and how it ends. All of it is used with
 * the GIL held; what waits gives it up.
 *
 * An engine may outlive its Loader: who drops the last reference to one within a transform cannot
 * wait for the transforms that run, so the engine is closed by somebody else, soon after. */
#ifndef LXPY_ENGINE_H
#define LXPY_ENGINE_H

#include "batch.h"
#include "objects.h"
#include "turn.h"

/** What a transform gave for a batch that is not handed out yet. It cannot belong to the batch:
 * it may hold arrays, and so a reference to it. */
typedef struct lxpy_result {
    struct lxpy_result *next, **link; /**< In the list of the engine's, and what points here. */
    PyObject *value;                  /**< What is handed out; or */
    PyObject *type, *error, *trace;   /**< what is raised in its place. */
} lxpy_result;

typedef struct lxpy_engine {
    size_t references;
    struct lxpy_engine *next, **link; /**< In the list of all that are not closed. */
    lxpy_state *state;
    lx_loader *loader;       /**< NULL once it is closed, or is being closed. */
    PyObject *source;        /**< A Source, and with it all that the loader reads. */
    PyObject *transform;     /**< NULL: none. */
    lxpy_columns columns;    /**< What is the same for all its batches. */
    lxpy_result *results;    /**< Those that are not handed out. */
    uint64_t failures;       /**< Batches handed out by the library in which a transform failed. */
    bool interrupted;        /**< Ctrl-C came within the transform of the batch at */
    uint64_t interrupted_at; /**< this position: the next call begins with it again. */
    PyObject *kept;          /**< The batch that an interrupted call of next had taken, or NULL. */
    uint64_t kept_at;        /**< Its position. */
    lxpy_turn turn;          /**< Of who calls what may wait: next, seek. */
    unsigned forks;          /**< In which process it was opened. */
    bool orphan;             /**< To be closed by who comes by. */
} lxpy_engine;

/** Opens a loader; on failure raises and returns NULL. @p transform may be NULL, and so may @p seed,
 * that of keys in its batches. The options get the transform, and are otherwise as they are to
 * be. */
lxpy_engine *lxpy_engine_open(lxpy_state *state, PyObject *source, lx_loader_options *options,
                              PyObject *transform, const uint64_t *seed);

/** Ends the loader, waits for what of it runs, and gives a reference up; NULL is nothing. Within a
 * transform it is put off. */
void lxpy_engine_end(lxpy_engine *engine);

/** Ends the loader, now; not within a transform. May be called again. */
void lxpy_engine_close(lxpy_engine *engine);

/** Raises that the loader is closed; a daemon thread that meets it because the interpreter is ending
 * gets SystemExit. Returns NULL. */
PyObject *lxpy_engine_fail_closed(lxpy_engine *engine);

/** Seeks back to the batch at which Ctrl-C interrupted a call of next, if there is one, so that the
 * library's state describes it as not returned; -1 with an exception raised. It may wait for
 * transforms that run, which the interrupted call did not. */
int lxpy_engine_settle(lxpy_engine *engine);

/** The position after the last batch that was returned to Python; the loader is open. */
uint64_t lxpy_engine_tell(const lxpy_engine *engine);

/** After the end, goes on with the epochs that follow; -1 with an exception raised. */
int lxpy_engine_continue(lxpy_engine *engine);

/** The next batch as Python is to have it, or NULL: with an exception, or without at the end. */
PyObject *lxpy_engine_next(lxpy_engine *engine);

/** Goes to a position, or to that of a state where @p text is not NULL; -1 with an exception
 * raised. */
int lxpy_engine_seek(lxpy_engine *engine, uint64_t position, const char *text);

/** Has what is open closed when the interpreter ends, before its threads may no longer use it. */
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
