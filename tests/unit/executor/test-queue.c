/* SPDX-License-Identifier: MIT */
#include "executor/executor.h"
#include "executor/queue.h"

#include "../skip-clock.h"
#include "workload.h"

enum { TASKS = 50 };

static atomic_uint order;
static unsigned place[TASKS];

static void record_place(struct job *job, size_t part)
{
    if (part == 0)
        place[(uintptr_t)job->user] = atomic_fetch_add(&order, 1);
}

START_TEST(tasks_begin_oldest_first)
{
    lx_executor *executor = open_executor(1, 1);
    struct gate shut = GATE_SHUT;
    struct job first, jobs[TASKS];
    job_init(&first, 1);
    first.gate = &shut;
    job_submit(executor, LX_QUEUE_WRITE, &first);
    gate_await(&shut, 1);
    for (uintptr_t i = 0; i < TASKS; i++) {
        job_init(&jobs[i], 1 + i % 3);
        jobs[i].also = record_place;
        jobs[i].user = (void *)i;
        job_submit(executor, LX_QUEUE_WRITE, &jobs[i]);
    }
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_WRITE).queued, TASKS);
    gate_open(&shut);
    for (int i = 0; i < TASKS; i++) {
        job_wait(&jobs[i]);
        ck_assert_uint_eq(place[i], (unsigned)i);
        ck_assert_uint_eq(job_count(&jobs[i]), 1 + (size_t)i % 3);
        ck_assert(!jobs[i].canceled);
        job_free(&jobs[i]);
    }
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_WRITE).queued, 0);
    job_wait(&first);
    job_free(&first);
    lx_executor_close(executor);
}
END_TEST

static void record_part(struct job *job, size_t part)
{
    unsigned *parts = job->user;
    parts[atomic_fetch_add(&order, 1)] = (unsigned)part;
}

START_TEST(runs_parts_in_order)
{
    lx_executor *executor = open_executor(1, 1);
    unsigned parts[1000];
    struct job job;
    job_init(&job, 1000);
    job.also = record_part;
    job.user = parts;
    job_submit(executor, LX_QUEUE_READ, &job);
    job_wait(&job);
    for (unsigned i = 0; i < 1000; i++)
        ck_assert_uint_eq(parts[i], i);
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_task_of_many_parts_stays_in_front)
{
    lx_executor *executor = open_executor(2, 1);
    struct gate shut = GATE_SHUT;
    struct job many, next;
    job_init(&many, 3);
    job_init(&next, 1);
    many.gate = &shut;
    job_submit(executor, LX_QUEUE_READ, &many);
    job_submit(executor, LX_QUEUE_READ, &next);
    gate_await(&shut, 2); /* both threads are in the first task, and one part of it remains */
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).queued, 2);
    ck_assert(!job_is_over(&next));
    gate_open(&shut);
    job_wait(&many);
    job_wait(&next);
    ck_assert_uint_eq(job_count(&many) + job_count(&next), 4);
    job_free(&many);
    job_free(&next);
    lx_executor_close(executor);
}
END_TEST

static void stop_at_ten(struct job *job, size_t part)
{
    if (part == 10)
        lx__task_stop(&job->task);
}

START_TEST(a_stopped_task_is_done_and_not_canceled)
{
    lx_executor *executor = open_executor(1, 1);
    struct job job;
    job_init(&job, 1000);
    job.also = stop_at_ten;
    job_submit(executor, LX_QUEUE_READ, &job);
    job_wait(&job);
    ck_assert(!job.canceled);
    ck_assert_uint_eq(job_count(&job), 11);
    ck_assert(!lx__executor_cancel(executor, &job.task));
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

START_TEST(timers_fire_in_time)
{
    static const unsigned delays[] = {30, 10, 20, 10, 0};
    static const unsigned places[] = {4, 1, 3, 2, 0};
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    struct job jobs[5];
    struct gate shut = GATE_SHUT;
    struct job first;
    job_init(&first, 1);
    first.gate = &shut;
    job_submit(executor, LX_QUEUE_WRITE, &first);
    gate_await(&shut, 1);
    clock_stop();
    for (uintptr_t i = 0; i < 5; i++) {
        job_init(&jobs[i], 1);
        jobs[i].also = record_place;
        jobs[i].user = (void *)i;
        unit_ok(lx__executor_submit_after(executor, LX_QUEUE_WRITE, &jobs[i].task,
                                          delays[i] * MILLISECOND, &error));
        clock_skip(1);
    }
    gate_open(&shut);
    job_wait(&first);
    for (unsigned time = 0; time <= 30; time++, clock_skip(MILLISECOND))
        for (int i = 0; i < 5; i++)
            if (delays[i] <= time)
                eventually(job_is_over(&jobs[i]));
            else
                ck_assert(!job_is_over(&jobs[i]));
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(place[i], places[i]);
        job_free(&jobs[i]);
    }
    job_free(&first);
    lx_executor_close(executor);
}
END_TEST

