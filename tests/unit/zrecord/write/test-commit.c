/* SPDX-License-Identifier: MIT */
/* The commit: doc/zrecord-format.md, 10.4 and 10.6. */
#include <pthread.h>

#include "../frames.h"
#include "../records.h"
#include "zrecord/write/writer.h"

/** The frames of a dataset's log, checked as a chain. */
struct chain {
    size_t count;
    lx__frame frames[256];
};

static struct chain read_chain(const char *path)
{
    struct chain chain = {0};
    lx_dataset_identity identity;
    lx_dataset *dataset = open_dataset(path);
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    lx__wal_identity log = identity_of(identity.uuid);
    size_t size;
    uint32_t crc = 0;
    uint8_t *bytes = log_bytes(in(path, "LOG"), &size);
    for (size_t at = 0; at < size; at += chain.frames[chain.count++].bytes) {
        lx__frame *frame = &chain.frames[chain.count];
        ck_assert_uint_le(at + 72, size);
        ck_assert(lx__frame_load(frame, bytes + at));
        ck_assert_uint_le(at + frame->bytes, size);
        ck_assert_uint_eq(frame->sequence, chain.count);
        ck_assert_uint_eq(frame->previous_crc, crc);
        crc = crc_of_frame(&log, bytes + at, frame->bytes);
        ck_assert_uint_eq(lx__load_le32(bytes + at + frame->bytes - 4), crc);
        ck_assert_uint_eq(frame->boot, lx__boot_id());
        ck_assert_uint_lt(chain.count, 255);
    }
    free(bytes);
    return chain;
}

static bool is_synced(const lx__frame *frame)
{
    return frame->flags & SYNCED;
}

START_TEST(a_small_commit_is_one_frame_of_updates)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 4);
    commit(writer);
    records_append(writer, 3);
    commit(writer);
    struct chain chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 3);
    ck_assert(chain.frames[1].length == 4 && chain.frames[1].rows == 0);
    ck_assert_uint_eq(chain.frames[1].update_count,
                      4 * FIELDS); /* for every field, missing or not */
    ck_assert(chain.frames[2].length == 7 && chain.frames[2].rows == 0);
    ck_assert_uint_eq(chain.frames[2].update_count, 3 * FIELDS);
    ck_assert_uint_eq(chain.frames[2].chunk_count, 1);
    ck_assert_uint_eq(chain.frames[2].next_chunk, 1);
    ck_assert_uint_eq(file_size("d/image.offset"), 0);
    close_writer(writer);
    expect_dataset("d", 7);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_large_commit_writes_its_rows_to_the_tables)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 10);
    commit(writer);
    records_append(writer, 4000); /* 20,000 entries */
    commit(writer);
    struct chain chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 3);
    ck_assert(chain.frames[2].length == 4010 && chain.frames[2].rows == 4010);
    ck_assert_uint_eq(chain.frames[2].update_count, 3); /* markers: these fields lack values */
    lx_dataset *dataset = open_dataset("d");
    lx_storage_stats totals;
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    ck_assert_uint_eq(totals.log_entries, 0); /* nor updates of the first commit */
    ck_assert_uint_eq(totals.table_bytes, 4010 * FIELDS * 24);
    lx_dataset_close(dataset);
    close_writer(writer);
    expect_dataset("d", 4010);
    scratch_remove(scratch);
}
END_TEST

