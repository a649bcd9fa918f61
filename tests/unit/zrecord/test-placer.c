/* SPDX-License-Identifier: MIT */
#include "zrecord/placer.h"

#include "records.h"

/** A placer of two fields, raw and flate, with chunks in the present directory. */
struct fixture {
    lx__file here;
    lx_executor *executor;
    lx__placer placer;
    lx__entry_rules rules[2];
};

static void set_up(struct fixture *f, bool compresses, uint64_t records, uint64_t bytes)
{
    lx_error error = LX_ERROR_INIT;
    memset(f, 0, sizeof *f);
    f->rules[0] = (lx__entry_rules){.uuid = "uuid", .field = 0, .align = 4, .size = LX_NONE};
    f->rules[1] = (lx__entry_rules){.uuid = "uuid", .field = 5, .align = 8, .size = LX_NONE,
                                    .compressible = compresses, .flate = compresses};
    unit_ok(lx__directory_open(&f->here, LX__HERE, ".", &error));
    unit_ok(lx_executor_open(NULL, &f->executor, &error));
    lx__placer_init(&f->placer, 6);
    f->placer.chunks = (lx__chunk_files){
        .directory = &f->here, .records_limit = records, .bytes_limit = bytes};
    lx__placer_start(&f->placer, f->executor, f->rules, 2);
}

static void tear_down(struct fixture *f)
{
    lx__placer_close(&f->placer);
    lx_executor_close(f->executor);
    lx__file_close(&f->here);
}

/** The value of field @p field in record @p record: sizes of all kinds, the flate one dull. */
static uint64_t value_of(size_t field, uint64_t record, uint8_t value[VALUE_MAX])
{
    uint64_t size = mix(record * 2 + field) % 300;
    for (uint64_t i = 0; i < size; i++)
        value[i] = field == 1 ? (uint8_t)(record + i / 50) : (uint8_t)mix(record * 512 + i);
    return size % 7 == 0 ? LX_NONE : size;
}

static lx__stage *make_stage(const struct fixture *f, uint64_t first, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t value[VALUE_MAX];
    lx__stage *stage = lx__stage_new();
    lx__stage_clear(stage);
    for (uint64_t record = first; record < first + count; record++) {
        unit_ok(lx__stage_reserve(stage, 2, 2 * (VALUE_MAX + 8), &error));
        for (size_t field = 0; field < 2; field++) {
            uint64_t size = value_of(field, record, value);
            lx__stage_add(stage, &f->rules[field], value, size);
        }
        stage->records++;
    }
    return stage;
}

/** Every entry of a placed stage must lead to the right bytes in a chunk. */
static void expect_stage(const struct fixture *f, const lx__stage *stage, uint64_t first)
{
    uint8_t value[VALUE_MAX], back[VALUE_MAX];
    char name[32];
    lx__inflater *inflater = lx__inflater_new();
    for (size_t i = 0; i < stage->count; i++) {
        const lx__entry_rules *rules = &f->rules[i % 2];
        const lx__entry *entry = &stage->values[i].entry;
        lx_error error = LX_ERROR_INIT;
        uint64_t size = value_of(i % 2, first + i / 2, value);
        unit_ok(lx__entry_check(entry, rules, &error));
        ck_assert(lx__entry_is_missing(entry) == (size == LX_NONE));
        ck_assert(lx__entry_is_inline(entry) == (size <= 8));
        if (size == LX_NONE || size <= 8)
            continue;
        ck_assert_uint_eq(entry->logical, size);
        snprintf(name, sizeof name, "%u.zr", entry->chunk);
        size_t length;
        uint8_t *bytes = file_bytes(name, &length);
        ck_assert_uint_le(entry->offset + entry->physical, length);
        ck_assert_uint_eq(lx__entry_crc(entry, rules, bytes + entry->offset), entry->crc);
        if (lx__entry_is_compressed(entry)) {
            ck_assert(lx__inflate(inflater, bytes + entry->offset, entry->physical, back, size));
            ck_assert_mem_eq(back, value, size);
        } else {
            ck_assert_mem_eq(bytes + entry->offset, value, size);
        }
        free(bytes);
    }
    lx__inflater_free(inflater);
}

/** Whatever is between payloads must be zeros: sums of all bytes and of all payloads agree. */
static void expect_gaps_of_zeros(const lx__stage *stage)
{
    size_t length;
    uint8_t *bytes = file_bytes("0.zr", &length);
    for (size_t i = 0; i < stage->count; i++) {
        const lx__entry *entry = &stage->values[i].entry;
        if (!lx__entry_is_inline(entry) && !lx__entry_is_missing(entry))
            memset(bytes + entry->offset, 0, entry->physical);
    }
    for (size_t i = 0; i < length; i++)
        ck_assert_uint_eq(bytes[i], 0);
    free(bytes);
}

