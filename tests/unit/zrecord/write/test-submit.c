/* SPDX-License-Identifier: MIT */
/* Submitted commits, and their tickets. */
#include "../../scarce.h"
#include "../numbers.h"

/** A writer over an executor with one thread, which is busy until release(): submitted commits wait
 * until then. */
struct fixture {
    char *scratch;
    lx_executor *executor;
    lx_writer *writer;
    struct blockade blockade;
};

static void set_up(struct fixture *f, lx_durability durability)
{
    f->scratch = scratch_make();
    f->executor = executor_of(1);
    f->writer = numbers_create("d", options_on(f->executor, durability));
    blockade_begin(&f->blockade, f->executor);
}

static void release(struct fixture *f)
{
    blockade_end(&f->blockade);
}

static void tear_down(struct fixture *f)
{
    if (f->writer != NULL)
        close_writer(f->writer);
    lx_executor_close(f->executor);
    scratch_remove(f->scratch);
}

static void append(struct fixture *f, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(number_append(f->writer, number, NULL, &error));
}

static lx_ticket *submit(struct fixture *f)
{
    lx_error error = LX_ERROR_INIT;
    lx_ticket *ticket = NULL;
    unit_ok(lx_writer_submit_commit(f->writer, &ticket, &error));
    ck_assert_ptr_nonnull(ticket);
    return ticket;
}

/** Waits for a ticket, and drops it; returns its status. */
static lx_status outcome(lx_ticket *ticket)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_ticket_wait(ticket, &error);
    ck_assert_int_eq(error.status, status);
    lx_ticket_unref(ticket);
    return status;
}

START_TEST(a_ticket_reports_its_commit)
{
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                        LX_DURABILITY_NONE};
    for (size_t d = 0; d < 3; d++) {
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        set_up(&f, all[d]);
        append(&f, 1);
        append(&f, 2);
        lx_ticket *ticket = submit(&f);
        ck_assert_int_eq(lx_ticket_wait_timed(ticket, 1000000, &error), LX_ERR_TIMEOUT);
        ck_assert_uint_eq(visible_length("d"), 0);
        release(&f);
        ck_assert_int_eq(outcome(ticket), LX_OK);
        ck_assert_uint_eq(visible_length("d"), 2);
        tear_down(&f);
    }
}
END_TEST

START_TEST(submit_does_not_wait_for_the_disk)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, LX_DURABILITY_FULL);
    release(&f);
    atomic_store(&sync_waits, true);
    append(&f, 1);
    lx_ticket *first = submit(&f);
    await(atomic_load(&syncs_begun) != 0);
    append(&f, 2);
    lx_ticket *second = submit(&f);
    append(&f, 3);
    ck_assert_int_eq(lx_ticket_wait_timed(first, 1000000, &error), LX_ERR_TIMEOUT);
    ck_assert_int_eq(lx_ticket_wait_timed(second, 1000000, &error), LX_ERR_TIMEOUT);
    atomic_store(&sync_waits, false);
    ck_assert_int_eq(outcome(first), LX_OK);
    ck_assert_int_eq(outcome(second), LX_OK);
    ck_assert_uint_eq(visible_length("d"), 2); /* the third was not submitted */
    tear_down(&f);
}
END_TEST

START_TEST(several_submits_become_one_frame)
{
    struct fixture f;
    lx_ticket *tickets[10];
    set_up(&f, LX_DURABILITY_FULL);
    for (uint64_t i = 0; i < 3; i++) {
        append(&f, i);
        tickets[i] = submit(&f);
    }
    release(&f);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(outcome(tickets[i]), LX_OK);
    ck_assert_uint_eq(frames_of("d"), 2);
    ck_assert_uint_eq(visible_length("d"), 3);
    tear_down(&f);
}
END_TEST

START_TEST(accepts_an_empty_submit)
{
    struct fixture f;
    set_up(&f, LX_DURABILITY_FULL);
    lx_ticket *ticket = submit(&f);
    append(&f, 1); /* after it */
    release(&f);
    ck_assert_int_eq(outcome(ticket), LX_OK);
    ck_assert_uint_eq(visible_length("d"), 0);
    tear_down(&f);
}
END_TEST

