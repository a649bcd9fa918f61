/* SPDX-License-Identifier: MIT */
#include <loaderx/executor.h>

#include <unistd.h>

#include "executor/executor.h"
#include "workload.h"

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_queue_stats stats;
    lx_executor *executor = open_executor(1, 1);
    unit_fails(lx_executor_open(NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_executor_get_stats(NULL, LX_QUEUE_READ, &stats, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_executor_get_stats(executor, LX_QUEUE_READ, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_executor_get_stats(executor, (lx_queue)2, &stats, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_executor_get_stats(executor, (lx_queue)-1, &stats, &error), LX_ERR_ARGUMENT);
    lx_executor_close(NULL);
    lx_executor_unref(NULL);
    lx_executor_close(executor);
}
END_TEST

START_TEST(references_outlive_close)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(2, 1);
    ck_assert_ptr_eq(lx_executor_ref(executor), executor);
    struct job job;
    job_init(&job, 1);
    job_submit(executor, LX_QUEUE_READ, &job);
    job_wait(&job);
    lx_executor_close(executor);

    unit_fails(lx__executor_submit(executor, LX_QUEUE_READ, &job.task, &error), LX_ERR_STATE);
    unit_fails(lx__executor_submit_after(executor, LX_QUEUE_WRITE, &job.task, 1, &error),
               LX_ERR_STATE);
    lx__executor_help(executor, &job.task);
    ck_assert(!lx__executor_cancel(executor, &job.task));
    ck_assert_uint_eq(job.finished, 1);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).tasks, 1);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, 0);
    ck_assert_uint_eq(lx_executor_get_reader_count(executor), 2);
    lx_executor_unref(executor);
    job_free(&job);
}
END_TEST

struct closer {
    lx_executor *executor;
    uint64_t delay;
    atomic_bool returned;
};

static void *close_later(void *user)
{
    struct closer *closer = user;
    nap(closer->delay);
    lx_executor_close(closer->executor);
    atomic_store(&closer->returned, true);
    return NULL;
}

START_TEST(close_cancels_queued_tasks)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(1, 1);
    struct gate shut = GATE_SHUT;
    struct job running, waiting, timed, unhelped;
    job_init(&running, 2);
    job_init(&waiting, 5);
    job_init(&timed, 1);
    job_init(&unhelped, 1);
    running.gate = &shut;
    job_submit(executor, LX_QUEUE_WRITE, &running);
    gate_await(&shut, 1);
    job_submit(executor, LX_QUEUE_WRITE, &waiting);
    unit_ok(
        lx__executor_submit_after(executor, LX_QUEUE_WRITE, &timed.task, 3600ull * SECOND, &error));
    lx_executor *other = open_executor(0, 1);
    job_submit(other, LX_QUEUE_READ, &unhelped);
    lx_executor_close(other);
    ck_assert(job_is_over(&unhelped) && unhelped.canceled);

    pthread_t thread;
    struct closer closer = {executor, 0, false};
    ck_assert_int_eq(pthread_create(&thread, NULL, close_later, &closer), 0);
    eventually(job_is_over(&waiting) && job_is_over(&timed));
    ck_assert(waiting.canceled && timed.canceled);
    ck_assert(!job_is_over(&running)); /* close waits for it */
    gate_open(&shut);
    pthread_join(thread, NULL);
    ck_assert(job_is_over(&running) && running.canceled);
    ck_assert_uint_eq(job_count(&running), 1);
    ck_assert_uint_eq(job_count(&waiting) + job_count(&timed) + job_count(&unhelped), 0);
    job_free(&running);
    job_free(&waiting);
    job_free(&timed);
    job_free(&unhelped);
}
END_TEST

static void *help(void *user)
{
    struct job *job = user;
    lx__executor_help(job->user, &job->task);
    return NULL;
}

START_TEST(close_waits_for_helpers_too)
{
    lx_executor *executor = open_executor(0, 1);
    struct gate shut = GATE_SHUT;
    struct job job;
    job_init(&job, 2);
    job.gate = &shut;
    job.user = lx_executor_ref(executor);
    job_submit(executor, LX_QUEUE_READ, &job);
    pthread_t helper, thread;
    ck_assert_int_eq(pthread_create(&helper, NULL, help, &job), 0);
    gate_await(&shut, 1);
    struct closer closer = {executor, 0, false};
    ck_assert_int_eq(pthread_create(&thread, NULL, close_later, &closer), 0);
    nap(30 * MILLISECOND);
    ck_assert(!atomic_load(&closer.returned));
    gate_open(&shut);
    pthread_join(thread, NULL);
    ck_assert(job_is_over(&job) && job.canceled);
    ck_assert_uint_eq(job_count(&job), 1);
    pthread_join(helper, NULL);
    lx_executor_unref(job.user);
    job_free(&job);
}
END_TEST

