/* SPDX-License-Identifier: MIT */
#include "remote/queue/request-queue.h"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>

#include <loaderx/hooks.h>

#include "../../skip-clock.h"
#include "fake-transport.h"
#include "remote/queue/durations.h"

#define PATIENCE ((uint64_t)60 * SECOND)

/* ---- reading */

START_TEST(reads_what_was_asked_for)
{
    struct fake *fake = fake_new(NULL, NULL);
    lx__request_queue *queue = queue_open(fake, 4, PATIENCE);
    struct wanted *wanted = wanted_new(100);
    queue_add(queue, wanted, 100);
    wanted_await(wanted, 100);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(wanted[i].status, LX_OK);
        ck_assert(wanted[i].right);
    }
    ck_assert_uint_eq(queue_counts(queue).requests, 100);
    ck_assert_uint_eq(queue_counts(queue).bytes, 1600);
    ck_assert_uint_eq(queue_counts(queue).retries, 0);
    ck_assert_uint_eq(queue_counts(queue).waiting, 0);
    ck_assert_uint_le(fake->connects, 4);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

/* The attempt at offset 0 waits for a gate. */
static lx_status wait_at_gate(struct fake *fake, uint64_t offset, unsigned number,
                              lx__answer *answer, lx_error *error)
{
    (void)number, (void)answer, (void)error;
    atomic_bool *open = fake->user;
    while (offset == 0 && !atomic_load(open))
        nap(MILLISECOND);
    return LX_OK;
}

START_TEST(urgent_requests_come_first_and_others_as_they_came)
{
    atomic_bool open = false;
    struct fake *fake = fake_new(wait_at_gate, &open);
    lx__request_queue *queue = queue_open(fake, 1, PATIENCE);
    struct wanted *wanted = wanted_new(6);
    finished_count = 0;
    wanted[3].base.urgent = true;
    queue_add(queue, wanted, 1);
    eventually(fake->under_way == 1);
    queue_add(queue, &wanted[1], 5);
    lx__request_queue_hurry(queue, &wanted[5].base);
    lx__request_queue_hurry(queue, &wanted[4].base);
    lx__request_queue_hurry(queue, &wanted[5].base); /* keeps its place */
    ck_assert_uint_eq(queue_counts(queue).waiting, 6);
    atomic_store(&open, true);
    wanted_await(wanted, 6);
    static const unsigned order[] = {0, 3, 5, 4, 1, 2};
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(wanted[order[i]].place, i);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

START_TEST(a_range_that_is_not_needed_is_not_read)
{
    atomic_bool open = false;
    struct fake *fake = fake_new(wait_at_gate, &open);
    lx__request_queue *queue = queue_open(fake, 1, PATIENCE);
    struct wanted *wanted = wanted_new(3);
    queue_add(queue, wanted, 3);
    wanted[1].unneeded = true;
    atomic_store(&open, true);
    wanted_await(wanted, 3);
    ck_assert_int_eq(wanted[1].status, LX_ERR_CANCELED);
    ck_assert_int_eq(wanted[2].status, LX_OK);
    ck_assert_uint_eq(queue_counts(queue).requests, 2);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

/** Counts the threads of this process whose name begins with "lx-fetch-". */
static unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        char path[512], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file != NULL && fgets(name, sizeof name, file) != NULL)
            count += strncmp(name, "lx-fetch-", 9) == 0;
        if (file != NULL)
            fclose(file);
    }
    closedir(tasks);
    return count;
}

