/* SPDX-License-Identifier: MIT */
#include <loaderx/prefetch.h>

#include "../scarce.h"
#include "workload.h"

/** A producer of the numbers 0, 1, ... in memory of its own. */
struct counter {
    uint64_t next, end;
    uint64_t failing; /* the number before which it fails once; UINT64_MAX: never */
    uint64_t pauses;  /* state of random naps; 0: none */
    struct gate *gate;
    atomic_uint produced; /* how often it was called */
    unsigned made, freed; /* items */
    atomic_bool inside;
};

static void pause_at_random(uint64_t *state)
{
    if (*state != 0 && random_next(state) % 4 == 0)
        nap(random_next(state) % 50000);
}

static lx_status produce(void **item, void *user, lx_error *error)
{
    struct counter *c = user;
    ck_assert(!atomic_exchange(&c->inside, true));
    atomic_fetch_add(&c->produced, 1);
    if (c->gate != NULL)
        gate_pass(c->gate);
    pause_at_random(&c->pauses);
    lx_status status = LX_OK;
    if (c->next == c->failing) {
        c->failing = UINT64_MAX;
        status = lx_fail(error, LX_ERR_CORRUPT, "number %d is bad", (int)c->next);
    } else if (c->next == c->end) {
        status = LX_END;
    } else {
        if (*item == NULL) {
            *item = malloc(sizeof(uint64_t));
            c->made++;
        }
        *(uint64_t *)*item = c->next++;
    }
    ck_assert(atomic_exchange(&c->inside, false));
    return status;
}

static void free_number(void *item, void *user)
{
    struct counter *c = user;
    c->freed++;
    free(item);
}

static lx_prefetcher *open_counter(lx_executor *executor, size_t depth, struct counter *c)
{
    lx_error error = LX_ERROR_INIT;
    lx_prefetcher *p;
    unit_ok(lx_prefetcher_open(executor, depth, produce, free_number, c, &p, &error));
    return p;
}

static void take(lx_prefetcher *p, uint64_t expected)
{
    lx_error error = LX_ERROR_INIT;
    void *item;
    unit_ok(lx_prefetcher_next(p, &item, &error));
    ck_assert_uint_eq(*(uint64_t *)item, expected);
}

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_prefetcher *p = (lx_prefetcher *)&error;
    struct counter c = {.end = 1, .failing = UINT64_MAX};
    void *item = &c;
    unit_refuses_null(lx_prefetcher_open(NULL, 1, NULL, NULL, NULL, &p, &error), "produce");
    ck_assert_ptr_null(p);
    unit_refuses_null(lx_prefetcher_open(NULL, 1, produce, NULL, NULL, NULL, &error), "prefetcher");
    unit_fails(lx_prefetcher_open(NULL, 0, produce, NULL, NULL, &p, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_prefetcher_open(NULL, SIZE_MAX, produce, NULL, NULL, &p, &error), LX_ERR_NOMEM);
    unit_fails(lx_prefetcher_open(NULL, SIZE_MAX / sizeof(void *), produce, NULL, NULL, &p, &error),
               LX_ERR_NOMEM);
    unit_refuses_null(lx_prefetcher_next(NULL, &item, &error), "prefetcher");
    ck_assert_ptr_null(item);
    p = open_counter(NULL, 1, &c);
    unit_refuses_null(lx_prefetcher_next(p, NULL, &error), "item");
    lx_prefetcher_close(p);
    lx_prefetcher_close(NULL);
}
END_TEST

