/* SPDX-License-Identifier: MIT */
/* The effect of operations on entries before a frame has them: rows in the append buffer are
 * overwritten, all others are replaced by updates. */
#include "../../scarce.h"
#include "../numbers.h"
#include "zrecord/write/reap.h"

struct fixture {
    char *scratch;
    lx_writer *writer;
};

/** A writer of records.h with @p in_tables records in its tables and @p in_log more in its log. */
static struct fixture set_up(uint64_t in_tables, uint64_t in_log)
{
    struct fixture f = {.scratch = scratch_make()};
    records_make("d", in_tables, in_log);
    f.writer = records_reopen("d", NULL);
    return f;
}

static void tear_down(struct fixture *f)
{
    close_writer(f->writer);
    scratch_remove(f->scratch);
}

/** Flushes and applies all requested operations. */
static void apply(struct fixture *f)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__writer_reap(f->writer, f->writer->calls.made, &error));
    ck_assert_uint_eq(f->writer->applied.length, f->writer->length);
}

static void modify(struct fixture *f, size_t field, uint64_t index, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t memory[VALUE_MAX];
    lx_value value = {memory, record_value((int)field, number, memory)};
    unit_ok(lx_writer_modify(f->writer, index, &field, &value, 1, &error));
}

static void delete (struct fixture *f, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_delete(f->writer, index, NULL, &error));
}

static void truncate_to(struct fixture *f, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_truncate(f->writer, length, &error));
}

/** Appends a record with the values of record @p number. */
static void append(struct fixture *f, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(record_append(f->writer, number, &error));
}

/** The dataset's record @p index has the values of record @p number. */
static void expect_is(lx_dataset *dataset, uint64_t index, uint64_t number)
{
    for (int field = 0; field < FIELDS; field++) {
        lx_error error = LX_ERROR_INIT;
        uint8_t right[VALUE_MAX] = {0}, got[VALUE_MAX];
        uint64_t wanted = record_value(field, number, right), size;
        bool there;
        unit_ok(read_value(dataset, (size_t)field, index, got, &size, &there, &error));
        ck_assert_msg(there == (wanted != LX_NONE), "field %d of %d", field, (int)index);
        if (there)
            ck_assert_msg(size == wanted && memcmp(got, right, size) == 0, "field %d of %d", field,
                          (int)index);
    }
}