START_TEST(a_commit_includes_submitted_calls)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, LX_DURABILITY_FULL);
    append(&f, 1);
    lx_ticket *ticket = submit(&f);
    append(&f, 2);
    unit_ok(lx_writer_commit(f.writer, &error));
    ck_assert_uint_eq(visible_length("d"), 2);
    release(&f);
    ck_assert_int_eq(outcome(ticket), LX_OK);
    ck_assert_uint_eq(frames_of("d"), 2);
    tear_down(&f);
}
END_TEST

/* ---- rollbacks and failures */

START_TEST(a_rollback_does_not_undo_a_submit)
{
    lx_error error = LX_ERROR_INIT;
    for (int rollbacks = 1; rollbacks <= 3; rollbacks++) {
        struct fixture f;
        set_up(&f, LX_DURABILITY_NONE);
        append(&f, 1);
        lx_ticket *first = submit(&f);
        append(&f, 2);
        lx_ticket *second = submit(&f);
        for (int i = 0; i < rollbacks; i++) {
            append(&f, 3);
            unit_ok(lx_writer_rollback(f.writer, &error));
            ck_assert_uint_eq(lx_writer_get_length(f.writer), 2);
        }
        ck_assert_uint_eq(visible_length("d"), 2);
        append(&f, 4);
        release(&f);
        ck_assert_int_eq(outcome(first), LX_OK);
        ck_assert_int_eq(outcome(second), LX_OK);
        unit_ok(lx_writer_rollback(f.writer, &error));
        static const uint64_t numbers[] = {1, 2};
        expect_numbers("d", numbers, 2);
        tear_down(&f);
    }
}
END_TEST

/** Makes calls fail, as a full disk does: their payloads do not fit. Returns the first failure. */
static lx_status fail_to_append(lx_writer *writer, lx_error *error)
{
    static uint8_t large[200000];
    lx_value value = {large, sizeof large};
    lx_status status = LX_OK;
    for (int i = 0; status == LX_OK && i < 100; i++)
        status = lx_writer_append(writer, &value, 1, NULL, error);
    return status;
}

/** As numbers_create(), of bytes. */
static lx_writer *bytes_create(const char *path, lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "b", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

/** Calls of a writer after one record was submitted, and a later append failed. */
enum aftermath { ROLLED_BACK, CLOSED, WAITED, AFTERMATHS };

START_TEST(a_submit_survives_a_later_failed_append)
{
    for (enum aftermath then = 0; then < AFTERMATHS; then++) {
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        lx_value value = {"submitted before", 16};
        set_up(&f, LX_DURABILITY_NONE);
        close_writer(f.writer);
        f.writer = bytes_create("e", options_on(f.executor, LX_DURABILITY_NONE));
        unit_ok(lx_writer_append(f.writer, &value, 1, NULL, &error));
        lx_ticket *ticket = submit(&f);
        unit_ok(lx_writer_append(f.writer, &value, 1, NULL, &error)); /* in the buffer that fails */
        limit_files(1000000);
        lx_status failed = fail_to_append(f.writer, &error);
        lx_status waited = LX_OK, rolled_back = LX_OK, closed = LX_OK;
        if (then == ROLLED_BACK)
            rolled_back = lx_writer_rollback(f.writer, NULL);
        atomic_store(&f.blockade.over, true);
        if (then != CLOSED)
            waited = lx_ticket_wait(ticket, NULL);
        if (then == WAITED)
            rolled_back = lx_writer_rollback(f.writer, NULL);
        closed = lx_writer_close(f.writer, NULL);
        f.writer = NULL;
        unlimit_files();
        release(&f);
        expect_error(failed, LX_ERR_IO, "", "e/chunk/0.zr");
        ck_assert_int_eq(waited, LX_OK);
        ck_assert_int_eq(rolled_back, LX_OK);
        ck_assert_int_eq(closed, then == CLOSED ? LX_ERR_IO : LX_OK);
        ck_assert_int_eq(outcome(ticket), LX_OK);
        ck_assert_uint_eq(visible_length("e"), 1);
        close_writer(records_reopen("e", NULL));
        ck_assert_uint_eq(visible_length("e"), 1);
        tear_down(&f);
    }
}
END_TEST

/** A failed commit does not affect commits that were submitted before it. */
START_TEST(a_submit_survives_a_later_failed_commit)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx_value value = {"submitted before", 16};
    enum { LARGE = 600000 };
    set_up(&f, LX_DURABILITY_NONE);
    close_writer(f.writer);
    f.writer = bytes_create("e", options_on(f.executor, LX_DURABILITY_NONE));
    unit_ok(lx_writer_append(f.writer, &value, 1, NULL, &error));
    lx_ticket *ticket = submit(&f);
    limit_files(1500000);
    /* One call whose first part fits, and whose second part does not. */
    static const uint64_t offsets[4] = {0, LARGE, 2 * LARGE, 3 * LARGE};
    uint8_t *joined = calloc(3, LARGE);
    lx_values column = {joined, offsets, NULL};
    lx_status extended = lx_writer_extend(f.writer, 3, &column, 1, NULL, &error);
    lx_status committed = lx_writer_commit(f.writer, NULL);
    free(joined);
    unlimit_files();
    release(&f);
    unit_ok(extended);
    ck_assert_int_eq(committed, LX_ERR_IO);
    ck_assert_int_eq(outcome(ticket), LX_OK);
    ck_assert_uint_eq(visible_length("e"), 1); /* and no part of the call that failed */
    unit_fails(lx_writer_commit(f.writer, &error), LX_ERR_IO);
    unit_ok(lx_writer_rollback(f.writer, &error));
    ck_assert_uint_eq(lx_writer_get_length(f.writer), 1);
    ck_assert_uint_eq(visible_length("e"), 1);
    tear_down(&f);
}
END_TEST

