/* SPDX-License-Identifier: MIT */
#include "executor/ticket.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/clock.h"
#include "executor/executor-private.h"
#include "executor/executor.h"
#include "executor/lifetime.h"

struct lx_ticket {
    lx__task task;
    lx_executor *executor; /* kept alive by a hold */
    lx_queue queue;
    lx_task_function function;
    void *user;
    atomic_uint references; /* the caller's references, and one held by the task until it is over */

    pthread_mutex_t lock; /* protects all that follows */
    pthread_cond_t ended;
    bool over;
    size_t failed_part; /* the part that caused the failure; SIZE_MAX: none */
    lx_error failure;
};

static void run(lx__task *task, size_t part)
{
    lx_ticket *ticket = LX__CONTAINER_OF(task, lx_ticket, task);
    lx_error error = LX_ERROR_INIT;
    lx_status status = ticket->function(part, ticket->user, &error);
    if (status >= LX_OK)
        return;

    /* Parts begin in order, so all parts before the first failing one have begun, and the lowest
     * number of a failing part does not depend on timing. */
    lx__task_stop(task);
    lx_fail(&error, status, "part %zu of the task failed: %s", part, lx_status_get_message(status));
    error.status = status;
    pthread_mutex_lock(&ticket->lock);
    if (part < ticket->failed_part) {
        ticket->failed_part = part;
        ticket->failure = error;
    }
    pthread_mutex_unlock(&ticket->lock);
}

static void finish(lx__task *task, bool canceled)
{
    lx_ticket *ticket = LX__CONTAINER_OF(task, lx_ticket, task);
    pthread_mutex_lock(&ticket->lock);
    ticket->over = true;
    if (canceled)
        lx_fail(&ticket->failure, LX_ERR_CANCELED,
                "the task was canceled before all of its parts had begun");
    pthread_cond_broadcast(&ticket->ended);
    pthread_mutex_unlock(&ticket->lock);
    lx_ticket_unref(ticket);
}

static lx_ticket *ticket_new(lx_executor *executor, lx_queue queue, size_t parts)
{
    lx_ticket *ticket = lx__alloc_array(1, sizeof *ticket);
    if (ticket == NULL)
        return NULL;
    lx__task_init(&ticket->task, run, finish, parts);
    lx__executor_hold(executor);
    ticket->executor = executor;
    ticket->queue = queue;
    atomic_init(&ticket->references, 2);
    pthread_mutex_init(&ticket->lock, NULL);
    lx__clock_condition(&ticket->ended);
    ticket->failed_part = SIZE_MAX;
    ticket->failure = (lx_error)LX_ERROR_INIT;
    return ticket;
}

static void ticket_free(lx_ticket *ticket)
{
    pthread_cond_destroy(&ticket->ended);
    pthread_mutex_destroy(&ticket->lock);
    lx__executor_release(ticket->executor);
    lx__free(ticket);
}

lx_status lx_executor_submit(lx_executor *executor, lx_queue queue, lx_task_function function,
                             void *user, size_t parts, lx_ticket **ticket, lx_error *error)
{
    LX__CLEAR(ticket);
    if (ticket == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "ticket is NULL");
    if (executor == NULL || function == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "executor or function is NULL");
    if ((unsigned)queue >= LX__QUEUES)
        return lx_fail(error, LX_ERR_ARGUMENT, "invalid queue %d", (int)queue);
    if (parts == 0 || parts > SIZE_MAX / 2)
        return lx_fail(error, LX_ERR_ARGUMENT, "parts must be from 1 to %zu, not %zu", SIZE_MAX / 2,
                       parts);
    lx_status status = lx__executor_check(executor, error);
    if (status != LX_OK)
        return status;

    lx_ticket *made = ticket_new(executor, queue, parts);
    if (made == NULL)
        return lx__fail_memory(error, "a ticket");
    made->function = function;
    made->user = user;
    status = lx__executor_submit(executor, queue, &made->task, error);
    if (status != LX_OK) {
        ticket_free(made);
        return status;
    }
    *ticket = made;
    return LX_OK;
}

static lx_status wait_until(lx_ticket *ticket, uint64_t deadline, lx_error *error)
{
    lx_status status = lx__executor_check(ticket->executor, error);
    if (status != LX_OK)
        return status;
    if (lx__executor_must_help(ticket->executor, ticket->queue))
        lx__executor_help_until(ticket->executor, &ticket->task, deadline);

    pthread_mutex_lock(&ticket->lock);
    while (!ticket->over)
        if (!lx__clock_wait(&ticket->ended, &ticket->lock, deadline))
            break;
    status = ticket->over ? ticket->failure.status : LX_ERR_TIMEOUT;
    if (ticket->over && status != LX_OK && error != NULL && error->status >= LX_OK)
        *error = ticket->failure;
    pthread_mutex_unlock(&ticket->lock);
    return status;
}

bool lx__ticket_is_over(lx_ticket *ticket)
{
    pthread_mutex_lock(&ticket->lock);
    bool over = ticket->over;
    pthread_mutex_unlock(&ticket->lock);
    return over;
}

lx_status lx_ticket_wait(lx_ticket *ticket, lx_error *error)
{
    if (ticket == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "ticket is NULL");
    return wait_until(ticket, LX__NEVER, error);
}

lx_status lx_ticket_wait_timed(lx_ticket *ticket, uint64_t nanoseconds, lx_error *error)
{
    if (ticket == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "ticket is NULL");
    return wait_until(ticket, lx__clock_after(nanoseconds), error);
}

void lx_ticket_cancel(lx_ticket *ticket)
{
    if (ticket != NULL)
        lx__executor_cancel(ticket->executor, &ticket->task);
}

lx_ticket *lx_ticket_ref(lx_ticket *ticket)
{
    atomic_fetch_add_explicit(&ticket->references, 1, memory_order_relaxed);
    return ticket;
}

void lx_ticket_unref(lx_ticket *ticket)
{
    if (ticket == NULL || lx__executor_check(ticket->executor, NULL) != LX_OK ||
        atomic_fetch_sub_explicit(&ticket->references, 1, memory_order_acq_rel) != 1)
        return;
    ticket_free(ticket);
}
