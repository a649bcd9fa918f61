/* SPDX-License-Identifier: MIT */
/* The choice of the chunk of a payload: doc/zrecord-format.md, 7.3. */
#include "zrecord/chunk/chunk.h"

#include "../records.h"

/** Chunks of at most 10 records or 1000 bytes, in the present directory. */
struct fixture {
    lx__file here;
    lx__chunk_pool pool;
    lx__chunk_files files;
};

static void set_up(struct fixture *f)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__directory_open(&f->here, LX__CWD, ".", &error));
    lx__chunk_pool_init(&f->pool);
    f->pool.directory = &f->here;
    f->pool.records_limit = 10;
    f->pool.bytes_limit = 1000;
    f->files = (lx__chunk_files){.pool = &f->pool};
}

static void tear_down(struct fixture *f)
{
    lx__chunk_files_close(&f->files);
    lx__chunk_pool_free(&f->pool);
    lx__file_close(&f->here);
}

/** Lists dirty files in a sync list, and syncs them. */
static lx_status sync_files(struct fixture *f, lx_error *error)
{
    lx__sync_list list = {0};
    lx_status status = lx__chunk_files_list_syncs(&f->files, &list, error);
    if (status == LX_OK)
        status = lx__sync_list_run(&list, error);
    lx__sync_list_free(&list);
    return status;
}

/** A frame that names all chunks with their present ends. */
static void commit_files(struct fixture *f)
{
    lx__chunk_item items[1000];
    for (size_t i = 0; i < f->files.count; i++)
        items[i] = f->files.list[i].now;
    lx__chunk_files_committed(&f->files, items, f->files.count);
}

/** Writes a payload to its chunk, as a flush task does. */
static uint32_t put(struct fixture *f, uint64_t size, uint32_t align, uint64_t *start)
{
    lx_error error = LX_ERROR_INIT;
    lx__chunk_file *chunk;
    static uint8_t payload[5000];
    unit_ok(lx__chunk_files_room(&f->files, size, align, &chunk, start, &error));
    ck_assert_uint_eq(*start % align, 0);
    ck_assert_uint_ge(*start, chunk->now.bytes);
    unit_ok(lx__file_write(&chunk->file, payload, size, *start, &error));
    chunk->now.bytes = *start + size;
    chunk->now.records++;
    chunk->dirty = true;
    return chunk->now.id;
}

