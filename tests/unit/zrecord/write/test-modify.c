/* SPDX-License-Identifier: MIT */
/* Changes of records, compared with a plain model. */
#include "../numbers.h"
#include "../plain.h"

/* So many records that one append of them goes to the tables (commit.c). */
#define MANY (16384 / FIELDS + 10)

struct run {
    uint64_t seed, draws;
    lx_executor *executor;
    lx_writer *writer;
    struct plain now, committed;
    uint32_t number; /* of the next record */
    bool transaction;
};

static uint64_t below(struct run *run, uint64_t bound)
{
    return mix(run->seed * 1000003 + run->draws++) % bound;
}

static void open_writer(struct run *run, bool create)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options((lx_durability)below(run, 3));
    unit_ok(lx_writer_options_set_chunk_limits(options, 5 + below(run, 200), 4096 << below(run, 5),
                                               &error));
    unit_ok(lx_writer_options_set_executor(options, run->executor, &error));
    run->writer = create ? records_create("d", options) : records_reopen("d", options);
}

static void append(struct run *run, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++)
        unit_ok(record_append(run->writer, run->number + i, &error));
    plain_append(&run->now, count, run->number);
    run->number += (uint32_t)count;
}

static void modify(struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t memory[FIELDS][VALUE_MAX];
    lx_value values[FIELDS];
    size_t fields[FIELDS], count = 0;
    uint64_t index = below(run, run->now.length);
    uint32_t number = below(run, 8) == 0 ? PLAIN_MISSING : run->number++;
    for (int field = 0; field < FIELDS; field++) {
        if (below(run, 2) == 0)
            continue;
        uint64_t size = number == PLAIN_MISSING ? LX_NONE
                                                : record_value(field, number, memory[field]);
        values[count] = (lx_value){memory[field], size};
        fields[count++] = (size_t)field;
        run->now.records[index].numbers[field] = number;
    }
    unit_ok(lx_writer_modify(run->writer, index, fields, values, count, &error));
}

static void delete (struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t moved = 1, index = below(run, run->now.length);
    unit_ok(lx_writer_delete(run->writer, index, &moved, &error));
    ck_assert_uint_eq(moved, plain_delete(&run->now, index));
}

static void truncate_to(struct run *run, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_truncate(run->writer, length, &error));
    run->now.length = length;
}

static void look(const struct run *run)
{
    lx_dataset *dataset = open_dataset("d");
    plain_expect(&run->committed, dataset);
    lx_dataset_close(dataset);
}

static void commit_all(struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    if (run->transaction)
        unit_ok(lx_writer_end_transaction(run->writer, &error));
    else if (below(run, 2))
        unit_ok(lx_writer_commit(run->writer, &error));
    else
        unit_ok(lx_writer_sync(run->writer, &error));
    run->transaction = false;
    plain_copy(&run->committed, &run->now);
}

static void undo(struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_rollback(run->writer, &error));
    run->transaction = false;
    plain_copy(&run->now, &run->committed);
    ck_assert_uint_eq(lx_writer_get_length(run->writer), run->now.length);
}

static void begin(struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_begin_transaction(run->writer, &error));
    plain_copy(&run->committed, &run->now);
    run->transaction = true;
}

static void reopen(struct run *run)
{
    if (run->transaction)
        undo(run);
    close_writer(run->writer);
    plain_copy(&run->committed, &run->now); /* closing commits */
    open_writer(run, false);
}

static void step(struct run *run)
{
    uint64_t kind = below(run, 40);
    bool any = run->now.length != 0;
    if (kind < 8 || !any)
        append(run, 1 + below(run, 12));
    else if (kind < 18)
        modify(run);
    else if (kind < 26)
        delete (run);
    else if (kind == 26)
        truncate_to(run, below(run, run->now.length + 1));
    else if (kind == 27 && run->now.length < 2 * MANY)
        append(run, MANY);
    else if (kind < 34)
        commit_all(run);
    else if (kind < 36)
        undo(run);
    else if (kind < 38 && !run->transaction)
        begin(run);
    else if (kind == 38)
        reopen(run);
    else
        look(run);
}

