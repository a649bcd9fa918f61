/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Traces, which show when each thread of a loader does what.
 */
#ifndef LOADERX_TRACE_H
#define LOADERX_TRACE_H

#include <loaderx/export.h>
#include <loaderx/loader.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_trace Record what loaders do
 *
 * @code
 * lx_trace *trace = NULL;
 * lx_trace_new(&trace, &error);
 * lx_loader_set_trace(loader, trace, &error);
 * train(loader, 100);
 * lx_loader_set_trace(loader, NULL, &error);
 * lx_trace_write(trace, "loader.json", &error);
 * lx_trace_unref(trace);
 * @endcode
 *
 * A trace records spans of time, each on one thread: @c read (a thread fills records of a batch),
 * <tt>read ahead</tt> (within a @c read, it requests values of later batches from the disk),
 * @c transform, @c wait (lx_loader_next() waits for a batch, or helps to fill it) and @c consumer
 * (the time between two calls of lx_loader_next() on one thread; each loader has its own track for
 * it, because one thread can be the consumer of several loaders). After each batch, it also records
 * how many batches are ready and how many are in preparation.
 * @see lx_error, lx_loader
 * @{
 */

/** The number of spans that a trace keeps, of 80 bytes each. It drops and counts later
 * ones. */
#define LX_MAX_TRACE_SPANS 1048576

/**
 * What loaders did. A trace is reference-counted, and any number of loaders can record in it.
 *
 * @par Thread safety
 * Any thread may make any call at any time, as long as it holds a reference.
 */
typedef struct lx_trace lx_trace;

/**
 * Creates an empty trace. Memory is allocated as spans are recorded.
 *
 * @param[out] trace  Receives the trace; release it with lx_trace_unref().
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p trace is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_trace_new(lx_trace **trace, lx_error *error);

/** Takes another reference; returns @p trace. */
LX_API lx_trace *lx_trace_ref(lx_trace *trace);

/** Releases a reference; the last one frees the trace. NULL is allowed. */
LX_API void lx_trace_unref(lx_trace *trace);

/**
 * Lets a loader record in @p trace the batches that it begins to prepare from now on. The loader
 * takes a reference, and releases it when it is closed or when another trace is set. The call waits
 * until running calls to lx_loader_next() have returned, so a callback of the loader must not make
 * it. A trace continues across seeks and epochs.
 *
 * @param[in]  loader  The loader.
 * @param[in]  trace   The trace; NULL to record nothing, as in a new loader.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_FORKED    The loader belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  @p loader is NULL.
 */
LX_API lx_status lx_loader_set_trace(lx_loader *loader, lx_trace *trace, lx_error *error);

/**
 * Writes the spans that have ended, in Chrome's trace event format (JSON), which Perfetto
 * (ui.perfetto.dev) and chrome://tracing show. Times are those of @c CLOCK_MONOTONIC. The member
 * @c dropped of @c otherData is the number of spans that the trace dropped. The file appears
 * complete or not at all. Recording may continue, and the call may be repeated, also after a
 * failure.
 *
 * @param[in]  trace  The trace.
 * @param[in]  path   Where to write the file; an existing regular file is replaced, and its
 *                    permissions are kept.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK             Success.
 * @retval LX_ERR_NOT_FOUND  The directory does not exist.
 * @retval LX_ERR_EXISTS     @p path exists and is not a regular file.
 * @retval LX_ERR_ARGUMENT   A pointer is NULL.
 * @retval LX_ERR_IO         A system call failed, for example because the disk is full.
 * @retval LX_ERR_NOMEM      Out of memory.
 */
LX_API lx_status lx_trace_write(lx_trace *trace, const char *path, lx_error *error);

/** @} */

LX_END_DECLS

#endif
