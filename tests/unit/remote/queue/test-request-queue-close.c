/* SPDX-License-Identifier: MIT */
/* How a queue of requests ends: by being closed, and by fork(). */
#include "remote/queue/request-queue.h"

#include "fake-transport.h"

#define PATIENCE ((uint64_t)60 * SECOND)

/** The most time that closing may take: much less than PATIENCE, and enough on a busy machine. */
#define LIMIT (20 * (uint64_t)SECOND)

/** Closes the queue, which must be fast, and checks that each request has finished once. */
static void close_in_time(lx__request_queue *queue, struct wanted *wanted, size_t count)
{
    uint64_t start = lx__clock_now();
    lx__request_queue_close(queue);
    ck_assert_uint_le(lx__clock_now() - start, LIMIT);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(wanted[i].finished, 1);
        ck_assert(wanted[i].status == LX_OK || wanted[i].status == LX_ERR_CANCELED);
    }
}

START_TEST(an_unused_queue_closes)
{
    atomic_bool gone = false;
    struct fake *fake = fake_new(NULL, NULL);
    fake->is_gone = &gone;
    close_in_time(queue_open(fake, 4, PATIENCE), NULL, 0);
    ck_assert(gone);
    lx__request_queue_close(NULL);
}
END_TEST

static lx_status take_a_millisecond(struct fake *fake, uint64_t offset, unsigned number,
                                    lx__answer *answer, lx_error *error)
{
    (void)offset, (void)number, (void)answer;
    return fake_sleep(fake, MILLISECOND) ? LX_OK : lx_fail(error, LX_ERR_CANCELED, "interrupted");
}

START_TEST(closes_while_busy)
{
    atomic_bool gone = false;
    struct fake *fake = fake_new(take_a_millisecond, NULL);
    struct wanted *wanted = wanted_new(5000);
    fake->is_gone = &gone;
    lx__request_queue *queue = queue_open(fake, 8, PATIENCE);
    queue_add(queue, wanted, 5000);
    wanted_await(wanted, 10);
    close_in_time(queue, wanted, 5000);
    ck_assert(gone);
    ck_assert_int_eq(wanted[4999].status, LX_ERR_CANCELED);
    ck_assert_str_eq(wanted[4999].message, "the dataset was closed");
    free(wanted);
}
END_TEST

static lx_status hang(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                      lx_error *error)
{
    (void)offset, (void)number, (void)answer;
    fake_sleep(fake, LX__NEVER);
    return lx_fail(error, LX_ERR_CANCELED, "interrupted");
}

START_TEST(closes_while_all_reads_hang)
{
    atomic_bool gone = false;
    struct fake *fake = fake_new(hang, NULL);
    struct wanted *wanted = wanted_new(50);
    fake->is_gone = &gone;
    lx__request_queue *queue = queue_open(fake, 8, PATIENCE);
    queue_add(queue, wanted, 50);
    eventually(fake->under_way == 8);
    close_in_time(queue, wanted, 50);
    ck_assert(gone);
    free(wanted);
}
END_TEST

/* Hangs until the test lets it go, whatever happens. */
static lx_status hang_deafly(struct fake *fake, uint64_t offset, unsigned number,
                             lx__answer *answer, lx_error *error)
{
    (void)offset, (void)number, (void)answer, (void)error;
    while (!atomic_load((atomic_bool *)fake->user))
        nap(MILLISECOND);
    return LX_OK;
}

START_TEST(closes_while_reads_cannot_be_interrupted)
{
    atomic_bool gone = false, released = false;
    struct fake *fake = fake_new(hang_deafly, &released);
    struct wanted *wanted = wanted_new(50);
    fake->is_gone = &gone;
    fake->deaf = true;
    lx__request_queue *queue = queue_open(fake, 8, PATIENCE);
    queue_add(queue, wanted, 50);
    eventually(fake->under_way == 8);
    lx__request_queue_close(queue); /* does not wait for the threads */
    for (int i = 0; i < 50; i++) {
        ck_assert_uint_eq(wanted[i].finished, 1);
        ck_assert_int_eq(wanted[i].status, LX_ERR_CANCELED);
    }
    free(wanted); /* the threads must not touch them again */
    ck_assert(!gone);
    atomic_store(&released, true);
    eventually(atomic_load(&gone));
}
END_TEST

