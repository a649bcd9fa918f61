/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush-task.h"

#include "../write-buffers.h"

static const lx__codec_settings levels_6[2] = {{.level = 6}, {.level = 6}},
                                levels_1[2] = {{.level = 1}, {.level = 1}};

/** A flush task of two fields, raw and flate, with chunks in the present directory. */
struct fixture {
    lx__file here;
    lx__chunk_pool pool;
    lx__flush_task task;
    lx__entry_rules rules[2];
};

static void set_up(struct fixture *f, bool compresses, uint64_t records, uint64_t bytes)
{
    lx_error error = LX_ERROR_INIT;
    memset(f, 0, sizeof *f);
    buffer_rules(f->rules, compresses);
    unit_ok(lx__directory_open(&f->here, LX__CWD, ".", &error));
    lx__chunk_pool_init(&f->pool);
    f->pool.directory = &f->here;
    f->pool.records_limit = records;
    f->pool.bytes_limit = bytes;
    f->task = (lx__flush_task){.rules = f->rules,
                               .codec_settings = levels_6,
                               .compresses = compresses,
                               .chunks = {.pool = &f->pool}};
}

static void tear_down(struct fixture *f)
{
    lx__flush_task_close(&f->task);
    lx__chunk_pool_free(&f->pool);
    lx__file_close(&f->here);
}

/** Bytes between payloads must be zeros: the sums of all bytes and of all payloads are equal. */
static void expect_gaps_of_zeros(const lx__write_buffer *buffer)
{
    size_t length;
    uint8_t *bytes = file_bytes("0.zr", &length);
    for (size_t i = 0; i < buffer->count; i++) {
        const lx__entry *entry = &buffer->values[i].entry;
        if (lies_in_a_chunk(entry))
            memset(bytes + entry->offset, 0, entry->physical);
    }
    for (size_t i = 0; i < length; i++)
        ck_assert_uint_eq(bytes[i], 0);
    free(bytes);
}