START_TEST(threads_start_on_demand)
{
    atomic_bool open = false;
    struct fake *fake = fake_new(wait_at_gate, &open);
    lx__request_queue *queue = queue_open(fake, 8, PATIENCE);
    struct wanted *wanted = wanted_new(20);
    ck_assert_uint_eq(count_threads(), 0);
    queue_add(queue, &wanted[1], 1);
    wanted_await(&wanted[1], 1);
    ck_assert_uint_eq(count_threads(), 1);
    wanted[1].finished = 0;
    for (int i = 0; i < 20; i++)
        wanted[i].base.offset = 0;
    queue_add(queue, wanted, 20);
    eventually(fake->under_way == 8);
    ck_assert_uint_eq(count_threads(), 8);
    atomic_store(&open, true);
    wanted_await(wanted, 20);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

#if !SANITIZED /* the sanitizer's shadow memory exceeds the limit */
START_TEST(a_request_is_not_added_if_no_thread_can_start)
{
    lx_error error = LX_ERROR_INIT;
    struct rlimit before, little = {1 << 20, RLIM_INFINITY};
    lx__request_queue *queue = queue_open(fake_new(NULL, NULL), 4, PATIENCE);
    struct wanted *wanted = wanted_new(2);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &little), 0);
    lx_status status = lx__request_queue_add(queue, &wanted[0].base, &error);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    ck_assert_int_eq(status, LX_ERR_IO);
    ck_assert_str_eq(error.message, "cannot start a thread for requests");
    ck_assert_uint_eq(queue_counts(queue).waiting, 0);
    queue_add(queue, &wanted[1], 1);
    wanted_await(&wanted[1], 1);
    ck_assert_uint_eq(queue_counts(queue).requests, 1);
    lx__request_queue_close(queue);
    ck_assert_uint_eq(wanted[0].finished, 0);
    free(wanted);
}
END_TEST
#endif

/* ---- failures */

static lx_status be_absent(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                           lx_error *error)
{
    (void)fake, (void)offset, (void)number, (void)answer;
    return lx_fail(error, LX_ERR_NOT_FOUND, "no such object");
}