START_TEST(a_ticket_reports_a_failed_commit)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, LX_DURABILITY_NONE);
    append(&f, 1);
    lx_ticket *first = submit(&f);
    limit_files(100); /* less than LOG has */
    lx_status rolled_back = lx_writer_rollback(f.writer, NULL);
    unlimit_files();
    unit_ok(rolled_back);
    ck_assert_uint_eq(lx_writer_get_length(f.writer), 0);
    append(&f, 2);
    lx_ticket *second = submit(&f);
    release(&f);
    ck_assert_int_eq(outcome(first), LX_ERR_STATE); /* the rollback dropped it */
    ck_assert_int_eq(outcome(second), LX_OK);
    unit_ok(lx_writer_rollback(f.writer, &error));
    static const uint64_t numbers[] = {2};
    expect_numbers("d", numbers, 1);
    tear_down(&f);
}
END_TEST

START_TEST(a_ticket_reports_a_failed_sync)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx_ticket *tickets[3];
    set_up(&f, LX_DURABILITY_FULL);
    for (uint64_t i = 0; i < 3; i++) {
        append(&f, i);
        tickets[i] = submit(&f);
    }
    atomic_store(&sync_fails_at, 1);
    release(&f);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(outcome(tickets[i]), LX_ERR_POISONED);
    atomic_store(&sync_fails_at, 0);
    lx_ticket *ticket = NULL;
    unit_fails(lx_writer_submit_commit(f.writer, &ticket, &error), LX_ERR_POISONED);
    ck_assert_ptr_null(ticket);
    unit_fails(lx_writer_close(f.writer, &error), LX_ERR_POISONED);
    f.writer = NULL;
    tear_down(&f);
}
END_TEST

START_TEST(the_next_commit_includes_a_canceled_submit)
{
    struct fixture f;
    set_up(&f, LX_DURABILITY_FULL);
    append(&f, 1);
    lx_ticket *ticket = submit(&f);
    lx_ticket_cancel(ticket);
    ck_assert_int_eq(outcome(ticket), LX_ERR_CANCELED);
    release(&f);
    ck_assert_uint_eq(visible_length("d"), 0);
    append(&f, 2);
    ck_assert_int_eq(outcome(submit(&f)), LX_OK);
    ck_assert_uint_eq(visible_length("d"), 2);
    tear_down(&f);
}
END_TEST

/* ---- closing */

static lx_status release_later(struct actor *self, lx_error *error)
{
    (void)error;
    nap_ms(30);
    atomic_store((atomic_bool *)(uintptr_t)self->number, true);
    return LX_OK;
}

