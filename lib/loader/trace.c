/* SPDX-License-Identifier: MIT */
#include "loader/trace.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic-file.h"
#include "base/error.h"
#include "executor/clock.h"

/* Blocks are allocated when their first event is recorded. */
#define BLOCK_EVENTS 4096
#define BLOCKS (LX_MAX_TRACE_SPANS / BLOCK_EVENTS)
/* Beyond the numbers of threads: the number of the track of a loader's consumer, for loader 0. */
#define CONSUMERS ((uint32_t)1 << 30)
/* The limit that the kernel sets for the name of a thread, with its NUL. */
#define THREAD_NAME 16
#define BUFFER ((size_t)64 << 10)
/* More than the length of the longest line of the file. */
#define LINE 512

/* The name of a count of batches, which is stored as an event: how many are ready, and how many are
 * in preparation. */
static const char counts[] = "batches";

/** A thread, for as long as it runs. */
typedef struct thread {
    int process; /**< Its number differs in a child of fork(). */
    uint32_t number;
    char name[THREAD_NAME];
} thread;

typedef struct event {
    _Atomic(const char *) name; /**< NULL until the event is complete. */
    uint64_t begin, end;
    uint64_t position;
    uint64_t records, bytes;
    uint32_t loader;
    thread thread; /**< It may end before the file is written. */
} event;

typedef struct block {
    event events[BLOCK_EVENTS];
} block;

struct lx_trace {
    atomic_size_t references;
    int process;
    atomic_uint loaders;       /**< Number of loaders that recorded in the trace. */
    _Atomic uint64_t recorded; /**< Number of events, including dropped ones. */
    _Atomic uint64_t dropped;
    _Atomic(block *) blocks[BLOCKS];
};

lx_status lx_trace_new(lx_trace **trace, lx_error *error)
{
    LX__CLEAR(trace);
    if (trace == NULL)
        return lx__fail_null(error, "trace");
    *trace = lx__alloc_array(1, sizeof **trace);
    if (*trace == NULL)
        return lx__fail_memory(error, "a trace");
    atomic_init(&(*trace)->references, 1);
    (*trace)->process = getpid();
    return LX_OK;
}

lx_trace *lx_trace_ref(lx_trace *trace)
{
    atomic_fetch_add_explicit(&trace->references, 1, memory_order_relaxed);
    return trace;
}

