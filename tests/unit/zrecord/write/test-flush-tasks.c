/* SPDX-License-Identifier: MIT */
/* A writer with one to four flush tasks: their chunks, and the chunk items of frames. */
#include "../numbers.h"

/* Bytes of a value that is slow to compress, so that several buffers are in flight. */
#define SLOW 60000u
/* So many values fill more than one buffer. */
#define VALUES_OF_BUFFERS 60u

/** Creates a dataset of one field of bytes, flate, with that many records per chunk. */
static lx_writer *slow_create(const char *path, lx_executor *executor, lx_durability durability,
                              uint64_t chunk_records)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = options_on(executor, durability);
    unit_ok(lx_writer_options_set_compression_level(options, 6, &error));
    unit_ok(lx_writer_options_set_chunk_limits(options, chunk_records, 1u << 30, &error));
    unit_ok(lx_schema_add_field(schema, "b", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, &error));
    unit_ok(lx_writer_create(path, schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

static lx_writer *slow_reopen(const char *path, lx_executor *executor)
{
    return records_reopen(path, options_on(executor, LX_DURABILITY_FULL));
}

/** The value of a record: compressible, but slowly. */
static void slow_value(uint64_t record, uint8_t value[SLOW])
{
    for (uint64_t i = 0; i < SLOW; i += 8) {
        uint64_t eight = mix(record * SLOW + i) & 0x0f0f0f0f0f0f0f0fu;
        memcpy(value + i, &eight, 8);
    }
}

static lx_status slow_append(lx_writer *writer, uint64_t count, lx_error *error)
{
    static uint8_t data[SLOW];
    lx_status status = LX_OK;
    uint64_t first = lx_writer_get_length(writer);
    for (uint64_t i = 0; status == LX_OK && i < count; i++) {
        lx_value value = {data, SLOW};
        slow_value(first + i, data);
        status = lx_writer_append(writer, &value, 1, NULL, error);
    }
    return status;
}

static void expect_slow(const char *path, uint64_t length)
{
    static uint8_t right[SLOW], got[SLOW];
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    for (uint64_t i = 0; i < length; i++) {
        uint64_t offsets[2];
        slow_value(i, right);
        unit_ok(lx_dataset_get_sizes(dataset, 0, &i, 1, offsets, NULL, &error));
        ck_assert_uint_eq(offsets[1], SLOW);
        unit_ok(lx_dataset_gather_bytes(dataset, 0, &i, 1, offsets, got, &error));
        ck_assert_msg(memcmp(got, right, SLOW) == 0, "record %d is wrong", (int)i);
    }
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

/** The chunks of the last frame; returns their number. */
static size_t last_items(const char *path, lx__chunk_item *items, size_t most, lx__frame *frame)
{
    size_t size, at = 0, last = 0;
    uint8_t *bytes = log_bytes(in(path, "LOG"), &size);
    for (; at < size; at += frame->bytes) {
        ck_assert(lx__frame_load(frame, bytes + at));
        last = at;
    }
    ck_assert(lx__frame_load(frame, bytes + last));
    ck_assert_uint_le(frame->chunk_count, most);
    for (size_t i = 0; i < frame->chunk_count; i++)
        items[i] = lx__chunk_item_load(bytes + last + LX__FRAME_HEADER + i * LX__FRAME_CHUNK);
    free(bytes);
    return frame->chunk_count;
}

/** The number of committed chunks. Their ids are below the next one, and their files long
 * enough. */
static uint32_t expect_chunks(const char *path, lx_chunk_stats *infos, uint32_t most)
{
    lx_dataset *dataset = open_dataset(path);
    uint32_t count = 0;
    while (chunk_at(dataset, count, &infos[count])) {
        char name[64];
        snprintf(name, sizeof name, "%s/chunk/%u.zr", path, infos[count].id);
        ck_assert_uint_ge(file_size(name), infos[count].bytes);
        ck_assert(count == 0 || infos[count].id > infos[count - 1].id);
        ck_assert_uint_lt(++count, most);
    }
    lx_dataset_close(dataset);
    return count;
}

/** No two flush tasks have the same chunk. Returns how many have one. */
static unsigned tasks_with_chunks(lx_writer *writer)
{
    bool seen[1000] = {false};
    unsigned used = 0;
    for (size_t i = 0; i < writer->flush.worker_count; i++) {
        const lx__chunk_files *chunks = &writer->flush.workers[i].flush_task.chunks;
        used += chunks->count != 0;
        for (size_t c = 0; c < chunks->count; c++) {
            uint32_t id = chunks->list[c].now.id;
            ck_assert_uint_lt(id, 1000);
            ck_assert(!seen[id]);
            seen[id] = true;
        }
    }
    return used;
}

START_TEST(reads_back_records_for_any_number_of_tasks)
{
    char *scratch = scratch_make();
    for (uint32_t workers = 1; workers <= 4; workers++) {
        static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                            LX_DURABILITY_NONE, LX_DURABILITY_FULL};
        lx_error error = LX_ERROR_INIT;
        char path[] = {(char)('a' + workers), '\0'};
        lx_executor *executor = executor_of(workers);
        lx_writer_options *options = options_on(executor, all[workers - 1]);
        unit_ok(lx_writer_options_set_chunk_limits(options, 1000, 100000, &error));
        lx_writer *writer = records_create(path, options);
        ck_assert_uint_eq(writer->flush.worker_count, workers);
        for (uint64_t i = 0; i < 4; i++) {
            records_append(writer, i == 2 ? 4000 : 400);
            commit(writer);
            tasks_with_chunks(writer);
        }
        close_writer(writer);
        lx_dataset *dataset = open_dataset(path);
        ck_assert_uint_eq(lx_dataset_get_length(dataset), 5200);
        for (uint64_t i = 0; i < 5200; i += 1 + i % 23)
            for (int field = 0; field < FIELDS; field++)
                expect_value(dataset, field, i);
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        lx_dataset_close(dataset);
        lx_executor_close(executor);
    }
    scratch_remove(scratch);
}
END_TEST

/** Appends until at least two flush tasks have worked; returns the number of records. */
static uint64_t use_tasks(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unsigned used = 0;
    for (int tries = 0; tries < 50 && used < 2; tries++) {
        unit_ok(slow_append(writer, VALUES_OF_BUFFERS, &error));
        lx__flush_drain(&writer->flush);
        used = tasks_with_chunks(writer);
        commit(writer);
    }
    ck_assert_uint_ge(used, 2);
    return lx_writer_get_length(writer);
}

START_TEST(each_flush_task_has_its_own_chunk)
{
    for (uint32_t workers = 2; workers <= 4; workers++) {
        char *scratch = scratch_make();
        lx__chunk_item items[200];
        lx_chunk_stats infos[200];
        lx__frame frame;
        lx_executor *executor = executor_of(workers);
        lx_writer *writer = slow_create("d", executor, LX_DURABILITY_FULL, 25);
        uint64_t length = use_tasks(writer);
        size_t count = last_items("d", items, 200, &frame);
        for (size_t i = 0; i < count; i++) {
            ck_assert(i == 0 || items[i].id > items[i - 1].id); /* each once, in order */
            ck_assert_uint_lt(items[i].id, frame.next_chunk);
            ck_assert_uint_le(items[i].records, 25);
        }
        uint64_t records = 0;
        uint32_t chunks = expect_chunks("d", infos, 200);
        for (uint32_t i = 0; i < chunks; i++)
            records += infos[i].payloads;
        ck_assert_uint_eq(records, length); /* each payload is counted in one */
        close_writer(writer);
        expect_slow("d", length);
        lx_executor_close(executor);
        scratch_remove(scratch);
    }
}
END_TEST

static lx_status commit_now(struct actor *self, lx_error *error)
{
    return lx_writer_commit(self->writer, error);
}

/** Payloads flushed while a commit waits for the disk are not in its frame. */
START_TEST(a_frame_ends_with_the_committed_prefix)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct actor committer;
        lx__chunk_item items[200], before[200];
        lx__frame frame;
        lx_executor *executor = executor_of(workers);
        lx_writer *writer = slow_create("d", executor, LX_DURABILITY_FULL, 1000);
        unit_ok(slow_append(writer, 5, &error));
        unsigned begun = atomic_load(&syncs_begun);
        atomic_store(&sync_waits, true);
        actor_start(&committer, writer, 0, commit_now);
        await(atomic_load(&syncs_begun) != begun);
        uint64_t chunk = file_size("d/chunk/0.zr");
        unit_ok(slow_append(writer, VALUES_OF_BUFFERS, &error));
        await(file_size("d/chunk/0.zr") > chunk); /* they continue to write */
        ck_assert_uint_eq(frames_of("d"), 1);
        atomic_store(&sync_waits, false);
        ck_assert_int_eq(actor_join(&committer), LX_OK);
        ck_assert_uint_eq(last_items("d", items, 200, &frame), 1);
        ck_assert_uint_eq(items[0].id, 0);
        ck_assert_uint_eq(items[0].records, 5);
        ck_assert_uint_eq(items[0].bytes, chunk);
        ck_assert_uint_eq(frame.length, 5);
        before[0] = items[0];
        directory_copy("d", "killed");
        expect_slow("killed", 5);
        /* Payloads that are rolled back are dropped; committed ones stay. */
        unit_ok(lx_writer_rollback(writer, &error));
        expect_slow("d", 5);
        unit_ok(slow_append(writer, VALUES_OF_BUFFERS, &error));
        commit(writer);
        size_t count = last_items("d", items, 200, &frame);
        ck_assert_uint_ge(count, 1);
        ck_assert_uint_ge(items[0].bytes, before[0].bytes);
        close_writer(writer);
        expect_slow("d", 5 + VALUES_OF_BUFFERS);
        writer = slow_reopen("killed", executor);
        unit_ok(slow_append(writer, VALUES_OF_BUFFERS, &error));
        close_writer(writer);
        expect_slow("killed", 5 + VALUES_OF_BUFFERS);
        lx_executor_close(executor);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_rollback_removes_the_chunks_of_all_tasks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_chunk_stats infos[200];
    uint32_t next = 0;
    lx_executor *executor = executor_of(4);
    lx_writer *writer = slow_create("d", executor, LX_DURABILITY_FULL, 15);
    uint64_t length = 0;
    for (int round = 0; round < (SANITIZED ? 3 : 5); round++) {
        unit_ok(slow_append(writer, VALUES_OF_BUFFERS, &error)); /* several chunks */
        unit_ok(lx_writer_rollback(writer, &error));
        ck_assert_uint_eq(lx_writer_get_length(writer), length);
        uint32_t chunks = expect_chunks("d", infos, 200);
        ck_assert_uint_eq(directory_count("d/chunk"), chunks);
        unit_ok(slow_append(writer, 20, &error));
        commit(writer);
        length += 20;
        /* Ids are not reused, although the files of rolled-back chunks are removed. */
        uint32_t more = expect_chunks("d", infos, 200);
        for (uint32_t i = chunks; i < more; i++)
            ck_assert_uint_ge(infos[i].id, next);
        next = lx__chunk_pool_next(&writer->flush.pool);
    }
    close_writer(writer);
    expect_slow("d", length);
    lx_executor_close(executor);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reuses_chunks_with_space)
{
    static const uint32_t reopened[] = {1, 2, 4};
    for (size_t k = 0; k < 3; k++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        lx_chunk_stats before[200], after[200];
        lx_executor *executor = executor_of(4), *other = executor_of(reopened[k]);
        lx_writer *writer = slow_create("d", executor, LX_DURABILITY_FULL, 10000);
        uint64_t length = use_tasks(writer);
        close_writer(writer);
        uint32_t chunks = expect_chunks("d", before, 200);
        ck_assert_uint_le(chunks, 4); /* they have space for all */
        for (int round = 0; round < 2; round++) {
            writer = slow_reopen("d", other);
            unit_ok(slow_append(writer, 3, &error));
            close_writer(writer);
            length += 3;
            ck_assert_uint_eq(expect_chunks("d", after, 200), chunks); /* no new one */
        }
        uint64_t grown = 0;
        for (uint32_t i = 0; i < chunks; i++)
            grown += after[i].payloads - before[i].payloads;
        ck_assert_uint_eq(grown, 6);
        expect_slow("d", length);
        lx_executor_close(executor);
        lx_executor_close(other);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_failed_task_fails_the_call_until_a_rollback)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        lx_executor *executor = executor_of(workers);
        lx_writer *writer = records_create("d", options_on(executor, LX_DURABILITY_NONE));
        records_append(writer, 200);
        commit(writer);
        uint64_t committed = directory_count("d/chunk");
        static uint8_t large[300000];
        lx_value values[FIELDS] = {{NULL, LX_NONE},
                                   {NULL, LX_NONE},
                                   {NULL, LX_NONE},
                                   {NULL, LX_NONE},
                                   {large, sizeof large}};
        limit_files(3000000);
        lx_status status = LX_OK;
        for (int i = 0; i < 200 && status == LX_OK; i++)
            status = lx_writer_append(writer, values, FIELDS, NULL, &error);
        lx_status committing = lx_writer_commit(writer, NULL);
        lx_status rolled_back = lx_writer_rollback(writer, NULL);
        unlimit_files();
        expect_error(status, LX_ERR_IO, "", ".zr");
        ck_assert_int_eq(committing, LX_ERR_IO);
        ck_assert_int_eq(rolled_back, LX_OK);
        ck_assert_uint_eq(lx_writer_get_length(writer), 200);
        ck_assert_uint_eq(directory_count("d/chunk"), committed);
        expect_dataset("d", 200);
        records_append(writer, 100);
        close_writer(writer);
        expect_dataset("d", 300);
        lx_executor_close(executor);
        scratch_remove(scratch);
    }
}
END_TEST

