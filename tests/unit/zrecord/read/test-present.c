/* SPDX-License-Identifier: MIT */
/* Missing values are those that lx_dataset_get_sizes() reports, in all access modes. */

#include "../placed.h"

#define COUNT 290

static void check_dataset(const char *path, uint64_t seed)
{
    for (size_t mode = 0; mode < ACCESS_MODES; mode++) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset = open_placed(path, (struct placed){.access = access_modes[mode]});
        uint64_t length = lx_dataset_get_length(dataset), indices[COUNT], offsets[COUNT + 1];
        uint8_t wanted[COUNT], present[COUNT];
        for (size_t field = 0; field < FIELDS; field++) {
            for (size_t i = 0; i < COUNT; i++)
                indices[i] = mix(seed * 1000 + field * 300 + i) % length;
            unit_ok(lx_dataset_get_sizes(dataset, field, indices, COUNT, offsets, wanted, &error));
            unit_ok(lx_dataset_get_present(dataset, field, indices, COUNT, present, &error));
            ck_assert_mem_eq(present, wanted, COUNT);
        }
        indices[7] = length;
        unit_fails(lx_dataset_get_present(dataset, 0, indices, COUNT, present, &error),
                   LX_ERR_RANGE);
        lx_dataset_close(dataset);
    }
}

START_TEST(finds_the_values_that_are_missing)
{
    char *scratch = scratch_make();
    static const struct {
        uint64_t in_tables, in_log;
    } forms[] = {{0, 40}, {40, 0}, {700, 60}, {3000, 0}};
    static struct shown shown;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%zu", i);
        records_make(name, forms[i].in_tables, forms[i].in_log);
        check_dataset(name, i);
        shown = shown_all(forms[i].in_tables + forms[i].in_log);
        records_delete(name, &shown, 7);
        records_shuffle(name, &shown, i);
        check_dataset(name, i + 10);
    }
    records_make_sealed("s", 500);
    check_dataset("s", 77);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_damaged_value_counts_as_present)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[100];
    uint8_t before[100], present[100];
    records_make_sealed("d", 100);
    for (uint64_t i = 0; i < 100; i++)
        indices[i] = i;
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
    unit_ok(lx_dataset_get_present(dataset, 0, indices, 100, before, &error));
    lx_dataset_close(dataset);
    for (uint64_t i = 0; i < 100; i += 9)
        file_flip("d/image.check", i * 64 + 5);
    for (size_t mode = 0; mode < ACCESS_MODES; mode++) {
        dataset = open_placed("d", (struct placed){.access = access_modes[mode]});
        unit_ok(lx_dataset_get_present(dataset, 0, indices, 100, present, &error));
        for (uint64_t i = 0; i < 100; i++)
            ck_assert_uint_eq(present[i], before[i] != 0 || i % 9 == 0);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- which fields may have missing values */

/** A writer that changes the dataset "d" at random, and readers that must not be misled. */
struct changing {
    lx_writer *writer;
    lx_dataset *reader; /* refreshed after each commit */
    uint64_t seed, turn;
    uint64_t missing; /* of 100 values, these are missing */
    uint32_t fields;  /* added so far */
};

static uint64_t draw(struct changing *c, uint64_t below)
{
    return mix(c->seed * 1000003 + c->turn++) % below;
}

static size_t count_fields(const struct changing *c)
{
    return lx_schema_get_field_count(lx_writer_get_schema(c->writer));
}

static void add_field(struct changing *c)
{
    lx_error error = LX_ERROR_INIT;
    char name[16];
    snprintf(name, sizeof name, "x%u", c->fields++);
    unit_ok(lx_writer_add_field(c->writer, name, LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
}

static lx_value draw_value(struct changing *c)
{
    static const uint64_t number = 5;
    return (lx_value){&number, draw(c, 100) < c->missing ? LX_NONE : 8};
}

/** Few records go to the log, many go to the tables. */
static void append_records(struct changing *c, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_value values[16];
    size_t fields = count_fields(c);
    for (uint64_t i = 0; i < count; i++) {
        for (size_t k = 0; k < fields; k++)
            values[k] = draw_value(c);
        unit_ok(lx_writer_append(c->writer, values, fields, NULL, &error));
    }
}

static void modify_records(struct changing *c, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t length = lx_writer_get_length(c->writer);
    for (uint64_t i = 0; length != 0 && i < count; i++) {
        size_t field = draw(c, count_fields(c));
        lx_value value = draw_value(c);
        unit_ok(lx_writer_modify(c->writer, draw(c, length), &field, &value, 1, &error));
    }
}

static void shorten(struct changing *c)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t length = lx_writer_get_length(c->writer);
    if (length != 0 && draw(c, 4) != 0)
        unit_ok(lx_writer_delete(c->writer, draw(c, length), NULL, &error));
    else if (length != 0)
        unit_ok(lx_writer_truncate(c->writer, length - draw(c, length) / 3, &error));
}

static void change_fields(struct changing *c)
{
    lx_error error = LX_ERROR_INIT;
    size_t count = count_fields(c);
    if (count < 5)
        add_field(c);
    else
        unit_ok(lx_writer_drop_field(
            c->writer, lx_schema_get_field(lx_writer_get_schema(c->writer), draw(c, count))->name,
            &error));
    lx_dataset_close(c->reader); /* it may read a field that was dropped */
    c->reader = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
}

static void reopen(struct changing *c)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_close(c->writer, &error));
    unit_ok(lx_writer_open("d", NULL, &c->writer, &error));
}