START_TEST(entries_point_to_their_values)
{
    char *scratch = scratch_make();
    static const uint64_t limits[][2] = {
        {1u << 20, 1u << 30}, {7, 1u << 30}, {1u << 20, 4096}, {5, 700}};
    for (size_t i = 0; i < 4; i++) {
        for (int compresses = 0; compresses < 2; compresses++) {
            lx_error error = LX_ERROR_INIT;
            struct fixture f;
            ck_assert_int_eq(mkdir("d", 0777), 0);
            ck_assert_int_eq(chdir("d"), 0);
            set_up(&f, compresses, limits[i][0], limits[i][1]);
            for (uint64_t first = 0; first < 300; first += 100) {
                lx__write_buffer *buffer = make_buffer(f.rules, first, 100);
                unit_ok(lx__flush_task_write(&f.task, buffer, &error));
                expect_buffer(f.rules, buffer, first);
                if (i == 0 && first == 0)
                    expect_gaps_of_zeros(buffer);
                lx__write_buffer_free(buffer);
            }
            for (size_t c = 0; c < f.task.chunks.count; c++) {
                ck_assert_uint_le(f.task.chunks.list[c].now.records, limits[i][0]);
                ck_assert_uint_le(f.task.chunks.list[c].now.bytes, limits[i][1]);
            }
            tear_down(&f);
            ck_assert_int_eq(chdir(".."), 0);
            nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(equal_records_have_no_gaps)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint8_t value[12] = {0};
    set_up(&f, false, 1u << 20, 1u << 30);
    lx__write_buffer *buffer = new_buffer();
    for (int i = 0; i < 100; i++)
        buffer_append(buffer, f.rules, value, sizeof value, NULL, LX_NONE);
    unit_ok(lx__flush_task_write(&f.task, buffer, &error));
    ck_assert_uint_eq(file_size("0.zr"), 1200);
    ck_assert_uint_eq(lx__chunk_files_last(&f.task.chunks)->now.records, 100);
    lx__write_buffer_free(buffer);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(stores_values_that_do_not_shrink_raw)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint8_t noise[400], dull[400] = {0};
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)mix(i);
    set_up(&f, true, 1u << 20, 1u << 30);
    lx__write_buffer *buffer = new_buffer();
    /* raw is not compressed */
    buffer_append(buffer, f.rules, dull, sizeof dull, noise, sizeof noise);
    buffer_append(buffer, f.rules, NULL, LX_NONE, dull, sizeof dull);
    unit_ok(lx__flush_task_write(&f.task, buffer, &error));
    ck_assert_uint_eq(buffer->values[0].entry.physical, 400);
    ck_assert_uint_eq(buffer->values[1].entry.physical, 400);
    ck_assert_uint_lt(buffer->values[3].entry.physical, 50);
    lx__write_buffer_free(buffer);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_buffer_without_payloads_makes_no_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, true, 10, 4096);
    lx__write_buffer *buffer = new_buffer();
    buffer_append(buffer, f.rules, "8 bytes", 8, NULL, 0);
    unit_ok(lx__flush_task_write(&f.task, buffer, &error));
    ck_assert_uint_eq(directory_count("."), 0);
    ck_assert_uint_eq(buffer->chunk_count, 0);
    ck_assert_uint_ne(buffer->values[0].entry.crc, 0);
    ck_assert_uint_ne(buffer->values[1].entry.crc, 0);
    lx__write_buffer_free(buffer);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(writes_output_in_pieces)
{
    /* More than a buffer of payloads of a compressed field that are incompressible. */
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    size_t size = 700000;
    uint8_t *noise = malloc(size);
    for (size_t i = 0; i < size; i++)
        noise[i] = (uint8_t)mix(i);
    set_up(&f, true, 1u << 20, 1u << 30);
    lx__write_buffer *buffer = new_buffer();
    for (size_t i = 0; i < 4; i++)
        buffer_append(buffer, f.rules, noise, size, noise, size - i);
    unit_ok(lx__flush_task_write(&f.task, buffer, &error));
    size_t length;
    uint8_t *bytes = file_bytes("0.zr", &length);
    for (size_t i = 0; i < buffer->count; i++) {
        const lx__entry *entry = &buffer->values[i].entry;
        ck_assert_mem_eq(bytes + entry->offset, noise, entry->physical);
    }
    free(bytes);
    free(noise);
    lx__write_buffer_free(buffer);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(each_flush_task_has_its_own_chunks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint32_t last[2] = {UINT32_MAX, UINT32_MAX};
    bool seen[2][100] = {{false}};
    set_up(&f, true, 40, 1u << 20);
    lx__flush_task other = {.rules = f.rules,
                            .codec_settings = levels_1,
                            .compresses = true,
                            .chunks = {.pool = &f.pool}};
    for (uint64_t i = 0; i < 20; i++) {
        lx__write_buffer *buffer = make_buffer(f.rules, i * 30, 30);
        unit_ok(lx__flush_task_write(i % 2 == 0 ? &f.task : &other, buffer, &error));
        expect_buffer(f.rules, buffer, i * 30);
        for (size_t c = 0; c < buffer->chunk_count; c++) {
            uint32_t id = buffer->chunks[c].id;
            ck_assert_uint_lt(id, 100);
            ck_assert(!seen[1 - i % 2][id]); /* never the chunk of the other task */
            ck_assert(last[i % 2] == UINT32_MAX || id >= last[i % 2]);
            seen[i % 2][id] = true;
            last[i % 2] = id;
        }
        lx__write_buffer_free(buffer);
    }
    ck_assert_uint_eq(lx__chunk_pool_next(&f.pool), directory_count(".")); /* no id was skipped */
    lx__flush_task_close(&other);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_the_used_bytes_of_each_chunk)
{
    char *scratch = scratch_make();
    static const bool both[] = {false, true};
    for (int k = 0; k < 2; k++) {
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        uint8_t value[100] = {0};
        uint64_t records = 0;
        ck_assert_int_eq(mkdir("d", 0777), 0);
        ck_assert_int_eq(chdir("d"), 0);
        set_up(&f, both[k], 7, 1u << 20);
        for (int i = 0; i < 10; i++) {
            lx__write_buffer *buffer = new_buffer();
            for (int v = 0; v < 4; v++)
                buffer_append(buffer, f.rules, value, sizeof value, NULL, LX_NONE);
            unit_ok(lx__flush_task_write(&f.task, buffer, &error));
            records += 4;
            const lx__chunk_item *end = &buffer->chunks[buffer->chunk_count - 1];
            ck_assert_uint_eq(end->id, (records - 1) / 7);
            ck_assert_uint_eq(end->records, (records - 1) % 7 + 1);
            ck_assert_uint_eq(end->bytes, 100 * end->records);
            if (buffer->chunk_count == 2) { /* it continued in another chunk: this one is full */
                ck_assert_uint_eq(buffer->chunks[0].id + 1, end->id);
                ck_assert_uint_eq(buffer->chunks[0].records, 7);
            } else {
                ck_assert_uint_eq(buffer->chunk_count, 1);
            }
            lx__write_buffer_free(buffer);
        }
        tear_down(&f);
        ck_assert_int_eq(chdir(".."), 0);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(fills_up_partly_filled_chunks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    static const uint8_t bytes[500];
    static const lx__chunk_item left[] = {{3, 2, 500}, {5, 1, 100}};
    set_up(&f, false, 10, 4096);
    f.pool.next_id = 9;
    file_put("3.zr", bytes, 500);
    file_put("5.zr", bytes, 120); /* with bytes that are not committed */
    for (size_t i = 0; i < 2; i++)
        lx__chunk_pool_offer(&f.pool, &left[i]);
    lx__flush_task other = {
        .rules = f.rules, .codec_settings = levels_6, .chunks = {.pool = &f.pool}};
    lx__flush_task *tasks[] = {&f.task, &other};
    bool used[10] = {false};
    for (size_t i = 0; i < 2; i++) {
        lx__write_buffer *buffer = new_buffer();
        buffer_append(buffer, f.rules, bytes, 50, NULL, LX_NONE);
        unit_ok(lx__flush_task_write(tasks[i], buffer, &error));
        ck_assert_uint_eq(buffer->chunk_count, 1);
        ck_assert_uint_lt(buffer->chunks[0].id, 9);
        const lx__chunk_item *before = &left[buffer->chunks[0].id == 5];
        ck_assert_uint_eq(buffer->values[0].entry.offset, before->bytes);
        ck_assert_uint_eq(buffer->chunks[0].bytes, before->bytes + 50);
        ck_assert_uint_eq(buffer->chunks[0].records, before->records + 1);
        used[buffer->chunks[0].id] = true;
        lx__write_buffer_free(buffer);
    }
    ck_assert(used[3] && used[5]);
    ck_assert_uint_eq(lx__chunk_pool_next(&f.pool), 9);
    lx__flush_task_close(&other);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_compress_stored_values_again)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint8_t dull[4000] = {0}, packed[4000], back[4000];
    lx__deflater *deflater = lx__deflater_new(&lx__flate, 6);
    size_t size = lx__deflate(deflater, dull, sizeof dull, packed, sizeof packed);
    lx__deflater_free(deflater);
    set_up(&f, true, 1u << 20, 1u << 30);
    lx__write_buffer *buffer = new_buffer();
    unit_ok(lx__write_buffer_reserve(
        buffer, 2, lx__write_buffer_room(&f.rules[1], 2 * sizeof dull + 8), &error));
    lx__write_buffer_add_operation(buffer, &(lx__operation){.kind = LX__MODIFY, .values = 2});
    lx__write_buffer_add_stored(buffer, 1, &f.rules[1], packed, (uint32_t)size, sizeof dull);
    lx__write_buffer_add_stored(buffer, 1, &f.rules[1], dull, sizeof dull, sizeof dull);
    unit_ok(lx__flush_task_write(&f.task, buffer, &error));
    const lx__entry *first = &buffer->values[0].entry, *second = &buffer->values[1].entry;
    size_t length;
    uint8_t *bytes = file_bytes("0.zr", &length);
    ck_assert_uint_eq(first->physical, size);
    ck_assert_uint_eq(first->logical, sizeof dull);
    ck_assert_uint_eq(second->physical, sizeof dull); /* although it is compressible */
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    ck_assert(lx__inflate(inflater, bytes + first->offset, first->physical, back, sizeof back));
    lx__inflater_free(inflater);
    ck_assert_mem_eq(back, dull, sizeof dull);
    ck_assert_mem_eq(bytes + second->offset, dull, sizeof dull);
    for (int i = 0; i < 2; i++) {
        const lx__entry *entry = &buffer->values[i].entry;
        ck_assert_uint_eq(lx__entry_crc(entry, &f.rules[1], bytes + entry->offset), entry->crc);
    }
    free(bytes);
    lx__write_buffer_free(buffer);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failure_returns_to_the_committed_bytes)
{
    char *scratch = scratch_make();
    for (int compresses = 0; compresses < 2; compresses++) {
        lx_error error = LX_ERROR_INIT;
        struct fixture f;
        ck_assert_int_eq(mkdir("d", 0777), 0);
        ck_assert_int_eq(chdir("d"), 0);
        set_up(&f, compresses, 1000, 60000);
        lx__write_buffer *first = make_buffer(f.rules, 0, 50),
                         *large = make_buffer(f.rules, 50, 2000);
        unit_ok(lx__flush_task_write(&f.task, first, &error));
        lx__chunk_item committed = first->chunks[0];
        lx__chunk_files_committed(&f.task.chunks, &committed, 1);
        limit_files(40000);
        lx_status status = lx__flush_task_write(&f.task, large, &error);
        unlimit_files();
        expect_error(status, LX_ERR_IO, "", "0.zr");
        unit_ok(lx__chunk_files_rollback(&f.task.chunks, &error));
        ck_assert_uint_eq(directory_count("."), 1);
        lx__write_buffer_free(large);
        large = make_buffer(f.rules, 50, 60);
        unit_ok(lx__flush_task_write(&f.task, large, &error));
        ck_assert_uint_eq(large->chunks[0].id, 0);
        expect_buffer(f.rules, large, 50);
        expect_buffer(f.rules, first, 0); /* committed bytes are unchanged */
        for (size_t i = 0; i < large->count; i++)
            if (lies_in_a_chunk(&large->values[i].entry))
                ck_assert_uint_ge(large->values[i].entry.offset, committed.bytes);
        lx__write_buffer_free(first);
        lx__write_buffer_free(large);
        tear_down(&f);
        ck_assert_int_eq(chdir(".."), 0);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/flush-task", entries_point_to_their_values, equal_records_have_no_gaps,
          stores_values_that_do_not_shrink_raw, a_buffer_without_payloads_makes_no_chunk,
          writes_output_in_pieces, each_flush_task_has_its_own_chunks,
          reports_the_used_bytes_of_each_chunk, fills_up_partly_filled_chunks,
          does_not_compress_stored_values_again, a_failure_returns_to_the_committed_bytes)