/** Chunks that fill up while a commit waits for the disk are closed as at any other time. */
START_TEST(a_waiting_commit_leaves_descriptors_free)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct actor committer;
    static uint8_t data[9000];
    const lx_value value = {data, sizeof data};
    lx_executor *executor = executor_of(2);
    lx_writer *writer = slow_create("d", executor, LX_DURABILITY_FULL, 1);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)mix(i);
    limit_descriptors(80);
    for (int round = 0; round < 3; round++) {
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
        unsigned begun = atomic_load(&syncs_begun);
        atomic_store(&sync_waits, true);
        actor_start(&committer, writer, 0, commit_now);
        await(atomic_load(&syncs_begun) != begun);
        for (int i = 0; i < 350; i++) /* almost three buffers, a chunk for each record */
            unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
        nap_ms(20);
        atomic_store(&sync_waits, false);
        ck_assert_int_eq(actor_join(&committer), LX_OK);
        unit_ok(lx_writer_commit(writer, &error));
    }
    close_writer(writer);
    ck_assert_uint_eq(visible_length("d"), 3 * 351);
    lx_executor_close(executor);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/flush-tasks", reads_back_records_for_any_number_of_tasks,
          each_flush_task_has_its_own_chunk, a_frame_ends_with_the_committed_prefix,
          a_rollback_removes_the_chunks_of_all_tasks, reuses_chunks_with_space,
          a_failed_task_fails_the_call_until_a_rollback, a_waiting_commit_leaves_descriptors_free)