/** Commits; then the records must be those, ended by LX_NONE. */
static void expect(struct fixture *f, const uint64_t *numbers)
{
    lx_error error = LX_ERROR_INIT;
    commit(f->writer);
    lx_dataset *dataset = open_dataset("d");
    uint64_t length = 0;
    for (; numbers[length] != LX_NONE; length++)
        expect_is(dataset, length, numbers[length]);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

/** As expect(), for @p length records that are unchanged, except some. */
static void expect_but(struct fixture *f, uint64_t length, const uint64_t (*others)[2],
                       size_t count)
{
    uint64_t numbers[200];
    for (uint64_t i = 0; i < length; i++)
        numbers[i] = i;
    for (size_t i = 0; i < count; i++)
        numbers[others[i][0]] = others[i][1];
    numbers[length] = LX_NONE;
    expect(f, numbers);
}

static const lx__update *fresh(const struct fixture *f, uint32_t field, uint64_t index)
{
    return lx__update_map_find(&f->writer->applied.updates, field, index);
}

START_TEST(changing_a_committed_record_writes_one_entry)
{
    struct fixture f = set_up(10, 5);
    static const uint64_t indices[] = {3, 12}; /* in the tables, in the log */
    for (size_t i = 0; i < 2; i++) {
        modify(&f, LABEL, indices[i], 70);
        apply(&f);
        ck_assert_uint_eq(f.writer->applied.updates.count, i + 1);
        ck_assert_ptr_nonnull(fresh(&f, LABEL, indices[i]));
        modify(&f, LABEL, indices[i], 71);
        apply(&f);
        ck_assert_uint_eq(f.writer->applied.updates.count, i + 1); /* the later one replaces it */
    }
    /* The rows in the append buffer are those of the log, with its updates. */
    lx__entry waits = lx__table_writer_get(&f.writer->tables, LABEL, 12);
    ck_assert_uint_ne(waits.crc, lx__update_entry(fresh(&f, LABEL, 12)).crc);
    commit(f.writer);
    ck_assert_uint_eq(f.writer->applied.updates.count, 0);
    ck_assert_uint_eq(f.writer->committed.updates.count, 1); /* that of the row in the tables */
    uint64_t number;
    uint8_t value[VALUE_MAX];
    lx_dataset *dataset = open_dataset("d");
    for (size_t i = 0; i < 2; i++) {
        lx_error error = LX_ERROR_INIT;
        record_value(LABEL, 71, value);
        unit_ok(lx_dataset_gather(dataset, LABEL, &indices[i], 1, &number, 8, &error));
        ck_assert_mem_eq(&number, value, 8);
        expect_value(dataset, IMAGE, indices[i]); /* the other fields stay */
        expect_value(dataset, BLOB, indices[i]);
    }
    lx_dataset_close(dataset);
    tear_down(&f);
}
END_TEST

START_TEST(overwrites_an_uncommitted_record)
{
    struct fixture f = set_up(3, 2);
    for (uint64_t i = 5; i < 9; i++)
        append(&f, 50);
    apply(&f);
    for (size_t field = 0; field < FIELDS; field++)
        for (uint64_t i = 5; i < 9; i++)
            modify(&f, field, i, i);
    apply(&f);
    ck_assert_uint_eq(f.writer->applied.updates.count, 0);
    ck_assert_uint_eq(f.writer->tables.first + f.writer->tables.count, 9);
    expect_but(&f, 9, NULL, 0);
    tear_down(&f);
}
END_TEST

START_TEST(the_last_record_replaces_a_deleted_one)
{
    struct fixture f = set_up(10, 5);
    delete (&f, 3); /* 14 moves: from the log to the tables' part */
    apply(&f);
    ck_assert_uint_eq(f.writer->applied.length, 14);
    ck_assert_uint_eq(f.writer->applied.updates.count, FIELDS);
    delete (&f, 13); /* the last one: nothing moves */
    apply(&f);
    ck_assert_uint_eq(f.writer->applied.updates.count, FIELDS);
    delete (&f, 3); /* 12 takes the place of 14 */
    apply(&f);
    ck_assert_uint_eq(f.writer->applied.updates.count, FIELDS);
    delete (&f, 11); /* and a moved record can be moved again */
    delete (&f, 3);
    delete (&f, 0);
    static const uint64_t others[][2] = {{3, 10}, {0, 9}};
    expect_but(&f, 9, others, 2);
    tear_down(&f);
}
END_TEST

START_TEST(a_moved_record_moves_again)
{
    struct fixture f = set_up(6, 3);
    /* Each time the record that has just moved is the last one. */
    delete (&f, 7); /* 8 to 7 */
    delete (&f, 4); /* 7, which is 8, to 4 */
    truncate_to(&f, 5);
    delete (&f, 0); /* 4, which is 8, to 0 */
    modify(&f, CAPTION, 0, 8);
    static const uint64_t others[][2] = {{0, 8}};
    expect_but(&f, 4, others, 1);
    delete (&f, 1);
    static const uint64_t more[][2] = {{0, 8}, {1, 3}};
    expect_but(&f, 3, more, 2);
    tear_down(&f);
}
END_TEST

START_TEST(reuses_freed_indices)
{
    struct fixture f = set_up(10, 5);
    truncate_to(&f, 4);
    apply(&f);
    ck_assert_uint_eq(f.writer->applied.length, 4);
    for (uint64_t i = 0; i < 20; i++)
        append(&f, 100 + i);
    apply(&f);
    /* Below the committed length by updates, above it by rows. */
    ck_assert_uint_eq(f.writer->applied.updates.count, 11 * FIELDS);
    ck_assert_uint_eq(f.writer->tables.first + f.writer->tables.count, 24);
    uint64_t others[20][2];
    for (uint64_t i = 0; i < 20; i++) {
        others[i][0] = 4 + i;
        others[i][1] = 100 + i;
    }
    expect_but(&f, 24, (const uint64_t(*)[2])others, 20);
    tear_down(&f);
}
END_TEST

/** As the last one, with a frame between: the log has the shorter length then. */
START_TEST(reuses_indices_freed_by_a_commit)
{
    struct fixture f = set_up(10, 5);
    truncate_to(&f, 12);
    static const uint64_t none[][2] = {{0, 0}};
    expect_but(&f, 12, none, 0);
    ck_assert_uint_eq(f.writer->tables.first + f.writer->tables.count, 12);
    truncate_to(&f, 4); /* and now into the tables */
    expect_but(&f, 4, none, 0);
    ck_assert_uint_eq(f.writer->committed.state.rows, 10);
    for (uint64_t i = 0; i < 9; i++)
        append(&f, 100 + i);
    uint64_t others[9][2];
    for (uint64_t i = 0; i < 9; i++) {
        others[i][0] = 4 + i;
        others[i][1] = 100 + i;
    }
    expect_but(&f, 13, (const uint64_t(*)[2])others, 9);
    close_writer(f.writer);
    f.writer = records_reopen("d", NULL); /* the log has all of it */
    expect_but(&f, 13, (const uint64_t(*)[2])others, 9);
    tear_down(&f);
}
END_TEST

START_TEST(appends_and_deletes_within_one_commit)
{
    struct fixture f = set_up(5, 0);
    for (uint64_t i = 5; i < 15; i++)
        append(&f, i);
    for (uint64_t i = 14; i >= 7; i--)
        delete (&f, i);
    delete (&f, 5); /* 6 to 5, both new */
    delete (&f, 0); /* 5, which is 6, to the tables' part */
    append(&f, 90);
    static const uint64_t others[][2] = {{0, 6}, {5, 90}};
    expect_but(&f, 6, others, 2);
    while (lx_writer_get_length(f.writer) != 0)
        delete (&f, 0);
    static const uint64_t none[][2] = {{0, 0}};
    expect_but(&f, 0, none, 0);
    append(&f, 0);
    expect_but(&f, 1, none, 0);
    tear_down(&f);
}
END_TEST

/** More rows than the append buffer holds are in the tables before the frame; they can still be
 * changed. */
START_TEST(changes_rows_written_before_their_frame)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t count = 200000;
    lx_writer *writer = numbers_create("d", NULL);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    unit_ok(numbers_extend(writer, count, 1, &error));
    ck_assert_uint_gt(writer->tables.first, 0);
    ck_assert_uint_eq(writer->committed.state.rows, 0);
    for (uint64_t i = 0; i < count; i += 40000)
        unit_ok(number_modify(writer, i, 2, &error));
    unit_ok(lx_writer_delete(writer, 7, NULL, &error)); /* 199,999 to 7 */
    unit_ok(number_modify(writer, count - 2, 3, &error));
    unit_ok(lx_writer_delete(writer, 8, NULL, &error)); /* 199,998, a 3, to 8 */
    unit_ok(lx_writer_truncate(writer, 150000, &error));
    unit_ok(number_append(writer, 4, NULL, &error));
    for (int round = 0; round < 2; round++) {
        if (round == 0)
            unit_ok(lx_writer_end_transaction(writer, &error));
        close_writer(writer);
        lx_dataset *dataset = open_dataset("d");
        ck_assert_uint_eq(lx_dataset_get_length(dataset), 150001);
        for (uint64_t i = 0; i <= 150000; i += i < 100 ? 1 : i < 149990 ? 10 : 1) {
            uint64_t right = i == 150000 ? 4 : i % 40000 == 0 ? 2 : i == 8 ? 3 : 1;
            ck_assert_uint_eq(number_at(dataset, i), right);
        }
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        lx_dataset_close(dataset);
        writer = records_reopen("d", NULL);
    }
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_rollback_discards_all_kinds_of_changes)
{
    struct fixture f = set_up(10, 5);
    static const uint64_t none[][2] = {{0, 0}};
    lx_error error = LX_ERROR_INIT;
    for (int round = 0; round < 3; round++) {
        modify(&f, LABEL, 3, 70);
        delete (&f, 0);
        append(&f, 71);
        modify(&f, BLOB, 14, 72);
        truncate_to(&f, 2);
        append(&f, 73);
        if (round == 1)
            apply(&f);
        unit_ok(lx_writer_rollback(f.writer, &error));
        ck_assert_uint_eq(lx_writer_get_length(f.writer), 15);
        ck_assert_uint_eq(f.writer->applied.updates.count, 0);
        expect_but(&f, 15, none, 0);
    }
    tear_down(&f);
}
END_TEST

