/* SPDX-License-Identifier: MIT */
/* The clock of periodic durability: a synced frame each second while there are others. */
#include <stddef.h>

#include "zrecord/writer/writer.h"

static lx_writer *writer_of(lx__task *task)
{
    return (lx_writer *)((char *)task - offsetof(lx_writer, timer));
}

/** A second has passed. Where a call holds the writer, or something is being placed, the tick is
 * left to the next call, or to the next look: to wait here would block the thread that places. */
static void tick(lx__task *task, size_t part)
{
    (void)part;
    lx_writer *writer = writer_of(task);
    if (writer->timer_retries && !atomic_load_explicit(&writer->sync_due, memory_order_acquire))
        return; /* a call has done it */
    pthread_mutex_lock(&writer->timer_mutex);
    writer->timer_wanted = false;
    pthread_mutex_unlock(&writer->timer_mutex);
    atomic_store_explicit(&writer->sync_due, true, memory_order_release);
    if (pthread_mutex_trylock(&writer->mutex) != 0)
        return;
    if (!writer->calling && !writer->committing && writer->failure.status == LX_OK &&
        lx__placer_idle(&writer->placer)) {
        /* A failure is noted for the next call. */
        (void)lx__writer_commit(writer, 0, LX__COMMIT_REPEAT | LX__COMMIT_SYNCED, NULL);
        atomic_store_explicit(&writer->sync_due, false, memory_order_release);
    }
    pthread_mutex_unlock(&writer->mutex);
}

/** Comes again: soon if it could not sync, in a second if there were frames since it last could. */
static void ticked(lx__task *task, bool canceled)
{
    lx_writer *writer = writer_of(task);
    pthread_mutex_lock(&writer->timer_mutex);
    writer->timer_retries = atomic_load_explicit(&writer->sync_due, memory_order_acquire);
    bool again = !canceled && !writer->closing && (writer->timer_retries || writer->timer_wanted);
    if (again)
        again = lx__executor_submit_after(
                    writer->executor, LX_QUEUE_WRITE, task,
                    writer->timer_retries ? LX__SYNC_RETRY : LX__SYNC_INTERVAL, NULL) == LX_OK;
    if (!again) {
        writer->timer_running = false;
        pthread_cond_broadcast(&writer->timer_done);
    }
    pthread_mutex_unlock(&writer->timer_mutex);
}

void lx__clock_init(lx_writer *writer)
{
    pthread_mutex_init(&writer->timer_mutex, NULL);
    pthread_cond_init(&writer->timer_done, NULL);
    lx__task_init(&writer->timer, tick, ticked, 1);
}

void lx__clock_start(lx_writer *writer)
{
    if (writer->durability != LX_DURABILITY_PERIODIC || !writer->unsynced)
        return;
    pthread_mutex_lock(&writer->timer_mutex);
    writer->timer_wanted = true;
    if (!writer->timer_running && !writer->closing) {
        writer->timer_retries = false;
        writer->timer_running =
            lx__executor_submit_after(writer->executor, LX_QUEUE_WRITE, &writer->timer,
                                      LX__SYNC_INTERVAL, NULL) == LX_OK;
    }
    /* Without a clock each commit has to do it. */
    if (!writer->timer_running)
        atomic_store_explicit(&writer->sync_due, true, memory_order_release);
    pthread_mutex_unlock(&writer->timer_mutex);
}

void lx__clock_stop(lx_writer *writer)
{
    pthread_mutex_lock(&writer->timer_mutex);
    writer->closing = true;
    bool running = writer->timer_running;
    pthread_mutex_unlock(&writer->timer_mutex);
    if (running)
        lx__executor_cancel(writer->executor, &writer->timer);
    pthread_mutex_lock(&writer->timer_mutex);
    while (writer->timer_running)
        pthread_cond_wait(&writer->timer_done, &writer->timer_mutex);
    pthread_mutex_unlock(&writer->timer_mutex);
}

lx_status lx__clock_catch_up(lx_writer *writer, lx_error *error)
{
    if (!atomic_load_explicit(&writer->sync_due, memory_order_acquire))
        return LX_OK;
    atomic_store_explicit(&writer->sync_due, false, memory_order_release);
    return lx__writer_commit(writer, 0, LX__COMMIT_REPEAT | LX__COMMIT_SYNCED, error);
}