static void close_then_open_gate(struct job *job, size_t part)
{
    struct gate *gate = job->user;
    if (part == 0) {
        gate_await(gate, 1); /* the other part runs */
        lx_executor_close(job->executor);
        gate_open(gate);
    } else {
        gate_pass(gate);
    }
}

START_TEST(close_from_a_callback_lets_others_run)
{
    lx_executor *executor = open_executor(2, 1);
    struct gate shut = GATE_SHUT;
    struct job job;
    job_init(&job, 2);
    job.also = close_then_open_gate;
    job.user = &shut;
    job.executor = lx_executor_ref(executor);
    job_submit(executor, LX_QUEUE_READ, &job);
    job_wait(&job);
    ck_assert(!job.canceled);
    lx_executor_ref(executor);
    lx_executor_close(executor); /* waits for threads that are not joined */
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, 0);
    lx_executor_unref(executor);
    job_free(&job);
}
END_TEST

static void close_from_inside(struct job *job, size_t part)
{
    (void)part;
    lx_executor_close(job->user);
}

START_TEST(close_from_a_callback_does_not_wait)
{
    for (int round = 0; round < 50; round++) {
        lx_executor *executor = open_executor(2, 1);
        struct job job;
        job_init(&job, round % 3 == 0 ? 1 : 4);
        job.also = close_from_inside;
        job.user = executor;
        for (size_t i = 0; i < job.task.parts; i++)
            lx_executor_ref(executor); /* one for each part to give up */
        job_submit(executor, LX_QUEUE_READ, &job);
        job_wait(&job);
        size_t count = job_count(&job);
        ck_assert_uint_ge(count, 1);
        ck_assert(job.canceled == (count < job.task.parts));
        for (size_t i = count; i < job.task.parts; i++)
            lx_executor_unref(executor);
        if (round % 2 == 0)
            lx_executor_close(executor);
        else
            lx_executor_unref(executor);
        job_free(&job);
    }
}
END_TEST

static void unref_at_finish(lx__task *task, bool canceled)
{
    struct job *self = LX__CONTAINER_OF(task, struct job, task);
    lx_executor_unref(self->user);
    job_finish(task, canceled);
}

START_TEST(a_callback_can_drop_the_last_reference)
{
    for (int round = 0; round < 100; round++) {
        lx_executor *executor = open_executor(2, 1);
        struct gate shut = GATE_SHUT;
        struct job job;
        job_init(&job, 2);
        job.task.finish = unref_at_finish;
        job.user = lx_executor_ref(executor);
        job.gate = &shut;
        job_submit(executor, LX_QUEUE_READ, &job);
        lx_executor_unref(executor);
        gate_open(&shut);
        job_wait(&job);
        ck_assert_uint_eq(job_count(&job), 2);
        job_free(&job);
    }
}
END_TEST

static void nap_a_little(struct job *job, size_t part)
{
    (void)job;
    if (part % 16 == 0)
        nap(20000);
}

START_TEST(close_at_any_moment_returns)
{
    uint64_t random = 42;
    for (int round = 0; round < 60; round++) {
        enum { JOBS = 12, CLOSERS = 3 };
        lx_executor *executor = open_executor((uint32_t)(random_next(&random) % 5), 2);
        struct closer closers[CLOSERS];
        pthread_t threads[CLOSERS];
        for (int i = 0; i < CLOSERS; i++) {
            closers[i].executor = lx_executor_ref(executor);
            closers[i].delay = random_next(&random) % 3000000;
            ck_assert_int_eq(pthread_create(&threads[i], NULL, close_later, &closers[i]), 0);
        }
        struct job jobs[JOBS];
        bool accepted[JOBS];
        for (int i = 0; i < JOBS; i++) {
            job_init(&jobs[i], 1 + random_next(&random) % 64);
            jobs[i].also = nap_a_little;
            bool timed = i % 4 == 3;
            lx_queue queue = timed ? LX_QUEUE_WRITE : (lx_queue)(random_next(&random) % 2);
            lx_status status = timed
                                   ? lx__executor_submit_after(executor, queue, &jobs[i].task,
                                                               random_next(&random) % 2000000, NULL)
                                   : lx__executor_submit(executor, queue, &jobs[i].task, NULL);
            ck_assert(status == LX_OK || status == LX_ERR_STATE);
            accepted[i] = status == LX_OK;
            if (accepted[i] && random_next(&random) % 4 == 0)
                lx__executor_help(executor, &jobs[i].task);
        }
        for (int i = 0; i < CLOSERS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < JOBS; i++) { /* nothing runs after a close */
            bool whole = job_count(&jobs[i]) == jobs[i].task.parts;
            ck_assert_uint_eq(jobs[i].finished, accepted[i]);
            ck_assert(jobs[i].canceled == (accepted[i] && !whole));
            job_free(&jobs[i]);
        }
        lx_executor_unref(executor);
    }
}
END_TEST