START_TEST(records_each_grown_chunk_once)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 10, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    for (int i = 0; i < 5; i++) {
        records_append(writer, 7);
        unit_ok(lx__writer_reap(writer, writer->calls.made, &error));
    }
    for (size_t i = 1; i < writer->applied.grown_count; i++)
        ck_assert_uint_gt(writer->applied.grown[i].id, writer->applied.grown[i - 1].id);
    ck_assert_uint_gt(writer->applied.grown_count, 2);
    uint32_t last = writer->applied.grown[writer->applied.grown_count - 1].id;
    ck_assert_uint_eq(last + 1, writer->applied.grown_count);
    commit(writer);
    ck_assert_uint_eq(writer->applied.grown_count, 0);
    close_writer(writer);
    expect_dataset("d", 35);
    scratch_remove(scratch);
}
END_TEST

/** A failure in the middle leaves nothing that could be committed. */
START_TEST(a_failed_allocation_applies_nothing)
{
    struct fixture f = set_up(10, 5);
    static const uint64_t none[][2] = {{0, 0}};
    unsigned failures = 0;
    for (int left = 0; left < 12; left++) {
        lx_error error = LX_ERROR_INIT;
        for (uint64_t i = 0; i < 120; i++)
            append(&f, i);
        for (uint64_t i = 0; i < 10; i++)
            delete (&f, i);
        scarce_begin(left);
        lx_status status = lx_writer_commit(f.writer, &error);
        lx_status again = status == LX_OK ? LX_OK : lx_writer_commit(f.writer, NULL);
        lx_set_allocator(NULL, NULL);
        if (status == LX_OK)
            break;
        ck_assert_int_eq(status, LX_ERR_NOMEM);
        ck_assert_int_eq(again, LX_ERR_NOMEM);
        failures++;
        lx_error_clear(&error);
        unit_ok(lx_writer_rollback(f.writer, &error));
        expect_but(&f, 15, none, 0);
    }
    ck_assert_uint_gt(failures, 0);
    tear_down(&f);
}
END_TEST

UNIT_MAIN("zrecord/apply", changing_a_committed_record_writes_one_entry,
          overwrites_an_uncommitted_record, the_last_record_replaces_a_deleted_one,
          a_moved_record_moves_again, reuses_freed_indices, reuses_indices_freed_by_a_commit,
          appends_and_deletes_within_one_commit, changes_rows_written_before_their_frame,
          a_rollback_discards_all_kinds_of_changes, records_each_grown_chunk_once,
          a_failed_allocation_applies_nothing)
