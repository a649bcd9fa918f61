/* SPDX-License-Identifier: MIT */
#include "remote/queue/request-queue.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/clock.h"
#include "executor/thread.h"
#include "remote/queue/backoff.h"
#include "remote/queue/durations.h"
#include "remote/queue/outage.h"
#include "remote/queue/pace.h"
#include "remote/queue/request-lists.h"
#include "remote/queue/window.h"

#define SECOND ((uint64_t)1000000000)

/* How long closing waits for reads that were interrupted. */
#define LAST_WAIT (SECOND / 2)

/* The window learns from no upload that is smaller: such a one takes less time than a part of a
 * large file, and if parts took that little, the window would hold enough of them. */
#define LEAST_UPLOAD ((uint64_t)1 << 20)

/** A thread of the queue. The lock protects the members up to @ref ended. */
typedef struct queue_thread {
    lx__request_queue *queue;
    pthread_t thread;
    lx__request *request; /* what it tries; NULL: nothing, or nobody needs the answer any more */
    uint64_t began;       /* when this attempt began */
    bool in_transport;    /* is calling the transport, which may hang */
    bool calls_back;      /* does so in an attempt of the request's own, which uses the request */
    bool ended;

    /* Its own copy of what it reads, because the request may be gone when a read returns. */
    uint8_t *name;
    size_t name_capacity;
    uint64_t offset;
    size_t size;
    bool past_tier;

    lx__connection *connection;
    uint8_t *data;
    size_t capacity;
} queue_thread;

struct lx__request_queue {
    lx__transport *transport;
    lx__request_limits limits;
    atomic_uint holds; /* of the owner and of each thread; the last one frees the queue */

    pthread_mutex_t lock; /* protects all that follows; no callback and no attempt under it */
    pthread_cond_t wake;  /* there is an attempt to make, or the queue is closed */
    pthread_cond_t ended; /* a thread has ended, or is about to */

    lx__request_lists lists;

    unsigned idle;    /* threads that wait and were not called */
    unsigned called;  /* threads that still wait, or are starting, but were called for a request */
    unsigned started; /* threads */
    uint64_t watched; /* until when the thread that looks at the clock sleeps; LX__NEVER: none */
    uint64_t straggles; /* when to look for stragglers; LX__NEVER: there are none */
    int start_errnum;   /* why the last thread could not be started */
    bool closed;

    lx__pace pace;
    lx__window window;
    lx__outage outage;
    lx__durations durations;
    uint64_t random;
    lx__request_counts counts;
    queue_thread workers[]; /* limits.connections */
};

/** Makes the queue empty and without threads. */
static void init(lx__request_queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    lx__clock_condition(&queue->wake);
    lx__clock_condition(&queue->ended);
    lx__request_lists_init(&queue->lists, queue->limits.connections);
    atomic_init(&queue->holds, 1);
    queue->watched = queue->straggles = LX__NEVER;
    queue->random = lx__clock_now() ^ (uint64_t)(uintptr_t)queue;
}

lx_status lx__request_queue_open(lx__transport *transport, const lx__request_limits *limits,
                                 lx__request_queue **queue, lx_error *error)
{
    lx__request_queue *made =
        lx__alloc_array(1, sizeof *made + limits->connections * sizeof *made->workers);
    *queue = made;
    if (made == NULL) {
        transport->class->close(transport);
        return lx__fail_memory(error, "a queue of requests");
    }
    made->transport = transport;
    made->limits = *limits;
    init(made);
    return LX_OK;
}

static void release(lx__request_queue *queue)
{
    if (atomic_fetch_sub(&queue->holds, 1) != 1)
        return;
    queue->transport->class->close(queue->transport);
    pthread_cond_destroy(&queue->ended);
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
    lx__free(queue);
}

void lx__request_queue_take_over(lx__request_queue *queue)
{
    size_t kept = offsetof(lx__request_queue, holds);
    size_t size = sizeof *queue + queue->limits.connections * sizeof *queue->workers;
    memset((char *)queue + kept, 0, size - kept);
    init(queue);
}

void lx__request_queue_get_counts(lx__request_queue *queue, lx__request_counts *counts)
{
    pthread_mutex_lock(&queue->lock);
    *counts = queue->counts;
    pthread_mutex_unlock(&queue->lock);
}

