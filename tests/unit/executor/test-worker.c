/* SPDX-License-Identifier: MIT */
#include "executor/executor.h"
#include "executor/worker.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <loaderx/hooks.h>

#include "workload.h"

static unsigned threads_of_process(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/** Whether a thread of @p queue is idle: idle time is only counted then. */
static bool is_idle(lx_executor *executor, lx_queue queue)
{
    uint64_t before = stats_of(executor, queue).idle_ns;
    return stats_of(executor, queue).idle_ns > before;
}

static void *store_tid(void *tid)
{
    *(pid_t *)tid = gettid();
    return NULL;
}

/* A joined thread may still be counted: the kernel wakes the joiner before it removes the
 * thread. */
static bool thread_has_ended(pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d", (int)tid);
    return access(path, F_OK) != 0;
}

START_TEST(starts_threads_on_demand)
{
    /* A sanitizer may start its own thread with the first one. */
    pthread_t first;
    pid_t tid;
    ck_assert_int_eq(pthread_create(&first, NULL, store_tid, &tid), 0);
    pthread_join(first, NULL);
    eventually(thread_has_ended(tid));
    unsigned before = threads_of_process();

    lx_executor *executor = open_executor(8, 4);
    struct job job;
    struct gate shut = GATE_SHUT;
    job_init(&job, 3);
    job.gate = &shut;
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, 0);

    job_submit(executor, LX_QUEUE_READ, &job);
    gate_await(&shut, 3);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, 3);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_WRITE).threads, 0);
    ck_assert_uint_eq(threads_of_process(), before + 3);
    gate_open(&shut);
    job_wait(&job);
    job_free(&job);

    /* Tasks of one part, one after the other, need no more threads. */
    for (int i = 0; i < 20; i++) {
        job_init(&job, 1);
        job_submit(executor, LX_QUEUE_WRITE, &job);
        job_wait(&job);
        job_free(&job);
        eventually(is_idle(executor, LX_QUEUE_WRITE));
    }
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_WRITE).threads, 1);
    lx_executor_close(executor);
    eventually(threads_of_process() == before);
}
END_TEST

static void look_at_thread(struct job *job, size_t part)
{
    (void)part;
    char name[16];
    ck_assert_int_eq(pthread_getname_np(pthread_self(), name, sizeof name), 0);
    ck_assert_str_eq(name, job->user);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGINT), 1);
    ck_assert_int_eq(sigismember(&blocked, SIGALRM), 1);
    ck_assert_int_eq(sigismember(&blocked, SIGCHLD), 1);
    ck_assert_int_eq(sigismember(&blocked, SIGBUS), 0);
    ck_assert_int_eq(sigismember(&blocked, SIGSEGV), 0);
}

START_TEST(threads_have_names_and_block_signals)
{
    static char names[][16] = {"lx-read-0", "lx-write-0"};
    lx_executor *executor = open_executor(1, 1);
    for (int i = 0; i < 2; i++) {
        struct job job;
        job_init(&job, 1);
        job.also = look_at_thread;
        job.user = names[i];
        job_submit(executor, (lx_queue)i, &job);
        job_wait(&job);
        job_free(&job);
    }
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGINT), 0);
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_large_task_wakes_all_sleepers)
{
    enum { THREADS = 16 };
    lx_executor *executor = open_executor(THREADS, 1);
    for (int round = 0; round < 20; round++) {
        struct gate shut = GATE_SHUT;
        struct job job;
        job_init(&job, THREADS);
        job.gate = &shut;
        job_submit(executor, LX_QUEUE_READ, &job);
        gate_await(&shut, THREADS); /* no thread continues before all have arrived */
        gate_open(&shut);
        job_wait(&job);
        job_free(&job);
        if (round % 2 == 0)
            nap(2 * MILLISECOND);
    }
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, THREADS);
    lx_executor_close(executor);
}
END_TEST

START_TEST(no_task_waits_for_a_thread_that_sleeps)
{
    /* Two tasks of one part, submitted in all orders of time, must run at the same time. */
    lx_executor *executor = open_executor(2, 1);
    uint64_t random = 7;
    for (int round = 0; round < 500; round++) {
        struct gate shut = GATE_SHUT;
        struct job jobs[2];
        for (int i = 0; i < 2; i++) {
            job_init(&jobs[i], 1);
            jobs[i].gate = &shut;
            job_submit(executor, LX_QUEUE_READ, &jobs[i]);
            for (uint64_t wait = random_next(&random) % 30000; wait > 0; wait--)
                atomic_signal_fence(memory_order_seq_cst);
        }
        gate_await(&shut, 2);
        gate_open(&shut);
        for (int i = 0; i < 2; i++) {
            job_wait(&jobs[i]);
            job_free(&jobs[i]);
        }
        if (random_next(&random) % 4 == 0)
            nap(random_next(&random) % 100000);
    }
    lx_executor_close(executor);
}
END_TEST

