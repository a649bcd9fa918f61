/* SPDX-License-Identifier: MIT */
/* Damaged values: they raise, or read as missing and are counted; probing. */
#include "zrecord/read/damage.h"

#include "../../scarce.h"
#include "../harm.h"

#define MANY 40
/* The records with a damaged value: an image in its chunk, a label in its table, waves and captions
 * by their stored bytes, a blob. */
enum { BAD_IMAGE = 4, BAD_LABEL = 11, BAD_WAVE = 8, BAD_CAPTION = 14, BAD_BLOB = 18 };

static bool is_damaged(int field, uint64_t index)
{
    static const uint64_t bad[FIELDS] = {[IMAGE] = BAD_IMAGE,
                                         [LABEL] = BAD_LABEL,
                                         [WAVE] = BAD_WAVE,
                                         [CAPTION] = BAD_CAPTION,
                                         [BLOB] = BAD_BLOB};
    return bad[field] == index;
}

static void flip_stored(const char *field, uint64_t index)
{
    lx__entry entry = entry_of("d", field, index);
    ck_assert(!lx__entry_is_inline(&entry) && !lx__entry_is_missing(&entry));
    file_flip("d/chunk/0.zr", 8 * entry.offset + 3);
}

/** A dataset "d" of MANY records with these five damages. */
static void make_damaged(void)
{
    records_make("d", MANY - 3, 3);
    flip_stored("image", BAD_IMAGE);
    file_flip("d/label.check", 8 * (8 * BAD_LABEL + 4));
    flip_stored("wave", BAD_WAVE);
    flip_stored("caption", BAD_CAPTION);
    flip_stored("blob", BAD_BLOB);
}

