/* SPDX-License-Identifier: MIT */
/* The golden datasets of tests/data/zrecord: all calls that read return the content that is stored
 * with them. */
#include "../../reader/dump.h"
#include "goldens.h"
#include "records.h"

/** The callback for each golden dataset, and the number of its calls. */
struct visitor {
    void (*visit)(const char *name, const char *contents);
    size_t count;
};

static void visit_contents(void *context, const struct tar_member *file)
{
    struct visitor *visitor = context;
    char name[sizeof file->name];
    if (strchr(file->name, '/') != NULL)
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(file->name, "."), file->name);
    if (!WITH_ZSTD && strcmp(name, "zstd-frames") == 0)
        return;
    char *contents = strndup((const char *)file->data, file->size);
    golden_copy(name);
    visitor->visit(name, contents);
    free(contents);
    visitor->count++;
}

/** Calls @p visit with the name and the content of each golden dataset, in a scratch directory with
 * a copy of it. */
static void for_each_golden(void (*visit)(const char *name, const char *contents))
{
    char *scratch = scratch_make();
    struct visitor visitor = {visit, 0};
    goldens_visit(visit_contents, &visitor);
    ck_assert_uint_ge(visitor.count, 20);
    scratch_remove(scratch);
}

static char *dump(const char *name, lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    char *text, description[2048];
    size_t size;
    FILE *to = open_memstream(&text, &size);
    lx_status status = dump_dataset(to, dataset, &error);
    lx_error_describe(&error, description, sizeof description);
    ck_assert_msg(status == LX_OK, "%s: %s", name, description);
    ck_assert_int_eq(fclose(to), 0);
    return text;
}

static void expect_contents(const char *name, const char *contents)
{
    static const lx_verify_policy verifies[] = {LX_VERIFY_ALWAYS, LX_VERIFY_FIRST, LX_VERIFY_NEVER};
    for (size_t i = 0; i < 3; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset;
        unit_ok(open_as(name, verifies[i], false, &dataset, &error));
        for (int again = 0; again < 2; again++) {
            char *text = dump(name, dataset);
            ck_assert_msg(strcmp(text, contents) == 0, "%s holds\n%s", name, text);
            free(text);
        }
        lx_dataset_close(dataset);
    }
}

START_TEST(reads_each_golden_as_recorded)
{
    for_each_golden(expect_contents);
}
END_TEST

static void expect_backup(const char *name, const char *contents)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(lx_dataset_open(name, NULL, &dataset, &error));
    unit_ok(lx_dataset_backup(dataset, "copy", NULL, NULL, &error));
    lx_dataset_close(dataset);
    expect_contents("copy", contents);
    if (strcmp(name, "joined") != 0)
        unit_ok(lx_dataset_remove("copy", &error));
    remove_all("copy");
}

START_TEST(a_backup_of_each_golden_is_equal)
{
    for_each_golden(expect_backup);
}
END_TEST

/** Gathering all records of a dense field must equal reading it with the calls for any field. */
static void expect_gathered(lx_dataset *dataset, size_t position, uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    size_t length = (size_t)lx_dataset_get_length(dataset);
    uint64_t *indices = malloc((length + 1) * sizeof *indices);
    uint64_t *offsets = malloc((length + 1) * sizeof *offsets);
    uint8_t *dense = malloc(length * (size_t)size + 1), *bytes = malloc(length * (size_t)size + 1);
    for (size_t i = 0; i < length; i++)
        indices[i] = length - 1 - i;
    for (int again = 0; again < 2; again++) {
        memset(dense, 0xaa, length * (size_t)size);
        unit_ok(lx_dataset_gather(dataset, position, indices, length, dense, (size_t)size, &error));
        unit_ok(lx_dataset_get_sizes(dataset, position, indices, length, offsets, NULL, &error));
        ck_assert_uint_eq(offsets[length], length * size);
        unit_ok(
            lx_dataset_gather_bytes(dataset, position, indices, length, offsets, bytes, &error));
        ck_assert_int_eq(memcmp(dense, bytes, length * (size_t)size), 0);
    }
    free(bytes);
    free(dense);
    free(offsets);
    free(indices);
}

/** A view of a record must equal the gathered one; records without a view are compressed. */
static void expect_viewed(lx_dataset *dataset, size_t position, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t offsets[2];
    uint8_t present;
    lx_slice slice;
    lx_view *view;
    lx_status status = lx_dataset_view(dataset, position, &index, 1, &slice, &view, &error);
    if (status == LX_ERR_UNSUPPORTED)
        return;
    unit_ok(status);
    unit_ok(lx_dataset_get_sizes(dataset, position, &index, 1, offsets, &present, &error));
    ck_assert_int_eq(slice.data != NULL, present);
    if (present) {
        uint8_t *value = malloc((size_t)offsets[1] + 1);
        ck_assert_uint_eq(slice.size, offsets[1]);
        unit_ok(lx_dataset_gather_bytes(dataset, position, &index, 1, offsets, value, &error));
        ck_assert_int_eq(memcmp(slice.data, value, (size_t)offsets[1]), 0);
        free(value);
    }
    lx_view_free(view);
}

static void expect_equal_reads(const char *name, const char *contents)
{
    (void)contents;
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(lx_dataset_open(name, NULL, &dataset, &error));
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++) {
        uint64_t size = lx_schema_get_field(schema, i)->size;
        if (size != LX_NONE)
            expect_gathered(dataset, i, size);
        for (uint64_t index = 0; index < lx_dataset_get_length(dataset); index++)
            expect_viewed(dataset, i, index);
    }
    lx_dataset_close(dataset);
}

START_TEST(all_calls_read_the_same_values)
{
    for_each_golden(expect_equal_reads);
}
END_TEST

static void expect_verified(const char *name, const char *contents)
{
    (void)contents;
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_verify_result done;
    unit_ok(lx_dataset_open(name, NULL, &dataset, &error));
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, &done, &error));
    ck_assert_uint_eq(done.records, lx_dataset_get_length(dataset));
    ck_assert_uint_eq(done.damages, 0);
    lx_dataset_close(dataset);
}

START_TEST(verifies_each_golden)
{
    for_each_golden(expect_verified);
}
END_TEST

/** The library must not change a dataset that it cannot write: it fails, or appends. */
static void expect_appended(const char *name, const char *contents)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_value values[32];
    lx_status status = lx_writer_open(name, NULL, &writer, &error);
    if (status != LX_OK) {
        ck_assert_msg(status == LX_ERR_STATE || status == LX_ERR_UNSUPPORTED, "%s: %s", name,
                      error.message);
        expect_contents(name, contents);
        return;
    }
    size_t fields = lx_schema_get_field_count(lx_writer_get_schema(writer));
    uint64_t length = lx_writer_get_length(writer);
    for (size_t i = 0; i < fields; i++)
        values[i] = (lx_value){NULL, LX_NONE};
    unit_ok(lx_writer_append(writer, values, fields, NULL, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset(name);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length + 1);
    char *text = dump(name, dataset);
    /* After the line of the length, all is as before. */
    const char *before = strchr(contents, '\n'), *after = strchr(text, '\n');
    ck_assert_msg(strncmp(after, before, strlen(before)) == 0, "%s holds\n%s", name, text);
    free(text);
    lx_dataset_close(dataset);
}

START_TEST(appends_to_each_golden_or_rejects_it)
{
    for_each_golden(expect_appended);
}
END_TEST

UNIT_MAIN("zrecord/golden", reads_each_golden_as_recorded, a_backup_of_each_golden_is_equal,
          all_calls_read_the_same_values, verifies_each_golden,
          appends_to_each_golden_or_rejects_it)
