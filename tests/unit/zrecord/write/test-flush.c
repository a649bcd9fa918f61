/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush.h"

#include "../write-buffers.h"

/** The flush of two fields, raw and flate, with chunks in the present directory. */
struct fixture {
    lx__file here;
    lx_executor *executor;
    lx__flush placer;
    lx__entry_rules rules[2];
};

static void set_up(struct fixture *f, unsigned lanes, bool compresses)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor_options *options = lx_executor_options_new();
    memset(f, 0, sizeof *f);
    stage_rules(f->rules, compresses);
    unit_ok(lx__directory_open(&f->here, LX__CWD, ".", &error));
    unit_ok(lx_executor_options_set_writer_count(options, lanes, &error));
    unit_ok(lx_executor_open(options, &f->executor, &error));
    lx_executor_options_free(options);
    lx__flush_init(&f->placer);
    f->placer.pool.directory = &f->here;
    f->placer.pool.records_limit = 1u << 20;
    f->placer.pool.bytes_limit = 1u << 30;
    lx__flush_start(&f->placer, f->executor, f->rules, 2, 6);
}

static void tear_down(struct fixture *f)
{
    lx__flush_close(&f->placer);
    lx_executor_close(f->executor);
    lx__file_close(&f->here);
}

START_TEST(flushes_buffers_in_order)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__write_buffer *stages[20];
    uint64_t end = 0;
    set_up(&f, 1, true);
    for (unsigned i = 0; i < 20; i++) {
        stages[i] = stage_make(f.rules, i * 50, 50);
        unit_ok(lx__flush_submit(&f.placer, stages[i], &error));
    }
    for (unsigned i = 20; i-- > 0;)
        unit_ok(lx__flush_wait(&f.placer, stages[i], &error));
    lx__flush_drain(&f.placer);
    ck_assert(lx__flush_is_idle(&f.placer));
    for (unsigned i = 0; i < 20; i++) {
        expect_stage(f.rules, stages[i], i * 50);
        for (size_t v = 0; v < stages[i]->count; v++) {
            const lx__entry *entry = &stages[i]->values[v].entry;
            if (!lies_in_a_chunk(entry))
                continue;
            ck_assert_uint_ge(entry->offset, end);
            end = entry->offset + entry->physical;
        }
        lx__write_buffer_free(stages[i]);
    }
    ck_assert_uint_eq(lx__chunk_files_last(&f.placer.workers[0].flush_task.chunks)->now.bytes, end);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_first_failure_stops_it_until_cleared)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__write_buffer *stages[6];
    lx_status submitted = LX_OK;
    set_up(&f, 1, false);
    for (unsigned i = 0; i < 6; i++)
        /* about 7 KB of payload each, and the same again */
        stages[i] = stage_make(f.rules, i * 50, 50);
    limit_files(20000);
    for (unsigned i = 0; i < 6 && submitted == LX_OK; i++)
        submitted = lx__flush_submit(&f.placer, stages[i], &error);
    lx__flush_drain(&f.placer);
    unlimit_files();
    unit_ok(submitted);
    unit_ok(lx__flush_wait(&f.placer, stages[0], &error));
    unsigned placed = 0;
    while (placed < 6 && stages[placed]->flush_state == LX__FLUSH_DONE)
        placed++;
    ck_assert_uint_ge(placed, 1);
    ck_assert_uint_lt(placed, 6);
    for (unsigned i = placed; i < 6; i++) {
        lx_status status = lx__flush_wait(&f.placer, stages[i], &error);
        expect_error(status, LX_ERR_IO, "write", "0.zr");
        /* also those that would have had space */
        ck_assert_int_ne(stages[i]->flush_state, LX__FLUSH_DONE);
    }
    unit_ok(lx__flush_reset(&f.placer, &error));
    ck_assert_uint_eq(directory_count("."), 0);
    lx__write_buffer_free(stages[5]);
    stages[5] = stage_make(f.rules, 250, 50);
    unit_ok(lx__flush_submit(&f.placer, stages[5], &error));
    unit_ok(lx__flush_wait(&f.placer, stages[5], &error));
    expect_stage(f.rules, stages[5], 250);
    lx__flush_drain(&f.placer);
    for (unsigned i = 0; i < 6; i++)
        lx__write_buffer_free(stages[i]);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_closed_executor_is_an_error)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, 1, false);
    lx_executor_ref(f.executor);
    lx_executor_close(f.executor);
    lx__write_buffer *stage = stage_make(f.rules, 0, 50);
    unit_fails(lx__flush_submit(&f.placer, stage, &error), LX_ERR_STATE);
    lx__flush_drain(&f.placer);
    ck_assert(lx__flush_is_idle(&f.placer));
    unit_ok(lx__flush_now(&f.placer, stage, &error)); /* the caller can still do it */
    expect_stage(f.rules, stage, 0);
    lx__write_buffer_free(stage);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

/** The number of flush tasks that have begun a chunk; each has its own, and no id is reused. */
static unsigned lanes_used(const struct fixture *f)
{
    bool seen[100] = {false};
    unsigned used = 0;
    for (size_t i = 0; i < f->placer.worker_count; i++) {
        const lx__chunk_files *chunks = &f->placer.workers[i].flush_task.chunks;
        used += chunks->count != 0;
        for (size_t c = 0; c < chunks->count; c++) {
            uint32_t id = chunks->list[c].now.id;
            ck_assert_uint_lt(id, 100);
            ck_assert(!seen[id]);
            seen[id] = true;
        }
    }
    return used;
}

