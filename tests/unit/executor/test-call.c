/* SPDX-License-Identifier: MIT */
#include "executor/call.h"
#include "executor/executor.h"

#include "workload.h"

static void is_inside(struct job *job, size_t part)
{
    (void)part;
    ck_assert(lx__call_is_inside(job->user));
}

START_TEST(a_helping_thread_counts_as_inside)
{
    lx_executor *executor = open_executor(0, 1);
    struct job job;
    job_init(&job, 3);
    job.also = is_inside;
    job.user = executor;
    job_submit(executor, LX_QUEUE_READ, &job);
    ck_assert(!lx__call_is_inside(executor));
    lx__executor_help(executor, &job.task);
    ck_assert(!lx__call_is_inside(executor));
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
    ck_assert(lx__executor_must_help(nest->outer, LX_QUEUE_WRITE));
}

static void help_inner(struct job *job, size_t part)
{
    (void)part;
    struct nest *nest = job->user;
    ck_assert(!lx__call_is_inside(nest->inner));
    ck_assert(!lx__executor_must_help(nest->inner, LX_QUEUE_WRITE));
    ck_assert(lx__executor_must_help(nest->inner, LX_QUEUE_READ));
    job_submit(nest->inner, LX_QUEUE_READ, nest->inner_job);
    lx__executor_help(nest->inner, &nest->inner_job->task);
    ck_assert(job_is_over(nest->inner_job));
    ck_assert(!lx__call_is_inside(nest->inner));
}

START_TEST(calls_nest)
{
    struct job outer, inner;
    struct nest nest = {open_executor(1, 1), open_executor(0, 1), &inner};
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

UNIT_MAIN("executor/call", a_helping_thread_counts_as_inside, calls_nest)