START_TEST(an_earlier_timer_fires_first)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 2);
    struct job late, early;
    job_init(&late, 1);
    job_init(&early, 1);
    unit_ok(
        lx__executor_submit_after(executor, LX_QUEUE_WRITE, &late.task, 3600ull * SECOND, &error));
    nap(20 * MILLISECOND); /* a thread sleeps until the time of the late task */
    unit_ok(
        lx__executor_submit_after(executor, LX_QUEUE_WRITE, &early.task, 5 * MILLISECOND, &error));
    eventually(job_is_over(&early));
    ck_assert(!job_is_over(&late));
    lx_executor_close(executor);
    ck_assert(late.canceled);
    job_free(&late);
    job_free(&early);
}
END_TEST

START_TEST(a_timer_fires_while_threads_are_busy)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 2);
    struct gate shut = GATE_SHUT;
    struct job timer, busy;
    job_init(&timer, 1);
    job_init(&busy, 1);
    busy.gate = &shut;
    unit_ok(
        lx__executor_submit_after(executor, LX_QUEUE_WRITE, &timer.task, 50 * MILLISECOND, &error));
    job_submit(executor, LX_QUEUE_WRITE, &busy); /* wakes the thread that waits for the timer */
    eventually(job_is_over(&timer));
    ck_assert(!job_is_over(&busy));
    gate_open(&shut);
    job_wait(&busy);
    lx_executor_close(executor);
    job_free(&timer);
    job_free(&busy);
}
END_TEST

START_TEST(a_waiting_timer_can_be_canceled)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    struct job job;
    job_init(&job, 4);
    ck_assert(!lx__executor_cancel(executor, &job.task));
    unit_ok(lx__executor_submit_after(executor, LX_QUEUE_WRITE, &job.task, UINT64_MAX, &error));
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_WRITE).queued, 1);
    lx__executor_help(executor, &job.task); /* it is not due yet */
    ck_assert(!job_is_over(&job));
    ck_assert(lx__executor_cancel(executor, &job.task));
    ck_assert(job_is_over(&job) && job.canceled);
    ck_assert(!lx__executor_cancel(executor, &job.task));
    ck_assert_uint_eq(job_count(&job), 0);
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_queue_without_threads_fires_no_timers)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    struct job job;
    job_init(&job, 1);
    unit_fails(lx__executor_submit_after(executor, LX_QUEUE_READ, &job.task, 1, &error),
               LX_ERR_UNSUPPORTED);
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

struct ticking {
    lx__task task;
    lx_executor *executor;
    unsigned ticks;
    sem_t over;
};

static void tick(lx__task *task, size_t part)
{
    (void)part;
    LX__CONTAINER_OF(task, struct ticking, task)->ticks++;
}

static void tick_again(lx__task *task, bool canceled)
{
    struct ticking *self = LX__CONTAINER_OF(task, struct ticking, task);
    if (!canceled &&
        lx__executor_submit_after(self->executor, LX_QUEUE_WRITE, task, MILLISECOND, NULL) == LX_OK)
        return;
    sem_post(&self->over);
}

