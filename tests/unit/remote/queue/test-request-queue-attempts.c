/* SPDX-License-Identifier: MIT */
/* Attempts of the caller's own, such as uploads, which a queue makes instead of reading ranges. */
#include "remote/queue/request-queue.h"

#include "../../skip-clock.h"
#include "fake-transport.h"
#include "remote/queue/durations.h"

#define PATIENCE ((uint64_t)60 * SECOND)
#define PART ((size_t)8 << 20)

struct upload {
    lx__request base;
    lx_status (*script)(struct upload *self, unsigned number, lx__answer *answer, lx_error *error);
    atomic_uint attempts, under_way, finished;
    bool ended; /* an attempt has returned */
    lx_status status;
    char message[512];
};

static atomic_uint most; /* uploads under way at a time */
static atomic_uint under_way;

static lx_status attempt(lx__request *request, lx__connection *connection, lx__answer *answer,
                         lx_error *error)
{
    struct upload *self = (struct upload *)request;
    unsigned now = atomic_fetch_add(&under_way, 1) + 1;
    most = now > most ? now : most;
    ck_assert_ptr_nonnull(connection->transport);
    ck_assert_uint_eq(atomic_fetch_add(&self->under_way, 1), 0);
    *answer = (lx__answer){.got = request->size, .total = LX_NONE};
    lx_status status = self->script(self, atomic_fetch_add(&self->attempts, 1), answer, error);
    self->ended = true;
    atomic_fetch_sub(&self->under_way, 1);
    atomic_fetch_sub(&under_way, 1);
    return status;
}

static bool begin(lx__request *self)
{
    (void)self;
    return true;
}

static void finish(lx__request *request, lx_status status, const uint8_t *data,
                   const lx__answer *answer, const lx_error *why)
{
    struct upload *self = (struct upload *)request;
    (void)answer;
    ck_assert_ptr_null(data);
    self->status = status;
    if (why != NULL)
        snprintf(self->message, sizeof self->message, "%s", why->message);
    atomic_fetch_add(&self->finished, 1);
}

static void init(struct upload *self, size_t size,
                 lx_status (*script)(struct upload *, unsigned, lx__answer *, lx_error *))
{
    *self = (struct upload){
        .base = {.size = size, .attempt = attempt, .begin = begin, .finish = finish},
        .script = script};
}

static void add(lx__request_queue *queue, struct upload *upload)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__request_queue_add(queue, &upload->base, &error));
}

static lx_status be_away_twice(struct upload *self, unsigned number, lx__answer *answer,
                               lx_error *error)
{
    (void)self;
    return number < 2 ? fake_refuse(answer, error) : LX_OK;
}

START_TEST(attempts_are_repeated_on_new_connections)
{
    struct upload upload;
    struct fake *fake = fake_new(NULL, NULL);
    lx__request_queue *queue = queue_open(fake, 4, PATIENCE);
    init(&upload, 1000, be_away_twice);
    add(queue, &upload);
    eventually(upload.finished == 1);
    ck_assert_int_eq(upload.status, LX_OK);
    ck_assert_uint_eq(upload.attempts, 3);
    ck_assert_uint_eq(fake->connects, 3);
    ck_assert_uint_eq(fake->attempts, 0); /* nothing was read */
    ck_assert_uint_eq(queue_counts(queue).requests, 3);
    ck_assert_uint_eq(queue_counts(queue).retries, 2);
    ck_assert_uint_eq(queue_counts(queue).bytes, 1000);
    lx__request_queue_close(queue);
}
END_TEST

static lx_status be_refused(struct upload *self, unsigned number, lx__answer *answer,
                            lx_error *error)
{
    (void)self, (void)number, (void)answer;
    return lx_fail(error, LX_ERR_STATE, "somebody else has written it");
}

START_TEST(a_failure_for_good_is_not_repeated)
{
    struct upload upload;
    lx__request_queue *queue = queue_open(fake_new(NULL, NULL), 4, PATIENCE);
    init(&upload, 1000, be_refused);
    add(queue, &upload);
    eventually(upload.finished == 1);
    ck_assert_int_eq(upload.status, LX_ERR_STATE);
    ck_assert_uint_eq(upload.attempts, 1);
    ck_assert_str_eq(upload.message, "somebody else has written it");
    lx__request_queue_close(queue);
}
END_TEST

