/* SPDX-License-Identifier: MIT */
/* A task that produces one item at a time, and a ring of items. The task submits itself again while
 * there is room, so that other tasks of the executor run in between. */
#include <loaderx/prefetch.h>

#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/clock.h"
#include "executor/executor-private.h"
#include "executor/executor.h"

struct lx_prefetcher {
    lx__task task;         /* produces one item */
    lx_executor *executor; /* an owned reference */
    lx_produce_function produce;
    lx_free_item_function free_item;
    void *user;
    size_t depth;

    pthread_mutex_t mutex; /* protects all that follows, except the items that the producer and the
                              consumer are using */
    pthread_cond_t changed;
    size_t first;     /* the oldest item that is ready; the consumer uses the one before it */
    size_t ready;     /* the number of items that are ready */
    bool running;     /* the task is submitted, and not finished */
    bool stopped;     /* the task must not be submitted again */
    lx_status status; /* LX_OK; LX_END after the last item; or the failure that follows the items
                         that are ready */
    lx_error failure;
    void *items[]; /* a ring of depth + 1; NULL where the producer has not been yet */
};

/** Submits the task, if there is room for an item. The caller holds the lock. */
static lx_status start(lx_prefetcher *p, lx_error *error)
{
    if (p->running || p->stopped || p->status != LX_OK || p->ready == p->depth)
        return LX_OK;
    lx_status status = lx__executor_submit(p->executor, LX_QUEUE_READ, &p->task, error);
    p->running = status == LX_OK;
    return status;
}

static void run(lx__task *task, size_t part)
{
    lx_prefetcher *p = LX__CONTAINER_OF(task, lx_prefetcher, task);
    lx_error failure = LX_ERROR_INIT;
    (void)part;
    pthread_mutex_lock(&p->mutex);
    bool stopped = p->stopped;
    void **item = &p->items[(p->first + p->ready) % (p->depth + 1)];
    pthread_mutex_unlock(&p->mutex);
    if (stopped)
        return;

    lx_status status = p->produce(item, p->user, &failure);
    if (status != LX_END)
        failure.status = status = lx__error_return(&failure, status, "produce");

    pthread_mutex_lock(&p->mutex);
    p->ready += status == LX_OK;
    p->status = status;
    p->failure = failure;
    pthread_mutex_unlock(&p->mutex);
}

static void finish(lx__task *task, bool canceled)
{
    lx_prefetcher *p = LX__CONTAINER_OF(task, lx_prefetcher, task);
    (void)canceled;
    pthread_mutex_lock(&p->mutex);
    p->running = false;
    (void)start(p, NULL); /* if it fails, the consumer tries again, and learns why */
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

static lx_prefetcher *new_prefetcher(size_t depth)
{
    lx_prefetcher *p = NULL;
    size_t items = (SIZE_MAX - sizeof *p) / sizeof *p->items;
    if (depth < items)
        p = lx__alloc_array(1, sizeof *p + (depth + 1) * sizeof *p->items);
    if (p == NULL)
        return NULL;
    lx__task_init(&p->task, run, finish, 1);
    pthread_mutex_init(&p->mutex, NULL);
    lx__clock_condition(&p->changed);
    p->depth = depth;
    return p;
}

lx_status lx_prefetcher_open(lx_executor *executor, size_t depth, lx_produce_function produce,
                             lx_free_item_function free_item, void *user,
                             lx_prefetcher **prefetcher, lx_error *error)
{
    static const lx_executor_options one_reader = {.readers = 1, .writers = 1};
    lx_status status = LX_OK;
    LX__CLEAR(prefetcher);
    if (produce == NULL || prefetcher == NULL)
        return lx__fail_null(error, produce == NULL ? "produce" : "prefetcher");
    if (depth == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "depth must be at least 1, not 0");
    lx_prefetcher *p = new_prefetcher(depth);
    if (p == NULL)
        return lx__fail_memory(error, "a prefetcher");
    p->produce = produce;
    p->free_item = free_item;
    p->user = user;
    if (executor != NULL)
        p->executor = lx_executor_ref(executor);
    else
        status = lx_executor_open(&one_reader, &p->executor, error);
    if (status == LX_OK) {
        pthread_mutex_lock(&p->mutex);
        status = start(p, error);
        pthread_mutex_unlock(&p->mutex);
    }
    if (status == LX_OK)
        *prefetcher = p;
    else
        lx_prefetcher_close(p);
    return status;
}

/** Waits until an item, the end or a failure is next. The caller holds the lock. */
static lx_status wait_for_next(lx_prefetcher *p, lx_error *error)
{
    lx_status status = start(p, error);
    while (status == LX_OK && p->ready == 0 && p->status == LX_OK) {
        if (lx__executor_must_help(p->executor, LX_QUEUE_READ)) {
            pthread_mutex_unlock(&p->mutex);
            lx__executor_help(p->executor, &p->task);
            pthread_mutex_lock(&p->mutex);
        }
        while (p->running && p->ready == 0 && p->status == LX_OK)
            lx__clock_wait(&p->changed, &p->mutex, LX__NEVER);
        status = p->ready == 0 ? start(p, error) : LX_OK;
    }
    return status;
}

lx_status lx_prefetcher_next(lx_prefetcher *prefetcher, void **item, lx_error *error)
{
    lx_prefetcher *p = prefetcher;
    LX__CLEAR(item);
    if (p == NULL || item == NULL)
        return lx__fail_null(error, p == NULL ? "prefetcher" : "item");
    if (lx__executor_check(p->executor, NULL) != LX_OK)
        return lx_fail(error, LX_ERR_FORKED,
                       "the prefetcher belongs to the parent process: open a new one after fork()");
    pthread_mutex_lock(&p->mutex);
    lx_status status = p->ready != 0 ? LX_OK : wait_for_next(p, error);
    if (status == LX_OK && p->ready != 0) {
        *item = p->items[p->first];
        p->first = (p->first + 1) % (p->depth + 1);
        p->ready--;
        (void)start(p, NULL); /* if it fails, the call that finds no item learns why */
    } else if (status == LX_OK) {
        status = p->status;
        if (status != LX_END) {
            lx__error_propagate(error, &p->failure);
            p->status = LX_OK;
        }
    }
    pthread_mutex_unlock(&p->mutex);
    return status;
}

void lx_prefetcher_close(lx_prefetcher *prefetcher)
{
    lx_prefetcher *p = prefetcher;
    /* In a child, no thread finishes the task, and an item may be incomplete: memory is leaked. */
    if (p == NULL || (p->executor != NULL && lx__executor_check(p->executor, NULL) != LX_OK))
        return;
    pthread_mutex_lock(&p->mutex);
    p->stopped = true;
    pthread_mutex_unlock(&p->mutex);
    if (p->executor != NULL)
        lx__executor_cancel(p->executor, &p->task);
    pthread_mutex_lock(&p->mutex);
    while (p->running)
        lx__clock_wait(&p->changed, &p->mutex, LX__NEVER);
    pthread_mutex_unlock(&p->mutex);

    for (size_t i = 0; i <= p->depth && p->free_item != NULL; i++)
        if (p->items[i] != NULL)
            p->free_item(p->items[i], p->user);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    lx_executor_unref(p->executor);
    lx__free(p);
}