START_TEST(close_waits_for_open_tickets)
{
    struct fixture f;
    struct actor later;
    lx_ticket *tickets[3];
    set_up(&f, LX_DURABILITY_NONE);
    for (uint64_t i = 0; i < 3; i++) {
        append(&f, i);
        tickets[i] = submit(&f);
    }
    lx_ticket_unref(tickets[1]); /* dropped at once */
    append(&f, 3);
    actor_start(&later, f.writer, (uint64_t)(uintptr_t)&f.blockade.over, release_later);
    close_writer(f.writer);
    f.writer = NULL;
    ck_assert_int_eq(actor_join(&later), LX_OK);
    release(&f);
    ck_assert_int_eq(outcome(tickets[0]), LX_OK);
    ck_assert_int_eq(outcome(tickets[2]), LX_OK);
    ck_assert_uint_eq(visible_length("d"), 4);
    tear_down(&f);
}
END_TEST

START_TEST(a_seal_includes_all_submits)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, LX_DURABILITY_NONE);
    append(&f, 1);
    lx_ticket *ticket = submit(&f), *other = NULL;
    append(&f, 2);
    unit_ok(lx_writer_seal(f.writer, &error));
    unit_fails(lx_writer_submit_commit(f.writer, &other, &error), LX_ERR_STATE);
    release(&f);
    ck_assert_int_eq(outcome(ticket), LX_OK);
    ck_assert_uint_eq(visible_length("d"), 2);
    tear_down(&f);
}
END_TEST

START_TEST(closing_the_executor_cancels_submits)
{
    struct fixture f;
    set_up(&f, LX_DURABILITY_FULL);
    append(&f, 1);
    release(&f);
    ck_assert_int_eq(outcome(submit(&f)), LX_OK);
    append(&f, 2);
    lx_executor_close(f.executor);
    lx_error error = LX_ERROR_INIT;
    lx_ticket *ticket = NULL;
    lx_status status = lx_writer_submit_commit(f.writer, &ticket, &error);
    expect_error(status, LX_ERR_STATE, "", "");
    ck_assert_ptr_null(ticket);
    lx_status rolled_back = lx_writer_rollback(f.writer, &error);
    ck_assert_int_eq(rolled_back, LX_OK);
    close_writer(f.writer);
    ck_assert_uint_eq(visible_length("d"), 1);
    scratch_remove(f.scratch);
}
END_TEST

/* ---- threads, and repeated calls */

static lx_status submit_and_wait(size_t part, void *user, lx_error *error)
{
    lx_writer *writer = user;
    lx_ticket *ticket;
    (void)part;
    for (uint64_t i = 0; i < 5; i++) {
        lx_status status = numbers_extend(writer, 20000, i, error);
        if (status == LX_OK)
            status = lx_writer_submit_commit(writer, &ticket, error);
        if (status == LX_OK)
            status = number_append(writer, i, NULL, error);
        if (status != LX_OK)
            return status;
        status = lx_ticket_wait(ticket, error);
        lx_ticket_unref(ticket);
        if (status != LX_OK)
            return status;
    }
    return lx_writer_close(writer, error);
}

/** The waiting thread is the only one that could commit. */
START_TEST(a_task_of_the_write_queue_can_submit_and_wait)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx_ticket *ticket;
    set_up(&f, LX_DURABILITY_FULL);
    release(&f);
    unit_ok(lx_executor_submit(f.executor, LX_QUEUE_WRITE, submit_and_wait, f.writer, 1, &ticket,
                               &error));
    ck_assert_int_eq(outcome(ticket), LX_OK);
    f.writer = NULL;
    ck_assert_uint_eq(visible_length("d"), 5 * 20001);
    tear_down(&f);
}
END_TEST

START_TEST(released_tickets_do_not_accumulate)
{
    struct fixture f;
    set_up(&f, LX_DURABILITY_NONE);
    release(&f);
    for (uint64_t i = 0; i < 2000; i++) {
        append(&f, i);
        lx_ticket *ticket = submit(&f);
        if (i % 50 == 0)
            (void)lx_ticket_wait(ticket, NULL);
        lx_ticket_unref(ticket);
    }
    ck_assert_uint_le(f.writer->requests.count, 100);
    ck_assert_int_eq(outcome(submit(&f)), LX_OK);
    ck_assert_uint_eq(visible_length("d"), 2000);
    tear_down(&f);
}
END_TEST