static void change_once(struct changing *c)
{
    lx_error error = LX_ERROR_INIT;
    switch (draw(c, 12)) {
    case 0:
        append_records(c, 3000);
        break;
    case 1:
        unit_ok(lx_writer_checkpoint(c->writer, &error));
        break;
    case 2:
        unit_ok(lx_writer_rebalance(c->writer, NULL, NULL, NULL, &error));
        break;
    case 3:
        change_fields(c);
        break;
    case 4:
        reopen(c);
        break;
    case 5:
        append_records(c, 2000);
        unit_ok(lx_writer_rollback(c->writer, &error));
        break;
    case 6:
    case 7:
        shorten(c);
        break;
    case 8:
        append_records(c, draw(c, 20));
        break;
    default:
        modify_records(c, draw(c, 50));
    }
}

/** Whether a value of the field is missing. */
static bool lacks_some(lx_dataset *dataset, size_t field)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t present;
    for (uint64_t i = 0; i < lx_dataset_get_length(dataset); i++) {
        unit_ok(lx_dataset_get_present(dataset, field, &i, 1, &present, &error));
        if (present == 0)
            return true;
    }
    return false;
}

/** A field that lacks a value must be known to; if @p exactly is set, no other one may be. */
static void check_flags(lx_dataset *dataset, bool exactly)
{
    for (size_t i = 0; i < lx_schema_get_field_count(lx_dataset_get_schema(dataset)); i++) {
        bool may = lx_dataset_may_lack_values(dataset, i);
        if (!may || exactly)
            ck_assert_int_eq(may, lacks_some(dataset, i));
    }
}

static void check_readers(struct changing *c, bool exactly)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *opened = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
    unit_ok(lx_dataset_refresh(c->reader, NULL, &error));
    check_flags(opened, exactly);
    check_flags(c->reader, exactly);
    lx_dataset_close(opened);
}

static void change_all(uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    struct changing c = {.seed = seed};
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "a", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "b", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &c.writer, &error));
    lx_schema_free(schema);
    c.reader = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
    check_readers(&c, true);
    for (int i = 0; i < 40; i++) {
        /* Missing values come and go, and are sometimes all filled in. */
        c.missing = i % 8 < 4 ? 0 : draw(&c, 3);
        change_once(&c);
        if (draw(&c, 3) != 0)
            unit_ok(lx_writer_commit(c.writer, &error));
        check_readers(&c, false);
    }
    modify_records(&c, 1);
    unit_ok(lx_writer_checkpoint(c.writer, &error));
    check_readers(&c, true);
    append_records(&c, 4000);
    if (seed % 2 != 0)
        modify_records(&c, 30);
    unit_ok(lx_writer_seal(c.writer, &error));
    check_readers(&c, true);
    unit_ok(lx_writer_close(c.writer, &error));
    check_readers(&c, true);
    lx_dataset_close(c.reader);
}