START_TEST(a_failure_for_good_is_not_repeated)
{
    lx__request_queue *queue = queue_open(fake_new(be_absent, NULL), 2, PATIENCE);
    struct wanted *wanted = wanted_new(1);
    queue_add(queue, wanted, 1);
    wanted_await(wanted, 1);
    ck_assert_int_eq(wanted->status, LX_ERR_NOT_FOUND);
    ck_assert_str_eq(wanted->message, "no such object");
    ck_assert_uint_eq(queue_counts(queue).requests, 1);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

static atomic_int attempt_tid; /* of the thread that made the last attempt */

static lx_status be_away(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                         lx_error *error)
{
    (void)fake, (void)offset, (void)number;
    atomic_store(&attempt_tid, gettid());
    return fake_refuse(answer, error);
}

START_TEST(tries_until_the_patience_is_over)
{
    struct fake *fake = fake_new(be_away, NULL);
    lx__request_queue *queue = queue_open(fake, 1, SECOND);
    struct wanted *wanted = wanted_new(1);
    clock_stop();
    uint64_t start = lx__clock_now();
    queue_add(queue, wanted, 1);
    eventually(atomic_load(&attempt_tid) != 0);
    for (; atomic_load(&wanted->finished) == 0; nap(MILLISECOND))
        if (thread_sleeps(atomic_load(&attempt_tid))) /* time passes only between attempts */
            clock_skip(10 * MILLISECOND);
    uint64_t took = wanted->when - start;
    ck_assert_int_eq(wanted->status, LX_ERR_IO);
    ck_assert_uint_ge(took, SECOND);
    unsigned attempts = (unsigned)queue_counts(queue).requests;
    ck_assert_uint_ge(attempts, 2);
    ck_assert_uint_le(attempts, 40);
    ck_assert_uint_eq(queue_counts(queue).retries, attempts - 1);
    ck_assert_uint_eq(fake->connects, attempts); /* each on a new connection */
    char expected[80];
    snprintf(expected, sizeof expected, "connection refused; tried %u times in ", attempts);
    ck_assert_msg(strncmp(wanted->message, expected, strlen(expected)) == 0, "%s", wanted->message);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

START_TEST(without_patience_tries_once)
{
    lx__request_queue *queue = queue_open(fake_new(be_away, NULL), 2, 0);
    struct wanted *wanted = wanted_new(1);
    queue_add(queue, wanted, 1);
    wanted_await(wanted, 1);
    ck_assert_int_eq(wanted->status, LX_ERR_IO);
    ck_assert_str_eq(wanted->message, "connection refused");
    ck_assert_uint_eq(queue_counts(queue).requests, 1);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

/* The first attempt fails; fake->user is the time after which the server wants the next. */
static lx_status ask_to_wait(struct fake *fake, uint64_t offset, unsigned number,
                             lx__answer *answer, lx_error *error)
{
    (void)offset;
    if (number != 0)
        return LX_OK;
    answer->retry_after_ns = *(uint64_t *)fake->user;
    return fake_refuse(answer, error);
}

START_TEST(waits_as_long_as_the_server_asks)
{
    uint64_t wait = 400 * MILLISECOND;
    struct wanted *wanted = wanted_new(1);
    lx__request_queue *queue = queue_open(fake_new(ask_to_wait, &wait), 2, PATIENCE);
    uint64_t start = lx__clock_now();
    queue_add(queue, wanted, 1);
    wanted_await(wanted, 1);
    ck_assert_int_eq(wanted->status, LX_OK);
    ck_assert_uint_ge(wanted->when - start, wait);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

START_TEST(gives_up_at_once_if_the_server_asks_for_more_than_the_patience)
{
    uint64_t wait = UINT64_MAX;
    struct wanted *wanted = wanted_new(1);
    lx__request_queue *queue = queue_open(fake_new(ask_to_wait, &wait), 2, PATIENCE);
    queue_add(queue, wanted, 1);
    wanted_await(wanted, 1);
    ck_assert_int_eq(wanted->status, LX_ERR_IO);
    ck_assert_uint_eq(queue_counts(queue).requests, 1);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

static _Atomic uint64_t last_offset; /* of an attempt */

/* Fails until fake->user is set. */
static lx_status be_away_for_a_while(struct fake *fake, uint64_t offset, unsigned number,
                                     lx__answer *answer, lx_error *error)
{
    (void)number;
    atomic_store(&last_offset, offset);
    return atomic_load((atomic_bool *)fake->user) ? LX_OK : fake_refuse(answer, error);
}

START_TEST(an_outage_is_tried_with_a_few_requests_and_urgent_ones)
{
    atomic_bool back = false;
    struct fake *fake = fake_new(be_away_for_a_while, &back);
    lx__request_queue *queue = queue_open(fake, 4, PATIENCE);
    struct wanted *wanted = wanted_new(2001);
    queue_add(queue, wanted, 2000);
    nap(500 * MILLISECOND);
    ck_assert_uint_le(fake->attempts, 400);
    wanted[2000].base.urgent = true;
    queue_add(queue, &wanted[2000], 1);
    eventually(atomic_load(&last_offset) == 2000 * 16);
    atomic_store(&back, true);
    wanted_await(wanted, 2001);
    for (int i = 0; i < 2001; i++)
        ck_assert_int_eq(wanted[i].status, LX_OK);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

static char logged[4][600];
static atomic_uint logged_count;

static void keep_log(lx_log_level level, const char *message, void *user)
{
    (void)level, (void)user;
    unsigned at = atomic_load(&logged_count);
    snprintf(logged[at % 4], sizeof logged[0], "%s", message);
    atomic_fetch_add(&logged_count, 1);
}

/** Lets time pass twenty times as fast. */
static void pass_time_until_logged(unsigned count)
{
    for (; atomic_load(&logged_count) < count; nap(5 * MILLISECOND))
        clock_skip(100 * MILLISECOND);
}

START_TEST(a_long_outage_is_logged)
{
    atomic_bool back = false;
    struct fake *fake = fake_new(be_away_for_a_while, &back);
    lx__request_queue *queue = queue_open(fake, 16, 60 * PATIENCE);
    struct wanted *wanted = wanted_new(16);
    lx_set_log_hook(keep_log, NULL);
    uint64_t start = lx__clock_now();
    queue_add(queue, wanted, 16);
    pass_time_until_logged(1);
    ck_assert_uint_ge(lx__clock_now() - start, 10 * (uint64_t)SECOND);
    ck_assert_msg(strstr(logged[0], "all requests to fake://bucket/set have failed for ") &&
                      strstr(logged[0], "connection refused"),
                  "%s", logged[0]);
    atomic_store(&back, true);
    pass_time_until_logged(2);
    ck_assert_msg(strstr(logged[1], "fake://bucket/set answers again"), "%s", logged[1]);
    clock_stop(); /* no request waits for the end of its pause of up to 20 s */
    wanted_await(wanted, 16);
    lx__request_queue_close(queue);
    lx_set_log_hook(NULL, NULL);
    free(wanted);
}
END_TEST

/* ---- a server with a limit */

#define LIMITED 180 /* requests */

/** 60 requests a second, of which it has saved up at most 6; each answer takes 20 ms. */
struct limited {
    pthread_mutex_t lock;
    double saved;
    uint64_t then;
};

static lx_status be_limited(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                            lx_error *error)
{
    (void)offset, (void)number;
    struct limited *limited = fake->user;
    pthread_mutex_lock(&limited->lock);
    uint64_t now = lx__clock_now();
    limited->saved += (double)(now - limited->then) * 60 / SECOND;
    limited->saved = limited->saved < 6 ? limited->saved : 6;
    limited->then = now;
    bool served = limited->saved >= 1;
    limited->saved -= served;
    pthread_mutex_unlock(&limited->lock);
    fake_sleep(fake, 20 * MILLISECOND);
    if (served)
        return LX_OK;
    answer->retry = LX__RETRY_SLOWER;
    return lx_fail(error, LX_ERR_IO, "slow down");
}

START_TEST(finds_the_rate_that_the_server_allows)
{
    struct limited limited = {PTHREAD_MUTEX_INITIALIZER, 6, lx__clock_now()};
    struct fake *fake = fake_new(be_limited, &limited);
    lx__request_queue *queue = queue_open(fake, 16, PATIENCE);
    struct wanted *wanted = wanted_new(LIMITED);
    uint64_t start = lx__clock_now();
    queue_add(queue, wanted, LIMITED);
    wanted_await(wanted, LIMITED);
    double seconds = (double)(lx__clock_now() - start) / SECOND;
    lx__request_counts counts = queue_counts(queue);
    printf("# %.1f requests/s of 60, %.3f attempts for each\n", LIMITED / seconds,
           (double)counts.requests / LIMITED);
    /* It would be a dozen attempts for each without a pace. A busy machine may be slower than the
     * server; test-pace tests how near the pace is, without a clock. */
    ck_assert_uint_le(counts.requests, 2 * LIMITED);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

/* ---- stragglers */

/* The first attempt hangs until fake->user is set, also if it is interrupted. */
static lx_status hang_first(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                            lx_error *error)
{
    (void)offset, (void)answer, (void)error;
    while (number == 0 && !atomic_load((atomic_bool *)fake->user))
        nap(MILLISECOND);
    return LX_OK;
}

START_TEST(an_urgent_straggler_is_read_again)
{
    atomic_bool gone = false, released = false;
    struct fake *fake = fake_new(hang_first, &released);
    fake->is_gone = &gone;
    lx__request_queue *queue = queue_open(fake, 4, PATIENCE);
    struct wanted *wanted = wanted_new(1);
    queue_add(queue, wanted, 1);
    eventually(fake->under_way == 1);
    clock_skip(2 * LX__STRAGGLES_AFTER);
    nap(50 * MILLISECOND);
    ck_assert_uint_eq(fake->attempts, 1); /* nobody waits for it yet */
    lx__request_queue_hurry(queue, &wanted->base);
    wanted_await(wanted, 1);
    ck_assert(wanted->right);
    ck_assert_uint_eq(queue_counts(queue).retries, 1);
    lx__request_queue_close(queue); /* does not wait for the other attempt */
    ck_assert_uint_eq(wanted->finished, 1);
    wanted->base.name = "no longer needed";
    ck_assert(!atomic_load(&gone));
    atomic_store(&released, true);
    eventually(atomic_load(&gone));
    ck_assert_uint_eq(wanted->finished, 1);
    free(wanted);
}
END_TEST

/* The first attempt fails when the second has begun, which succeeds when the first has failed. */
static lx_status fail_slowly(struct fake *fake, uint64_t offset, unsigned number,
                             lx__answer *answer, lx_error *error)
{
    (void)offset;
    while (number == 0 ? fake->under_way == 1 : fake->under_way == 2)
        nap(MILLISECOND);
    fake_sleep(fake, 20 * MILLISECOND); /* the queue learns of it */
    return number == 0 ? fake_refuse(answer, error) : LX_OK;
}

START_TEST(a_straggler_that_fails_leaves_the_second_attempt_alone)
{
    struct fake *fake = fake_new(fail_slowly, NULL);
    lx__request_queue *queue = queue_open(fake, 4, PATIENCE);
    struct wanted *wanted = wanted_new(1);
    wanted->base.urgent = true;
    queue_add(queue, wanted, 1);
    eventually(atomic_load(&fake->attempts) == 1);
    clock_skip(2 * LX__STRAGGLES_AFTER);
    wanted_await(wanted, 1);
    ck_assert_int_eq(wanted->status, LX_OK);
    ck_assert_uint_eq(queue_counts(queue).requests, 2);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

/* ---- many */

/* Every 32nd attempt fails, and every 32nd takes a while. */
static lx_status be_moody(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                          lx_error *error)
{
    (void)offset;
    if (number % 32 == 0)
        fake_sleep(fake, MILLISECOND);
    return number % 32 != 7 ? LX_OK : fake_refuse(answer, error);
}

START_TEST(every_request_finishes_once)
{
    enum { COUNT = 10000 };
    lx__request_queue *queue = queue_open(fake_new(be_moody, NULL), 16, PATIENCE);
    struct wanted *wanted = wanted_new(COUNT);
    uint64_t random = 1;
    for (int i = 0; i < COUNT; i++) {
        wanted[i].base.urgent = random_next(&random) % 4 == 0;
        wanted[i].unneeded = random_next(&random) % 16 == 0;
        queue_add(queue, &wanted[i], 1);
    }
    wanted_await(wanted, COUNT);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(wanted[i].status, wanted[i].unneeded ? LX_ERR_CANCELED : LX_OK);
        ck_assert_uint_eq(wanted[i].finished, 1);
        ck_assert(wanted[i].unneeded || wanted[i].right);
    }
    ck_assert_uint_eq(queue_counts(queue).waiting, 0);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

START_TEST(ten_thousand_requests_take_little_processor_time)
{
    enum { COUNT = 10000 };
    lx__request_queue *queue = queue_open(fake_new(NULL, NULL), 16, PATIENCE);
    struct wanted *wanted = wanted_new(COUNT);
    clock_t start = clock();
    queue_add(queue, wanted, COUNT);
    wanted_await(wanted, COUNT);
    double took = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("# %.2f us a request\n", took / COUNT * 1e6);
    ck_assert_msg(took <= 2 * SLOWER, "%.2f s", took);
    lx__request_queue_close(queue);
    free(wanted);
}
END_TEST

UNIT_MAIN("remote/queue/request-queue", reads_what_was_asked_for,
          urgent_requests_come_first_and_others_as_they_came,
          a_range_that_is_not_needed_is_not_read, threads_start_on_demand,
#if !SANITIZED
          a_request_is_not_added_if_no_thread_can_start,
#endif
          a_failure_for_good_is_not_repeated, tries_until_the_patience_is_over,
          without_patience_tries_once, waits_as_long_as_the_server_asks,
          gives_up_at_once_if_the_server_asks_for_more_than_the_patience,
          an_outage_is_tried_with_a_few_requests_and_urgent_ones, a_long_outage_is_logged,
          finds_the_rate_that_the_server_allows, an_urgent_straggler_is_read_again,
          a_straggler_that_fails_leaves_the_second_attempt_alone, every_request_finishes_once,
          ten_thousand_requests_take_little_processor_time)
