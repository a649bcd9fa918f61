/* SPDX-License-Identifier: MIT */
#include <loaderx/executor.h>

#include "../scarce.h"
#include "base/error.h"
#include "workload.h"

static lx_status count(size_t part, void *user, lx_error *error)
{
    (void)part;
    ck_assert_int_eq(error->status, LX_OK);
    ck_assert_str_eq(error->message, "");
    atomic_fetch_add_explicit((atomic_uint *)user, 1, memory_order_relaxed);
    return LX_OK;
}

static lx_ticket *submit(lx_executor *executor, lx_task_function function, void *user, size_t parts)
{
    lx_error error = LX_ERROR_INIT;
    lx_ticket *ticket;
    unit_ok(lx_executor_submit(executor, LX_QUEUE_READ, function, user, parts, &ticket, &error));
    ck_assert_ptr_nonnull(ticket);
    return ticket;
}

START_TEST(a_wait_ends_after_all_parts)
{
    lx_error error = LX_ERROR_INIT;
    for (uint32_t readers = 0; readers < 4; readers++) {
        lx_executor *executor = open_executor(readers, 1);
        for (size_t parts = 1; parts < 2000; parts = parts * 3 + 1) {
            atomic_uint ran = 0;
            lx_ticket *ticket = submit(executor, count, &ran, parts);
            unit_ok(lx_ticket_wait(ticket, &error));
            ck_assert_uint_eq(atomic_load(&ran), parts);
            unit_ok(lx_ticket_wait(ticket, &error));
            unit_ok(lx_ticket_wait_timed(ticket, 0, &error));
            lx_ticket_cancel(ticket); /* too late to have an effect */
            unit_ok(lx_ticket_wait(ticket, NULL));
            lx_ticket_unref(ticket);
        }
        ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).threads > 0, readers > 0);
        lx_executor_close(executor);
    }
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(1, 1);
    lx_ticket *ticket = (lx_ticket *)&error;
    unit_fails(lx_executor_submit(executor, LX_QUEUE_READ, count, NULL, 0, &ticket, &error),
               LX_ERR_ARGUMENT);
    ck_assert_ptr_null(ticket);
    unit_fails(lx_executor_submit(executor, LX_QUEUE_READ, count, NULL, SIZE_MAX, &ticket, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_executor_submit(executor, (lx_queue)7, count, NULL, 1, &ticket, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_executor_submit(executor, LX_QUEUE_READ, NULL, NULL, 1, &ticket, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_executor_submit(NULL, LX_QUEUE_READ, count, NULL, 1, &ticket, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_executor_submit(executor, LX_QUEUE_READ, count, NULL, 1, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_ticket_wait(NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_ticket_wait_timed(NULL, 1, &error), LX_ERR_ARGUMENT);
    lx_ticket_cancel(NULL);
    lx_ticket_unref(NULL);
    lx_executor_close(executor);
}
END_TEST

/** Parts from @ref first on fail, later parts sooner. */
struct failing {
    size_t first;
    atomic_uint ran;
};

static lx_status fail_from(size_t part, void *user, lx_error *error)
{
    struct failing *failing = user;
    atomic_fetch_add(&failing->ran, 1);
    if (part < failing->first)
        return LX_OK;
    if (part == failing->first)
        nap(MILLISECOND);
    lx_fail(error, LX_ERR_CORRUPT, "part %zu is bad", part);
    lx_error_locate(error, "here", "field", part, 7);
    return LX_ERR_CORRUPT;
}

START_TEST(reports_the_lowest_failure_for_any_threads)
{
    lx_error error = LX_ERROR_INIT;
    for (uint32_t readers = 0; readers < 9; readers += 2) {
        lx_executor *executor = open_executor(readers, 1);
        for (size_t first = 0; first < 100; first += 9) {
            struct failing failing = {first, 0};
            char expected[64];
            snprintf(expected, sizeof expected, "part %zu is bad", first);
            lx_ticket *ticket = submit(executor, fail_from, &failing, 1000);
            for (int i = 0; i < 2; i++) {
                lx_error_clear(&error);
                ck_assert_int_eq(lx_ticket_wait(ticket, &error), LX_ERR_CORRUPT);
                ck_assert_str_eq(error.message, expected);
                ck_assert_uint_eq(error.record, first);
                ck_assert_str_eq(error.path, "here");
            }
            ck_assert_uint_ge(atomic_load(&failing.ran), first + 1);
            ck_assert_uint_lt(atomic_load(&failing.ran), 1000); /* the remaining parts did not
                                                                 * begin */
            lx_fail(&error, LX_ERR_NOMEM, "the first is kept");
            ck_assert_int_eq(lx_ticket_wait(ticket, &error), LX_ERR_CORRUPT);
            ck_assert_str_eq(error.message, expected);
            lx_ticket_unref(ticket);
        }
        ck_assert_uint_eq(stats_of(executor, LX_QUEUE_READ).canceled, 0);
        lx_executor_close(executor);
    }
}
END_TEST

static lx_status fail_silently(size_t part, void *user, lx_error *error)
{
    (void)error;
    return part == 3 ? *(lx_status *)user : LX_OK;
}

START_TEST(a_failure_without_message_gets_one)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(2, 1);
    lx_status status = LX_ERR_CALLBACK;
    lx_ticket *ticket = submit(executor, fail_silently, &status, 4);
    ck_assert_int_eq(lx_ticket_wait(ticket, &error), LX_ERR_CALLBACK);
    ck_assert_int_eq(error.status, LX_ERR_CALLBACK);
    ck_assert_str_eq(error.message, "part 3 of the task failed: a callback failed");
    lx_ticket_unref(ticket);

    status = LX_END; /* done, not failed */
    lx_error_clear(&error);
    ticket = submit(executor, fail_silently, &status, 4);
    unit_ok(lx_ticket_wait(ticket, &error));
    lx_ticket_unref(ticket);
    lx_executor_close(executor);
}
END_TEST

static lx_status say_one_return_other(size_t part, void *user, lx_error *error)
{
    (void)user, (void)part;
    lx_fail(error, LX_ERR_RANGE, "words");
    return LX_ERR_MISMATCH;
}

START_TEST(returns_the_status_of_the_task)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    lx_ticket *ticket = submit(executor, say_one_return_other, NULL, 1);
    ck_assert_int_eq(lx_ticket_wait(ticket, &error), LX_ERR_MISMATCH);
    ck_assert_int_eq(error.status, LX_ERR_MISMATCH);
    ck_assert_str_eq(error.message, "words");
    lx_ticket_unref(ticket);
    lx_executor_close(executor);
}
END_TEST

static lx_status pass_gate(size_t part, void *user, lx_error *error)
{
    (void)part, (void)error;
    gate_pass(user);
    return LX_OK;
}

START_TEST(a_timed_wait_ends_and_leaves_the_error)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(1, 1);
    struct gate shut = GATE_SHUT;
    lx_ticket *ticket = submit(executor, pass_gate, &shut, 1);
    ck_assert_int_eq(lx_ticket_wait_timed(ticket, 0, &error), LX_ERR_TIMEOUT);
    uint64_t before = lx__clock_now();
    ck_assert_int_eq(lx_ticket_wait_timed(ticket, 20 * MILLISECOND, &error), LX_ERR_TIMEOUT);
    ck_assert_uint_ge(lx__clock_now() - before, 20 * MILLISECOND);
    ck_assert_int_eq(error.status, LX_OK);
    gate_open(&shut);
    unit_ok(lx_ticket_wait_timed(ticket, UINT64_MAX, &error));
    lx_ticket_unref(ticket);
    lx_executor_close(executor);
}
END_TEST

static lx_status nap_part(size_t part, void *user, lx_error *error)
{
    (void)part, (void)error;
    nap(2 * MILLISECOND);
    atomic_fetch_add((atomic_uint *)user, 1);
    return LX_OK;
}

START_TEST(a_timed_wait_without_readers_makes_progress)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    atomic_uint ran = 0;
    lx_ticket *ticket = submit(executor, nap_part, &ran, 5);
    ck_assert_int_eq(lx_ticket_wait_timed(ticket, 0, &error), LX_ERR_TIMEOUT);
    ck_assert_uint_eq(atomic_load(&ran), 1);
    unsigned waits = 1;
    while (lx_ticket_wait_timed(ticket, 3 * MILLISECOND, &error) == LX_ERR_TIMEOUT)
        waits++;
    ck_assert_uint_eq(atomic_load(&ran), 5);
    ck_assert_uint_le(waits, 5);
    ck_assert_int_eq(error.status, LX_OK);
    lx_ticket_unref(ticket);
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_canceled_task_reports_it)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(1, 1);
    struct gate shut = GATE_SHUT;
    atomic_uint ran = 0;
    lx_ticket *running = submit(executor, pass_gate, &shut, 3);
    lx_ticket *waiting = submit(executor, count, &ran, 3);
    gate_await(&shut, 1);
    lx_ticket_cancel(waiting);
    unit_fails(lx_ticket_wait(waiting, &error), LX_ERR_CANCELED);
    ck_assert_uint_eq(atomic_load(&ran), 0);
    lx_ticket_cancel(running);
    lx_ticket_cancel(running);
    ck_assert_int_eq(lx_ticket_wait_timed(running, 0, &error), LX_ERR_TIMEOUT);
    gate_open(&shut);
    unit_fails(lx_ticket_wait(running, &error), LX_ERR_CANCELED);
    ck_assert_uint_eq(shut.arrived, 1);
    lx_ticket_unref(running);
    lx_ticket_unref(waiting);
    lx_executor_close(executor);
}
END_TEST

