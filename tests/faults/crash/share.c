/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "kernel.h"
#include "life.h"

/* Operations of each of two threads. */
#define ROUNDS 3

/* ---- submitted commits */

void life_void_promises(struct life *life)
{
    for (size_t i = 0; i < life->promised; i++)
        life->promises[i].void_ = true;
}

static bool submit_one(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    struct operation operation = life_choose(life);
    if (!life_worked(life, life_do(life, 0, &operation, &error), "a call", &error))
        return false;
    struct promise promise = {.number = ++life->commits};
    mark_say(MARK_TRYING, 0, promise.number);
    if (!life_worked(life, lx_writer_submit_commit(life->writer, &promise.ticket, &error),
                     "submit a commit", &error))
        return false;
    life->promises[life->promised++] = promise;
    return true;
}

bool life_submit(struct life *life)
{
    size_t count = 1 + (size_t)rng_below(&life->rng, 4);
    bool right = life->promised + count <= LIFE_TICKETS || life_wait(life);
    /* One of them fails because the disk is full, while earlier ones are not committed yet. */
    if (life->full && life->job->kind == JOB_WORKERS)
        kernel_fill_disk(1 + (unsigned)rng_below(&life->rng, 8), 1);
    while (right && count-- != 0)
        right = submit_one(life);
    return right;
}

bool life_wait(struct life *life)
{
    bool right = true;
    size_t count = life->promised;
    for (size_t i = 0; i < count; i++) {
        lx_error error = LX_ERROR_INIT;
        struct promise *promise = &life->promises[i];
        lx_status status = lx_ticket_wait(promise->ticket, &error);
        lx_ticket_unref(promise->ticket);
        if (status == LX_OK)
            mark_say(MARK_COMMITTED, life_durable(life), promise->number);
        else if (status == LX_ERR_STATE && life->full)
            continue; /* it was rolled back first */
        else if (!promise->void_)
            right = life_worked(life, status, "a submitted commit", &error) && right;
    }
    life->promised = 0;
    return right;
}

/* ---- commits of two threads */

struct sharing {
    struct life *life;
    pthread_mutex_t mutex; /* operations are in the order of their marks */
    lx_status status;      /* of the first call that failed */
    lx_error error;
};

static void add_status(struct sharing *sharing, lx_status status, const lx_error *error)
{
    pthread_mutex_lock(&sharing->mutex);
    if (sharing->status == LX_OK) {
        sharing->status = status;
        sharing->error = *error;
    }
    pthread_mutex_unlock(&sharing->mutex);
}

static void *commit_some(void *user)
{
    struct sharing *sharing = user;
    struct life *life = sharing->life;
    lx_error error = LX_ERROR_INIT;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&sharing->mutex);
        struct operation operation = life_choose(life);
        lx_status status = life_do(life, MARK_SHARED, &operation, &error);
        uint64_t number = ++life->commits;
        mark_say(MARK_TRYING, 0, number);
        pthread_mutex_unlock(&sharing->mutex);
        if (status == LX_OK)
            status = lx_writer_commit(life->writer, &error);
        if (status != LX_OK) {
            add_status(sharing, status, &error);
            break;
        }
        mark_say(MARK_COMMITTED, life_durable(life), number);
    }
    return NULL;
}

bool life_share(struct life *life)
{
    struct sharing sharing = {.life = life, .error = LX_ERROR_INIT};
    pthread_t other;
    pthread_mutex_init(&sharing.mutex, NULL);
    if (pthread_create(&other, NULL, commit_some, &sharing) != 0)
        give_up("a thread");
    commit_some(&sharing);
    pthread_join(other, NULL);
    pthread_mutex_destroy(&sharing.mutex);
    return life_worked(life, sharing.status, "a shared commit", &sharing.error);
}