/* ---- requests; from here on, a caller holds the lock unless a function says otherwise */

/** Forgets a request that will be finished. */
static void forget(lx__request_queue *queue, lx__request *request)
{
    for (unsigned i = 0; i < queue->started && request->under_way != 0; i++)
        if (queue->workers[i].request == request) {
            queue->workers[i].request = NULL;
            request->under_way--;
        }
    queue->lists.begun -= request->started != 0;
    queue->counts.waiting--;
}

/** Returns a range to read a second time, or NULL. */
static lx__request *find_straggler(lx__request_queue *queue, uint64_t now)
{
    if (now < queue->straggles)
        return NULL;
    uint64_t longest = lx__durations_get_longest(&queue->durations);
    lx__request *found = NULL;
    queue->straggles = LX__NEVER;
    for (unsigned i = 0; i < queue->started; i++) {
        const queue_thread *worker = &queue->workers[i];
        if (worker->request == NULL || worker->calls_back || !worker->request->urgent ||
            worker->request->again)
            continue;
        uint64_t due = worker->began + longest;
        if (due <= now && found == NULL)
            found = worker->request;
        else if (due < queue->straggles)
            queue->straggles = due;
    }
    return found;
}

/* ---- threads */

static void *work(void *argument);

static void start_thread(lx__request_queue *queue)
{
    queue_thread *worker = &queue->workers[queue->started];
    worker->queue = queue;
    atomic_fetch_add(&queue->holds, 1);
    queue->start_errnum = lx__thread_start(&worker->thread, work, worker);
    if (queue->start_errnum != 0) {
        atomic_fetch_sub(&queue->holds, 1); /* not the last one: the owner has its own */
        return;
    }
    queue->started++;
    queue->called++;
}

/** Returns the request to begin next; NULL if there is none, or the window has no room for it. */
static lx__request *get_next(lx__request_queue *queue)
{
    lx__request *request = lx__request_lists_get_next(&queue->lists);
    return request != NULL && !lx__window_is_full(&queue->window, request->size) ? request : NULL;
}

/** Returns when the next attempt may begin. */
static uint64_t get_due(lx__request_queue *queue)
{
    if (get_next(queue) != NULL)
        return queue->pace.next;
    uint64_t due = lx__request_lists_get_due(&queue->lists);
    due = due < queue->straggles ? due : queue->straggles;
    return due > queue->pace.next ? due : queue->pace.next;
}

/** Calls a thread if there is, or will be, an attempt that no thread waits for. Returns whether the
 * caller must signal @ref wake after it has released the lock. */
static bool call_thread(lx__request_queue *queue, uint64_t now)
{
    uint64_t due = get_due(queue);
    unsigned wanted = due <= now && queue->lists.ready != 0 ? queue->lists.ready : 1;
    if ((due > now && due >= queue->watched) || queue->called >= wanted)
        return false;
    if (queue->idle != 0) {
        queue->idle--;
        queue->called++;
        return true;
    }
    if (queue->started < queue->limits.connections)
        start_thread(queue);
    return false;
}

static void unlock_and_signal(lx__request_queue *queue, bool signal)
{
    pthread_mutex_unlock(&queue->lock);
    if (signal)
        pthread_cond_signal(&queue->wake);
}

/** Counts a thread that wakes up or has started. It does not matter which of those that wait or are
 * starting responds to a call: one that looked at the clock may have taken that for another one. */
static void respond(lx__request_queue *queue)
{
    --*(queue->called != 0 ? &queue->called : &queue->idle);
}

/** Sleeps until the thread is called. One of the threads also looks at the clock. */
static void sleep_until_called(lx__request_queue *queue)
{
    uint64_t due = get_due(queue);
    bool watches = due < queue->watched;
    if (watches)
        queue->watched = due;
    queue->idle++;
    lx__clock_wait(&queue->wake, &queue->lock, watches ? due : LX__NEVER);
    if (watches && queue->watched == due)
        queue->watched = LX__NEVER;
    respond(queue);
}

