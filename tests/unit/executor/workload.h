/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tasks for tests of the executor: jobs that count their parts, and gates that hold threads.
 */
#ifndef LX_TESTS_WORKLOAD_H
#define LX_TESTS_WORKLOAD_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "../unit.h"
#include "executor/clock.h"
#include "executor/executor.h"
#include "executor/task.h"

#define MILLISECOND 1000000u
#define SECOND 1000000000u

static inline lx_executor *open_executor(uint32_t readers, uint32_t writers)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_executor_options *options = lx_executor_options_new();
    unit_ok(lx_executor_options_set_reader_count(options, readers, &error));
    unit_ok(lx_executor_options_set_writer_count(options, writers, &error));
    unit_ok(lx_executor_open(options, &executor, &error));
    lx_executor_options_free(options);
    return executor;
}

static inline lx_queue_stats stats_of(lx_executor *executor, lx_queue queue)
{
    lx_error error = LX_ERROR_INIT;
    lx_queue_stats stats;
    unit_ok(lx_executor_get_stats(executor, queue, &stats, &error));
    return stats;
}

static inline void nap(uint64_t nanoseconds)
{
    struct timespec time = {(time_t)(nanoseconds / SECOND), (long)(nanoseconds % SECOND)};
    while (nanosleep(&time, &time) == -1 && errno == EINTR)
        ;
}

/** Waits for @p condition, which another thread makes true; fails after a minute. */
#define eventually(condition)                                                                      \
    do {                                                                                           \
        for (int tries = 0; !(condition); tries++) {                                               \
            ck_assert_msg(tries < 60000, "not within a minute: %s", #condition);                   \
            nap(MILLISECOND);                                                                      \
        }                                                                                          \
    } while (0)

/** Whether a thread of this process sleeps, rather than waiting for a processor. */
static inline bool thread_sleeps(pid_t tid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
    fclose(file);
    return strncmp(strrchr(text, ')'), ") S", 3) == 0;
}

/** xorshift64 (Marsaglia 2003), one state for each thread. */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** A gate that is closed until it is opened, and counts the threads that have reached it. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned arrived;
    bool is_open;
};

#define GATE_SHUT                                                                                  \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false                              \
    }

static inline void gate_pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->arrived++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->is_open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static inline void gate_await(struct gate *gate, unsigned count)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->arrived < count)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static inline void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

/** A task that counts how often each part ran and how often it was finished. */
struct job {
    lx__task task;
    void (*also)(struct job *job, size_t part); /* additional work of a part; may be NULL */
    struct gate *gate;                          /* the gate at which a part waits first; may be
                                                 * NULL */
    void *user;
    lx_executor *executor;
    atomic_uchar *ran;
    atomic_uint finished;
    bool canceled; /* of the last finish */
    sem_t over;
};

static inline void job_run(lx__task *task, size_t part)
{
    struct job *self = LX__CONTAINER_OF(task, struct job, task);
    ck_assert_uint_lt(part, task->parts);
    if (self->gate != NULL)
        gate_pass(self->gate);
    if (self->also != NULL)
        self->also(self, part);
    atomic_fetch_add_explicit(&self->ran[part], 1, memory_order_relaxed);
}

static inline void job_finish(lx__task *task, bool canceled)
{
    struct job *self = LX__CONTAINER_OF(task, struct job, task);
    self->canceled = canceled;
    atomic_fetch_add(&self->finished, 1);
    sem_post(&self->over);
}

static inline void job_init(struct job *job, size_t parts)
{
    memset(job, 0, sizeof *job);
    lx__task_init(&job->task, job_run, job_finish, parts);
    job->ran = calloc(parts, sizeof *job->ran);
    ck_assert_ptr_nonnull(job->ran);
    ck_assert_int_eq(sem_init(&job->over, 0, 0), 0);
}

static inline void job_wait(struct job *job)
{
    while (sem_wait(&job->over) == -1)
        ck_assert_int_eq(errno, EINTR);
}

static inline bool job_is_over(struct job *job)
{
    return atomic_load(&job->finished) != 0;
}

/** The number of parts that ran; checks that none ran twice. */
static inline size_t job_count(const struct job *job)
{
    size_t count = 0;
    for (size_t i = 0; i < job->task.parts; i++) {
        ck_assert_uint_le(job->ran[i], 1);
        count += job->ran[i];
    }
    return count;
}

static inline void job_free(struct job *job)
{
    sem_destroy(&job->over);
    free(job->ran);
}

static inline void job_submit(lx_executor *executor, lx_queue queue, struct job *job)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__executor_submit(executor, queue, &job->task, &error));
}

#endif
