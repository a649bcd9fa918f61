/* SPDX-License-Identifier: MIT */
#include "executor/call.h"

#include "workload.h"

static atomic_uint seen[LX_MAX_READERS];

static void note_number(struct job *job, size_t part)
{
    (void)job, (void)part;
    uint32_t number = lx__worker_number();
    ck_assert_uint_lt(number, 4);
    atomic_fetch_add(&seen[number], 1);
}

START_TEST(workers_have_numbers)
{
    lx_executor *executor = open_executor(4, 1, 1);
    struct gate all = GATE_SHUT;
    struct job job;
    job_init(&job, 4);
    job.gate = &all;
    job.also = note_number;
    job_submit(executor, LX_QUEUE_READ, &job);
    gate_await(&all, 4);
    gate_open(&all);
    job_wait(&job);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(atomic_load(&seen[i]), 1);
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

static void has_no_number(struct job *job, size_t part)
{
    (void)part;
    ck_assert_uint_eq(lx__worker_number(), LX__NO_WORKER);
    ck_assert(lx__call_is_inside(job->user));
}

START_TEST(helpers_have_none)
{
    lx_executor *executor = open_executor(0, 1, 1);
    struct job job;
    job_init(&job, 3);
    job.also = has_no_number;
    job.user = executor;
    job_submit(executor, LX_QUEUE_READ, &job);
    ck_assert(!lx__call_is_inside(executor));
    lx__executor_help(executor, &job.task);
    ck_assert(!lx__call_is_inside(executor));
    ck_assert_uint_eq(lx__worker_number(), LX__NO_WORKER);
    ck_assert_uint_eq(job_count(&job), 3);
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

struct nest {
    lx_executor *outer, *inner;
    struct job *inner_job;
};

static void within_both(struct job *job, size_t part)
{
    (void)part;
    struct nest *nest = job->user;
    ck_assert(lx__call_is_inside(nest->outer));
    ck_assert(lx__call_is_inside(nest->inner));
    ck_assert(lx__executor_must_help(nest->outer, LX_QUEUE_GC));
    ck_assert_uint_eq(lx__worker_number(), LX__NO_WORKER);
}

static void help_inner(struct job *job, size_t part)
{
    (void)part;
    struct nest *nest = job->user;
    ck_assert_uint_eq(lx__worker_number(), 0);
    ck_assert(!lx__call_is_inside(nest->inner));
    ck_assert(!lx__executor_must_help(nest->inner, LX_QUEUE_WRITE));
    ck_assert(lx__executor_must_help(nest->inner, LX_QUEUE_READ));
    job_submit(nest->inner, LX_QUEUE_READ, nest->inner_job);
    lx__executor_help(nest->inner, &nest->inner_job->task);
    ck_assert(job_is_over(nest->inner_job));
    ck_assert(!lx__call_is_inside(nest->inner));
    ck_assert_uint_eq(lx__worker_number(), 0);
}

START_TEST(calls_nest)
{
    struct job outer, inner;
    struct nest nest = {open_executor(1, 1, 1), open_executor(0, 1, 1), &inner};
    job_init(&outer, 1);
    job_init(&inner, 2);
    outer.also = help_inner;
    inner.also = within_both;
    outer.user = inner.user = &nest;
    job_submit(nest.outer, LX_QUEUE_READ, &outer);
    job_wait(&outer);
    ck_assert_uint_eq(job_count(&inner), 2);
    job_free(&outer);
    job_free(&inner);
    lx_executor_close(nest.inner);
    lx_executor_close(nest.outer);
}
END_TEST

UNIT_MAIN("executor/call", workers_have_numbers, helpers_have_none, calls_nest)
