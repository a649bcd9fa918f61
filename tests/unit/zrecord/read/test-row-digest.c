/* SPDX-License-Identifier: MIT */
/* Digests of rows: lib/zrecord/read/row-digest.c. */
#include "zrecord/read/row-digest.h"

#include <loaderx/repair.h>

#include "../placed.h"
#include "zrecord/write/install.h"
#include "zrecord/write/rotate.h"

#define RECORDS_MAX 20000
#define SAVED_MAX 60

/** A dataset of one field, in which no value occurs twice, and its records. */
struct numbers {
    lx_writer *writer;
    uint64_t next, length, values[RECORDS_MAX];
    uint64_t changes; /**< The commits that changed or removed records. */
    uint64_t committed_length, committed[RECORDS_MAX];
};

/** A snapshot of the past. */
struct saved {
    uint64_t length, changes, *values;
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

static void commit_numbers(struct numbers *numbers)
{
    uint64_t before = numbers->committed_length, now = numbers->length;
    size_t kept = (size_t)(now < before ? now : before) * sizeof *numbers->values;
    numbers->changes += now < before || memcmp(numbers->values, numbers->committed, kept) != 0;
    memcpy(numbers->committed, numbers->values, (size_t)now * sizeof *numbers->values);
    numbers->committed_length = now;
    commit(numbers->writer);
}

static void save(lx_dataset *dataset, const struct numbers *numbers, struct saved *saved)
{
    lx_error error = LX_ERROR_INIT;
    size_t bytes = (size_t)numbers->length * sizeof *saved->values;
    saved->length = numbers->length;
    saved->changes = numbers->changes;
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
        commit_numbers(&numbers);
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

/* ---- after the tables were rewritten */

static void reopen(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_close(numbers->writer, &error));
    unit_ok(lx_writer_open("d", NULL, &numbers->writer, &error));
}

static void do_checkpoint(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_checkpoint(numbers->writer, &error));
}

static void do_rebalance(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_rebalance(numbers->writer, NULL, NULL, NULL, &error));
}

static void do_rotate(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__install_commit(numbers->writer, &error));
    unit_ok(lx__writer_rotate(numbers->writer, &error));
}

static void do_seal(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_seal(numbers->writer, &error));
    unit_ok(lx_writer_close(numbers->writer, &error));
    records_unseal("d");
    unit_ok(lx_writer_open("d", NULL, &numbers->writer, &error));
}

/** The values of the new field are in a new chunk, which needs a new log. */
static void do_add_and_drop(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    const lx_value value = {"twenty bytes, or so..", 20};
    unit_ok(lx_writer_add_field_default(numbers->writer, "more", LX_BYTES, NULL, 0,
                                        LX_COMPRESSION_RAW, &value, &error));
    unit_ok(lx_writer_drop_field(numbers->writer, "more", &error));
}

static void do_recover(struct numbers *numbers)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_close(numbers->writer, &error));
    char old[32];
    static unsigned count;
    snprintf(old, sizeof old, "old-%u", count++);
    ck_assert_int_eq(rename("d", old), 0); /* it may still be open */
    unit_ok(lx_dataset_recover(old, "d", NULL, NULL, &error));
    unit_ok(lx_writer_open("d", NULL, &numbers->writer, &error));
}

static void (*const rewrites[])(struct numbers *numbers) = {
    do_checkpoint, do_rebalance, do_rotate, do_seal, do_add_and_drop, do_recover, reopen};
#define REWRITES (sizeof rewrites / sizeof *rewrites)

/** The numbers of changes must differ if and only if a commit changed or removed records. */
static void compare_changes(lx_dataset *dataset, const struct numbers *numbers,
                            const struct saved *saved)
{
    lx_error error = LX_ERROR_INIT;
    lx__row_digest now;
    unit_ok(lx__dataset_digest_rows(dataset, saved->length, saved->digest.rows, &now, &error));
    ck_assert_int_eq(now.changes[0] == saved->digest.changes[0],
                     saved->changes == numbers->changes);
    lx__row_digest_free(&now);
}

static void check_rewrites(uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    static struct numbers numbers;
    struct saved saved[SAVED_MAX];
    char *scratch = scratch_make();
    create(&numbers);
    lx_dataset *following = open_dataset("d");
    for (size_t step = 0; step < SAVED_MAX; step++) {
        size_t kind = (size_t)(mix(seed * 977 + step) % (REWRITES + 4));
        if (kind < REWRITES)
            rewrites[kind](&numbers);
        if (kind < REWRITES && rewrites[kind] == do_recover) { /* it is in another directory */
            lx_dataset_close(following);
            following = open_dataset("d");
        }
        if (kind >= REWRITES)
            change_somehow(&numbers, mix(seed * 1000 + step * 5));
        commit_numbers(&numbers);
        lx_dataset *dataset = open_dataset("d");
        unit_ok(lx_dataset_refresh(following, NULL, &error));
        for (size_t i = 0; i < step; i++)
            compare_changes(i % 2 == 0 ? dataset : following, &numbers, &saved[i]);
        save(dataset, &numbers, &saved[step]);
        compare_changes(following, &numbers, &saved[step]);
        lx_dataset_close(dataset);
    }
    for (size_t i = 0; i < SAVED_MAX; i++) {
        lx__row_digest_free(&saved[i].digest);
        free(saved[i].values);
    }
    lx_dataset_close(following);
    unit_ok(lx_writer_close(numbers.writer, &error));
    scratch_remove(scratch);
}

START_TEST(numbers_of_changes_survive_any_rewrite)
{
    for (uint64_t seed = 0; seed < 8; seed++)
        check_rewrites(seed);
}
END_TEST

/** For each rewrite alone: it changes nothing, and hides no change before or after it. */
START_TEST(each_rewrite_keeps_the_number_of_changes)
{
    static struct numbers numbers;
    for (size_t kind = 0; kind < REWRITES; kind++) {
        lx_error error = LX_ERROR_INIT;
        struct saved saved;
        char *scratch = scratch_make();
        create(&numbers);
        append(&numbers, 50);
        commit_numbers(&numbers);
        change_one(&numbers, 7);
        commit_numbers(&numbers);
        lx_dataset *dataset = open_dataset("d");
        save(dataset, &numbers, &saved);
        for (int round = 0; round < 4; round++) {
            rewrites[kind](&numbers);
            if (round == 2)
                change_one(&numbers, 3);
            commit_numbers(&numbers);
            lx_dataset *now = open_dataset("d");
            compare_changes(now, &numbers, &saved);
            lx_dataset_close(now);
        }
        lx_dataset_close(dataset);
        lx__row_digest_free(&saved.digest);
        free(saved.values);
        unit_ok(lx_writer_close(numbers.writer, &error));
        scratch_remove(scratch);
    }
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
          a_row_that_cannot_be_read_has_no_digest, numbers_of_changes_survive_any_rewrite,
          each_rewrite_keeps_the_number_of_changes)