START_TEST(is_at_most_its_depth_ahead_and_reuses_memory)
{
    for (size_t depth = 1; depth <= 4; depth++) {
        lx_error error = LX_ERROR_INIT;
        void *item;
        struct counter c = {.end = 100, .failing = UINT64_MAX};
        lx_prefetcher *p = open_counter(NULL, depth, &c);
        for (uint64_t i = 0; i < 100; i++) {
            uint64_t most = i + depth <= 100 ? i + depth : 101; /* the last call finds the end */
            eventually(atomic_load(&c.produced) == most);
            nap(MILLISECOND / 10);
            ck_assert_uint_eq(atomic_load(&c.produced), most);
            take(p, i);
        }
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(lx_prefetcher_next(p, &item, &error), LX_END);
            ck_assert_ptr_null(item);
            ck_assert_int_eq(error.status, LX_OK);
        }
        ck_assert_uint_eq(c.produced, 101);
        lx_prefetcher_close(p);
        ck_assert_uint_eq(c.made, depth + 1);
        ck_assert_uint_eq(c.freed, depth + 1);
    }
}
END_TEST

START_TEST(an_item_stays_until_the_next_call)
{
    lx_error error = LX_ERROR_INIT;
    void *item;
    struct counter c = {.end = 9, .failing = UINT64_MAX};
    lx_prefetcher *p = open_counter(NULL, 2, &c);
    for (uint64_t i = 0; i < 9; i++) {
        unit_ok(lx_prefetcher_next(p, &item, &error));
        nap(MILLISECOND);
        ck_assert_uint_eq(*(uint64_t *)item, i);
    }
    lx_prefetcher_close(p);
}
END_TEST

START_TEST(a_failure_follows_the_items_before_it_and_the_producer_continues)
{
    lx_error error = LX_ERROR_INIT;
    void *item = &error;
    struct counter c = {.end = 6, .failing = 3};
    lx_prefetcher *p = open_counter(NULL, 4, &c);
    eventually(atomic_load(&c.produced) == 4);
    nap(MILLISECOND); /* the producer pauses */
    ck_assert_uint_eq(atomic_load(&c.produced), 4);
    for (uint64_t i = 0; i < 3; i++)
        take(p, i);
    ck_assert_int_eq(lx_prefetcher_next(p, &item, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.message, "number 3 is bad");
    ck_assert_ptr_null(item);
    nap(MILLISECOND);
    ck_assert_uint_eq(atomic_load(&c.produced), 4);
    for (uint64_t i = 3; i < 6; i++)
        take(p, i);
    ck_assert_int_eq(lx_prefetcher_next(p, &item, NULL), LX_END);
    lx_prefetcher_close(p);
}
END_TEST

static lx_status return_user(void **item, void *user, lx_error *error)
{
    (void)item;
    lx_status status = *(lx_status *)user;
    if (status == LX_ERR_RANGE) /* describes its failure with another status */
        lx_fail(error, LX_ERR_IO, "odd");
    return status;
}

START_TEST(failures_are_those_of_the_producer)
{
    static const lx_status returned[] = {LX_ERR_NOMEM, (lx_status)7, LX_ERR_RANGE};
    static const lx_status expected[] = {LX_ERR_NOMEM, LX_ERR_CALLBACK, LX_ERR_RANGE};
    for (int i = 0; i < 3; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = returned[i];
        lx_prefetcher *p;
        void *item;
        unit_ok(lx_prefetcher_open(NULL, 2, return_user, NULL, &status, &p, &error));
        unit_fails(lx_prefetcher_next(p, &item, &error), expected[i]);
        unit_fails(lx_prefetcher_next(p, &item, &error), expected[i]);
        lx_prefetcher_close(p);
    }
}
END_TEST

/** A state for pause_at_random(): in half of all cases, one that never pauses. */
static uint64_t random_pauses(uint64_t *state)
{
    uint64_t pauses = random_next(state);
    return pauses % 2 != 0 ? pauses : 0;
}

/** Takes @p count items, and the failure if it comes before them. */
static void consume(lx_prefetcher *p, uint64_t count, uint64_t failing, uint64_t pauses)
{
    for (uint64_t i = 0; i < count; i++) {
        void *item;
        if (i == failing)
            ck_assert_int_eq(lx_prefetcher_next(p, &item, NULL), LX_ERR_CORRUPT);
        take(p, i);
        pause_at_random(&pauses);
    }
}

START_TEST(random_histories)
{
    uint64_t state = 20261126;
    lx_executor *executors[] = {NULL, open_executor(0, 1), open_executor(1, 1),
                                open_executor(3, 1)};
    for (int round = 0; round < 1000; round++) {
        uint64_t end = random_next(&state) % 20, taken = random_next(&state) % (end + 1);
        struct counter c = {
            .end = end, .failing = random_next(&state) % 40, .pauses = random_pauses(&state)};
        uint64_t failing = c.failing, pauses = random_pauses(&state);
        lx_prefetcher *p = open_counter(executors[round % 4], 1 + random_next(&state) % 5, &c);
        consume(p, taken, failing, pauses);
        if (taken == end && failing != end) {
            void *item;
            ck_assert_int_eq(lx_prefetcher_next(p, &item, NULL), LX_END);
        }
        lx_prefetcher_close(p);
        ck_assert_uint_eq(c.made, c.freed);
        ck_assert_uint_ge(c.next, taken);
    }
    for (int i = 0; i < 4; i++)
        lx_executor_close(executors[i]);
}
END_TEST

START_TEST(prefetchers_share_the_readers_of_an_executor)
{
    enum { COUNT = 8 };
    lx_executor *executor = open_executor(2, 1);
    struct counter counters[COUNT];
    lx_prefetcher *prefetchers[COUNT];
    for (int k = 0; k < COUNT; k++) {
        counters[k] = (struct counter){.end = 200, .failing = UINT64_MAX};
        prefetchers[k] = open_counter(executor, 3, &counters[k]);
    }
    for (uint64_t i = 0; i < 200; i++)
        for (int k = 0; k < COUNT; k++)
            take(prefetchers[k], i);
    for (int k = 0; k < COUNT; k++)
        lx_prefetcher_close(prefetchers[k]);
    ck_assert_uint_le(stats_of(executor, LX_QUEUE_READ).threads, 2);
    lx_executor_close(executor);
}
END_TEST

static lx_status consume_inside(size_t part, void *user, lx_error *error)
{
    (void)part, (void)error;
    struct counter c = {.end = 10, .failing = 5};
    lx_prefetcher *p = open_counter(user, 2, &c);
    consume(p, 10, 5, 0);
    lx_prefetcher_close(p);
    return LX_OK;
}

START_TEST(a_task_can_consume_what_its_own_executor_produces)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(1, 1);
    lx_ticket *ticket;
    unit_ok(
        lx_executor_submit(executor, LX_QUEUE_READ, consume_inside, executor, 3, &ticket, &error));
    unit_ok(lx_ticket_wait(ticket, &error));
    lx_ticket_unref(ticket);
    lx_executor_close(executor);
}
END_TEST