START_TEST(moves_small_commits_to_the_tables_at_8_mebibytes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    uint64_t taken = 0, rows_per_commit = 3000, most = (8u << 20) / (FIELDS * 40);
    for (int i = 0; i < 16 && taken == 0; i++) {
        records_append(writer, rows_per_commit);
        commit(writer);
        lx_dataset *dataset = open_dataset("d");
        lx_storage_stats totals;
        unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
        taken = totals.table_bytes / (FIELDS * 24);
        ck_assert_uint_eq(totals.log_entries, taken != 0 ? 0 : totals.length * FIELDS);
        ck_assert(taken == 0 || (taken > most && taken <= most + rows_per_commit));
        lx_dataset_close(dataset);
    }
    ck_assert_uint_ne(taken, 0);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t index = 0; index < taken; index += 997)
        expect_value(dataset, IMAGE, index);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_empty_commit_writes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                        LX_DURABILITY_NONE};
    for (size_t i = 0; i < 3; i++) {
        char path[] = {(char)('a' + i), '\0'};
        lx_writer *writer = records_create(path, writer_options(all[i]));
        for (int k = 0; k < 3; k++) {
            commit(writer);
            unit_ok(lx_writer_sync(writer, &error));
        }
        close_writer(writer);
        ck_assert_uint_eq(file_size(in(path, "LOG")), 72);
        close_writer(records_reopen(path, NULL));
        ck_assert_uint_eq(file_size(in(path, "LOG")), 72);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(full_syncs_each_commit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_FULL));
    for (int i = 0; i < 3; i++) {
        records_append(writer, 4);
        unsigned before = atomic_load(&syncs);
        commit(writer);
        /* The chunk and LOG; at first also the directory with the new chunk. */
        ck_assert_uint_eq(atomic_load(&syncs) - before, i == 0 ? 3 : 2);
    }
    struct chain chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert(is_synced(&chain.frames[i]));
    unsigned before = atomic_load(&syncs);
    close_writer(writer);
    /* One more frame, which repeats the last one, and is not synced. */
    chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 5);
    ck_assert(is_synced(&chain.frames[4]) && chain.frames[4].update_count == 0);
    ck_assert_uint_eq(chain.frames[4].length, chain.frames[3].length);
    ck_assert_uint_eq(atomic_load(&syncs), before);
    /* So damage of the last commit is not mistaken for a torn end. */
    file_flip("d/LOG", 8 * (chain.frames[0].bytes + chain.frames[1].bytes + chain.frames[2].bytes +
                            LX__FRAME_HEADER));
    expect_refused("d", LX_ERR_CORRUPT, "frame", "LOG");
    scratch_remove(scratch);
}
END_TEST

START_TEST(closing_without_changes_adds_no_frame)
{
    char *scratch = scratch_make();
    close_writer(records_create("d", NULL));
    ck_assert_uint_eq(read_chain("d").count, 1);
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_eq(read_chain("d").count, 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_writer_that_lost_its_lock_cannot_commit)
{
    for (int removed = 0; removed < 2; removed++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_FULL)), *other = NULL;
        records_append(writer, 4);
        commit(writer);
        records_append(writer, 4);
        if (removed) {
            nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        } else {
            ck_assert_int_eq(unlink("d/LOCK"), 0);
            other = records_reopen("d", NULL); /* it is not excluded */
        }
        for (int i = 0; i < 2; i++) {
            lx_status status = lx_writer_commit(writer, &error);
            expect_error(status, LX_ERR_POISONED, "LOCK was removed", "d/LOCK");
            lx_error_clear(&error);
        }
        ck_assert_int_eq(lx_writer_close(writer, &error), LX_ERR_POISONED);
        if (other != NULL) {
            records_append(other, 1);
            close_writer(other);
            expect_dataset("d", 5);
        }
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_writer_that_lost_its_lock_writes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_FULL));
    records_append(writer, 4);
    commit(writer);
    ck_assert_int_eq(unlink("d/LOCK"), 0);
    lx_writer *other = records_reopen("d", NULL);
    records_append(other, 20);
    commit(other);
    /* More than a write buffer holds, so that payloads are flushed before any commit. */
    lx_status status = LX_OK;
    uint8_t *large = calloc(1, 3u << 20);
    const lx_value values[FIELDS] = {[IMAGE] = {NULL, LX_NONE},
                                     [LABEL] = {NULL, LX_NONE},
                                     [WAVE] = {NULL, LX_NONE},
                                     [CAPTION] = {NULL, LX_NONE},
                                     [BLOB] = {large, 3u << 20}};
    for (int i = 0; i < 20 && status == LX_OK; i++)
        status = lx_writer_append(writer, values, FIELDS, NULL, &error);
    expect_error(status, LX_ERR_POISONED, "LOCK was removed", "d/LOCK");
    lx_error_clear(&error);
    ck_assert_int_eq(lx_writer_close(writer, &error), LX_ERR_POISONED);
    close_writer(other);
    expect_dataset("d", 24);
    free(large);
    scratch_remove(scratch);
}
END_TEST