START_TEST(a_failure_takes_precedence_over_a_cancel)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    struct failing failing = {1, 0};
    lx_ticket *ticket = submit(executor, fail_from, &failing, 10);
    ck_assert_int_eq(lx_ticket_wait_timed(ticket, 0, &error), LX_ERR_TIMEOUT);
    lx_ticket_cancel(ticket);
    unit_fails(lx_ticket_wait(ticket, &error), LX_ERR_CANCELED);
    lx_ticket_unref(ticket);

    ticket = submit(executor, fail_from, &failing, 10);
    ck_assert_int_eq(lx_ticket_wait_timed(ticket, 0, &error), LX_ERR_TIMEOUT);
    ck_assert_int_eq(lx_ticket_wait_timed(ticket, 0, &error), LX_ERR_CORRUPT);
    lx_ticket_cancel(ticket);
    lx_error_clear(&error);
    unit_fails(lx_ticket_wait(ticket, &error), LX_ERR_CORRUPT);
    lx_ticket_unref(ticket);
    lx_executor_close(executor);
}
END_TEST

START_TEST(tickets_outlive_their_executor)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = open_executor(0, 1);
    atomic_uint ran = 0;
    lx_ticket *done = submit(executor, count, &ran, 3);
    unit_ok(lx_ticket_wait(done, &error));
    lx_ticket *never = submit(executor, count, &ran, 3);
    lx_ticket *same = lx_ticket_ref(never);
    lx_executor_close(executor);
    unit_fails(lx_ticket_wait(never, &error), LX_ERR_CANCELED);
    lx_ticket_unref(never);
    unit_ok(lx_ticket_wait(done, &error));
    lx_ticket_unref(done);
    unit_fails(lx_ticket_wait(same, &error), LX_ERR_CANCELED);
    lx_ticket_cancel(same);
    lx_ticket_unref(same);
    ck_assert_uint_eq(atomic_load(&ran), 3);
}
END_TEST