static void *close_executor(void *user)
{
    lx_executor_close(user);
    return NULL;
}

START_TEST(close_of_the_executor_ends_the_wait)
{
    lx_error error = LX_ERROR_INIT;
    void *item;
    lx_executor *executor = open_executor(1, 1);
    struct gate shut = GATE_SHUT;
    struct counter c = {.end = 10, .failing = UINT64_MAX, .gate = &shut};
    lx_prefetcher *p = open_counter(executor, 2, &c);
    pthread_t thread;
    gate_await(&shut, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, close_executor, lx_executor_ref(executor)), 0);
    gate_open(&shut);
    pthread_join(thread, NULL);
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK; i++) {
        status = lx_prefetcher_next(p, &item, &error);
        ck_assert(status != LX_OK || *(uint64_t *)item == i);
    }
    ck_assert_int_eq(status, LX_ERR_STATE);
    ck_assert_msg(strstr(error.message, "closed") != NULL, "%s", error.message);
    lx_prefetcher_close(p);
    lx_error_clear(&error);
    unit_fails(lx_prefetcher_open(executor, 2, produce, NULL, &c, &p, &error), LX_ERR_STATE);
    lx_executor_unref(executor);
}
END_TEST

/** A thread that closes a prefetcher, which waits for the producer at the gate. */
struct closer {
    pid_t tid;
    atomic_bool closes;
    struct gate *gate;
};