/** Waits for a request to try; returns NULL once the queue is closed. */
static lx__request *take(lx__request_queue *queue)
{
    for (;; sleep_until_called(queue)) {
        if (queue->closed)
            return NULL;
        uint64_t now = lx__clock_now();
        lx__request_lists_end_pauses(&queue->lists, now);
        if (queue->pace.next > now)
            continue;
        lx__request *request = find_straggler(queue, now);
        if (request != NULL) {
            request->again = true;
        } else {
            request = get_next(queue);
            if (request == NULL)
                continue;
            lx__request_lists_remove(&queue->lists, request);
        }
        if (request->started == 0) {
            request->started = now;
            queue->lists.begun++;
        }
        lx__pace_begin(&queue->pace, now);
        lx__window_begin(&queue->window, request->size, now);
        return request;
    }
}

/* ---- attempts */

/** Finishes a request without an attempt. The caller does not hold the lock. */
static void cancel(lx__request *request, const char *reason)
{
    lx_error error = LX_ERROR_INIT;
    lx_fail(&error, LX_ERR_CANCELED, "%s", reason);
    request->finish(request, LX_ERR_CANCELED, NULL, NULL, &error);
}

#define CLOSED "the dataset was closed"

/** Cancels a request that the queue still has. Releases the lock in the meantime. */
static void give_up(lx__request_queue *queue, lx__request *request, const char *reason)
{
    forget(queue, request);
    pthread_mutex_unlock(&queue->lock);
    cancel(request, reason);
    pthread_mutex_lock(&queue->lock);
}

/** Asks the owner of the request whether it is still needed; if not, finishes it and returns
 * false. Releases the lock in the meantime. */
static bool begin(lx__request_queue *queue, lx__request *request)
{
    unlock_and_signal(queue, call_thread(queue, lx__clock_now()));
    bool needed = request->begin(request);
    pthread_mutex_lock(&queue->lock);
    if (needed && !queue->closed)
        return true;
    lx__pace_take_back(&queue->pace);
    lx__window_end(&queue->window, request->size, 0, 0, lx__clock_now());
    give_up(queue, request, needed ? CLOSED : "the request is no longer needed");
    return false;
}

/** Copies what to read. Returns false if memory ran out. */
static bool copy_range(queue_thread *worker, const lx__request *request)
{
    size_t length = strlen(request->name) + 1;
    worker->offset = request->offset;
    worker->past_tier = request->past_tier;
    if (!lx__reserve(&worker->name, &worker->name_capacity, length))
        return false;
    memcpy(worker->name, request->name, length);
    return true;
}

/** Returns false if memory ran out. */
static bool begin_attempt(queue_thread *worker, lx__request *request, uint64_t now)
{
    lx__request_queue *queue = worker->queue;
    worker->request = request;
    worker->began = now;
    worker->in_transport = true;
    worker->calls_back = request->attempt != NULL;
    worker->size = request->size;
    request->under_way++;
    queue->counts.requests++;
    queue->counts.retries += request->attempts != 0;
    request->attempts++;
    if (worker->calls_back)
        return true;
    if (request->urgent && !request->again && now + LX__STRAGGLES_AFTER < queue->straggles)
        queue->straggles = now + LX__STRAGGLES_AFTER;
    return copy_range(worker, request);
}

static void disconnect(queue_thread *worker)
{
    if (worker->connection != NULL)
        worker->queue->transport->class->disconnect(worker->connection);
    worker->connection = NULL;
}

static lx_status read_range(queue_thread *worker, lx__answer *answer, lx_error *error)
{
    if (!lx__reserve(&worker->data, &worker->capacity, worker->size))
        return lx__fail_memory(error, "bytes of a remote file");
    worker->connection->past_tier = worker->past_tier;
    return worker->queue->transport->class->read(worker->connection, (const char *)worker->name,
                                                 worker->offset, worker->size, worker->data, answer,
                                                 error);
}

/** Makes an attempt. The request of a read may be gone. The caller does not hold the lock. */
static lx_status attempt(queue_thread *worker, lx__request *request, lx__answer *answer,
                         lx_error *error)
{
    lx__transport *transport = worker->queue->transport;
    if (worker->connection == NULL) {
        lx_status status = transport->class->connect(transport, &worker->connection, error);
        if (status != LX_OK) {
            worker->connection = NULL;
            answer->retry = status == LX_ERR_IO ? LX__RETRY_LATER : LX__RETRY_NEVER;
            return status;
        }
    }
    lx_status status = worker->calls_back
                           ? request->attempt(request, worker->connection, answer, error)
                           : read_range(worker, answer, error);
    if (status != LX_OK && answer->retry == LX__RETRY_LATER)
        disconnect(worker);
    return status;
}