START_TEST(none_syncs_on_request_and_at_close)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    unsigned before = atomic_load(&syncs);
    for (int i = 0; i < 3; i++) {
        records_append(writer, 4);
        commit(writer);
    }
    ck_assert_uint_eq(atomic_load(&syncs), before);
    struct chain chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 4);
    for (size_t i = 1; i < 4; i++)
        ck_assert(!is_synced(&chain.frames[i]));
    unit_ok(lx_writer_sync(writer, &error)); /* a frame that changes nothing */
    chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 5);
    ck_assert(is_synced(&chain.frames[4]));
    ck_assert(chain.frames[4].length == 12 && chain.frames[4].update_count == 0);
    records_append(writer, 4);
    unit_ok(lx_writer_sync(writer, &error)); /* one that commits */
    chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 6);
    ck_assert(is_synced(&chain.frames[5]) && chain.frames[5].length == 16);
    records_append(writer, 4);
    commit(writer);
    close_writer(writer);
    chain = read_chain("d");
    ck_assert_uint_eq(chain.count, 8);
    ck_assert(is_synced(&chain.frames[7]));
    expect_dataset("d", 20);
    scratch_remove(scratch);
}
END_TEST

START_TEST(frames_list_the_chunks_that_grew)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 10, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    static const uint64_t counts[] = {2, 1, 8, 20, 1, 0};
    uint32_t least = 0;
    for (size_t i = 0; i < 6; i++) {
        records_append(writer, counts[i]);
        commit(writer);
        struct chain chain = read_chain("d");
        const lx__frame *last = &chain.frames[chain.count - 1];
        lx_dataset *dataset = open_dataset("d");
        lx_chunk_stats info;
        uint32_t chunks = 0;
        while (chunk_at(dataset, chunks, &info))
            chunks++;
        ck_assert_uint_eq(last->next_chunk, chunks);
        ck_assert(counts[i] == 0 || last->chunk_count >= chunks - least);
        ck_assert_uint_le(last->chunk_count, chunks - least + 1);
        least = chunks;
        lx_dataset_close(dataset);
    }
    close_writer(writer);
    expect_dataset("d", 32);
    scratch_remove(scratch);
}
END_TEST

/* ---- failures */