START_TEST(values_lie_where_their_entries_say)
{
    char *scratch = scratch_make();
    static const uint64_t limits[][2] = {{1u << 20, 1u << 30}, {7, 1u << 30}, {1u << 20, 4096}, {5, 700}};
    for (size_t i = 0; i < 4; i++) {
        for (int compresses = 0; compresses < 2; compresses++) {
            lx_error error = LX_ERROR_INIT;
            struct fixture f;
            ck_assert_int_eq(mkdir("d", 0777), 0);
            ck_assert_int_eq(chdir("d"), 0);
            set_up(&f, compresses, limits[i][0], limits[i][1]);
            for (uint64_t first = 0; first < 300; first += 100) {
                lx__stage *stage = make_stage(&f, first, 100);
                unit_ok(lx__placer_place(&f.placer, stage, &error));
                ck_assert(stage->placed);
                expect_stage(&f, stage, first);
                if (i == 0 && first == 0)
                    expect_gaps_of_zeros(stage);
                lx__stage_free(stage);
            }
            for (size_t c = 0; c < f.placer.chunks.count; c++) {
                ck_assert_uint_le(f.placer.chunks.list[c].now.records, limits[i][0]);
                ck_assert_uint_le(f.placer.chunks.list[c].now.bytes, limits[i][1]);
            }
            tear_down(&f);
            ck_assert_int_eq(chdir(".."), 0);
            nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(stages_are_placed_in_their_order)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__stage *stages[20];
    uint64_t end = 0;
    set_up(&f, true, 1u << 20, 1u << 30);
    for (unsigned i = 0; i < 20; i++) {
        stages[i] = make_stage(&f, i * 50, 50);
        unit_ok(lx__placer_submit(&f.placer, stages[i], &error));
    }
    for (unsigned i = 20; i-- > 0;)
        unit_ok(lx__placer_wait(&f.placer, stages[i], &error));
    lx__placer_drain(&f.placer);
    ck_assert(lx__placer_idle(&f.placer));
    for (unsigned i = 0; i < 20; i++) {
        expect_stage(&f, stages[i], i * 50);
        for (size_t v = 0; v < stages[i]->count; v++) {
            const lx__entry *entry = &stages[i]->values[v].entry;
            if (lx__entry_is_inline(entry) || lx__entry_is_missing(entry))
                continue;
            ck_assert_uint_ge(entry->offset, end);
            end = entry->offset + entry->physical;
        }
        lx__stage_free(stages[i]);
    }
    ck_assert_uint_eq(lx__chunk_files_last(&f.placer.chunks)->now.bytes, end);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(equal_records_lie_without_gaps)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint8_t value[12] = {0};
    set_up(&f, false, 1u << 20, 1u << 30);
    lx__stage *stage = lx__stage_new();
    lx__stage_clear(stage);
    unit_ok(lx__stage_reserve(stage, 200, 200 * 16, &error));
    for (int i = 0; i < 100; i++, stage->records++) {
        lx__stage_add(stage, &f.rules[0], value, sizeof value);
        lx__stage_add(stage, &f.rules[1], NULL, LX_NONE);
    }
    unit_ok(lx__placer_place(&f.placer, stage, &error));
    ck_assert_uint_eq(file_size("0.zr"), 1200);
    ck_assert_uint_eq(lx__chunk_files_last(&f.placer.chunks)->now.records, 100);
    lx__stage_free(stage);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_does_not_shrink_stays_raw)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    uint8_t noise[400], dull[400] = {0};
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)mix(i);
    set_up(&f, true, 1u << 20, 1u << 30);
    lx__stage *stage = lx__stage_new();
    lx__stage_clear(stage);
    unit_ok(lx__stage_reserve(stage, 4, 4 * 408, &error));
    lx__stage_add(stage, &f.rules[0], dull, sizeof dull); /* a raw field is never compressed */
    lx__stage_add(stage, &f.rules[1], noise, sizeof noise);
    lx__stage_add(stage, &f.rules[0], NULL, LX_NONE);
    lx__stage_add(stage, &f.rules[1], dull, sizeof dull);
    stage->records = 2;
    unit_ok(lx__placer_place(&f.placer, stage, &error));
    ck_assert_uint_eq(stage->values[0].entry.physical, 400);
    ck_assert_uint_eq(stage->values[1].entry.physical, 400);
    ck_assert_uint_lt(stage->values[3].entry.physical, 50);
    lx__stage_free(stage);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_stage_without_payloads_makes_no_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, true, 10, 4096);
    lx__stage *stage = lx__stage_new();
    lx__stage_clear(stage);
    unit_ok(lx__stage_reserve(stage, 2, 0, &error));
    lx__stage_add(stage, &f.rules[0], "8 bytes", 8);
    lx__stage_add(stage, &f.rules[1], NULL, 0);
    stage->records = 1;
    unit_ok(lx__placer_place(&f.placer, stage, &error));
    ck_assert_uint_eq(directory_count("."), 0);
    ck_assert_uint_ne(stage->values[0].entry.crc, 0);
    ck_assert_uint_ne(stage->values[1].entry.crc, 0);
    lx__stage_free(stage);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_first_failure_ends_it_until_it_is_forgotten)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__stage *stages[6];
    lx_status submitted = LX_OK;
    set_up(&f, false, 1u << 20, 1u << 30);
    for (unsigned i = 0; i < 6; i++)
        stages[i] = make_stage(&f, i * 50, 50); /* about 7 KB of payload each, and as much again */
    limit_files(20000);
    for (unsigned i = 0; i < 6 && submitted == LX_OK; i++)
        submitted = lx__placer_submit(&f.placer, stages[i], &error);
    lx__placer_drain(&f.placer);
    unlimit_files();
    unit_ok(submitted);
    unit_ok(lx__placer_wait(&f.placer, stages[0], &error));
    unsigned placed = 0;
    while (placed < 6 && stages[placed]->placed)
        placed++;
    ck_assert_uint_ge(placed, 1);
    ck_assert_uint_lt(placed, 6);
    for (unsigned i = placed; i < 6; i++) {
        lx_status status = lx__placer_wait(&f.placer, stages[i], &error);
        expect_error(status, LX_ERR_IO, "write", "0.zr");
        ck_assert(!stages[i]->placed); /* also those that would have had room */
    }
    lx__placer_reset(&f.placer);
    unit_ok(lx__chunk_files_rollback(&f.placer.chunks, &error));
    unit_ok(lx__placer_submit(&f.placer, stages[5], &error));
    unit_ok(lx__placer_wait(&f.placer, stages[5], &error));
    expect_stage(&f, stages[5], 250);
    lx__placer_drain(&f.placer);
    for (unsigned i = 0; i < 6; i++)
        lx__stage_free(stages[i]);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_closed_executor_is_a_failure_and_no_hang)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    set_up(&f, false, 1u << 20, 1u << 30);
    lx_executor_ref(f.executor);
    lx_executor_close(f.executor);
    lx__stage *stage = make_stage(&f, 0, 50);
    unit_fails(lx__placer_submit(&f.placer, stage, &error), LX_ERR_STATE);
    lx__placer_drain(&f.placer);
    ck_assert(lx__placer_idle(&f.placer));
    unit_ok(lx__placer_place(&f.placer, stage, &error)); /* by the caller it can still be done */
    expect_stage(&f, stage, 0);
    lx__stage_free(stage);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