static void live(uint64_t seed, unsigned steps)
{
    lx_error error = LX_ERROR_INIT;
    struct run run = {.seed = seed};
    char *scratch = scratch_make();
    lx_executor_options *options = lx_executor_options_new();
    unit_ok(lx_executor_options_set_writer_count(options, 1 + (uint32_t)below(&run, 4), &error));
    unit_ok(lx_executor_open(options, &run.executor, &error));
    lx_executor_options_free(options);
    open_writer(&run, true);
    while (steps-- != 0)
        step(&run);
    reopen(&run);
    look(&run);
    close_writer(run.writer);
    lx_executor_close(run.executor);
    plain_free(&run.now);
    plain_free(&run.committed);
    scratch_remove(scratch);
}

START_TEST(any_sequence_of_changes_matches_the_model)
{
    for (uint64_t seed = 1; seed <= (getenv("LX_LONG") ? 400 : 12); seed++)
        live(seed, 60);
}
END_TEST

/* ---- arguments */

struct fixture {
    char *scratch;
    lx_writer *writer;
};

static struct fixture set_up(uint64_t length)
{
    struct fixture f = {.scratch = scratch_make()};
    f.writer = records_create("d", NULL);
    records_append(f.writer, length);
    commit(f.writer);
    return f;
}

/** Closes the writer; the dataset must have these records, unchanged. */
static void tear_down(struct fixture *f, uint64_t length)
{
    close_writer(f->writer);
    expect_dataset("d", length);
    scratch_remove(f->scratch);
}

static const uint8_t some[64];
static const size_t label = LABEL;
static const lx_value eight = {some, 8};

START_TEST(rejects_an_index_beyond_the_length)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(5);
    static const uint64_t wrong[] = {5, 6, 1ull << 40, UINT64_MAX};
    const lx_values column = {some, NULL, NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t moved = 77;
        lx_status status = lx_writer_modify(f.writer, wrong[i], &label, &eight, 1, &error);
        ck_assert_uint_eq(error.record, wrong[i]);
        expect_error(status, LX_ERR_RANGE, "5", "d");
        status = lx_writer_modify(f.writer, wrong[i], NULL, NULL, 0, &error);
        expect_error(status, LX_ERR_RANGE, "", "d");
        status = lx_writer_delete(f.writer, wrong[i], &moved, &error);
        expect_error(status, LX_ERR_RANGE, "", "d");
        ck_assert_uint_eq(moved, 77);
        const uint64_t indices[] = {0, wrong[i], 1};
        status = lx_writer_modify_many(f.writer, indices, 3, &label, &column, 1, &error);
        expect_error(status, LX_ERR_RANGE, "", "d");
        status = lx_writer_truncate(f.writer, wrong[i], &error);
        if (wrong[i] == 5)
            ck_assert_int_eq(status, LX_OK); /* which changes nothing */
        else
            expect_error(status, LX_ERR_RANGE, "cannot truncate", "d");
    }
    commit(f.writer);
    ck_assert_uint_eq(frames_of("d"), 2); /* nothing was done */
    tear_down(&f, 5);
}
END_TEST

START_TEST(rejects_any_index_of_an_empty_dataset)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(0);
    unit_fails(lx_writer_modify(f.writer, 0, &label, &eight, 1, &error), LX_ERR_RANGE);
    unit_fails(lx_writer_delete(f.writer, 0, NULL, &error), LX_ERR_RANGE);
    unit_ok(lx_writer_truncate(f.writer, 0, &error));
    tear_down(&f, 0);
}
END_TEST

START_TEST(rejects_unknown_fields)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(5);
    static const size_t wrong[] = {FIELDS, FIELDS + 1, SIZE_MAX};
    static const uint64_t index = 1;
    for (size_t i = 0; i < 3; i++) {
        const size_t fields[] = {LABEL, wrong[i]};
        const lx_value values[] = {eight, eight};
        const lx_values columns[] = {{some, NULL, NULL}, {some, NULL, NULL}};
        lx_status status = lx_writer_modify(f.writer, 1, fields, values, 2, &error);
        expect_error(status, LX_ERR_ARGUMENT, "5 fields", "d");
        status = lx_writer_modify_many(f.writer, &index, 1, fields, columns, 2, &error);
        expect_error(status, LX_ERR_ARGUMENT, "5 fields", "d");
    }
    tear_down(&f, 5);
}
END_TEST