START_TEST(removes_a_frame_that_does_not_fit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    for (int i = 0; i < 100; i++) {
        records_append(writer, 5);
        commit(writer);
    }
    uint64_t size = file_size("d/LOG"), chunk = file_size("d/chunk/0.zr");
    ck_assert_uint_gt(size, chunk + 20000); /* so that the write to the log fails */
    for (uint64_t room = 0; room < 1000; room += 111) {
        records_append(writer, 5);
        limit_files(size + room);
        ck_assert_int_eq(lx_writer_commit(writer, &error), LX_ERR_IO);
        ck_assert_int_eq(error.errnum, EFBIG);
        ck_assert_ptr_nonnull(strstr(error.path, "LOG"));
        lx_error_clear(&error);
        ck_assert_uint_eq(file_size("d/LOG"), size);
        unit_fails(lx_writer_commit(writer, &error), LX_ERR_IO);
        unlimit_files();
        expect_dataset("d", 500);
        unit_ok(lx_writer_rollback(writer, &error));
    }
    records_append(writer, 5);
    close_writer(writer);
    expect_dataset("d", 505);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_full_disk_for_tables_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "n", LX_UINT32, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    static uint32_t numbers[30000];
    for (uint32_t i = 0; i < 30000; i++)
        numbers[i] = (uint32_t)mix(i);
    lx_values column = {numbers, NULL, NULL};
    unit_ok(lx_writer_extend(writer, 1000, &column, 1, NULL, &error)); /* updates in the log */
    commit(writer);
    limit_files(100000);
    column.data = numbers + 1000;
    unit_ok(lx_writer_extend(writer, 29000, &column, 1, NULL, &error));
    ck_assert_int_eq(lx_writer_commit(writer, &error), LX_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.path, "n.offset"));
    lx_error_clear(&error);
    unit_ok(lx_writer_rollback(writer, &error));
    unlimit_files();
    for (int tries = 0; tries < 2; tries++) {
        /* First a few, whose rows stay in the append buffer; then as many as before. */
        uint64_t length = lx_writer_get_length(writer);
        column.data = numbers + length;
        unit_ok(
            lx_writer_extend(writer, tries == 0 ? 10 : 30000 - length, &column, 1, NULL, &error));
        commit(writer);
    }
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 30000);
    static uint64_t indices[30000];
    static uint32_t back[30000];
    for (uint64_t i = 0; i < 30000; i++)
        indices[i] = i;
    unit_ok(lx_dataset_gather(dataset, 0, indices, 30000, back, 4, &error));
    ck_assert_mem_eq(back, numbers, sizeof back);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rewrites_rows_after_a_rollback)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "n", LX_UINT32, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    uint32_t count = 400000, *numbers = malloc(count * sizeof *numbers);
    lx_values column = {numbers, NULL, NULL};
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    unit_ok(lx_writer_extend(writer, 100, &column, 1, NULL, &error));
    commit(writer);
    unit_ok(lx_writer_extend(writer, count, &column, 1, NULL, &error)); /* more than the append
                                                                      * buffer holds */
    ck_assert_uint_gt(file_size("d/n.offset"), 0);
    unit_ok(lx_writer_rollback(writer, &error));
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = ~i;
    for (int k = 0; k < 3; k++) {
        unit_ok(lx_writer_extend(writer, k < 2 ? 50 : count - 100, &column, 1, NULL, &error));
        commit(writer);
        lx_dataset *dataset = open_dataset("d");
        uint64_t length = lx_dataset_get_length(dataset);
        ck_assert_uint_eq(length, k < 2 ? 150 + 50 * (uint64_t)k : count + 100);
        for (uint64_t i = 0; i < length; i += 1 + length / 300) {
            uint32_t got, expected = i < 100 ? (uint32_t)i
                                             : ~(uint32_t)(i < 150   ? i - 100
                                                           : i < 200 ? i - 150
                                                                     : i - 200);
            unit_ok(lx_dataset_gather(dataset, 0, &i, 1, &got, 4, &error));
            ck_assert_uint_eq(got, expected);
        }
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        lx_dataset_close(dataset);
    }
    close_writer(writer);
    free(numbers);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_sync_poisons_the_writer)
{
    char *scratch = scratch_make();
    /* Each of the syncs of a commit in turn: of the chunk, its directory, LOG, the tables. */
    for (unsigned n = 1; n <= 8; n++) {
        lx_error error = LX_ERROR_INIT;
        char path[8];
        snprintf(path, sizeof path, "d%u", n);
        lx_writer *writer = records_create(path, NULL);
        records_append(writer, 5);
        commit(writer);
        records_append(writer, 4000);
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_writer_commit(writer, &error);
        atomic_store(&sync_fails_at, 0);
        expect_error(status, LX_ERR_POISONED, "Input/output error", path);
        unit_fails(record_append(writer, 0, &error), LX_ERR_POISONED);
        unit_fails(lx_writer_commit(writer, &error), LX_ERR_POISONED);
        unit_fails(lx_writer_sync(writer, &error), LX_ERR_POISONED);
        unit_fails(lx_writer_rollback(writer, &error), LX_ERR_POISONED);
        unit_fails(lx_writer_begin_transaction(writer, &error), LX_ERR_POISONED);
        unit_fails(lx_writer_seal(writer, &error), LX_ERR_POISONED);
        size_t frames = read_chain(path).count;
        unit_fails(lx_writer_close(writer, &error), LX_ERR_POISONED);
        ck_assert_uint_eq(read_chain(path).count, frames); /* no additional frame */
        lx_dataset *dataset = open_dataset(path);
        uint64_t length = lx_dataset_get_length(dataset);
        ck_assert(length == 5 || length == 4005); /* completely or not at all */
        lx_dataset_close(dataset);
        writer = records_reopen(path, NULL);
        ck_assert_uint_eq(lx_writer_get_length(writer), length);
        records_append(writer, 5);
        close_writer(writer);
        expect_dataset(path, length + 5);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_sync_before_the_commit_poisons_the_writer)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 4, 4096, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 5);
    commit(writer);
    size_t frames = read_chain("d").count;
    /* Full chunks are synced and closed when there are many; the commit above has some. */
    records_append(writer, 100);
    atomic_store(&sync_fails_at, atomic_load(&syncs) + 1);
    lx_status status = lx_writer_commit(writer, &error);
    atomic_store(&sync_fails_at, 0);
    expect_error(status, LX_ERR_POISONED, "Input/output error", "d");
    unit_fails(lx_writer_rollback(writer, &error), LX_ERR_POISONED);
    unit_fails(lx_writer_sync(writer, &error), LX_ERR_POISONED);
    unit_fails(lx_writer_close(writer, &error), LX_ERR_POISONED);
    ck_assert_uint_eq(read_chain("d").count, frames);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(close_reports_a_failed_sync)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    commit(writer);
    atomic_store(&sync_fails_at, 1);
    unit_fails(lx_writer_close(writer, &error), LX_ERR_POISONED);
    atomic_store(&sync_fails_at, 0);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