START_TEST(idle_time_is_counted)
{
    uint64_t start = lx__clock_now(), first;
    lx_executor *executor = open_executor(1, 1);
    struct job job;
    job_init(&job, 1);
    job_submit(executor, LX_QUEUE_WRITE, &job);
    job_wait(&job);
    eventually((first = stats_of(executor, LX_QUEUE_WRITE).idle_ns) >= 10 * MILLISECOND);
    ck_assert_uint_le(first, lx__clock_now() - start);
    nap(10 * MILLISECOND);
    ck_assert_uint_gt(stats_of(executor, LX_QUEUE_WRITE).idle_ns, first);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).idle_ns, 0);
    job_free(&job);
    lx_executor_close(executor);
}
END_TEST

#if !THREAD_SANITIZED /* a sanitizer deadlocks when a signal interrupts free() */
static atomic_uint alarms;

static void count_alarm(int signal)
{
    (void)signal;
    atomic_fetch_add_explicit(&alarms, 1, memory_order_relaxed);
}

START_TEST(survives_a_storm_of_signals)
{
    struct sigaction action = {.sa_handler = count_alarm};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    uint64_t end = lx__clock_after(SECOND);
    for (int round = 0; round < 200 && lx__clock_now() < end; round++) {
        lx_executor *executor = open_executor(3, 1);
        struct job jobs[8];
        for (int i = 0; i < 8; i++) {
            job_init(&jobs[i], 50);
            job_submit(executor, (lx_queue)(i % 2), &jobs[i]);
        }
        for (int i = 0; i < 8; i++) {
            if (i % 2 == 0)
                lx__executor_help(executor, &jobs[i].task);
            job_wait(&jobs[i]);
            ck_assert_uint_eq(job_count(&jobs[i]), 50);
            job_free(&jobs[i]);
        }
        lx_executor_close(executor);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    ck_assert_uint_gt(atomic_load(&alarms), 0);
}
END_TEST
#endif

#if !ADDRESS_SANITIZED && !THREAD_SANITIZED /* the sanitizer's shadow memory exceeds the limit */
static char warning[512];

static void keep_warning(lx_log_level level, const char *message, void *user)
{
    (void)user;
    ck_assert_int_eq(level, LX_LOG_WARNING);
    snprintf(warning, sizeof warning, "%s", message);
}

static void limit_memory(bool limited)
{
    static struct rlimit before;
    if (!limited) {
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
        return;
    }
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit little = {1 << 20, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &little), 0);
}

START_TEST(reports_a_thread_that_cannot_start)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(4, 1);
    struct gate shut = GATE_SHUT;
    struct job job, more;
    job_init(&job, 1);
    job_init(&more, 3);
    limit_memory(true);
    unit_fails(lx__executor_submit(executor, LX_QUEUE_READ, &job.task, &error), LX_ERR_IO);
    limit_memory(false);
    ck_assert(!job_is_over(&job));

    /* If one thread starts, the others are not needed to complete the work. */
    job.gate = &shut;
    job_submit(executor, LX_QUEUE_READ, &job);
    gate_await(&shut, 1);
    lx_set_log_hook(keep_warning, NULL);
    limit_memory(true);
    unit_ok(lx__executor_submit(executor, LX_QUEUE_READ, &more.task, &error));
    limit_memory(false);
    ck_assert_ptr_nonnull(strstr(warning, "1 of 4 threads"));
    gate_open(&shut);
    job_wait(&job);
    job_wait(&more);
    ck_assert_uint_eq(job_count(&more), 3);
    ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads, 1);
    job_free(&job);
    job_free(&more);
    lx_executor_close(executor);
}
END_TEST
#endif

UNIT_MAIN("executor/worker", starts_threads_on_demand,
#if !ADDRESS_SANITIZED && !THREAD_SANITIZED
          reports_a_thread_that_cannot_start,
#endif
#if !THREAD_SANITIZED
          survives_a_storm_of_signals,
#endif
          threads_have_names_and_block_signals, a_large_task_wakes_all_sleepers,
          no_task_waits_for_a_thread_that_sleeps, idle_time_is_counted)
