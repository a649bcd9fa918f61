/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush.h"

#include "../write-buffers.h"

/** The flush of two fields, raw and flate, with chunks in the present directory. */
struct fixture {
    lx__file here;
    lx_executor *executor;
    lx__flush flush;
    lx__entry_rules rules[2];
};

static void set_up(struct fixture *f, unsigned tasks, bool compresses)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor_options *options = lx_executor_options_new();
    memset(f, 0, sizeof *f);
    buffer_rules(f->rules, compresses);
    unit_ok(lx__directory_open(&f->here, LX__CWD, ".", &error));
    unit_ok(lx_executor_options_set_writer_count(options, tasks, &error));
    unit_ok(lx_executor_open(options, &f->executor, &error));
    lx_executor_options_free(options);
    lx__flush_init(&f->flush);
    f->flush.pool.directory = &f->here;
    f->flush.pool.records_limit = 1u << 20;
    f->flush.pool.bytes_limit = 1u << 30;
    static const lx__codec_settings settings[2] = {{.level = 6}, {.level = 6}};
    lx__flush_start(&f->flush, f->executor, f->rules, settings, 2);
}

static void tear_down(struct fixture *f)
{
    lx__flush_close(&f->flush);
    lx_executor_close(f->executor);
    lx__file_close(&f->here);
}

START_TEST(flushes_buffers_in_order)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__write_buffer *buffers[20];
    uint64_t end = 0;
    set_up(&f, 1, true);
    for (unsigned i = 0; i < 20; i++) {
        buffers[i] = make_buffer(f.rules, i * 50, 50);
        unit_ok(lx__flush_submit(&f.flush, buffers[i], &error));
    }
    for (unsigned i = 20; i-- > 0;)
        unit_ok(lx__flush_wait(&f.flush, buffers[i], &error));
    lx__flush_drain(&f.flush);
    ck_assert(lx__flush_is_idle(&f.flush));
    for (unsigned i = 0; i < 20; i++) {
        expect_buffer(f.rules, buffers[i], i * 50);
        for (size_t v = 0; v < buffers[i]->count; v++) {
            const lx__entry *entry = &buffers[i]->values[v].entry;
            if (!lies_in_a_chunk(entry))
                continue;
            ck_assert_uint_ge(entry->offset, end);
            end = entry->offset + entry->physical;
        }
        lx__write_buffer_free(buffers[i]);
    }
    ck_assert_uint_eq(lx__chunk_files_last(&f.flush.workers[0].flush_task.chunks)->now.bytes, end);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_first_failure_stops_it_until_cleared)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__write_buffer *buffers[6];
    lx_status submitted = LX_OK;
    set_up(&f, 1, false);
    for (unsigned i = 0; i < 6; i++)
        /* about 7 KB of payload each, and the same again */
        buffers[i] = make_buffer(f.rules, i * 50, 50);
    limit_files(20000);
    for (unsigned i = 0; i < 6 && submitted == LX_OK; i++)
        submitted = lx__flush_submit(&f.flush, buffers[i], &error);
    lx__flush_drain(&f.flush);
    unlimit_files();
    unit_ok(submitted);
    unit_ok(lx__flush_wait(&f.flush, buffers[0], &error));
    unsigned placed = 0;
    while (placed < 6 && buffers[placed]->flush_state == LX__FLUSH_DONE)
        placed++;
    ck_assert_uint_ge(placed, 1);
    ck_assert_uint_lt(placed, 6);
    for (unsigned i = placed; i < 6; i++) {
        lx_status status = lx__flush_wait(&f.flush, buffers[i], &error);
        expect_error(status, LX_ERR_IO, "write", "0.zr");
        /* including those that would have had space */
        ck_assert_int_ne(buffers[i]->flush_state, LX__FLUSH_DONE);
    }
    unit_ok(lx__flush_reset(&f.flush, &error));
    ck_assert_uint_eq(directory_count("."), 0);
    lx__write_buffer_free(buffers[5]);
    buffers[5] = make_buffer(f.rules, 250, 50);
    unit_ok(lx__flush_submit(&f.flush, buffers[5], &error));
    unit_ok(lx__flush_wait(&f.flush, buffers[5], &error));
    expect_buffer(f.rules, buffers[5], 250);
    lx__flush_drain(&f.flush);
    for (unsigned i = 0; i < 6; i++)
        lx__write_buffer_free(buffers[i]);
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
    lx__write_buffer *buffer = make_buffer(f.rules, 0, 50);
    unit_fails(lx__flush_submit(&f.flush, buffer, &error), LX_ERR_STATE);
    lx__flush_drain(&f.flush);
    ck_assert(lx__flush_is_idle(&f.flush));
    unit_ok(lx__flush_now(&f.flush, buffer, &error)); /* the caller can still flush it */
    expect_buffer(f.rules, buffer, 0);
    lx__write_buffer_free(buffer);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