START_TEST(a_task_can_resubmit_itself)
{
    lx_error error = LX_ERROR_INIT;
    struct ticking ticking = {.executor = open_executor(0, 1)};
    sem_init(&ticking.over, 0, 0);
    lx__task_init(&ticking.task, tick, tick_again, 1);
    unit_ok(lx__executor_submit(ticking.executor, LX_QUEUE_WRITE, &ticking.task, &error));
    eventually(stats_of(ticking.executor, LX_QUEUE_WRITE).tasks >= 10);
    lx_executor_close(ticking.executor);
    ck_assert_int_eq(sem_trywait(&ticking.over), 0);
    ck_assert_uint_ge(ticking.ticks, 10);
}
END_TEST

static void spend(struct job *job, size_t part)
{
    (void)job;
    for (volatile size_t i = 0; i < 50 + part % 7 * 50; i++)
        ;
}

static void *submit_many(void *user)
{
    lx_executor *executor = user;
    uint64_t random = 88172645463325252u ^ (uintptr_t)&random;
    for (int round = 0; round < 40; round++) {
        enum { AT_ONCE = 6 };
        struct job jobs[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) {
            job_init(&jobs[i], 1 + random_next(&random) % 200);
            jobs[i].also = spend;
            job_submit(executor, (lx_queue)(random_next(&random) % 2), &jobs[i]);
            if (random_next(&random) % 4 == 0)
                lx__executor_help(executor, &jobs[i].task);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            job_wait(&jobs[i]);
            ck_assert(!jobs[i].canceled);
            ck_assert_uint_eq(jobs[i].finished, 1);
            ck_assert_uint_eq(job_count(&jobs[i]), jobs[i].task.parts);
            job_free(&jobs[i]);
        }
    }
    return NULL;
}

START_TEST(parts_run_once_each_under_many_threads)
{
    lx_executor *executor = open_executor(8, 4);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, submit_many, executor), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    uint64_t tasks = 0;
    for (int i = 0; i < 2; i++) {
        lx_queue_stats stats = stats_of(executor, (lx_queue)i);
        ck_assert_uint_eq(stats.queued, 0);
        ck_assert_uint_eq(stats.canceled, 0);
        tasks += stats.tasks;
    }
    ck_assert_uint_eq(tasks, 4 * 40 * 6);
    lx_executor_close(executor);
}
END_TEST

START_TEST(each_task_runs_or_is_canceled)
{
    lx_executor *executor = open_executor(3, 2);
    uint64_t random = 1, ran = 0, parts = 0, canceled = 0;
    enum { ROUNDS = 3000 };
    for (int round = 0; round < ROUNDS; round++) {
        lx_queue queue = (lx_queue)(random_next(&random) % 2);
        struct job job;
        job_init(&job, 1 + random_next(&random) % 40);
        job.also = spend;
        job_submit(executor, queue, &job);
        for (uint64_t i = random_next(&random) % 3000; i > 0; i--)
            atomic_signal_fence(memory_order_seq_cst);
        bool was_canceled = lx__executor_cancel(executor, &job.task);
        job_wait(&job);
        size_t count = job_count(&job);
        ck_assert_uint_eq(job.finished, 1);
        ck_assert(job.canceled == was_canceled);
        ck_assert(was_canceled == (count < job.task.parts));
        canceled += was_canceled;
        ran += count;
        parts += job.task.parts;
        job_free(&job);
    }
    uint64_t counted = 0, counted_parts = 0, tasks = 0;
    for (int i = 0; i < 2; i++) {
        counted += stats_of(executor, (lx_queue)i).canceled;
        counted_parts += stats_of(executor, (lx_queue)i).parts;
        tasks += stats_of(executor, (lx_queue)i).tasks;
    }
    ck_assert_uint_eq(counted, canceled);
    ck_assert_uint_eq(counted_parts, ran);
    ck_assert_uint_eq(tasks, ROUNDS);
    ck_assert_uint_le(ran, parts);
    lx_executor_close(executor);
}
END_TEST

UNIT_MAIN("executor/queue", tasks_begin_oldest_first, runs_parts_in_order,
          a_task_of_many_parts_stays_in_front, a_stopped_task_is_done_and_not_canceled,
          timers_fire_in_time, an_earlier_timer_fires_first, a_timer_fires_while_threads_are_busy,
          a_waiting_timer_can_be_canceled, a_queue_without_threads_fires_no_timers,
          a_task_can_resubmit_itself, parts_run_once_each_under_many_threads,
          each_task_runs_or_is_canceled)
