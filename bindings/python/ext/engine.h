/* SPDX-License-Identifier: MIT */
/* The implementation of a Loader: an lx_loader, its transform, and its shutdown. All functions
 * require the GIL; functions that wait release it.
 *
 * An engine may outlive its Loader: if the last reference to the Loader is dropped within a
 * transform, the thread cannot wait for running transforms, so another thread closes the engine
 * soon after. */
#ifndef LXPY_ENGINE_H
#define LXPY_ENGINE_H

#include "batch.h"
#include "objects.h"
#include "lock.h"

/** The result of a transform for a batch that next has not returned yet. The batch cannot own the
 * result, because the result may contain arrays that reference the batch. */
typedef struct lxpy_result {
    struct lxpy_result *next, **link; /**< In the engine's list; @ref link points to this result. */
    PyObject *value;                  /**< The return value of next, or */
    PyObject *type, *error, *trace;   /**< the exception that next raises. */
} lxpy_result;

typedef struct lxpy_engine {
    size_t references;
    struct lxpy_engine *next, **link; /**< In the list of all engines that are not closed. */
    lxpy_state *state;
    lx_loader *loader;       /**< NULL if the loader is closed or closing. */
    PyObject *source;        /**< A Source, which owns all data that the loader reads. */
    PyObject *transform;     /**< NULL if there is no transform. */
    PyObject *receive;       /**< Without a transform, converts a batch that next returns, on the
                                  thread that calls next; NULL: none. */
    PyObject *allocate;      /**< Allocates the memory of batches; NULL: the library does. */
    lxpy_columns columns;    /**< Properties common to all batches. */
    lxpy_result *results;    /**< Results that next has not returned yet. */
    uint64_t end;            /**< The position at which iteration ends for good, or UINT64_MAX. */
    uint64_t failures;       /**< Number of batches that the library returned but whose transform
                                  failed. */
    bool interrupted;        /**< Ctrl-C interrupted the transform of a batch, or peek failed. */
    uint64_t interrupted_at; /**< The position of that batch, which the next call repeats. */
    PyObject *kept;          /**< The batch that peek, or an interrupted call to next, has taken. */
    uint64_t kept_at;        /**< The position of @ref kept. */
    bool peeked_end;         /**< Peek has found the end, and next and iterators have not. */
    uint64_t ended_at;       /**< The position at which the end was found; the library's position
                                  then moved to the end of the epoch. */
    lxpy_lock lock;          /**< Held by calls that may wait: next, seek. */
    unsigned forks;          /**< Fork count of the process that opened the engine. */
    bool orphan;             /**< The next thread that calls the engine closes it. */
} lxpy_engine;

/** The functions that a loader calls; each may be NULL. See lxpy_engine. */
typedef struct lxpy_functions {
    PyObject *transform, *receive, *allocate;
} lxpy_functions;

/** Opens a loader; returns NULL with an exception set on failure. @p seed is the seed of the keys
 * in batches, and may be NULL. If @p end is not UINT64_MAX, iteration ends for good at that
 * position, which must be the end of the epochs in @p options. @p missing must be what @p options
 * say. The function sets the transform and the memory in @p options, and no other option. */
lxpy_engine *lxpy_engine_open(lxpy_state *state, PyObject *source, lx_loader_options *options,
                              lxpy_functions functions, const uint64_t *seed, uint64_t end,
                              lxpy_missing missing);

/** Closes the loader, waits for its running calls, and releases a reference; NULL is a no-op.
 * Within a transform, the close is deferred. */
void lxpy_engine_end(lxpy_engine *engine);

/** Closes the loader now; must not be called within a transform. May be called again. */
void lxpy_engine_close(lxpy_engine *engine);

/** Raises the error of a closed loader or, in a daemon thread while the interpreter shuts down,
 * SystemExit. Returns NULL. */
PyObject *lxpy_engine_fail_closed(lxpy_engine *engine);

/** Returns -1 with an exception set if the engine is open and this thread is running one of its
 * transforms, because other calls to the engine may be waiting for that transform. */
int lxpy_engine_check_transform(lxpy_engine *engine);

/** Returns the position after the last batch that was returned to Python; a batch or an end that
 * peek has found, or a batch whose transform Ctrl-C interrupted, does not count. The loader must be
 * open. */
uint64_t lxpy_engine_tell(const lxpy_engine *engine);

/** Moves to the next epochs if no batch of the current ones is left. Returns 1 if the position is
 * at least @p end, 0 if not, and -1 with an exception set on failure. If it returns 1, it also ends
 * @p pass, unless that is NULL. */
int lxpy_engine_continue(lxpy_engine *engine, uint64_t end, PyObject *pass);

/** Returns the next batch for Python. Returns NULL with an exception set on failure, and NULL
 * without an exception at the end, or if @p pass is not NULL and has ended. */
PyObject *lxpy_engine_next(lxpy_engine *engine, PyObject *pass);

/** Returns the batch that the next call to lxpy_engine_next() will return, without advancing; fails
 * and ends as that function does. */
PyObject *lxpy_engine_peek(lxpy_engine *engine);

/** Seeks to a position or, if @p text is not NULL, to the position of the state @p text; returns -1
 * with an exception set on failure. */
int lxpy_engine_seek(lxpy_engine *engine, uint64_t position, const char *text);

/** Moves to the position of a state, even if records have changed since it was saved. */
int lxpy_engine_restore_changed(lxpy_engine *engine, const char *text);

/** Lets the loader record in @p trace; NULL: in none. Returns -1 with an exception set on failure. */
int lxpy_engine_trace(lxpy_engine *engine, lx_trace *trace);

/** Registers an exit function that closes all engines while their threads can still use the
 * interpreter. */
int lxpy_engine_watch_exit(void);

/* ---- pass.c */

/** Creates an iterator over the batches of @p loader, a Loader; returns NULL with an exception set
 * on failure. */
PyObject *lxpy_pass_new(lxpy_state *state, PyObject *loader);

/** Ends the iterator, which then raises StopIteration. */
void lxpy_pass_end(PyObject *pass);

/** Whether the iterator has ended; false for NULL. */
bool lxpy_pass_has_ended(PyObject *pass);

/* ---- loader.c */

/** Returns the next batch of @p pass, the iterator of @p loader, as lxpy_engine_next() does. */
PyObject *lxpy_loader_next(PyObject *loader, PyObject *pass);

/** Forgets the only iterator of @p loader, which has ended. */
void lxpy_loader_release(PyObject *loader);

/* ---- supply.c */

/** The lx_allocate_memory_function of loaders: calls the function @a allocate of the engine @p user
 * with a size. It must return a tensor of so many bytes. The owner of the memory is an array over
 * the tensor, whose base is the tensor. */
lx_status lxpy_allocate(size_t size, void *user, lx_memory *memory, lx_error *error);

/** The lx_release_memory_function of loaders. */
void lxpy_release(const lx_memory *memory, void *user);

/* ---- transform.c */

/** The lx_transform_function of loaders: calls the transform of the engine @p user while holding
 * the GIL. */
lx_status lxpy_transform(lx_batch *batch, void *user, lx_error *error);

/** Whether this thread is running a transform of the engine or, if @p engine is NULL, any
 * transform. */
bool lxpy_in_transform(const lxpy_engine *engine);

/** Removes the result from the list and returns its value, or raises its exception. */
PyObject *lxpy_result_take(lxpy_result *result);

/** Frees a list of results that nothing references. */
void lxpy_results_free(lxpy_result *first);

#endif