/** Updates what the queue knows about the server. Returns the number of seconds to log. */
static uint64_t learn(lx__request_queue *queue, const queue_thread *worker, lx_status status,
                      const lx__answer *answer, uint64_t now)
{
    if (status == LX_OK) {
        queue->counts.bytes += answer->got;
        queue->counts.tier_bytes += answer->from_tier ? answer->got : 0;
        if (!worker->calls_back)
            lx__durations_add(&queue->durations, now - worker->began);
        lx__pace_succeed(&queue->pace, now);
        /* The server is back: do not wait for the rest of pauses of up to 20 s. */
        if (queue->outage.since != 0 && now - queue->outage.since >= SECOND)
            lx__request_lists_end_pauses(&queue->lists, LX__NEVER - 1);
        return lx__outage_succeed(&queue->outage, now);
    }
    if (answer->retry == LX__RETRY_SLOWER) {
        queue->counts.throttled++;
        unsigned under_way = 0;
        for (unsigned i = 0; i < queue->started; i++)
            under_way += queue->workers[i].in_transport;
        lx__pace_slow_down(&queue->pace, worker->began, now, under_way, answer->retry_after_ns);
    }
    /* Other failures concern one file only. */
    return answer->retry != LX__RETRY_NEVER ? lx__outage_fail(&queue->outage, now) : 0;
}

/** Lets a request wait for another attempt; returns false if the patience is over. */
static bool repeat(lx__request_queue *queue, lx__request *request, uint64_t retry_after,
                   uint64_t now)
{
    uint64_t passed = now - request->started, patience = queue->limits.patience_ns;
    if (passed >= patience || retry_after > patience - passed)
        return false;
    uint64_t pause = lx__backoff_get_pause(&queue->random, request->attempts);
    pause = pause > retry_after ? pause : retry_after;
    request->due = now + (pause < patience - passed ? pause : patience - passed);
    request->again = false;
    lx__request_lists_pause(&queue->lists, request);
    return true;
}

/** Returns the request if it is over and must be finished; otherwise NULL. */
static lx__request *end_attempt(queue_thread *worker, lx_status status, const lx__answer *answer,
                                uint64_t now)
{
    lx__request_queue *queue = worker->queue;
    lx__request *request = worker->request;
    worker->request = NULL;
    worker->in_transport = worker->calls_back = false;
    if (request == NULL)
        return NULL;
    request->under_way--;
    if (status != LX_OK && answer->retry != LX__RETRY_NEVER && !queue->closed &&
        (request->under_way != 0 || repeat(queue, request, answer->retry_after_ns, now)))
        return NULL;
    forget(queue, request);
    return request;
}

/** Makes an attempt for a request, and finishes the request if it is over. Releases the lock in the
 * meantime. */
static void serve(queue_thread *worker, lx__request *request)
{
    lx__request_queue *queue = worker->queue;
    lx_error error = LX_ERROR_INIT;
    lx__answer answer = {.total = LX_NONE};
    if (request->attempts == 0 && !begin(queue, request))
        return;
    uint64_t now = lx__clock_now();
    bool has_memory = begin_attempt(worker, request, now);
    unlock_and_signal(queue, call_thread(queue, now));
    lx_status status = has_memory ? attempt(worker, request, &answer, &error)
                                  : lx__fail_memory(&error, "the name of a file");

    pthread_mutex_lock(&queue->lock);
    now = lx__clock_now();
    bool counts = status == LX_OK && (!worker->calls_back || answer.got >= LEAST_UPLOAD);
    lx__window_end(&queue->window, worker->size, counts ? answer.got : 0, worker->began, now);
    uint64_t seconds = learn(queue, worker, status, &answer, now);
    bool reads = !worker->calls_back;
    request = end_attempt(worker, status, &answer, now);
    bool closed = queue->closed;
    pthread_mutex_unlock(&queue->lock);
    if (seconds != 0)
        lx__outage_log(queue->transport->url, seconds, &error);
    if (request != NULL && status == LX_OK) {
        request->finish(request, LX_OK, reads ? worker->data : NULL, &answer, NULL);
    } else if (request != NULL && closed) {
        cancel(request, CLOSED);
    } else if (request != NULL) {
        lx__backoff_append_effort(&error, request->attempts, now - request->started);
        request->finish(request, status, NULL, &answer, &error);
    }
    pthread_mutex_lock(&queue->lock);
}