START_TEST(writes_payloads_in_sequence)
{
    char *scratch = scratch_make();
    struct fixture f;
    uint64_t start;
    set_up(&f);
    ck_assert_uint_eq(put(&f, 12, 4, &start), 0);
    ck_assert_uint_eq(start, 0);
    ck_assert_uint_eq(put(&f, 8, 8, &start), 0);
    ck_assert_uint_eq(start, 16);
    ck_assert_uint_eq(put(&f, 12, 4, &start), 0);
    ck_assert_uint_eq(start, 24);
    ck_assert_uint_eq(file_size("0.zr"), 36);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_chunk_is_full_by_records)
{
    char *scratch = scratch_make();
    struct fixture f;
    uint64_t start;
    set_up(&f);
    for (unsigned i = 0; i < 35; i++)
        ck_assert_uint_eq(put(&f, 9, 1, &start), i / 10);
    ck_assert_uint_eq(lx__chunk_pool_next(&f.pool), 4);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_chunk_is_full_by_bytes)
{
    char *scratch = scratch_make();
    struct fixture f;
    uint64_t start;
    set_up(&f);
    ck_assert_uint_eq(put(&f, 600, 1, &start), 0);
    ck_assert_uint_eq(put(&f, 401, 1, &start), 1); /* would end above the limit */
    ck_assert_uint_eq(put(&f, 599, 1, &start), 1); /* ends at the limit */
    ck_assert_uint_eq(put(&f, 1, 1, &start), 2);
    ck_assert_uint_eq(put(&f, 999, 1, &start), 2);
    ck_assert_uint_eq(put(&f, 993, 1, &start), 3);
    ck_assert_uint_eq(put(&f, 1, 8, &start), 4); /* the gap does not fit */
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_payload_above_the_limit_has_a_chunk_of_its_own)
{
    char *scratch = scratch_make();
    struct fixture f;
    uint64_t start;
    set_up(&f);
    ck_assert_uint_eq(put(&f, 10, 1, &start), 0);
    ck_assert_uint_eq(put(&f, 3000, 1, &start), 1);
    ck_assert_uint_eq(start, 0);
    ck_assert_uint_eq(put(&f, 3000, 1, &start), 2);
    ck_assert_uint_eq(put(&f, 10, 1, &start), 3);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_the_chunks_with_space)
{
    char *scratch = scratch_make();
    struct fixture f;
    uint64_t start, bytes, records;
    set_up(&f);
    lx__chunk_files_left(&f.files, &bytes, &records);
    ck_assert(bytes == 0 && records == 0);
    ck_assert(!lx__chunk_files_fits(&f.files, 1, 1));
    put(&f, 100, 1, &start);
    lx__chunk_files_left(&f.files, &bytes, &records);
    ck_assert(bytes == 900 && records == 9);
    ck_assert(lx__chunk_files_fits(&f.files, 900, 1));
    ck_assert(!lx__chunk_files_fits(&f.files, 901, 1));
    ck_assert(!lx__chunk_files_fits(&f.files, 900, 8));
    put(&f, 900, 1, &start);
    lx__chunk_files_left(&f.files, &bytes, &records);
    ck_assert(bytes == 0 && records == 0);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_frame_lists_the_chunks_that_grew)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint64_t start;
    set_up(&f);
    for (unsigned i = 0; i < 25; i++)
        put(&f, 9, 1, &start);
    ck_assert_uint_eq(f.files.count, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert(lx__chunk_file_has_grown(&f.files.list[i]));
    unit_ok(sync_files(&f, &error));
    commit_files(&f);
    ck_assert_uint_eq(f.files.count, 1); /* full chunks are released */
    ck_assert(!lx__chunk_file_has_grown(&f.files.list[0]));
    ck_assert_uint_eq(put(&f, 9, 1, &start), 2);
    ck_assert(lx__chunk_file_has_grown(&f.files.list[0]));
    ck_assert_uint_eq(f.files.list[0].committed.records, 5);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_rollback_returns_to_the_last_frame)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint64_t start;
    set_up(&f);
    for (unsigned i = 0; i < 5; i++)
        put(&f, 9, 1, &start);
    commit_files(&f);
    for (unsigned i = 0; i < 25; i++)
        put(&f, 9, 1, &start);
    ck_assert(file_exists("1.zr") && file_exists("2.zr"));
    unit_ok(lx__chunk_files_rollback(&f.files, &error));
    ck_assert(!file_exists("1.zr") && !file_exists("2.zr"));
    ck_assert_uint_eq(put(&f, 9, 1, &start), 0);
    ck_assert_uint_eq(start, 45);
    for (unsigned i = 6; i < 10; i++)
        put(&f, 9, 1, &start);
    ck_assert_uint_eq(put(&f, 9, 1, &start), 3); /* ids are not reused */
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(writes_many_chunks_with_few_descriptors)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint64_t start;
    set_up(&f);
    limit_descriptors(40);
    /* Full chunks, and chunks without space for the next payload. */
    for (unsigned i = 0; i < 500; i++)
        ck_assert_uint_eq(put(&f, i % 2 == 0 ? 1000 : 700, 1, &start), i);
    unit_ok(sync_files(&f, &error));
    commit_files(&f);
    put(&f, 700, 1, &start);
    unit_ok(lx__chunk_files_rollback(&f.files, &error));
    for (unsigned i = 0; i < 100; i++)
        put(&f, 1000, 1, &start);
    unit_ok(lx__chunk_files_rollback(&f.files, &error));
    ck_assert_uint_eq(directory_count("."), 500);
    ck_assert_uint_eq(put(&f, 300, 1, &start), 499); /* the last one, opened again */
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reuses_a_committed_chunk)
{
    char *scratch = scratch_make();
    struct fixture f;
    uint64_t start;
    static const lx__chunk_item item = {7, 3, 50};
    static const uint8_t bytes[60];
    set_up(&f);
    f.pool.next_id = 9;
    file_put("7.zr", bytes, 60); /* longer than its committed end */
    lx__chunk_pool_offer(&f.pool, &item);
    ck_assert_uint_eq(put(&f, 9, 4, &start), 7);
    ck_assert_uint_eq(start, 52);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(put(&f, 9, 4, &start), 7);
    ck_assert_uint_eq(put(&f, 9, 4, &start), 9);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

/** The chunk must be found shorter than its committed end. */
static void expect_not_taken_up(struct fixture *f, const char *said)
{
    static const lx__chunk_item item = {7, 3, 50};
    lx_error error = LX_ERROR_INIT;
    lx__chunk_file *chunk;
    uint64_t start;
    lx__chunk_pool_offer(&f->pool, &item);
    lx_status status = lx__chunk_files_room(&f->files, 9, 1, &chunk, &start, &error);
    expect_error(status, LX_ERR_CORRUPT, said, "7.zr");
    ck_assert_uint_eq(f->files.count, 0);
}

START_TEST(rejects_a_truncated_committed_chunk)
{
    char *scratch = scratch_make();
    struct fixture f;
    uint64_t start;
    static const lx__chunk_item empty = {8, 0, 0};
    static const uint8_t bytes[60];
    set_up(&f);
    expect_not_taken_up(&f, "");
    file_put("7.zr", bytes, 49);
    expect_not_taken_up(&f, "committed");
    for (enum disguise what = 0; what < DISGUISES; what++) {
        file_disguise("7.zr", what);
        expect_not_taken_up(&f, "");
        file_restore("7.zr");
    }
    ck_assert_uint_eq(file_size("7.zr"), 49);
    f.pool.directory_dirty = false;
    lx__chunk_pool_offer(&f.pool, &empty); /* it may be absent */
    ck_assert_uint_eq(put(&f, 9, 1, &start), 8);
    ck_assert(f.pool.directory_dirty); /* and is created */
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_the_last_chunk_id)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint64_t start;
    set_up(&f);
    f.pool.next_id = LX__CHUNK_ID_MAX;
    ck_assert_uint_eq(put(&f, 1000, 1, &start), LX__CHUNK_ID_MAX);
    lx__chunk_file *chunk;
    unit_fails(lx__chunk_files_room(&f.files, 9, 1, &chunk, &start, &error), LX_ERR_LIMIT);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_overwrite_existing_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint64_t start;
    lx__chunk_file *chunk;
    set_up(&f);
    file_put("0.zr", "mine", 4);
    unit_fails(lx__chunk_files_room(&f.files, 9, 1, &chunk, &start, &error), LX_ERR_EXISTS);
    ck_assert_uint_eq(file_size("0.zr"), 4);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_sync_covers_all_dirty_chunks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint64_t start;
    set_up(&f);
    for (unsigned i = 0; i < 25; i++)
        put(&f, 9, 1, &start);
    unsigned before = atomic_load(&syncs);
    unit_ok(sync_files(&f, &error));
    ck_assert_uint_eq(atomic_load(&syncs) - before, 4); /* three chunks, and the directory */
    unit_ok(sync_files(&f, &error));
    ck_assert_uint_eq(atomic_load(&syncs) - before, 4);
    put(&f, 9, 1, &start);
    atomic_store(&sync_fails_at, 1);
    unit_fails(sync_files(&f, &error), LX_ERR_IO);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(files_of_a_sync_list_stay_open_until_it_runs)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__sync_list list = {0};
    uint64_t start;
    set_up(&f);
    for (unsigned i = 0; i < 10; i++)
        put(&f, 1000, 1, &start); /* full ones, still open */
    unit_ok(lx__chunk_files_list_syncs(&f.files, &list, &error));
    for (unsigned i = 0; i < 60; i++)
        put(&f, 1000, 1, &start);
    unsigned open = 0;
    for (size_t i = 0; i < f.files.count; i++)
        open += f.files.list[i].file.fd != -1;
    for (size_t i = 0; i < 10; i++)
        ck_assert_int_ne(f.files.list[i].file.fd, -1);
    ck_assert_uint_le(open, 10 + 20); /* but the others are closed as they fill up */
    unit_ok(lx__sync_list_run(&list, &error));
    lx__chunk_files_release(&f.files);
    put(&f, 1000, 1, &start);
    for (size_t i = 0; i < 10; i++)
        ck_assert_int_eq(f.files.list[i].file.fd, -1);
    lx__sync_list_free(&list);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/chunk", writes_payloads_in_sequence, a_chunk_is_full_by_records,
          a_chunk_is_full_by_bytes, a_payload_above_the_limit_has_a_chunk_of_its_own,
          reports_the_chunks_with_space, a_frame_lists_the_chunks_that_grew,
          a_rollback_returns_to_the_last_frame, writes_many_chunks_with_few_descriptors,
          reuses_a_committed_chunk, rejects_a_truncated_committed_chunk, reports_the_last_chunk_id,
          does_not_overwrite_existing_files, a_sync_covers_all_dirty_chunks,
          files_of_a_sync_list_stay_open_until_it_runs)
