/* SPDX-License-Identifier: MIT */
/* Digests of rows: lib/zrecord/read/row-digest.c. */
#include "zrecord/read/row-digest.h"

#include "../placed.h"

#define RECORDS_MAX 20000
#define SAVED_MAX 60

/** A dataset of one field, in which no value occurs twice, and its records. */
struct numbers {
    lx_writer *writer;
    uint64_t next, length, values[RECORDS_MAX];
};

/** A snapshot of the past. */
struct saved {
    uint64_t length, *values;
    lx__row_digest digest;
};

static void create(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    *numbers = (struct numbers){.next = 1};
    unit_ok(lx_schema_add_field(schema, "label", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &numbers->writer, &error));
    lx_schema_free(schema);
}

static void append(struct numbers *numbers, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < count && numbers->length < RECORDS_MAX; i++) {
        uint64_t value = numbers->next++;
        unit_ok(lx_writer_append(numbers->writer, &(lx_value){&value, 8}, 1, NULL, &error));
        numbers->values[numbers->length++] = value;
    }
}

static void change_one(struct numbers *numbers, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t value = numbers->next++;
    unit_ok(
        lx_writer_modify(numbers->writer, index, (size_t[]){0}, &(lx_value){&value, 8}, 1, &error));
    numbers->values[index] = value;
}

static void delete_one(struct numbers *numbers, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t moved;
    unit_ok(lx_writer_delete(numbers->writer, index, &moved, &error));
    numbers->values[index] = numbers->values[--numbers->length];
}

/** One random change of a commit. */
static void change_somehow(struct numbers *numbers, uint64_t random)
{
    uint64_t index = numbers->length != 0 ? mix(random) % numbers->length : 0;
    if (random % 16 < 9 || numbers->length < 4)
        append(numbers, 1 + mix(random + 1) % 3);
    else if (random % 16 < 10)
        append(numbers, 600);
    else if (random % 16 < 12)
        change_one(numbers, index);
    else if (random % 16 < 14)
        delete_one(numbers, numbers->length - 1);
    else
        delete_one(numbers, index);
}

static void save(lx_dataset *dataset, const struct numbers *numbers, struct saved *saved)
{
    lx_error error = LX_ERROR_INIT;
    size_t bytes = (size_t)numbers->length * sizeof *saved->values;
    saved->length = numbers->length;
    saved->values = malloc(bytes + 1);
    memcpy(saved->values, numbers->values, bytes);
    unit_ok(lx__dataset_digest_rows(dataset, saved->length, LX_NONE, &saved->digest, &error));
    ck_assert_uint_eq(saved->digest.length, saved->length);
}

/** Digests must be equal if and only if the records are. Returns whether they could be compared. */
static bool compare(lx_dataset *dataset, const struct numbers *numbers, const struct saved *saved)
{
    lx_error error = LX_ERROR_INIT;
    lx__row_digest now;
    if (numbers->length < saved->length)
        return false;
    unit_ok(lx__dataset_digest_rows(dataset, saved->length, saved->digest.rows, &now, &error));
    bool comparable = now.table_generation == saved->digest.table_generation;
    size_t bytes = (size_t)saved->length * sizeof *saved->values;
    if (comparable)
        ck_assert_int_eq(now.fields[0] == saved->digest.fields[0],
                         memcmp(saved->values, numbers->values, bytes) == 0);
    lx__row_digest_free(&now);
    return comparable;
}

static void check_changes(uint64_t seed, lx_access access)
{
    lx_error error = LX_ERROR_INIT;
    static struct numbers numbers;
    struct saved saved[SAVED_MAX];
    size_t count = 0, compared = 0;
    char *scratch = scratch_make();
    create(&numbers);
    for (uint64_t step = 0; step < SAVED_MAX; step++) {
        for (uint64_t i = 0; i <= mix(step) % 3; i++)
            change_somehow(&numbers, mix(step * 5 + i + seed * 1000));
        commit(numbers.writer);
        lx_dataset *dataset = open_placed("d", (struct placed){.access = access});
        for (size_t i = 0; i < count; i++)
            compared += compare(dataset, &numbers, &saved[i]);
        save(dataset, &numbers, &saved[count++]);
        ck_assert(compare(dataset, &numbers, &saved[count - 1]));
        lx_dataset_close(dataset);
    }
    ck_assert_uint_gt(compared, 100);
    for (size_t i = 0; i < count; i++) {
        lx__row_digest_free(&saved[i].digest);
        free(saved[i].values);
    }
    unit_ok(lx_writer_close(numbers.writer, &error));
    scratch_remove(scratch);
}

START_TEST(tells_whether_records_changed)
{
    for (uint64_t seed = 0; seed < 6; seed++)
        check_changes(seed, access_modes[seed % ACCESS_MODES]);
}
END_TEST

START_TEST(covers_each_kind_of_value_in_each_field)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    records_make("d", 40, 20);
    for (size_t mode = 0; mode < ACCESS_MODES; mode++) {
        lx__row_digest first, again, longer;
        lx_dataset *dataset = open_placed("d", (struct placed){.access = access_modes[mode]});
        unit_ok(lx__dataset_digest_rows(dataset, 50, LX_NONE, &first, &error));
        unit_ok(lx__dataset_digest_rows(dataset, 50, first.rows, &again, &error));
        unit_ok(lx__dataset_digest_rows(dataset, 1000, LX_NONE, &longer, &error));
        ck_assert_uint_eq(first.count, FIELDS);
        ck_assert_uint_eq(longer.length, 60);
        ck_assert_uint_eq(memcmp(first.fields, again.fields, FIELDS * sizeof *first.fields), 0);
        for (size_t i = 0; i < FIELDS; i++) {
            ck_assert_uint_ne(first.fields[i], LX__DIGEST_UNKNOWN);
            ck_assert_uint_ne(first.fields[i], longer.fields[i]);
        }
        lx__row_digest_free(&first);
        lx__row_digest_free(&again);
        lx__row_digest_free(&longer);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_empty_dataset_has_a_digest)
{
    lx_error error = LX_ERROR_INIT;
    lx__row_digest digest;
    char *scratch = scratch_make();
    records_make("d", 0, 0);
    lx_dataset *dataset = open_dataset("d");
    for (int i = 0; i < 2; i++) {
        unit_ok(lx__dataset_digest_rows(dataset, 0, LX_NONE, &digest, &error));
        ck_assert_uint_eq(digest.rows, 0);
        ck_assert_uint_eq(digest.fields[0], 0);
        lx__row_digest_free(&digest);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_row_that_cannot_be_read_has_no_digest)
{
    lx_error error = LX_ERROR_INIT;
    lx__row_digest digest;
    char *scratch = scratch_make();
    records_make("d", 40, 0);
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_PREAD});
    file_cut("d/label.check", 8);
    unit_ok(lx__dataset_digest_rows(dataset, 40, LX_NONE, &digest, &error));
    ck_assert_uint_eq(digest.fields[LABEL], LX__DIGEST_UNKNOWN);
    ck_assert_uint_ne(digest.fields[IMAGE], LX__DIGEST_UNKNOWN);
    lx__row_digest_free(&digest);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/row-digest", tells_whether_records_changed,
          covers_each_kind_of_value_in_each_field, an_empty_dataset_has_a_digest,
          a_row_that_cannot_be_read_has_no_digest)