START_TEST(rejects_values_of_the_wrong_size)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(5);
    static const struct {
        size_t field;
        lx_value value;
        lx_status status;
    } cases[] = {{LABEL, {some, 7}, LX_ERR_ARGUMENT},
                 {LABEL, {some, 0}, LX_ERR_ARGUMENT},
                 {IMAGE, {NULL, 12}, LX_ERR_ARGUMENT},
                 {BLOB, {NULL, 3}, LX_ERR_ARGUMENT},
                 {BLOB, {some, (uint64_t)LX_MAX_VALUE + 1}, LX_ERR_LIMIT}};
    static const char *const names[] = {[LABEL] = "label", [IMAGE] = "image", [BLOB] = "blob"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* The first of them is valid, and is not written, either. */
        const size_t fields[] = {WAVE, cases[i].field};
        const lx_value values[] = {{some, 64}, cases[i].value};
        lx_status status = lx_writer_modify(f.writer, 2, fields, values, 2, &error);
        ck_assert_str_eq(error.field, names[cases[i].field]);
        expect_error(status, cases[i].status, "the value has", "d");
    }
    static const uint64_t indices[] = {0, 1}, descending[] = {0, 5, 3};
    const size_t fields[] = {WAVE, BLOB};
    const lx_values columns[] = {{NULL, NULL, NULL}, {some, descending, NULL}};
    lx_status status = lx_writer_modify_many(f.writer, indices, 2, fields, columns, 2, &error);
    expect_error(status, LX_ERR_ARGUMENT, "must not decrease", "d");
    tear_down(&f, 5);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(5);
    static const uint64_t index = 1;
    const lx_values column = {some, NULL, NULL};
    unit_refuses_null(lx_writer_modify(NULL, 0, &label, &eight, 1, &error), "writer");
    unit_refuses_null(lx_writer_modify(f.writer, 0, NULL, &eight, 1, &error), "fields");
    unit_refuses_null(lx_writer_modify(f.writer, 0, &label, NULL, 1, &error), "values");
    unit_refuses_null(lx_writer_modify_many(NULL, &index, 1, &label, &column, 1, &error), "writer");
    unit_refuses_null(lx_writer_modify_many(f.writer, NULL, 1, &label, &column, 1, &error),
                      "indices");
    unit_refuses_null(lx_writer_modify_many(f.writer, &index, 1, NULL, &column, 1, &error),
                      "fields");
    unit_fails(lx_writer_modify_many(f.writer, &index, 1, &label, NULL, 1, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_writer_delete(NULL, 0, NULL, &error), "writer");
    unit_refuses_null(lx_writer_truncate(NULL, 0, &error), "writer");
    /* Without records, they are valid. */
    unit_ok(lx_writer_modify(f.writer, 0, NULL, NULL, 0, &error));
    unit_ok(lx_writer_modify_many(f.writer, NULL, 0, &label, &column, 1, &error));
    unit_ok(lx_writer_modify_many(f.writer, &index, 1, NULL, NULL, 0, &error));
    tear_down(&f, 5);
}
END_TEST

