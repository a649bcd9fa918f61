/* SPDX-License-Identifier: MIT */
#include "zrecord/lane.h"

#include "stages.h"

/** A lane of two fields, raw and flate, with chunks in the present directory. */
struct fixture {
    lx__file here;
    lx__chunk_pool pool;
    lx__lane lane;
    lx__entry_rules rules[2];
};

static void set_up(struct fixture *f, bool compresses, uint64_t records, uint64_t bytes)
{
    lx_error error = LX_ERROR_INIT;
    memset(f, 0, sizeof *f);
    stage_rules(f->rules, compresses);
    unit_ok(lx__directory_open(&f->here, LX__HERE, ".", &error));
    lx__chunk_pool_init(&f->pool);
    f->pool.directory = &f->here;
    f->pool.records_limit = records;
    f->pool.bytes_limit = bytes;
    f->lane = (lx__lane){
        .rules = f->rules, .level = 6, .compresses = compresses, .chunks = {.pool = &f->pool}};
}

static void tear_down(struct fixture *f)
{
    lx__lane_close(&f->lane);
    lx__chunk_pool_free(&f->pool);
    lx__file_close(&f->here);
}

/** Whatever is between payloads must be zeros: sums of all bytes and of all payloads agree. */
static void expect_gaps_of_zeros(const lx__stage *stage)
{
    size_t length;
    uint8_t *bytes = file_bytes("0.zr", &length);
    for (size_t i = 0; i < stage->count; i++) {
        const lx__entry *entry = &stage->values[i].entry;
        if (lies_in_a_chunk(entry))
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
                lx__stage *stage = stage_make(f.rules, first, 100);
                unit_ok(lx__lane_place(&f.lane, stage, &error));
                expect_stage(f.rules, stage, first);
                if (i == 0 && first == 0)
                    expect_gaps_of_zeros(stage);
                lx__stage_free(stage);
            }
            for (size_t c = 0; c < f.lane.chunks.count; c++) {
                ck_assert_uint_le(f.lane.chunks.list[c].now.records, limits[i][0]);
                ck_assert_uint_le(f.lane.chunks.list[c].now.bytes, limits[i][1]);
            }
            tear_down(&f);
            ck_assert_int_eq(chdir(".."), 0);
            nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
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
    lx__stage *stage = stage_new();
    for (int i = 0; i < 100; i++)
        stage_append(stage, f.rules, value, sizeof value, NULL, LX_NONE);
    unit_ok(lx__lane_place(&f.lane, stage, &error));
    ck_assert_uint_eq(file_size("0.zr"), 1200);
    ck_assert_uint_eq(lx__chunk_files_last(&f.lane.chunks)->now.records, 100);
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
    lx__stage *stage = stage_new();
    stage_append(stage, f.rules, dull, sizeof dull, noise, sizeof noise); /* raw is not compressed */
    stage_append(stage, f.rules, NULL, LX_NONE, dull, sizeof dull);
    unit_ok(lx__lane_place(&f.lane, stage, &error));
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
    lx__stage *stage = stage_new();
    stage_append(stage, f.rules, "8 bytes", 8, NULL, 0);
    unit_ok(lx__lane_place(&f.lane, stage, &error));
    ck_assert_uint_eq(directory_count("."), 0);
    ck_assert_uint_eq(stage->chunk_count, 0);
    ck_assert_uint_ne(stage->values[0].entry.crc, 0);
    ck_assert_uint_ne(stage->values[1].entry.crc, 0);
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
    lx__stage *stage = stage_new();
    for (size_t i = 0; i < 4; i++)
        stage_append(stage, f.rules, noise, size, noise, size - i);
    unit_ok(lx__lane_place(&f.lane, stage, &error));
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

UNIT_MAIN("zrecord/lane", values_lie_where_their_entries_say, equal_records_lie_without_gaps, what_does_not_shrink_stays_raw, a_stage_without_payloads_makes_no_chunk, output_is_written_in_pieces)