START_TEST(a_closed_executor_rejects_tasks)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = lx_executor_ref(open_executor(1, 1));
    lx_executor_close(executor);
    lx_ticket *ticket;
    unit_fails(lx_executor_submit(executor, LX_QUEUE_WRITE, count, NULL, 1, &ticket, &error),
               LX_ERR_STATE);
    ck_assert_ptr_null(ticket);
    lx_executor_unref(executor);
}
END_TEST

START_TEST(a_ticket_can_be_released_at_once)
{
    lx_executor *executor = open_executor(2, 1);
    atomic_uint ran = 0;
    for (int i = 0; i < 500; i++)
        lx_ticket_unref(submit(executor, count, &ran, 2));
    eventually(atomic_load(&ran) == 1000);
    eventually(stats_of(executor, LX_QUEUE_READ).tasks == 500);
    lx_executor_close(executor);
}
END_TEST

/** A task that submits two tasks of its kind and waits for both, at each depth. */
struct tree {
    lx_executor *executor;
    unsigned depth;
    atomic_uint *nodes;
};

static lx_status grow(size_t part, void *user, lx_error *error)
{
    struct tree *tree = user;
    (void)part;
    atomic_fetch_add(tree->nodes, 1);
    if (tree->depth == 0)
        return LX_OK;
    struct tree below = {tree->executor, tree->depth - 1, tree->nodes};
    lx_ticket *ticket;
    lx_status status = lx_executor_submit(tree->executor, LX_QUEUE_READ, grow, &below, 2, &ticket,
                                          error);
    if (status != LX_OK)
        return status;
    status = lx_ticket_wait(ticket, error);
    lx_ticket_unref(ticket);
    return status;
}