static lx_status take_long(struct upload *self, unsigned number, lx__answer *answer,
                           lx_error *error)
{
    (void)self, (void)number, (void)answer, (void)error;
    clock_skip(2 * LX__STRAGGLES_AFTER);
    nap(50 * MILLISECOND); /* a thread that would try again could do so */
    return LX_OK;
}

START_TEST(an_attempt_that_takes_long_is_made_only_once_at_a_time)
{
    struct upload upload;
    lx__request_queue *queue = queue_open(fake_new(NULL, NULL), 4, PATIENCE);
    init(&upload, 1000, take_long);
    upload.base.urgent = true;
    add(queue, &upload);
    eventually(upload.finished == 1);
    ck_assert_int_eq(upload.status, LX_OK);
    ck_assert_uint_eq(upload.attempts, 1);
    lx__request_queue_close(queue);
}
END_TEST

static lx_status ignore_interruptions(struct upload *self, unsigned number, lx__answer *answer,
                                      lx_error *error)
{
    (void)self, (void)number, (void)answer;
    nap(700 * MILLISECOND); /* longer than closing waits for reads */
    return lx_fail(error, LX_ERR_CANCELED, "interrupted");
}

START_TEST(closing_waits_for_attempts)
{
    struct upload uploads[3];
    lx__request_queue *queue = queue_open(fake_new(NULL, NULL), 2, PATIENCE);
    for (int i = 0; i < 3; i++) {
        init(&uploads[i], 1000, ignore_interruptions);
        add(queue, &uploads[i]);
    }
    eventually(uploads[0].under_way == 1 && uploads[1].under_way == 1);
    lx__request_queue_close(queue);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(uploads[i].finished, 1);
        ck_assert_int_eq(uploads[i].status, LX_ERR_CANCELED);
        ck_assert_str_eq(uploads[i].message, "the dataset was closed");
        ck_assert(uploads[i].ended == (i < 2));
    }
}
END_TEST

static lx_status take_100_ms(struct upload *self, unsigned number, lx__answer *answer,
                             lx_error *error)
{
    (void)self, (void)number, (void)answer, (void)error;
    nap(100 * MILLISECOND);
    return LX_OK;
}

static lx_status take_no_time(struct upload *self, unsigned number, lx__answer *answer,
                              lx_error *error)
{
    (void)self, (void)number, (void)answer, (void)error;
    return LX_OK;
}

/* Small files take less time than parts, but the window does not become as small as if parts did,
 * too. */
START_TEST(large_parts_are_put_at_the_same_time_after_small_files)
{
    enum { SMALL = 100, PARTS = 40 };
    static struct upload uploads[SMALL + PARTS];
    lx__request_queue *queue = queue_open(fake_new(NULL, NULL), 8, PATIENCE);
    for (int i = 0; i < SMALL; i++)
        init(&uploads[i], 100, take_no_time);
    for (int i = SMALL; i < SMALL + PARTS; i++)
        init(&uploads[i], PART, take_100_ms);
    for (int i = 0; i < SMALL; i++)
        add(queue, &uploads[i]);
    eventually(queue_counts(queue).waiting == 0);
    most = 0;
    for (int i = SMALL; i < SMALL + PARTS; i++)
        add(queue, &uploads[i]);
    eventually(queue_counts(queue).waiting == 0);
    lx__request_queue_close(queue);
    ck_assert_uint_ge(most, 4);
    ck_assert_uint_le(most, 8);
}
END_TEST

UNIT_MAIN("remote/queue/request-queue-attempts", attempts_are_repeated_on_new_connections,
          a_failure_for_good_is_not_repeated,
          an_attempt_that_takes_long_is_made_only_once_at_a_time, closing_waits_for_attempts,
          large_parts_are_put_at_the_same_time_after_small_files)
