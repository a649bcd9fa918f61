/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records spans of time in a trace, and offers them as USDT probes.
 *
 * Where tracing is off, a span costs the test of a pointer, once for each part of a batch.
 */
#ifndef LX_LOADER_TRACE_H
#define LX_LOADER_TRACE_H

#include <loaderx/trace.h>

#ifdef HAVE_SYS_SDT_H
#include <sys/sdt.h>
#define LX__PROBES 1
#else
#define LX__PROBES 0
#endif

/** What records the spans of a loader. */
typedef struct lx__tracer {
    lx_trace *trace; /**< Owned reference; NULL: tracing is off. */
    uint32_t loader; /**< The number of the loader in the trace. */
} lx__tracer;

/** Something that this thread has done. */
typedef struct lx__span {
    const char *name;        /**< A constant. */
    uint64_t begin, end;     /**< Times; see executor/clock.h. */
    uint64_t position;       /**< Position of the batch. */
    uint64_t records, bytes; /**< How much was read, requested or returned. */
    bool is_consumer;        /**< Shown on a track of the loader instead of the thread's: a thread
                                  can be the consumer of several loaders at the same time. */
} lx__span;

/** Whether spans need to be measured. */
static inline bool lx__tracer_is_on(const lx__tracer *tracer)
{
    return LX__PROBES || tracer->trace != NULL;
}

/** Records in @p trace from now on; NULL: in none. */
void lx__tracer_set(lx__tracer *tracer, lx_trace *trace);

/** Copies a tracer, with a reference of its own, which lx__tracer_set() releases. */
lx__tracer lx__tracer_copy(const lx__tracer *tracer);

/** Records a span in the trace, which must not be NULL. Drops it if the trace is full. Takes no
 * lock. */
void lx__tracer_record(const lx__tracer *tracer, const lx__span *span);

/** Records a span; calls the probe loaderx:span. */
static inline void lx__tracer_add(const lx__tracer *tracer, const lx__span *span)
{
#if LX__PROBES
    DTRACE_PROBE6(loaderx, span, span->name, span->begin, span->end, span->position, span->records,
                  span->bytes);
#endif
    if (tracer->trace != NULL)
        lx__tracer_record(tracer, span);
}

/** Records how many batches are ready and in preparation now. */
void lx__tracer_count(const lx__tracer *tracer, size_t ready, size_t preparing);

#endif
