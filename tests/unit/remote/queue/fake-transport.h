/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A transport whose attempts follow the script of a test, and requests that remember how
 * they ended.
 */
#ifndef LX_TESTS_FAKE_TRANSPORT_H
#define LX_TESTS_FAKE_TRANSPORT_H

#include <pthread.h>

#include "../../executor/workload.h"
#include "executor/clock.h"
#include "remote/queue/request-queue.h"

struct fake;

/** Decides about an attempt to read at @p offset, the @p number-th of all, counted from 0. May
 * sleep with fake_sleep(), and change the answer, which has all bytes and no total. On success,
 * fake_read() fills in the bytes. */
typedef lx_status (*fake_script)(struct fake *fake, uint64_t offset, unsigned number,
                                 lx__answer *answer, lx_error *error);

struct fake {
    lx__transport base;
    fake_script script;
    void *user;
    const char *name;     /**< Of the file; NULL: "chunk/0.zr". */
    bool deaf;            /**< interrupt() has no effect. */
    atomic_bool *is_gone; /**< Set when the transport is closed; may be NULL. */

    atomic_uint attempts, connects, disconnects, under_way;
    pthread_mutex_t lock;
    pthread_cond_t interrupt;
    bool interrupted;
};

static inline uint8_t fake_byte(uint64_t offset)
{
    return (uint8_t)(offset * 167 >> 3);
}

/** Sleeps; returns false if interrupted. */
static inline bool fake_sleep(struct fake *fake, uint64_t nanoseconds)
{
    uint64_t deadline = lx__clock_after(nanoseconds);
    pthread_mutex_lock(&fake->lock);
    while (!fake->interrupted && lx__clock_wait(&fake->interrupt, &fake->lock, deadline))
        ;
    bool interrupted = fake->interrupted;
    pthread_mutex_unlock(&fake->lock);
    return !interrupted;
}

static inline lx_status fake_connect(lx__transport *self, lx__connection **connection,
                                     lx_error *error)
{
    (void)error;
    atomic_fetch_add(&((struct fake *)self)->connects, 1);
    *connection = calloc(1, sizeof **connection);
    (*connection)->transport = self;
    return LX_OK;
}

static inline void fake_disconnect(lx__connection *connection)
{
    atomic_fetch_add(&((struct fake *)connection->transport)->disconnects, 1);
    free(connection);
}

static inline lx_status fake_read(lx__connection *connection, const char *name, uint64_t offset,
                                  size_t size, uint8_t *data, lx__answer *answer, lx_error *error)
{
    struct fake *fake = (struct fake *)connection->transport;
    *answer = (lx__answer){.got = size, .total = LX_NONE};
    if (strcmp(name, fake->name != NULL ? fake->name : "chunk/0.zr") != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "the name has changed");
    unsigned number = atomic_fetch_add(&fake->attempts, 1);
    atomic_fetch_add(&fake->under_way, 1);
    lx_status status = LX_OK;
    if (fake->script != NULL)
        status = fake->script(fake, offset, number, answer, error);
    for (size_t i = 0; status == LX_OK && i < answer->got; i++)
        data[i] = fake_byte(offset + i);
    if (status != LX_OK)
        answer->got = 0;
    atomic_fetch_sub(&fake->under_way, 1);
    return status;
}

static inline void fake_interrupt(lx__transport *self)
{
    struct fake *fake = (struct fake *)self;
    pthread_mutex_lock(&fake->lock);
    fake->interrupted = !fake->deaf;
    pthread_cond_broadcast(&fake->interrupt);
    pthread_mutex_unlock(&fake->lock);
}

static inline void fake_close(lx__transport *self)
{
    struct fake *fake = (struct fake *)self;
    if (fake->is_gone != NULL)
        atomic_store(fake->is_gone, true);
    pthread_cond_destroy(&fake->interrupt);
    pthread_mutex_destroy(&fake->lock);
    free(fake);
}

static inline struct fake *fake_new(fake_script script, void *user)
{
    static const lx__transport_class class = {.network = "fake",
                                              .connections = 4,
                                              .connect = fake_connect,
                                              .disconnect = fake_disconnect,
                                              .read = fake_read,
                                              .interrupt = fake_interrupt,
                                              .close = fake_close};
    struct fake *fake = calloc(1, sizeof *fake);
    fake->base = (lx__transport){.class = &class, .url = (char *)(uintptr_t) "fake://bucket/set"};
    fake->script = script;
    fake->user = user;
    pthread_mutex_init(&fake->lock, NULL);
    lx__clock_condition(&fake->interrupt);
    return fake;
}

/** Fails as if the server were not there. */
static inline lx_status fake_refuse(lx__answer *answer, lx_error *error)
{
    answer->retry = LX__RETRY_LATER;
    return lx_fail(error, LX_ERR_IO, "connection refused");
}

/* ---- requests */

struct wanted {
    lx__request base;
    bool unneeded;        /**< begin() returns false. */
    atomic_uint finished; /**< How often finish() was called. */
    unsigned place;       /**< The number of requests that finished before this one. */
    uint64_t when;        /**< When it finished. */
    lx_status status;
    bool right; /**< Whether the bytes were right. */
    char message[512];
};

static atomic_uint finished_count;

static inline bool wanted_begin(lx__request *self)
{
    return !((struct wanted *)self)->unneeded;
}

static inline void wanted_finish(lx__request *self, lx_status status, const uint8_t *data,
                                 const lx__answer *answer, const lx_error *why)
{
    struct wanted *wanted = (struct wanted *)self;
    wanted->status = status;
    wanted->when = lx__clock_now();
    wanted->right = status == LX_OK && why == NULL && answer->got == self->size;
    for (size_t i = 0; wanted->right && i < self->size; i++)
        wanted->right = data[i] == fake_byte(self->offset + i);
    if (why != NULL)
        snprintf(wanted->message, sizeof wanted->message, "%s", why->message);
    wanted->place = atomic_fetch_add(&finished_count, 1);
    atomic_fetch_add(&wanted->finished, 1);
}

/** Makes requests for 16 bytes each. */
static inline struct wanted *wanted_new(size_t count)
{
    struct wanted *wanted = calloc(count, sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        wanted[i].base = (lx__request){.name = "chunk/0.zr",
                                       .offset = 16 * i,
                                       .size = 16,
                                       .begin = wanted_begin,
                                       .finish = wanted_finish};
    return wanted;
}

static inline lx__request_queue *queue_open(struct fake *fake, unsigned connections,
                                            uint64_t patience)
{
    lx_error error = LX_ERROR_INIT;
    lx__request_queue *queue;
    lx__request_limits limits = {connections, patience};
    unit_ok(lx__request_queue_open(&fake->base, &limits, &queue, &error));
    return queue;
}

static inline void queue_add(lx__request_queue *queue, struct wanted *wanted, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < count; i++)
        unit_ok(lx__request_queue_add(queue, &wanted[i].base, &error));
}

/** Waits until all requests are finished; fails after a minute. */
static inline void wanted_await(struct wanted *wanted, size_t count)
{
    for (size_t i = 0, tries = 0; i < count; i++)
        for (; atomic_load(&wanted[i].finished) == 0; tries++) {
            ck_assert_msg(tries < 600000, "request %zu did not finish", i);
            nap(MILLISECOND / 10);
        }
}

static inline lx__request_counts queue_counts(lx__request_queue *queue)
{
    lx__request_counts counts;
    lx__request_queue_get_counts(queue, &counts);
    return counts;
}

#endif