START_TEST(output_is_written_in_pieces)
{
    /* More than a stage's worth of payloads of a field that is compressed, and does not shrink. */
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    size_t size = 700000;
    uint8_t *noise = malloc(size);
    for (size_t i = 0; i < size; i++)
        noise[i] = (uint8_t)mix(i);
    set_up(&f, true, 1u << 20, 1u << 30);
    lx__stage *stage = lx__stage_new();
    lx__stage_clear(stage);
    for (int i = 0; i < 4; i++, stage->records++) {
        unit_ok(lx__stage_reserve(stage, 2, 2 * size + 16, &error));
        lx__stage_add(stage, &f.rules[0], noise, size);
        lx__stage_add(stage, &f.rules[1], noise, size - (size_t)i);
    }
    unit_ok(lx__placer_place(&f.placer, stage, &error));
    size_t length;
    uint8_t *bytes = file_bytes("0.zr", &length);
    for (size_t i = 0; i < stage->count; i++) {
        const lx__entry *entry = &stage->values[i].entry;
        ck_assert_mem_eq(bytes + entry->offset, noise, entry->physical);
    }
    free(bytes);
    free(noise);
    lx__stage_free(stage);
    tear_down(&f);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/placer", values_lie_where_their_entries_say, stages_are_placed_in_their_order,
          equal_records_lie_without_gaps, what_does_not_shrink_stays_raw,
          a_stage_without_payloads_makes_no_chunk, the_first_failure_ends_it_until_it_is_forgotten,
          a_closed_executor_is_a_failure_and_no_hang, output_is_written_in_pieces)