static lx_status be_away(struct fake *fake, uint64_t offset, unsigned number, lx__answer *answer,
                         lx_error *error)
{
    (void)fake, (void)offset, (void)number;
    return fake_refuse(answer, error);
}

START_TEST(closes_during_pauses)
{
    struct fake *fake = fake_new(be_away, NULL);
    struct wanted *wanted = wanted_new(50);
    lx__request_queue *queue = queue_open(fake, 8, PATIENCE);
    queue_add(queue, wanted, 50);
    eventually(fake->attempts >= 16);
    close_in_time(queue, wanted, 50);
    ck_assert_int_eq(wanted[0].status, LX_ERR_CANCELED);
    free(wanted);
}
END_TEST

/* A request that adds another one when it is canceled. */
struct adding {
    struct wanted wanted;
    lx__request_queue *queue;
    struct wanted *next;
};

static void add_next(lx__request *self, lx_status status, const uint8_t *data,
                     const lx__answer *answer, const lx_error *why)
{
    struct adding *adding = (struct adding *)self;
    wanted_finish(self, status, data, answer, why);
    lx_error error = LX_ERROR_INIT;
    if (lx__request_queue_add(adding->queue, &adding->next->base, &error) != LX_OK ||
        adding->next->finished != 0)
        abort();
}

START_TEST(what_is_added_during_closing_is_canceled)
{
    struct fake *fake = fake_new(hang, NULL);
    struct wanted *wanted = wanted_new(2);
    struct adding adding[2];
    lx__request_queue *queue = queue_open(fake, 1, PATIENCE);
    lx_error error = LX_ERROR_INIT;
    for (int i = 0; i < 2; i++) { /* the first one is read, the second waits */
        adding[i] = (struct adding){wanted[i], queue, &wanted[i]};
        adding[i].wanted.base.finish = add_next;
        unit_ok(lx__request_queue_add(queue, &adding[i].wanted.base, &error));
    }
    eventually(fake->under_way == 1);
    close_in_time(queue, wanted, 2);
    ck_assert_int_eq(wanted[0].status, LX_ERR_CANCELED);
    free(wanted);
}
END_TEST

#if !THREAD_SANITIZED /* does not support threads in a child */
START_TEST(a_child_reads_with_threads_of_its_own)
{
    struct fake *fake = fake_new(take_a_millisecond, NULL);
    struct wanted *wanted = wanted_new(2000);
    lx__request_queue *queue = queue_open(fake, 4, PATIENCE);
    queue_add(queue, wanted, 1000);
    wanted_await(wanted, 10);
    for (int i = 0; i < 3; i++)
        if (unit_in_child()) {
            struct wanted *own = wanted_new(100);
            lx_error error = LX_ERROR_INIT;
            /* The fake's own lock: a thread of the parent may have held it. */
            pthread_mutex_init(&fake->lock, NULL);
            lx__clock_condition(&fake->interrupt);
            lx__request_queue_take_over(queue);
            bool right = queue_counts(queue).waiting == 0;
            for (int k = 0; k < 100; k++)
                right &= lx__request_queue_add(queue, &own[k].base, &error) == LX_OK;
            for (int k = 0; k < 100; k++) {
                while (own[k].finished == 0)
                    nap(MILLISECOND);
                right &= own[k].right;
            }
            lx__request_queue_close(queue);
            _exit(right ? 0 : 1);
        }
    queue_add(queue, wanted + 1000, 1000);
    wanted_await(wanted, 2000);
    close_in_time(queue, wanted, 2000);
    free(wanted);
}
END_TEST
#endif

UNIT_MAIN("remote/queue/request-queue-close", an_unused_queue_closes, closes_while_busy,
          closes_while_all_reads_hang, closes_while_reads_cannot_be_interrupted,
#if !THREAD_SANITIZED
          a_child_reads_with_threads_of_its_own,
#endif
          closes_during_pauses, what_is_added_during_closing_is_canceled)