START_TEST(a_complete_field_lacks_no_value)
{
    for (uint64_t seed = 0; seed < (SANITIZED ? 3 : 12); seed++) {
        char *scratch = scratch_make();
        change_all(seed);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_checkpoint_finds_complete_fields)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const size_t field = 0;
    const uint64_t number = 5;
    const lx_value none = {NULL, LX_NONE}, some = {&number, 8};
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "a", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (int i = 0; i < 20000; i++) /* to the tables */
        unit_ok(lx_writer_append(writer, i == 4000 ? &none : &some, 1, NULL, &error));
    unit_ok(lx_writer_commit(writer, &error));
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
    ck_assert(lx_dataset_may_lack_values(dataset, 0));
    unit_ok(lx_writer_modify(writer, 4000, &field, &some, 1, &error));
    unit_ok(lx_writer_commit(writer, &error));
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert(lx_dataset_may_lack_values(dataset, 0)); /* only a look at all values tells */
    unit_ok(lx_writer_checkpoint(writer, &error));
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert(!lx_dataset_may_lack_values(dataset, 0));
    unit_ok(lx_writer_modify(writer, 7, &field, &none, 1, &error));
    unit_ok(lx_writer_commit(writer, &error));
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert(lx_dataset_may_lack_values(dataset, 0));
    lx_dataset_close(dataset);
    unit_ok(lx_writer_close(writer, &error));
    scratch_remove(scratch);
}
END_TEST

static bool may_be_missing(const char *path)
{
    lx_dataset *dataset = open_placed(path, (struct placed){.access = LX_ACCESS_MMAP});
    bool may = lx_dataset_may_lack_values(dataset, 0);
    lx_dataset_close(dataset);
    return may;
}

/** Creates the dataset "d" of 20,000 records, whose rows are in the tables, in a scratch
 * directory. */
static char *make_records(bool lacks_one)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint64_t number = 5;
    const lx_value none = {NULL, LX_NONE}, some = {&number, 8};
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "a", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("copy", schema, NULL, &writer, &error));
    unit_ok(lx_writer_close(writer, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (int i = 0; i < 20000; i++)
        unit_ok(lx_writer_append(writer, i == 4000 && lacks_one ? &none : &some, 1, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));
    return scratch;
}

START_TEST(copies_know_what_is_missing)
{
    for (int lacks = 0; lacks < 2; lacks++) {
        lx_error error = LX_ERROR_INIT;
        char *scratch = make_records(lacks != 0);
        lx_writer *writer;
        lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
        unit_ok(lx_dataset_backup(dataset, "backup", NULL, NULL, &error));
        unit_ok(lx_writer_open("copy", NULL, &writer, &error));
        unit_ok(lx_writer_copy(writer, dataset, NULL, 0, NULL, 20000, NULL, &error));
        unit_ok(lx_writer_close(writer, &error));
        lx_dataset_close(dataset);
        ck_assert_int_eq(may_be_missing("backup"), lacks);
        ck_assert_int_eq(may_be_missing("copy"), lacks);
        /* A recovery cannot rely on anything. */
        unit_ok(lx_dataset_recover("d", "recovered", NULL, NULL, &error));
        ck_assert(may_be_missing("recovered"));
        scratch_remove(scratch);
    }
}
END_TEST

UNIT_MAIN("zrecord/present", finds_the_values_that_are_missing, a_damaged_value_counts_as_present,
          a_complete_field_lacks_no_value, a_checkpoint_finds_complete_fields,
          copies_know_what_is_missing)