START_TEST(makes_and_frees_a_thousand_executors)
{
    for (int round = 0; round < 1000; round++) {
        lx_executor *executor = open_executor(2, 1);
        if (round % 2 == 0) {
            struct job job;
            job_init(&job, 2);
            job_submit(executor, (lx_queue)(round / 2 % 2), &job);
            if (round % 4 == 0) {
                job_wait(&job);
                lx_executor_close(executor);
            } else {
                lx_executor_unref(executor);
                ck_assert(job_is_over(&job));
            }
            job_free(&job);
        } else {
            lx_executor_close(executor);
        }
    }
}
END_TEST

START_TEST(help_runs_tasks_until_the_deadline)
{
    lx_executor *executor = open_executor(0, 1);
    struct job job;
    job_init(&job, 5);
    job_submit(executor, LX_QUEUE_READ, &job);
    lx__executor_help_until(executor, &job.task, 0);
    ck_assert_uint_eq(job_count(&job), 1);
    lx__executor_help_until(executor, &job.task, 0);
    ck_assert_uint_eq(job_count(&job), 2);
    ck_assert(!job_is_over(&job));
    lx__executor_help(executor, &job.task);
    ck_assert_uint_eq(job_count(&job), 5);
    ck_assert(job_is_over(&job) && !job.canceled);
    lx__executor_help(executor, &job.task);
    ck_assert_uint_eq(job.finished, 1);

    /* The time may be up after the very last part. */
    job_free(&job);
    job_init(&job, 1);
    job_submit(executor, LX_QUEUE_READ, &job);
    lx__executor_help_until(executor, &job.task, 0);
    ck_assert(job_is_over(&job) && !job.canceled);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).parts, 6);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, 0);
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

static lx_status do_nothing(size_t part, void *user, lx_error *error)
{
    (void)user, (void)part, (void)error;
    return LX_OK;
}

/** Checks the parent's executor in a child; 0: all is right. */
static int child(lx_executor *executor, lx_ticket *ticket, struct job *job)
{
    lx_error error = LX_ERROR_INIT;
    lx_ticket *mine;
    lx_queue_stats stats;
    if (lx_executor_submit(executor, LX_QUEUE_READ, do_nothing, NULL, 1, &mine, &error) !=
            LX_ERR_FORKED ||
        error.status != LX_ERR_FORKED || mine != NULL)
        return 1;
    if (lx_executor_get_stats(executor, LX_QUEUE_READ, &stats, NULL) != LX_ERR_FORKED)
        return 2;
    if (lx_ticket_wait(ticket, NULL) != LX_ERR_FORKED ||
        lx_ticket_wait_timed(ticket, 1, NULL) != LX_ERR_FORKED)
        return 3;
    if (lx__executor_submit_after(executor, LX_QUEUE_WRITE, &job->task, 1, NULL) != LX_ERR_FORKED)
        return 4;
    lx__executor_help(executor, &job->task);
    if (lx__executor_cancel(executor, &job->task))
        return 5;
    lx_ticket_cancel(ticket);
    lx_ticket_unref(ticket);
    lx_executor_unref(lx_executor_ref(executor));
    lx_executor_close(executor);
    lx_executor_close(executor);
    if (lx_executor_open(NULL, &executor, NULL) != LX_OK)
        return 6;
    lx_executor_close(executor);
    return 0;
}

static void *load(void *user)
{
    for (int i = 0; i < 300; i++) {
        struct job job;
        job_init(&job, 20);
        job_submit(user, (lx_queue)(i % 2), &job);
        job_wait(&job);
        ck_assert_uint_eq(job_count(&job), 20);
        job_free(&job);
    }
    return NULL;
}

START_TEST(a_child_gets_an_error_and_the_parent_continues)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(3, 2);
    lx_ticket *ticket;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, load, executor), 0);
    struct gate shut = GATE_SHUT;
    struct job held;
    job_init(&held, 1);
    held.gate = &shut;
    job_submit(executor, LX_QUEUE_WRITE, &held);
    unit_ok(lx_executor_submit(executor, LX_QUEUE_READ, do_nothing, NULL, 100, &ticket, &error));
    for (int i = 0; i < 20; i++) {
        if (unit_in_child())
            _exit(child(executor, ticket, &held));
    }
    gate_open(&shut);
    job_wait(&held);
    unit_ok(lx_ticket_wait(ticket, &error));
    lx_ticket_unref(ticket);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    lx_executor_close(executor);
    job_free(&held);
}
END_TEST

UNIT_MAIN("executor/executor", rejects_invalid_arguments, references_outlive_close,
          close_cancels_queued_tasks, close_waits_for_helpers_too,
          close_from_a_callback_lets_others_run, close_from_a_callback_does_not_wait,
          a_callback_can_drop_the_last_reference, close_at_any_moment_returns,
          makes_and_frees_a_thousand_executors, help_runs_tasks_until_the_deadline,
          a_child_gets_an_error_and_the_parent_continues)
