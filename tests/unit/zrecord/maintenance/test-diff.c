/* SPDX-License-Identifier: MIT */
/* Comparisons of the values of two datasets. */
#include "../harm.h"
#include "../numbers.h"

static lx_field_diff *all_fields(lx_field_diff pairs[FIELDS])
{
    for (size_t i = 0; i < FIELDS; i++)
        pairs[i] = (lx_field_diff){.a = i, .b = i, .count = 99};
    return pairs;
}

static void diff_of(const char *a, const char *b, lx_field_diff *pairs, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *here = open_dataset(a), *there = open_dataset(b);
    unit_ok(lx_dataset_diff(here, there, pairs, count, NULL, NULL, &error));
    lx_dataset_close(here);
    lx_dataset_close(there);
}

START_TEST(equal_values_are_equal_however_they_are_stored)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_field_diff pairs[FIELDS];
    records_make("a", 5000, 100);
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 100, 1 << 20, &error));
    lx_writer *writer = records_create("b", options);
    records_append(writer, 5200);
    close_writer(writer);
    diff_of("a", "b", all_fields(pairs), FIELDS); /* the records that both have */
    for (size_t i = 0; i < FIELDS; i++)
        ck_assert_uint_eq(pairs[i].count, 0);
    diff_of("b", "a", all_fields(pairs), FIELDS);
    for (size_t i = 0; i < FIELDS; i++)
        ck_assert_uint_eq(pairs[i].count, 0);
    scratch_remove(scratch);
}
END_TEST

/** Random changes are found, and nothing else. */
START_TEST(finds_each_difference)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const size_t field = BLOB;
    for (uint64_t seed = 0; seed < 10; seed++) {
        lx_field_diff pairs[FIELDS], wanted = {0};
        char path[] = {(char)('a' + seed), '\0'};
        uint64_t length = seed == 0 ? 0 : 1 + mix(seed) % 12000, every = 1 + mix(seed + 100) % 3000;
        lx_writer *writer = records_create(path, writer_options(LX_DURABILITY_NONE));
        records_append(writer, length);
        commit(writer);
        lx_dataset *before = open_dataset(path);
        for (uint64_t i = mix(seed + 200) % every; i < length; i += every) {
            static const lx_value values[] = {{NULL, LX_NONE}, {"", 0}, {"other", 5}};
            uint8_t old[VALUE_MAX];
            lx_value value = values[mix(i) % 3];
            uint64_t size = record_value(BLOB, i, old);
            unit_ok(lx_writer_modify(writer, i, &field, &value, 1, &error));
            if (size == value.size && (size == LX_NONE || memcmp(old, value.data, size) == 0))
                continue;
            if (wanted.count < LX_DIFF_FIRST)
                wanted.first[wanted.count] = i;
            wanted.count++;
        }
        close_writer(writer);
        lx_dataset *after = open_dataset(path);
        unit_ok(lx_dataset_diff(before, after, all_fields(pairs), FIELDS, NULL, NULL, &error));
        for (size_t i = 0; i < FIELDS; i++)
            ck_assert_uint_eq(pairs[i].count, i == BLOB ? wanted.count : 0);
        ck_assert_int_eq(memcmp(pairs[BLOB].first, wanted.first, sizeof wanted.first), 0);
        lx_dataset_close(before);
        lx_dataset_close(after);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(fields_are_paired_by_the_caller)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = numbers_create("numbers", NULL);
    for (uint64_t i = 0; i < 20; i++)
        unit_ok(number_append(writer, i, NULL, &error));
    close_writer(writer);
    records_make("records", 20, 0);
    lx_dataset *a = open_dataset("numbers"), *b = open_dataset("records");
    lx_field_diff pair = {.a = 0, .b = IMAGE};
    unit_fails(lx_dataset_diff(a, b, &pair, 1, NULL, NULL, &error), LX_ERR_MISMATCH);
    pair.b = LABEL; /* int64, not uint64 */
    unit_fails(lx_dataset_diff(a, b, &pair, 1, NULL, NULL, &error), LX_ERR_MISMATCH);
    pair.b = FIELDS;
    unit_fails(lx_dataset_diff(a, b, &pair, 1, NULL, NULL, &error), LX_ERR_ARGUMENT);
    pair = (lx_field_diff){.a = CAPTION, .b = BLOB};
    unit_ok(lx_dataset_diff(b, b, &pair, 1, NULL, NULL, &error));
    ck_assert_uint_eq(pair.count, 20);
    for (uint64_t i = 0; i < LX_DIFF_FIRST; i++)
        ck_assert_uint_eq(pair.first[i], i);
    unit_ok(lx_dataset_diff(a, b, NULL, 0, NULL, NULL, &error));
    unit_refuses_null(lx_dataset_diff(NULL, b, &pair, 1, NULL, NULL, &error), "a");
    unit_refuses_null(lx_dataset_diff(a, NULL, &pair, 1, NULL, NULL, &error), "b");
    unit_refuses_null(lx_dataset_diff(a, b, NULL, 1, NULL, NULL, &error), "fields");
    lx_dataset_close(a);
    lx_dataset_close(b);
    scratch_remove(scratch);
}
END_TEST

START_TEST(damage_is_an_error)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_field_diff pairs[FIELDS];
    records_make("a", 300, 0);
    records_make("b", 300, 0);
    lx__entry entry = entry_of("b", "image", 123);
    file_flip("b/chunk/0.zr", entry.offset * 8);
    lx_dataset *a = open_dataset("a"), *b = open_dataset("b");
    lx_status status = lx_dataset_diff(a, b, all_fields(pairs), FIELDS, NULL, NULL, &error);
    ck_assert_uint_eq(error.record, 123);
    expect_error(status, LX_ERR_CORRUPT, "checksum", "b/chunk/0.zr");
    lx_dataset_close(a);
    lx_dataset_close(b);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/diff", equal_values_are_equal_however_they_are_stored, finds_each_difference,
          fields_are_paired_by_the_caller, damage_is_an_error)