START_TEST(tasks_can_wait_for_tasks)
{
    lx_error error = LX_ERROR_INIT;
    for (uint32_t readers = 0; readers < 4; readers++) {
        lx_executor *executor = open_executor(readers, 1);
        atomic_uint nodes = 0;
        struct tree root = {executor, 7, &nodes};
        lx_ticket *ticket = submit(executor, grow, &root, 1);
        unit_ok(lx_ticket_wait(ticket, &error));
        ck_assert_uint_eq(atomic_load(&nodes), 255);
        lx_ticket_unref(ticket);
        lx_executor_close(executor);
    }
}
END_TEST

struct waiter {
    lx_ticket *ticket;
    lx_status status;
};

static void *wait_and_unref(void *user)
{
    struct waiter *waiter = user;
    waiter->status = lx_ticket_wait(waiter->ticket, NULL);
    lx_ticket_unref(waiter->ticket);
    return NULL;
}

START_TEST(several_threads_can_wait)
{
    for (int round = 0; round < 200; round++) {
        enum { WAITERS = 4 };
        lx_executor *executor = open_executor((uint32_t)round % 3, 1);
        atomic_uint ran = 0;
        struct waiter waiters[WAITERS];
        pthread_t threads[WAITERS];
        lx_ticket *ticket = submit(executor, count, &ran, 100);
        for (int i = 0; i < WAITERS; i++) {
            waiters[i].ticket = lx_ticket_ref(ticket);
            ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_and_unref, &waiters[i]), 0);
        }
        if (round % 4 == 3)
            lx_ticket_cancel(ticket);
        lx_ticket_unref(ticket);
        if (round % 8 > 4)
            lx_executor_close(executor);
        for (int i = 0; i < WAITERS; i++) {
            pthread_join(threads[i], NULL);
            ck_assert_int_eq(waiters[i].status, atomic_load(&ran) == 100 ? LX_OK : LX_ERR_CANCELED);
        }
        if (round % 8 <= 4)
            lx_executor_close(executor);
    }
}
END_TEST

START_TEST(submits_nothing_after_a_failed_allocation)
{
    lx_error error = LX_ERROR_INIT;
    scarce_begin(100);
    lx_executor *executor = open_executor(1, 1);
    lx_ticket *ticket;
    scarce_left = 0;
    unit_fails(lx_executor_submit(executor, LX_QUEUE_READ, count, NULL, 1, &ticket, &error),
               LX_ERR_NOMEM);
    ck_assert_ptr_null(ticket);
    lx_executor_close(executor);
    unit_ok(lx_set_allocator(NULL, &error));
}
END_TEST

UNIT_MAIN("executor/ticket", a_wait_ends_after_all_parts, rejects_invalid_arguments,
          reports_the_lowest_failure_for_any_threads, a_failure_without_message_gets_one,
          returns_the_status_of_the_task, a_timed_wait_ends_and_leaves_the_error,
          a_timed_wait_without_readers_makes_progress, a_canceled_task_reports_it,
          a_failure_takes_precedence_over_a_cancel, tickets_outlive_their_executor,
          a_closed_executor_rejects_tasks, a_ticket_can_be_released_at_once,
          tasks_can_wait_for_tasks, several_threads_can_wait,
          submits_nothing_after_a_failed_allocation)