START_TEST(the_last_of_a_repeated_field_applies)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_writer *writer = numbers_create("d", NULL);
    static const size_t fields[] = {0, 0, 0};
    static const uint64_t indices[] = {1, 2, 1}, numbers[] = {21, 22, 23};
    const uint64_t three[] = {31, 32, 33};
    const lx_value values[] = {{&three[0], 8}, {NULL, LX_NONE}, {&three[2], 8}};
    const lx_values column = {numbers, NULL, NULL};
    unit_ok(numbers_extend(writer, 4, 1, &error));
    for (int committed = 0; committed < 2; committed++) {
        unit_ok(lx_writer_modify(writer, 0, fields, values, 3, &error));
        unit_ok(lx_writer_modify_many(writer, indices, 3, fields, &column, 1, &error));
        commit(writer);
        static const uint64_t right[] = {33, 23, 22, 1};
        expect_numbers("d", right, 4);
        unit_ok(numbers_extend(writer, 0, 1, &error));
    }
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(sets_and_removes_values)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(10);
    uint8_t memory[FIELDS][VALUE_MAX];
    static const size_t all[] = {IMAGE, LABEL, WAVE, CAPTION, BLOB};
    lx_value missing[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        missing[i] = (lx_value){NULL, LX_NONE};
    for (uint64_t i = 0; i < 10; i++)
        unit_ok(lx_writer_modify(f.writer, i, all, missing, FIELDS, &error));
    commit(f.writer);
    lx_dataset *dataset = open_dataset("d");
    for (uint64_t i = 0; i < 10; i++) {
        for (size_t field = 0; field < FIELDS; field++) {
            uint64_t size;
            bool there;
            unit_ok(read_value(dataset, field, i, memory[0], &size, &there, &error));
            ck_assert(!there);
        }
    }
    lx_dataset_close(dataset);
    for (uint64_t i = 0; i < 10; i++) {
        lx_value values[FIELDS];
        record_values(i, memory, values);
        unit_ok(lx_writer_modify(f.writer, i, all, values, FIELDS, &error));
        memset(memory, 0xee, sizeof memory); /* no reference to them is kept */
    }
    tear_down(&f, 10);
}
END_TEST

START_TEST(delete_reports_the_moved_record)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_writer *writer = numbers_create("d", NULL);
    uint64_t moved = 0;
    for (uint64_t i = 0; i < 5; i++)
        unit_ok(number_append(writer, i, NULL, &error));
    unit_ok(lx_writer_delete(writer, 1, &moved, &error));
    ck_assert_uint_eq(moved, 4);
    ck_assert_uint_eq(lx_writer_get_length(writer), 4);
    unit_ok(lx_writer_delete(writer, 3, &moved, &error));
    ck_assert_uint_eq(moved, LX_NONE);
    unit_ok(lx_writer_delete(writer, 0, NULL, &error));
    commit(writer);
    static const uint64_t right[] = {2, 4};
    expect_numbers("d", right, 2);
    unit_ok(lx_writer_delete(writer, 0, &moved, &error));
    ck_assert_uint_eq(moved, 1);
    unit_ok(lx_writer_delete(writer, 0, &moved, &error));
    ck_assert_uint_eq(moved, LX_NONE);
    unit_fails(lx_writer_delete(writer, 0, &moved, &error), LX_ERR_RANGE);
    close_writer(writer);
    ck_assert_uint_eq(visible_length("d"), 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ten_thousand_changes_are_one_frame)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_writer *writer = numbers_create("d", NULL);
    static uint64_t indices[10000], numbers[10000];
    static const size_t field = 0;
    const lx_values column = {numbers, NULL, NULL};
    unit_ok(numbers_extend(writer, 10000, 1, &error));
    commit(writer);
    for (uint64_t i = 0; i < 10000; i++) {
        indices[i] = (i * 7919) % 10000;
        numbers[i] = mix(indices[i]);
    }
    unit_ok(lx_writer_modify_many(writer, indices, 10000, &field, &column, 1, &error));
    commit(writer);
    ck_assert_uint_eq(frames_of("d"), 3);
    for (uint64_t i = 0; i < 10000; i++)
        numbers[i] = mix(i);
    close_writer(writer);
    expect_numbers("d", numbers, 10000);
    scratch_remove(scratch);
}
END_TEST

/** All of these calls must be rejected with that status. */
static void expect_all_refused(lx_writer *writer, lx_status status)
{
    lx_error error = LX_ERROR_INIT;
    static const uint64_t index = 0;
    const lx_values column = {some, NULL, NULL};
    unit_fails(lx_writer_modify(writer, 0, &label, &eight, 1, &error), status);
    unit_fails(lx_writer_modify(writer, 0, NULL, NULL, 0, &error), status);
    unit_fails(lx_writer_modify_many(writer, &index, 1, &label, &column, 1, &error), status);
    unit_fails(lx_writer_delete(writer, 0, NULL, &error), status);
    unit_fails(lx_writer_truncate(writer, 0, &error), status);
    unit_fails(lx_writer_truncate(writer, lx_writer_get_length(writer), &error), status);
}

