/* SPDX-License-Identifier: MIT */
/* The overhead of a task with empty parts, compared with plain calls, and with two threads that
 * wake each other; and the memory of a batch compared with malloc and mmap. */
#include "bench.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "executor/clock.h"
#include "executor/executor.h"
#include "executor/task.h"

#define PARTS 1000000
#define BATCH_PARTS 64
#define PAUSE_NS 300000

static lx_executor *open_with(uint32_t readers)
{
    lx_executor *executor = NULL;
    lx_executor_options *options = lx_executor_options_new();
    if (options == NULL || lx_executor_options_set_reader_count(options, readers, NULL) != LX_OK ||
        lx_executor_open(options, &executor, NULL) != LX_OK)
        abort();
    lx_executor_options_free(options);
    return executor;
}

/** An empty task, and how the caller waits for it. */
struct job {
    lx__task task;
    lx_executor *executor;
    bool help;      /* the caller takes part */
    uint64_t pause; /* nanoseconds that the caller works first, while the threads fall asleep */
    sem_t over;
};

static void run_nothing(lx__task *task, size_t part)
{
    (void)task, (void)part;
}

static void finish(lx__task *task, bool canceled)
{
    (void)canceled;
    sem_post(&LX__CONTAINER_OF(task, struct job, task)->over);
}

static void job_init(struct job *job, uint32_t readers, size_t parts, bool help, uint64_t pause)
{
    lx__task_init(&job->task, run_nothing, finish, parts);
    job->executor = open_with(readers);
    job->help = help;
    job->pause = pause;
    sem_init(&job->over, 0, 0);
}

static void work_for(uint64_t nanoseconds)
{
    if (nanoseconds == 0)
        return;
    for (uint64_t end = lx__clock_after(nanoseconds); lx__clock_now() < end;)
        ;
}

static void run_job(void *context)
{
    struct job *job = context;
    work_for(job->pause);
    if (lx__executor_submit(job->executor, LX_QUEUE_READ, &job->task, NULL) != LX_OK)
        abort();
    if (job->help)
        lx__executor_help(job->executor, &job->task);
    while (sem_wait(&job->over) != 0)
        ;
}

static void call_parts(void *context)
{
    struct job *job = context;
    for (size_t part = 0; part < job->task.parts; part++)
        job->task.run(&job->task, part);
}

/** A thread that answers each post of the first semaphore by one of the second. */
struct pair {
    sem_t ping, pong;
    atomic_bool ends;
    uint64_t pause;
};

static void *answer_posts(void *context)
{
    struct pair *pair = context;
    for (;;) {
        while (sem_wait(&pair->ping) != 0)
            ;
        if (atomic_load(&pair->ends))
            return NULL;
        sem_post(&pair->pong);
    }
}

static void wake_and_wait(void *context)
{
    struct pair *pair = context;
    work_for(pair->pause);
    sem_post(&pair->ping);
    while (sem_wait(&pair->pong) != 0)
        ;
}

/** A task of one part, from its submission to the end of the wait, compared with a round trip
 * between two threads. */
static void bench_round(bench_run *bench, const char *title, uint64_t pause)
{
    struct pair pair = {.pause = pause};
    pthread_t thread;
    sem_init(&pair.ping, 0, 0);
    sem_init(&pair.pong, 0, 0);
    if (pthread_create(&thread, NULL, answer_posts, &pair) != 0)
        abort();
    struct job jobs[3];
    job_init(&jobs[0], 0, 1, true, pause);
    job_init(&jobs[1], 1, 1, false, pause);
    job_init(&jobs[2], 2, 1, false, pause);
    bench_case cases[] = {{"two threads by hand", wake_and_wait, &pair, 1},
                          {"the caller", run_job, &jobs[0], 1},
                          {"1 reader", run_job, &jobs[1], 1},
                          {"2 readers", run_job, &jobs[2], 1}};
    bench_compare(bench, title, "task", cases, 4);
    atomic_store(&pair.ends, true);
    sem_post(&pair.ping);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        lx_executor_close(jobs[i].executor);
}

static void bench_parts(bench_run *bench, const char *title, const char *unit, size_t parts,
                        double work)
{
    struct job jobs[4];
    job_init(&jobs[0], 0, parts, true, 0);
    job_init(&jobs[1], 1, parts, false, 0);
    job_init(&jobs[2], 2, parts, false, 0);
    job_init(&jobs[3], 2, parts, true, 0);
    bench_case cases[] = {{"plain calls", call_parts, &jobs[0], work},
                          {"the caller", run_job, &jobs[0], work},
                          {"1 reader", run_job, &jobs[1], work},
                          {"2 readers", run_job, &jobs[2], work},
                          {"2 readers and the caller", run_job, &jobs[3], work}};
    bench_compare(bench, title, unit, cases, 5);
    for (int i = 0; i < 4; i++)
        lx_executor_close(jobs[i].executor);
}

void bench_executor(bench_run *bench)
{
    bench_round(bench, "a task of 1 part, one after the other", 0);
    bench_round(bench, "a task of 1 part after the caller worked for 300 us", PAUSE_NS);
    bench_parts(bench, "handing out parts, a task of a million", "part", PARTS, PARTS);
    bench_parts(bench, "a task of 64 parts, one after the other", "task", BATCH_PARTS, 1);
}