static void *open_once_it_waits(void *user)
{
    struct closer *closer = user;
    eventually(atomic_load(&closer->closes) && thread_sleeps(closer->tid));
    gate_open(closer->gate);
    return NULL;
}

START_TEST(close_waits_for_the_producer)
{
    for (int own = 0; own < 2; own++) {
        lx_executor *executor = own ? NULL : open_executor(2, 1);
        struct gate shut = GATE_SHUT;
        struct counter c = {.end = 10, .failing = UINT64_MAX, .gate = &shut};
        lx_prefetcher *p = open_counter(executor, 2, &c);
        pthread_t thread;
        struct closer closer = {gettid(), false, &shut};
        gate_await(&shut, 1);
        ck_assert_int_eq(pthread_create(&thread, NULL, open_once_it_waits, &closer), 0);
        atomic_store(&closer.closes, true);
        lx_prefetcher_close(p);
        ck_assert_uint_eq(c.produced, 1);
        ck_assert_uint_eq(c.made, 1);
        ck_assert_uint_eq(c.freed, 1);
        pthread_join(thread, NULL);
        lx_executor_close(executor);
    }
}
END_TEST

START_TEST(the_producer_stops_while_it_is_queued)
{
    lx_executor *executor = open_executor(1, 1);
    struct gate shut = GATE_SHUT;
    struct job job;
    job_init(&job, 1);
    job.gate = &shut;
    job_submit(executor, LX_QUEUE_READ, &job);
    struct counter c = {.end = 10, .failing = UINT64_MAX};
    lx_prefetcher *p = open_counter(executor, 2, &c);
    lx_prefetcher_close(p); /* does not wait for the job */
    ck_assert_uint_eq(c.produced, 0);
    gate_open(&shut);
    job_wait(&job);
    lx_executor_close(executor);
    job_free(&job);
}
END_TEST

START_TEST(a_child_gets_an_error)
{
    struct gate shut = GATE_SHUT;
    struct counter c = {.end = 10, .failing = UINT64_MAX, .gate = &shut};
    lx_prefetcher *p = open_counter(NULL, 2, &c);
    gate_await(&shut, 1);
    if (unit_in_child()) {
        void *item = &c;
        lx_error error = LX_ERROR_INIT;
        lx_status status = lx_prefetcher_next(p, &item, &error);
        lx_prefetcher_close(p);
        _exit(status == LX_ERR_FORKED && item == NULL && strstr(error.message, "prefetcher") != NULL
                  ? 0
                  : 1);
    }
    gate_open(&shut);
    for (uint64_t i = 0; i < 10; i++)
        take(p, i);
    lx_prefetcher_close(p);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    for (int left = 0;; left++) {
        lx_error error = LX_ERROR_INIT;
        struct counter c = {.end = 3, .failing = UINT64_MAX};
        lx_prefetcher *p = (lx_prefetcher *)&error;
        scarce_begin(left);
        lx_status status = lx_prefetcher_open(NULL, 2, produce, free_number, &c, &p, &error);
        scarce_left = 1000;
        if (status == LX_OK) {
            ck_assert_int_eq(left, 2);
            take(p, 0);
            lx_prefetcher_close(p);
            break;
        }
        ck_assert_int_eq(status, LX_ERR_NOMEM);
        ck_assert_ptr_null(p);
    }
}
END_TEST

UNIT_MAIN("executor/prefetcher", rejects_invalid_arguments,
          is_at_most_its_depth_ahead_and_reuses_memory, an_item_stays_until_the_next_call,
          a_failure_follows_the_items_before_it_and_the_producer_continues,
          failures_are_those_of_the_producer, random_histories,
          prefetchers_share_the_readers_of_an_executor,
          a_task_can_consume_what_its_own_executor_produces, close_of_the_executor_ends_the_wait,
          close_waits_for_the_producer, the_producer_stops_while_it_is_queued,
          a_child_gets_an_error, reports_failed_allocations)