/** The number of flush tasks that have begun a chunk; each has its own, and no id is reused. */
static unsigned tasks_used(const struct fixture *f)
{
    bool seen[100] = {false};
    unsigned used = 0;
    for (size_t i = 0; i < f->flush.worker_count; i++) {
        const lx__chunk_files *chunks = &f->flush.workers[i].flush_task.chunks;
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
    for (unsigned tasks = 2; tasks <= 4; tasks++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        lx__write_buffer *buffers[12];
        unsigned used = 0;
        set_up(&f, tasks, true);
        ck_assert_uint_eq(f.flush.worker_count, tasks);
        /* The choice of the task is random: continue until two of them were used. */
        for (int tries = 0; tries < 50 && used < 2; tries++) {
            for (unsigned i = 0; i < 12; i++)
                buffers[i] = make_buffer(f.rules, i * 200, 200);
            for (unsigned i = 0; i < 12; i++)
                unit_ok(lx__flush_submit(&f.flush, buffers[i], &error));
            for (unsigned i = 0; i < 12; i++)
                unit_ok(lx__flush_wait(&f.flush, buffers[i], &error));
            lx__flush_drain(&f.flush);
            for (unsigned i = 0; i < 12; i++) {
                ck_assert_uint_eq(buffers[i]->chunk_count, 1);
                expect_buffer(f.rules, buffers[i], i * 200);
                lx__write_buffer_free(buffers[i]);
            }
            used = tasks_used(&f);
        }
        ck_assert_uint_ge(used, 2);
        ck_assert_uint_eq(lx__chunk_pool_next(&f.flush.pool), used);
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
        lx__write_buffer *buffers[16];
        set_up(&f, 4, round % 2);
        for (unsigned i = 0; i < 16; i++)
            buffers[i] = make_buffer(f.rules, i * 300, 300);
        lx_status submitted = LX_OK;
        limit_files(100000); /* about two buffers in each chunk */
        for (unsigned i = 0; i < 16 && submitted == LX_OK; i++)
            submitted = lx__flush_submit(&f.flush, buffers[i], &error);
        lx__flush_drain(&f.flush);
        unlimit_files();
        unit_ok(submitted);
        unsigned failed = 0;
        for (unsigned i = 0; i < 16; i++) {
            lx_status status = lx__flush_wait(&f.flush, buffers[i], &error);
            if (buffers[i]->flush_state == LX__FLUSH_DONE) {
                ck_assert_int_eq(status, LX_OK);
                expect_buffer(f.rules, buffers[i], i * 300); /* flushed payloads are right */
                continue;
            }
            failed++;
            expect_error(status, LX_ERR_IO, "write", ".zr");
        }
        ck_assert_uint_ge(failed, 1);
        unsigned next = lx__chunk_pool_next(&f.flush.pool);
        unit_ok(lx__flush_reset(&f.flush, &error));
        ck_assert_uint_eq(directory_count("."), 0);
        lx__write_buffer_free(buffers[0]);
        buffers[0] = make_buffer(f.rules, 0, 300);
        unit_ok(lx__flush_submit(&f.flush, buffers[0], &error));
        unit_ok(lx__flush_wait(&f.flush, buffers[0], &error));
        expect_buffer(f.rules, buffers[0], 0);
        ck_assert_uint_eq(buffers[0]->chunks[0].id, next); /* no id is reused */
        lx__flush_drain(&f.flush);
        for (unsigned i = 0; i < 16; i++)
            lx__write_buffer_free(buffers[i]);
        tear_down(&f);
        scratch_remove(scratch);
    }
}
END_TEST

struct in_a_task {
    struct fixture *f;
    lx__write_buffer *buffers[8];
};

static lx_status place_in_a_task(size_t part, void *user, lx_error *error)
{
    struct in_a_task *task = user;
    lx_status status = LX_OK;
    (void)part;
    for (unsigned i = 0; i < 8 && status == LX_OK; i++)
        status = lx__flush_submit(&task->f->flush, task->buffers[i], error);
    for (unsigned i = 8; i-- > 0 && status == LX_OK;)
        status = lx__flush_wait(&task->f->flush, task->buffers[i], error);
    lx__flush_drain(&task->f->flush);
    return status;
}

/** All threads of the queue are in a task that waits for flush tasks. */
START_TEST(a_waiting_thread_flushes_too)
{
    for (unsigned tasks = 1; tasks <= 2; tasks++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        struct in_a_task task = {.f = &f};
        lx_ticket *ticket;
        set_up(&f, tasks, true);
        for (unsigned i = 0; i < 8; i++)
            task.buffers[i] = make_buffer(f.rules, i * 50, 50);
        unit_ok(lx_executor_submit(f.executor, LX_QUEUE_WRITE, place_in_a_task, &task, 1, &ticket,
                                   &error));
        unit_ok(lx_ticket_wait(ticket, &error));
        lx_ticket_unref(ticket);
        for (unsigned i = 0; i < 8; i++) {
            expect_buffer(f.rules, task.buffers[i], i * 50);
            lx__write_buffer_free(task.buffers[i]);
        }
        tear_down(&f);
        scratch_remove(scratch);
    }
}
END_TEST

UNIT_MAIN("zrecord/flush", flushes_buffers_in_order, the_first_failure_stops_it_until_cleared,
          a_closed_executor_is_an_error, several_tasks_flush_concurrently,
          a_failure_of_one_task_stops_all, a_waiting_thread_flushes_too)