static lx_dataset *open_zeros(lx_verify_policy verify)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_verify_policy(options, verify, &error));
    unit_ok(lx_dataset_options_set_damage_policy(options, LX_DAMAGE_ZEROS, &error));
    unit_ok(lx_dataset_open("d", options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

static uint64_t met(lx_dataset *dataset)
{
    lx_dataset_stats stats = {.damaged = 99, .reserved = {1}};
    lx_dataset_get_stats(dataset, &stats);
    ck_assert_uint_eq(stats.reserved[0], 0);
    return stats.damaged;
}

START_TEST(accepts_two_policies)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_damage_policy(options, LX_DAMAGE_ZEROS, &error));
    unit_ok(lx_dataset_options_set_damage_policy(options, LX_DAMAGE_RAISE, &error));
    unit_fails(lx_dataset_options_set_damage_policy(options, LX_DAMAGE_SKIP, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_options_set_damage_policy(options, (lx_damage_policy)7, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_dataset_options_set_damage_policy(NULL, LX_DAMAGE_RAISE, &error),
                      "options");
    lx_dataset_options_free(options);
}
END_TEST

START_TEST(counts_damage_that_raises)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_damaged();
    lx_dataset *dataset = open_dataset("d");
    uint8_t out[64];
    lx_slice slice;
    lx_view *view;
    const uint64_t good = BAD_IMAGE + 1, bad = BAD_IMAGE, none = MANY;
    unit_ok(lx_dataset_gather(dataset, IMAGE, &good, 1, out, 12, &error));
    ck_assert_uint_eq(met(dataset), 0);
    unit_fails(lx_dataset_gather(dataset, IMAGE, &bad, 1, out, 12, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(met(dataset), 1);
    unit_fails(lx_dataset_view(dataset, IMAGE, &bad, 1, &slice, &view, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(met(dataset), 2);
    unit_fails(lx_dataset_gather(dataset, IMAGE, &none, 1, out, 12, &error), LX_ERR_RANGE);
    ck_assert_uint_eq(met(dataset), 2);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** Every record of a dense field with one call: right, or zeros. */
static void expect_dense(lx_dataset *dataset, int field, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[MANY];
    uint8_t out[MANY * 64];
    for (uint64_t i = 0; i < MANY; i++)
        indices[i] = MANY - 1 - i;
    memset(out, 0xee, sizeof out);
    unit_ok(lx_dataset_gather(dataset, (size_t)field, indices, MANY, out, 64, &error));
    for (uint64_t i = 0; i < MANY; i++) {
        uint8_t right[VALUE_MAX] = {0};
        if (record_value(field, indices[i], right) == LX_NONE || is_damaged(field, indices[i]))
            memset(right, 0, sizeof right);
        ck_assert_msg(memcmp(out + i * 64, right, size) == 0, "field %d, record %d", field,
                      (int)indices[i]);
        ck_assert_uint_eq(out[i * 64 + 63], size == 64 ? right[63] : 0xee);
    }
    ck_assert_int_eq(error.status, LX_OK);
}

/** Every record of a field of bytes: right, or missing. */
static void expect_bytes(lx_dataset *dataset, int field)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t index = 0; index < MANY; index++) {
        uint8_t right[VALUE_MAX], got[VALUE_MAX];
        uint64_t wanted = record_value(field, index, right), size;
        bool there;
        if (is_damaged(field, index))
            wanted = LX_NONE;
        unit_ok(read_value(dataset, (size_t)field, index, got, &size, &there, &error));
        ck_assert(there == (wanted != LX_NONE));
        ck_assert_uint_eq(size, there ? wanted : 0);
        ck_assert(memcmp(got, right, size) == 0);
    }
}

START_TEST(reads_damaged_values_as_missing_and_counts_them)
{
    char *scratch = scratch_make();
    static const lx_verify_policy ways[] = {LX_VERIFY_FIRST, LX_VERIFY_ALWAYS};
    make_damaged();
    for (size_t i = 0; i < 2; i++) {
        lx_dataset *dataset = open_zeros(ways[i]);
        for (uint64_t time = 0; time < 2; time++) {
            expect_dense(dataset, IMAGE, 12);
            ck_assert_uint_eq(met(dataset), 5 * time + 1);
            expect_dense(dataset, LABEL, 8);
            expect_dense(dataset, WAVE, 64);
            ck_assert_uint_eq(met(dataset), 5 * time + 3);
            expect_bytes(dataset, CAPTION);
            expect_bytes(dataset, BLOB);
            ck_assert_uint_eq(met(dataset), 5 * time + 5);
        }
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_each_invalid_entry_as_missing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint64_t index = 7;
    records_make("whole", 20, 3);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        uint8_t out[12], zeros[12] = {0};
        uint64_t offsets[2];
        uint8_t present = 9;
        directory_copy("whole", "d");
        harm_entry("d", "image", index, &harms[i]);
        lx_dataset *dataset = open_zeros(LX_VERIFY_FIRST);
        memset(out, 0xee, sizeof out);
        unit_ok(lx_dataset_gather(dataset, IMAGE, &index, 1, out, sizeof out, &error));
        ck_assert_msg(memcmp(out, zeros, sizeof out) == 0, "%s", harms[i].name);
        unit_ok(lx_dataset_get_sizes(dataset, IMAGE, &index, 1, offsets, &present, &error));
        ck_assert_uint_eq(offsets[1], 12);
        ck_assert_uint_eq(present, 0);
        lx_slice slice = {out, 1};
        lx_view *view;
        unit_ok(lx_dataset_view(dataset, IMAGE, &index, 1, &slice, &view, &error));
        ck_assert_ptr_null(slice.data);
        ck_assert_uint_eq(slice.size, 0);
        ck_assert_uint_eq(met(dataset), 2);
        lx_view_free(view);
        lx_dataset_close(dataset);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(other_errors_still_fail)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_damaged();
    lx_dataset *dataset = open_zeros(LX_VERIFY_ALWAYS);
    const uint64_t none[] = {1, MANY}, shrunk = 2;
    uint8_t out[128];
    uint64_t offsets[3];
    lx_slice slices[2];
    lx_view *view;
    unit_fails(lx_dataset_gather(dataset, IMAGE, none, 2, out, 12, &error), LX_ERR_RANGE);
    unit_fails(lx_dataset_get_sizes(dataset, BLOB, none, 2, offsets, NULL, &error), LX_ERR_RANGE);
    unit_fails(lx_dataset_view(dataset, IMAGE, none, 2, slices, &view, &error), LX_ERR_RANGE);
    unit_fails(lx_dataset_view(dataset, WAVE, &shrunk, 1, slices, &view, &error),
               LX_ERR_UNSUPPORTED);
    const uint64_t wrong[] = {0, 3};
    unit_fails(lx_dataset_gather_bytes(dataset, IMAGE, none, 1, wrong, out, &error),
               LX_ERR_MISMATCH);
    ck_assert_uint_eq(met(dataset), 0);
    lx_dataset_close(dataset);
    /* A failed allocation is not damage, either. */
    dataset = open_zeros(LX_VERIFY_NEVER);
    scarce_begin(0);
    unit_fails(lx_dataset_gather(dataset, WAVE, &shrunk, 1, out, 64, &error), LX_ERR_NOMEM);
    scarce_begin(1000);
    unit_ok(lx_dataset_gather(dataset, WAVE, &shrunk, 1, out, 64, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_values_of_an_absent_chunk_as_missing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 3);
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    lx_dataset *dataset = open_zeros(LX_VERIFY_FIRST);
    const uint64_t indices[] = {0, 12};
    uint8_t out[24], zeros[24] = {0};
    memset(out, 0xee, sizeof out);
    unit_ok(lx_dataset_gather(dataset, IMAGE, indices, 2, out, 12, &error));
    ck_assert(memcmp(out, zeros, sizeof out) == 0);
    expect_value(dataset, LABEL, 5);
    ck_assert_uint_eq(met(dataset), 2);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** Puts a row of zeros, as a lost block has, into both tables of a field. */
static void lose_row(const char *field, uint64_t index)
{
    static const lx__entry zeros;
    entry_put("d", field, index, &zeros);
}

/** Expects that each call reports a value whose row was lost. */
static void expect_lost(lx_dataset *dataset, size_t field, const char *name, uint64_t index,
                        uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t out[64], present = 9;
    uint64_t offsets[2], number;
    const uint64_t sizes[2] = {0, size};
    lx_slice slice;
    lx_view *view;
    lx_status status = lx_dataset_gather_bytes(dataset, field, &index, 1, sizes, out, &error);
    ck_assert_str_eq(error.field, name);
    ck_assert_uint_eq(error.record, index);
    ck_assert_uint_eq(error.offset, index * LX__OFFSET_ROW);
    expect_error(status, LX_ERR_CORRUPT, "the row is zero", ".offset");
    unit_fails(lx_dataset_get_sizes(dataset, field, &index, 1, offsets, &present, &error),
               LX_ERR_CORRUPT);
    unit_fails(lx_dataset_view(dataset, field, &index, 1, &slice, &view, &error), LX_ERR_CORRUPT);
    unit_fails(lx_dataset_read_part(dataset, field, index, 0, 1, out, &number, &error),
               LX_ERR_CORRUPT);
    unit_fails(lx_dataset_digest(dataset, NULL, NULL, &number, &error), LX_ERR_CORRUPT);
    unit_ok(lx_dataset_get_present(dataset, field, &index, 1, &present, &error));
    ck_assert_uint_eq(present, 1); /* so that the value is read */
}

static lx_dataset *open_by(lx_access access, lx_verify_policy verify)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_access(options, access, &error));
    unit_ok(lx_dataset_options_set_verify_policy(options, verify, &error));
    unit_ok(lx_dataset_open("d", options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

START_TEST(lost_rows_of_complete_fields_are_damage)
{
    char *scratch = scratch_make();
    static const lx_access accesses[] = {LX_ACCESS_MMAP, LX_ACCESS_PREAD};
    static const lx_verify_policy ways[] = {LX_VERIFY_NEVER, LX_VERIFY_FIRST, LX_VERIFY_ALWAYS};
    for (int sealed = 0; sealed < 2; sealed++) {
        if (sealed)
            records_make_sealed("d", 23);
        else
            records_make("d", 20, 3);
        lose_row("label", 7); /* these fields have no missing value; "image" has */
        lose_row("wave", 8);
        lose_row("image", 9);
        for (size_t i = 0; i < 6; i++) {
            uint8_t out[12] = {1};
            const uint64_t index = 9;
            lx_error error = LX_ERROR_INIT;
            lx_dataset *dataset = open_by(accesses[i / 3], ways[i % 3]);
            expect_lost(dataset, LABEL, "label", 7, 8);
            expect_lost(dataset, WAVE, "wave", 8, 64);
            unit_ok(lx_dataset_gather(dataset, IMAGE, &index, 1, out, sizeof out, &error));
            ck_assert_uint_eq(out[0], 0);
            lx_dataset_close(dataset);
        }
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_lost_row_never_becomes_a_missing_value)
{
    char *scratch = scratch_make();
    for (int change = 0; change < 4; change++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t label;
        const uint64_t lost = 7;
        records_make("d", 20, 3);
        lose_row("label", lost);
        lx_writer *writer = records_reopen("d", NULL);
        records_append(writer, 1);
        if (change == 0)
            unit_ok(lx_writer_checkpoint(writer, &error));
        else if (change == 1)
            unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
        else if (change == 2)
            unit_ok(lx_writer_seal(writer, &error));
        else /* would move it to index 0 */
            for (uint64_t last = 23; last > lost; last--)
                unit_ok(lx_writer_delete(writer, last, NULL, &error));
        if (change == 3) {
            (void)lx_writer_delete(writer, 0, NULL, &error);
            unit_fails(lx_writer_commit(writer, &error), LX_ERR_CORRUPT);
            lx_writer_close(writer, NULL);
        } else {
            close_writer(writer);
        }
        lx_dataset *dataset = open_dataset("d");
        unit_fails(lx_dataset_gather(dataset, LABEL, &lost, 1, &label, 8, &error), LX_ERR_CORRUPT);
        lx_dataset_close(dataset);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_probe_finds_each_damaged_record)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[2 * MANY];
    uint8_t damaged[2 * MANY];
    lx_dataset *dataset;
    make_damaged();
    for (uint64_t i = 0; i < 2 * MANY; i++)
        indices[i] = i * 7 % MANY;
    static const size_t pairs[][2] = {{IMAGE, BLOB}, {LABEL, WAVE}, {CAPTION, CAPTION}};
    unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
    for (size_t chosen = 0; chosen <= 3; chosen++) {
        memset(damaged, 7, sizeof damaged);
        unit_ok(lx_dataset_probe(dataset, chosen < 3 ? pairs[chosen] : NULL, 2, indices, 2 * MANY,
                                 damaged, &error));
        for (uint64_t i = 0; i < 2 * MANY; i++) {
            bool wanted = false;
            for (int field = 0; field < FIELDS; field++)
                if (chosen == 3 || pairs[chosen][0] == (size_t)field ||
                    pairs[chosen][1] == (size_t)field)
                    wanted = wanted || is_damaged(field, indices[i]);
            ck_assert_uint_eq(damaged[i], wanted);
        }
    }
    ck_assert_uint_eq(met(dataset), 0); /* it reads nothing for the caller */
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_probe_rejects_invalid_indices)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 0);
    lx_dataset *dataset = open_dataset("d");
    const uint64_t indices[] = {3, 20};
    const size_t none = FIELDS, image = IMAGE;
    uint8_t damaged[2];
    lx_status status = lx_dataset_probe(dataset, &image, 1, indices, 2, damaged, &error);
    ck_assert_uint_eq(error.record, 20);
    expect_error(status, LX_ERR_RANGE, "20", "d");
    unit_fails(lx_dataset_probe(dataset, &none, 1, indices, 1, damaged, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_probe(dataset, &image, 0, indices, 1, damaged, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_dataset_probe(dataset, NULL, 0, NULL, 0, NULL, &error));
    unit_refuses_null(lx_dataset_probe(NULL, NULL, 0, indices, 1, damaged, &error), "dataset");
    unit_refuses_null(lx_dataset_probe(dataset, NULL, 0, NULL, 1, damaged, &error), "indices");
    unit_refuses_null(lx_dataset_probe(dataset, NULL, 0, indices, 1, NULL, &error), "damaged");
    scarce_begin(0);
    const size_t wave = WAVE;
    const uint64_t shrunk = 2;
    lx_status scarce = lx_dataset_probe(dataset, &wave, 1, &shrunk, 1, damaged, &error);
    scarce_begin(1000);
    expect_error(scarce, LX_ERR_NOMEM, "reading", "");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/damage", accepts_two_policies, counts_damage_that_raises,
          reads_damaged_values_as_missing_and_counts_them, reads_each_invalid_entry_as_missing,
          other_errors_still_fail, reads_values_of_an_absent_chunk_as_missing,
          lost_rows_of_complete_fields_are_damage, a_lost_row_never_becomes_a_missing_value,
          a_probe_finds_each_damaged_record, a_probe_rejects_invalid_indices)