static void *work(void *argument)
{
    queue_thread *worker = argument;
    lx__request_queue *queue = worker->queue;
    char name[16]; /* the kernel's limit */
    snprintf(name, sizeof name, "lx-fetch-%u", (unsigned)(worker - queue->workers));
    pthread_setname_np(pthread_self(), name);

    pthread_mutex_lock(&queue->lock);
    respond(queue);
    for (lx__request *request; (request = take(queue)) != NULL;)
        serve(worker, request);
    worker->in_transport = true;
    pthread_cond_signal(&queue->ended);
    pthread_mutex_unlock(&queue->lock);
    disconnect(worker);
    lx__free(worker->name);
    lx__free(worker->data);
    pthread_mutex_lock(&queue->lock);
    worker->ended = true;
    pthread_cond_signal(&queue->ended);
    pthread_mutex_unlock(&queue->lock);
    release(queue);
    return NULL;
}

/* ---- adding; the callers do not hold the lock */

lx_status lx__request_queue_add(lx__request_queue *queue, lx__request *request, lx_error *error)
{
    request->due = request->started = 0;
    request->attempts = request->under_way = 0;
    request->again = false;
    pthread_mutex_lock(&queue->lock);
    lx__request_lists_add(&queue->lists, request);
    bool signal = !queue->closed && call_thread(queue, lx__clock_now());
    int errnum = queue->start_errnum;
    bool added = queue->started != 0 || queue->closed;
    if (added)
        queue->counts.waiting++;
    else
        lx__request_lists_remove(&queue->lists, request);
    unlock_and_signal(queue, signal);
    return added ? LX_OK : lx_fail_errno(error, errnum, NULL, "cannot start a thread for requests");
}

void lx__request_queue_hurry(lx__request_queue *queue, lx__request *request)
{
    bool signal = false;
    pthread_mutex_lock(&queue->lock);
    if (!request->urgent) {
        uint64_t now = lx__clock_now();
        lx__request_lists_hurry(&queue->lists, request);
        if (request->under_way != 0)
            queue->straggles = now; /* it may have taken too long already */
        signal = call_thread(queue, now);
    }
    unlock_and_signal(queue, signal);
}

/* ---- closing */

/** Cancels the requests that no thread tries. Releases the lock in the meantime. */
static void cancel_lists(lx__request_queue *queue)
{
    for (lx__request *request; (request = lx__request_lists_pop(&queue->lists)) != NULL;)
        give_up(queue, request, CLOSED);
}

/** Waits until the threads have ended, but only for LAST_WAIT for those that may hang in a read. */
static void wait_for_threads(lx__request_queue *queue)
{
    uint64_t deadline = lx__clock_after(LAST_WAIT);
    for (unsigned i = 0; i < queue->started; i++) {
        const queue_thread *worker = &queue->workers[i];
        while (!worker->ended) {
            bool may_hang = worker->in_transport && !worker->calls_back;
            if (may_hang && lx__clock_now() >= deadline)
                break;
            lx__clock_wait(&queue->ended, &queue->lock, may_hang ? deadline : LX__NEVER);
        }
    }
}

/** Cancels the requests of the threads that have not ended. Releases the lock in the meantime. */
static void cancel_under_way(lx__request_queue *queue)
{
    for (unsigned i = 0; i < queue->started; i++)
        if (queue->workers[i].request != NULL)
            give_up(queue, queue->workers[i].request, CLOSED);
}

void lx__request_queue_close(lx__request_queue *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
    queue->transport->class->interrupt(queue->transport);

    pthread_mutex_lock(&queue->lock);
    cancel_lists(queue);
    wait_for_threads(queue);
    cancel_under_way(queue);
    cancel_lists(queue); /* callbacks may have added some */
    for (unsigned i = 0; i < queue->started; i++) {
        /* A thread that has ended needs the lock no more. */
        if (queue->workers[i].ended)
            pthread_join(queue->workers[i].thread, NULL);
        else
            pthread_detach(queue->workers[i].thread);
    }
    pthread_mutex_unlock(&queue->lock);
    release(queue);
}