START_TEST(changes_need_a_rollback_after_a_failure)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(20);
    static uint8_t large[300000];
    static const size_t blob = BLOB;
    const lx_value value = {large, sizeof large};
    limit_files(2000000);
    lx_status status = LX_OK;
    for (uint64_t i = 0; i < 200 && status == LX_OK; i++)
        status = lx_writer_modify(f.writer, i % 20, &blob, &value, 1, &error);
    unlimit_files();
    expect_error(status, LX_ERR_IO, "", "0.zr");
    expect_all_refused(f.writer, LX_ERR_IO);
    expect_dataset("d", 20);
    unit_ok(lx_writer_rollback(f.writer, &error));
    unit_ok(lx_writer_delete(f.writer, 19, NULL, &error));
    tear_down(&f, 19);
}
END_TEST

START_TEST(a_transaction_is_one_commit)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(20);
    for (int round = 0; round < 2; round++) {
        unit_ok(lx_writer_begin_transaction(f.writer, &error));
        for (uint64_t i = 0; i < 10; i++)
            unit_ok(lx_writer_modify(f.writer, i, &label, &eight, 1, &error));
        unit_ok(lx_writer_delete(f.writer, 0, NULL, &error));
        unit_ok(lx_writer_truncate(f.writer, 10, &error));
        unit_ok(lx_writer_sync(f.writer, &error)); /* of what is committed */
        expect_dataset("d", 20);
        if (round == 0) {
            unit_ok(lx_writer_rollback(f.writer, &error));
            ck_assert_uint_eq(lx_writer_get_length(f.writer), 20);
        }
    }
    unit_ok(lx_writer_end_transaction(f.writer, &error));
    ck_assert_uint_eq(frames_of("d"), 3);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 10);
    for (uint64_t i = 1; i < 10; i++)
        expect_value(dataset, BLOB, i);
    lx_dataset_close(dataset);
    close_writer(f.writer);
    scratch_remove(f.scratch);
}
END_TEST

START_TEST(rejects_changes_of_a_sealed_dataset)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(20);
    unit_ok(lx_writer_seal(f.writer, &error));
    expect_all_refused(f.writer, LX_ERR_STATE);
    tear_down(&f, 20);
}
END_TEST

START_TEST(rejects_a_poisoned_writer_and_that_of_a_parent)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f = set_up(20);
    if (unit_in_child()) {
        bool right = lx_writer_modify(f.writer, 0, &label, &eight, 1, NULL) == LX_ERR_FORKED &&
                     lx_writer_delete(f.writer, 0, NULL, NULL) == LX_ERR_FORKED &&
                     lx_writer_truncate(f.writer, 0, NULL) == LX_ERR_FORKED;
        _exit(!right);
    }
    unit_ok(lx_writer_delete(f.writer, 19, NULL, &error));
    atomic_store(&sync_fails_at, 1);
    unit_fails(lx_writer_commit(f.writer, &error), LX_ERR_POISONED);
    atomic_store(&sync_fails_at, 0);
    expect_all_refused(f.writer, LX_ERR_POISONED);
    unit_fails(lx_writer_close(f.writer, &error), LX_ERR_POISONED);
    scratch_remove(f.scratch);
}
END_TEST

UNIT_MAIN("zrecord/modify", any_sequence_of_changes_matches_the_model,
          rejects_an_index_beyond_the_length, rejects_any_index_of_an_empty_dataset,
          rejects_unknown_fields, rejects_values_of_the_wrong_size, rejects_null_by_name,
          the_last_of_a_repeated_field_applies, sets_and_removes_values,
          delete_reports_the_moved_record, ten_thousand_changes_are_one_frame,
          changes_need_a_rollback_after_a_failure, a_transaction_is_one_commit,
          rejects_changes_of_a_sealed_dataset, rejects_a_poisoned_writer_and_that_of_a_parent)