START_TEST(several_tasks_flush_concurrently)
{
    for (unsigned lanes = 2; lanes <= 4; lanes++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        lx__write_buffer *stages[12];
        unsigned used = 0;
        set_up(&f, lanes, true);
        ck_assert_uint_eq(f.placer.worker_count, lanes);
        /* The choice of the task is random: continue until two of them were used. */
        for (int tries = 0; tries < 50 && used < 2; tries++) {
            for (unsigned i = 0; i < 12; i++)
                stages[i] = stage_make(f.rules, i * 200, 200);
            for (unsigned i = 0; i < 12; i++)
                unit_ok(lx__flush_submit(&f.placer, stages[i], &error));
            for (unsigned i = 0; i < 12; i++)
                unit_ok(lx__flush_wait(&f.placer, stages[i], &error));
            lx__flush_drain(&f.placer);
            for (unsigned i = 0; i < 12; i++) {
                ck_assert_uint_eq(stages[i]->chunk_count, 1);
                expect_stage(f.rules, stages[i], i * 200);
                lx__write_buffer_free(stages[i]);
            }
            used = lanes_used(&f);
        }
        ck_assert_uint_ge(used, 2);
        ck_assert_uint_eq(lx__chunk_pool_next(&f.placer.pool), used);
        tear_down(&f);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_failure_of_one_task_stops_all)
{
    for (int round = 0; round < (SANITIZED ? 5 : 20); round++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        lx__write_buffer *stages[16];
        set_up(&f, 4, round % 2);
        for (unsigned i = 0; i < 16; i++)
            stages[i] = stage_make(f.rules, i * 300, 300);
        lx_status submitted = LX_OK;
        limit_files(100000); /* about two buffers in each chunk */
        for (unsigned i = 0; i < 16 && submitted == LX_OK; i++)
            submitted = lx__flush_submit(&f.placer, stages[i], &error);
        lx__flush_drain(&f.placer);
        unlimit_files();
        unit_ok(submitted);
        unsigned failed = 0;
        for (unsigned i = 0; i < 16; i++) {
            lx_status status = lx__flush_wait(&f.placer, stages[i], &error);
            if (stages[i]->flush_state == LX__FLUSH_DONE) {
                ck_assert_int_eq(status, LX_OK);
                expect_stage(f.rules, stages[i], i * 300); /* flushed payloads are right */
                continue;
            }
            failed++;
            expect_error(status, LX_ERR_IO, "write", ".zr");
        }
        ck_assert_uint_ge(failed, 1);
        unsigned next = lx__chunk_pool_next(&f.placer.pool);
        unit_ok(lx__flush_reset(&f.placer, &error));
        ck_assert_uint_eq(directory_count("."), 0);
        lx__write_buffer_free(stages[0]);
        stages[0] = stage_make(f.rules, 0, 300);
        unit_ok(lx__flush_submit(&f.placer, stages[0], &error));
        unit_ok(lx__flush_wait(&f.placer, stages[0], &error));
        expect_stage(f.rules, stages[0], 0);
        ck_assert_uint_eq(stages[0]->chunks[0].id, next); /* no id is reused */
        lx__flush_drain(&f.placer);
        for (unsigned i = 0; i < 16; i++)
            lx__write_buffer_free(stages[i]);
        tear_down(&f);
        scratch_remove(scratch);
    }
}
END_TEST

struct in_a_task {
    struct fixture *f;
    lx__write_buffer *stages[8];
};

static lx_status place_in_a_task(size_t part, void *user, lx_error *error)
{
    struct in_a_task *task = user;
    lx_status status = LX_OK;
    (void)part;
    for (unsigned i = 0; i < 8 && status == LX_OK; i++)
        status = lx__flush_submit(&task->f->placer, task->stages[i], error);
    for (unsigned i = 8; i-- > 0 && status == LX_OK;)
        status = lx__flush_wait(&task->f->placer, task->stages[i], error);
    lx__flush_drain(&task->f->placer);
    return status;
}

/** All threads of the queue are in a task that waits for flush tasks. */
START_TEST(a_waiting_thread_flushes_too)
{
    for (unsigned lanes = 1; lanes <= 2; lanes++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        struct in_a_task task = {.f = &f};
        lx_ticket *ticket;
        set_up(&f, lanes, true);
        for (unsigned i = 0; i < 8; i++)
            task.stages[i] = stage_make(f.rules, i * 50, 50);
        unit_ok(lx_executor_submit(f.executor, LX_QUEUE_WRITE, place_in_a_task, &task, 1, &ticket,
                                   &error));
        unit_ok(lx_ticket_wait(ticket, &error));
        lx_ticket_unref(ticket);
        for (unsigned i = 0; i < 8; i++) {
            expect_stage(f.rules, task.stages[i], i * 50);
            lx__write_buffer_free(task.stages[i]);
        }
        tear_down(&f);
        scratch_remove(scratch);
    }
}
END_TEST

UNIT_MAIN("zrecord/flush", flushes_buffers_in_order, the_first_failure_stops_it_until_cleared,
          a_closed_executor_is_an_error, several_tasks_flush_concurrently,
          a_failure_of_one_task_stops_all, a_waiting_thread_flushes_too)