static lx_status submit_often(struct actor *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK && i < 50; i++) {
        lx_ticket *ticket;
        uint64_t index;
        status = number_append(self->writer, self->number, &index, error);
        if (status == LX_OK)
            status = lx_writer_submit_commit(self->writer, &ticket, error);
        if (status != LX_OK)
            return status;
        if (i % 3 != 0) {
            status = lx_ticket_wait(ticket, error);
            if (status == LX_OK && i % 10 == 1)
                ck_assert_uint_gt(visible_length("d"), index);
        }
        lx_ticket_unref(ticket);
    }
    return status;
}

START_TEST(threads_can_submit_concurrently)
{
    for (uint32_t writers = 1; writers <= 4; writers++) {
        char *scratch = scratch_make();
        struct actor actors[4];
        lx_executor *executor = executor_of(writers);
        lx_writer *writer = numbers_create("d", options_on(executor, LX_DURABILITY_FULL));
        atomic_store(&sync_takes, 200);
        for (uint64_t i = 0; i < 4; i++)
            actor_start(&actors[i], writer, i, submit_often);
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(actor_join(&actors[i]), LX_OK);
        atomic_store(&sync_takes, 0);
        close_writer(writer);
        ck_assert_uint_eq(visible_length("d"), 200);
        lx_executor_close(executor);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(reports_why_a_submit_fails)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx_ticket *ticket = NULL;
    set_up(&f, LX_DURABILITY_FULL);
    release(&f);
    unit_refuses_null(lx_writer_submit_commit(NULL, &ticket, &error), "writer");
    unit_refuses_null(lx_writer_submit_commit(f.writer, NULL, &error), "ticket");
    append(&f, 1);
    unit_ok(lx_writer_begin_transaction(f.writer, &error));
    append(&f, 2);
    lx_status status = lx_writer_submit_commit(f.writer, &ticket, &error);
    expect_error(status, LX_ERR_STATE, "transaction", "");
    unit_ok(lx_writer_end_transaction(f.writer, &error));
    if (unit_in_child())
        _exit(lx_writer_submit_commit(f.writer, &ticket, NULL) != LX_ERR_FORKED);
    ck_assert_ptr_null(ticket);
    tear_down(&f);
}
END_TEST

START_TEST(submits_nothing_after_a_failed_allocation)
{
    struct fixture f;
    unsigned failures = 0, submitted = 0;
    set_up(&f, LX_DURABILITY_NONE); /* the other thread allocates nothing meanwhile */
    for (int left = 0; left < 20; left++) {
        lx_error error = LX_ERROR_INIT;
        lx_ticket *ticket = NULL;
        append(&f, (uint64_t)left);
        scarce_begin(left);
        lx_status status = lx_writer_submit_commit(f.writer, &ticket, &error);
        lx_set_allocator(NULL, NULL);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert((status == LX_OK) == (ticket != NULL));
        lx_ticket_unref(ticket);
        failures += status != LX_OK;
        submitted += status == LX_OK;
        unit_ok(lx_writer_rollback(f.writer, &error)); /* of what was not submitted */
        ck_assert_uint_eq(lx_writer_get_length(f.writer), submitted);
    }
    ck_assert_uint_gt(failures, 0);
    ck_assert_uint_gt(submitted, 0);
    release(&f);
    tear_down(&f);
}
END_TEST

UNIT_MAIN("zrecord/submit", a_ticket_reports_its_commit, submit_does_not_wait_for_the_disk,
          several_submits_become_one_frame, accepts_an_empty_submit,
          a_commit_includes_submitted_calls, a_rollback_does_not_undo_a_submit,
          a_submit_survives_a_later_failed_append, a_submit_survives_a_later_failed_commit,
          a_ticket_reports_a_failed_commit, a_ticket_reports_a_failed_sync,
          the_next_commit_includes_a_canceled_submit, close_waits_for_open_tickets,
          a_seal_includes_all_submits, closing_the_executor_cancels_submits,
          a_task_of_the_write_queue_can_submit_and_wait, released_tickets_do_not_accumulate,
          threads_can_submit_concurrently, reports_why_a_submit_fails,
          submits_nothing_after_a_failed_allocation)