void lx_trace_unref(lx_trace *trace)
{
    if (trace == NULL ||
        atomic_fetch_sub_explicit(&trace->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < BLOCKS; i++)
        lx__free(atomic_load(&trace->blocks[i]));
    lx__free(trace);
}

/* ---- recording, on any thread */

void lx__tracer_set(lx__tracer *tracer, lx_trace *trace)
{
    lx_trace_unref(tracer->trace);
    *tracer = (lx__tracer){.trace = trace};
    if (trace == NULL)
        return;
    lx_trace_ref(trace);
    tracer->loader = atomic_fetch_add_explicit(&trace->loaders, 1, memory_order_relaxed);
}

lx__tracer lx__tracer_copy(const lx__tracer *tracer)
{
    if (tracer->trace != NULL)
        lx_trace_ref(tracer->trace);
    return *tracer;
}

/** Returns a block, or NULL when out of memory. */
static block *find_block(lx_trace *trace, size_t number)
{
    block *found = atomic_load_explicit(&trace->blocks[number], memory_order_acquire), *made;
    if (found != NULL || (made = lx__alloc_array(1, sizeof *made)) == NULL)
        return found;
    if (atomic_compare_exchange_strong(&trace->blocks[number], &found, made))
        return made;
    lx__free(made); /* another thread was faster */
    return found;
}

/** Returns the calling thread; asks the system for its number and name only once. */
static thread this_thread(const lx_trace *trace)
{
    static _Thread_local thread known;
    if (known.process != trace->process) {
        known.process = trace->process;
        known.number = (uint32_t)syscall(SYS_gettid);
        pthread_getname_np(pthread_self(), known.name, sizeof known.name);
    }
    return known;
}

static thread consumer_track(const lx_trace *trace, uint32_t loader)
{
    thread track = {.process = trace->process, .number = CONSUMERS + loader};
    /* the last digits, so that the name fits */
    snprintf(track.name, sizeof track.name, "consumer %u", (unsigned)(uint16_t)loader);
    return track;
}

void lx__tracer_record(const lx__tracer *tracer, const lx__span *span)
{
    lx_trace *trace = tracer->trace;
    uint64_t number = atomic_fetch_add_explicit(&trace->recorded, 1, memory_order_relaxed);
    block *place = number < LX_MAX_TRACE_SPANS ? find_block(trace, number / BLOCK_EVENTS) : NULL;
    if (place == NULL) {
        atomic_fetch_add_explicit(&trace->dropped, 1, memory_order_relaxed);
        return;
    }
    event *e = &place->events[number % BLOCK_EVENTS];
    e->begin = span->begin;
    e->end = span->end;
    e->position = span->position;
    e->records = span->records;
    e->bytes = span->bytes;
    e->loader = tracer->loader;
    e->thread = span->is_consumer ? consumer_track(trace, tracer->loader) : this_thread(trace);
    atomic_store_explicit(&e->name, span->name, memory_order_release);
}

void lx__tracer_count(const lx__tracer *tracer, size_t ready, size_t preparing)
{
    if (tracer->trace == NULL)
        return;
    uint64_t now = lx__clock_now();
    lx__tracer_record(
        tracer,
        &(lx__span){
            .name = counts, .begin = now, .end = now, .records = ready, .bytes = preparing});
}

/* ---- writing */

/** A text file under construction. */
typedef struct text_file {
    lx__atomic_file to;
    char *buffer;
    size_t used;
    uint64_t written;
} text_file;

static lx_status flush(text_file *file, lx_error *error)
{
    lx_status status = lx__file_write(&file->to.file, file->buffer, file->used, file->written,
                                      error);
    file->written += file->used;
    file->used = 0;
    return status;
}

/** Adds at most #LINE bytes. */
static lx_status print(text_file *file, lx_error *error, const char *format, ...) LX_PRINTF(3, 4);

static lx_status print(text_file *file, lx_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    file->used += (size_t)vsnprintf(file->buffer + file->used, LINE, format, args);
    va_end(args);
    return file->used > BUFFER - LINE ? flush(file, error) : LX_OK;
}

/** Names the thread of an event, unless @p named shows that it is done. */
static lx_status print_thread(const lx_trace *trace, const event *e, uint32_t named[256],
                              text_file *file, lx_error *error)
{
    uint32_t *last = &named[e->thread.number % 256]; /* naming a thread again is harmless */
    const char *name = e->thread.name;
    char text[THREAD_NAME];
    if (*last == e->thread.number)
        return LX_OK;
    *last = e->thread.number;
    size_t i = 0;
    for (; i + 1 < sizeof text && name[i] != '\0'; i++) /* a name can contain any bytes */
        text[i] = name[i] < ' ' || name[i] > '~' || name[i] == '"' || name[i] == '\\' ? '?'
                                                                                      : name[i];
    text[i] = '\0';
    return print(file, error,
                 ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
                 ",\"args\":{\"name\":\"%s\"}}",
                 trace->process, e->thread.number, text);
}

/** Prints an event; times are in microseconds. */
static lx_status print_event(const lx_trace *trace, const event *e, const char *name,
                             text_file *file, lx_error *error)
{
    uint64_t lasted = e->end - e->begin;
    if (name == counts)
        return print(file, error,
                     ",\n{\"name\":\"%s of loader %" PRIu32 "\",\"ph\":\"C\",\"ts\":%" PRIu64
                     ".%03u,\"pid\":%d,\"args\":{\"ready\":%" PRIu64 ",\"in preparation\":%" PRIu64
                     "}}",
                     name, e->loader, e->begin / 1000, (unsigned)(e->begin % 1000), trace->process,
                     e->records, e->bytes);
    return print(file, error,
                 ",\n{\"name\":\"%s\",\"cat\":\"loaderx\",\"ph\":\"X\",\"ts\":%" PRIu64
                 ".%03u,\"dur\":%" PRIu64 ".%03u,\"pid\":%d,\"tid\":%" PRIu32
                 ",\"args\":{\"loader\":%" PRIu32 ",\"position\":%" PRIu64 ",\"records\":%" PRIu64
                 ",\"bytes\":%" PRIu64 "}}",
                 name, e->begin / 1000, (unsigned)(e->begin % 1000), lasted / 1000,
                 (unsigned)(lasted % 1000), trace->process, e->thread.number, e->loader,
                 e->position, e->records, e->bytes);
}

static lx_status print_events(lx_trace *trace, text_file *file, lx_error *error)
{
    uint32_t named[256] = {0};
    uint64_t count = atomic_load_explicit(&trace->recorded, memory_order_relaxed);
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK && i < count && i < LX_MAX_TRACE_SPANS; i++) {
        const block *place = atomic_load_explicit(&trace->blocks[i / BLOCK_EVENTS],
                                                  memory_order_acquire);
        const event *e = place != NULL ? &place->events[i % BLOCK_EVENTS] : NULL;
        const char *name = e != NULL ? atomic_load_explicit(&e->name, memory_order_acquire) : NULL;
        if (name == NULL) /* dropped, or another thread is recording it */
            continue;
        status = print_thread(trace, e, named, file, error);
        if (status == LX_OK)
            status = print_event(trace, e, name, file, error);
    }
    return status;
}

static lx_status print_all(lx_trace *trace, text_file *file, lx_error *error)
{
    lx_status status = print(file, error,
                             "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped\":%" PRIu64
                             "},\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\","
                             "\"pid\":%d,\"args\":{\"name\":\"loaderx\"}}",
                             atomic_load_explicit(&trace->dropped, memory_order_relaxed),
                             trace->process);
    if (status == LX_OK)
        status = print_events(trace, file, error);
    if (status == LX_OK)
        status = print(file, error, "\n]}\n");
    return status == LX_OK ? flush(file, error) : status;
}

lx_status lx_trace_write(lx_trace *trace, const char *path, lx_error *error)
{
    char *place;
    if (trace == NULL || path == NULL)
        return lx__fail_null(error, trace == NULL ? "trace" : "path");
    text_file file = {.buffer = lx__alloc(BUFFER)};
    if (file.buffer == NULL)
        return lx__fail_memory(error, "a trace");
    lx_status status = lx__atomic_file_find(path, &place, error);
    if (status == LX_OK) {
        status = lx__atomic_file_begin(&file.to, LX__CWD, place, NULL, error);
        if (status == LX_OK)
            status = print_all(trace, &file, error);
        if (status == LX_OK)
            status = lx__atomic_file_finish(&file.to, error);
        lx__atomic_file_end(&file.to);
        lx__free(place);
    }
    lx__free(file.buffer);
    return status;
}
