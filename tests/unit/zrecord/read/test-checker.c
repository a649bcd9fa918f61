/* SPDX-License-Identifier: MIT */
/* A checker verifies whole values, whatever the options of the dataset. */
#include "zrecord/read/checker.h"

#include "../../scarce.h"
#include "../harm.h"
#include "zrecord/read/refresh.h"

static lx__checker checker_of(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_NEVER, false, &dataset, &error));
    lx__checker checker = {.snapshot = lx__dataset_pin(dataset)};
    lx_dataset_close(dataset);
    return checker;
}

static void end(lx__checker *checker)
{
    lx__snapshot *snapshot = checker->snapshot;
    lx__checker_end(checker);
    lx__checker_end(checker); /* calling it twice has no effect */
    ck_assert_ptr_eq(checker->snapshot, snapshot);
    ck_assert_ptr_null(checker->buffer);
    lx__snapshot_unref(snapshot);
}

START_TEST(valid_values_pass_and_report_their_stored_bytes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 5);
    lx__checker checker = checker_of("d");
    for (uint64_t index = 0; index < 25; index++) {
        for (int field = 0; field < FIELDS; field++) {
            uint8_t value[VALUE_MAX];
            uint64_t size = record_value(field, index, value), bytes = 99;
            unit_ok(lx__checker_check(&checker, (size_t)field, index, &bytes, &error));
            if (size == LX_NONE)
                ck_assert_uint_eq(bytes, 0);
            else if (field != WAVE && field != CAPTION)
                ck_assert_uint_eq(bytes, size);
            else
                ck_assert_uint_le(bytes, size);
        }
    }
    end(&checker);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_invalid_values_with_their_location)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 3);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t bytes = 99;
        directory_copy("whole", "d");
        harm_entry("d", "image", 7, &harms[i]);
        lx__checker checker = checker_of("d");
        lx_status status = lx__checker_check(&checker, IMAGE, 7, &bytes, &error);
        ck_assert_uint_eq(bytes, 0);
        ck_assert_uint_eq(error.record, 7);
        expect_error(status, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
        ck_assert_int_eq(lx__checker_check(&checker, IMAGE, 7, &bytes, NULL), LX_ERR_CORRUPT);
        end(&checker);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_stream_of_another_value_as_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t bytes;
    records_make("d", 20, 0);
    lx__entry entry = entry_of("d", "wave", 8);
    file_patch("d/chunk/0.zr", entry.offset, "\7", 1);
    entry_reseal("d", "wave", 8);
    lx__checker checker = checker_of("d");
    lx_status status = lx__checker_check(&checker, WAVE, 8, &bytes, &error);
    ck_assert_uint_eq(bytes, entry.physical);
    expect_error(status, LX_ERR_CORRUPT, "flate stream", "chunk/0.zr");
    end(&checker);
    scratch_remove(scratch);
}
END_TEST

/** Bytes that were written as such are damaged texts once meta.json calls them texts. */
START_TEST(texts_and_json_with_invalid_content_are_damage)
{
    static const struct {
        const char *dtype, *said;
        lx_compression compression;
    } cases[] = {{"\"str\"", "UTF-8 at byte 20", LX_COMPRESSION_RAW},
                 {"\"str\"", "UTF-8 at byte 20", LX_COMPRESSION_FLATE},
                 {"\"json\"", "JSON: expected", LX_COMPRESSION_FLATE}};
    static const char good[] = "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *scratch = scratch_make(), bad[sizeof good];
        lx_error error = LX_ERROR_INIT;
        lx_writer *writer;
        uint64_t bytes;
        lx_schema *schema = lx_schema_new();
        unit_ok(lx_schema_add_field(schema, "x", LX_BYTES, NULL, 0, cases[i].compression, &error));
        unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
        lx_schema_free(schema);
        memcpy(bad, good, sizeof good);
        bad[20] = '\xff';
        const lx_value values[] = {{good, strlen(good)}, {bad, strlen(good)}, {NULL, LX_NONE}};
        for (size_t k = 0; k < 3; k++)
            unit_ok(lx_writer_append(writer, &values[k], 1, NULL, &error));
        close_writer(writer);
        file_edit("d/meta.json", "\"bytes\"", cases[i].dtype);
        lx__checker checker = checker_of("d");
        unit_ok(lx__checker_check(&checker, 0, 0, &bytes, &error));
        unit_ok(lx__checker_check(&checker, 0, 2, &bytes, &error));
        lx_status status = lx__checker_check(&checker, 0, 1, &bytes, &error);
        ck_assert_str_eq(error.field, "x");
        ck_assert_uint_eq(error.record, 1);
        expect_error(status, LX_ERR_CORRUPT, cases[i].said, "d/chunk/0.zr");
        end(&checker);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_failed_allocation_is_not_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t bytes;
    records_make("d", 20, 0);
    lx__checker checker = checker_of("d");
    for (uint64_t index = 0; index < 20; index++)
        unit_ok(lx__checker_check(&checker, IMAGE, index, &bytes, &error));
    scarce_begin(0);
    unit_fails(lx__checker_check(&checker, WAVE, 8, &bytes, &error), LX_ERR_NOMEM);
    scarce_begin(1000);
    unit_ok(lx__checker_check(&checker, WAVE, 8, &bytes, &error));
    end(&checker);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/checker", valid_values_pass_and_report_their_stored_bytes,
          reports_invalid_values_with_their_location, reports_a_stream_of_another_value_as_damage,
          texts_and_json_with_invalid_content_are_damage, a_failed_allocation_is_not_damage)