/* ---- with readers */

static void *watch(void *user)
{
    atomic_bool *stop = user;
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset("d");
    uint64_t length = 0;
    while (!atomic_load(stop)) {
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        uint64_t longer = lx_dataset_get_length(dataset);
        ck_assert_uint_eq(longer % 7, 0); /* never a part of a commit */
        ck_assert_uint_ge(longer, length);
        for (uint64_t index = length; index < longer; index++)
            for (int field = 0; field < FIELDS; field++)
                expect_value(dataset, field, index);
        length = longer;
    }
    lx_dataset_close(dataset);
    return NULL;
}

START_TEST(readers_see_complete_commits)
{
    char *scratch = scratch_make();
    atomic_bool stop = false;
    pthread_t threads[2];
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, watch, &stop), 0);
    for (int i = 0; i < (SANITIZED ? 100 : 400); i++) {
        records_append(writer, i % 100 == 99 ? 3500 : 7);
        commit(writer);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/commit", a_small_commit_is_one_frame_of_updates,
          a_large_commit_writes_its_rows_to_the_tables,
          moves_small_commits_to_the_tables_at_8_mebibytes, an_empty_commit_writes_nothing,
          full_syncs_each_commit, closing_without_changes_adds_no_frame,
          a_writer_that_lost_its_lock_cannot_commit, a_writer_that_lost_its_lock_writes_nothing,
          none_syncs_on_request_and_at_close, frames_list_the_chunks_that_grew,
          removes_a_frame_that_does_not_fit, a_full_disk_for_tables_changes_nothing,
          rewrites_rows_after_a_rollback, a_failed_sync_poisons_the_writer,
          a_failed_sync_before_the_commit_poisons_the_writer, close_reports_a_failed_sync,
          readers_see_complete_commits)
