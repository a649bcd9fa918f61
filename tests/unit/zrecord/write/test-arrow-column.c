/* SPDX-License-Identifier: MIT */
/* Invalid Arrow arrays: each must be refused, with the column and the row, and append nothing. */
#include "../arrows.h"

#define ROWS 3

static const int64_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/** Appends an array of int64 that @p harm has changed. */
static void expect_harm(void (*harm)(struct arrows *t, struct arrows_node *column),
                        const char *said)
{
    char *scratch = scratch_make();
    lx_writer *writer = arrows_writer(LX_INT64, NULL, 0);
    struct arrows t;
    arrows_init(&t, ROWS);
    harm(&t, arrows_add(&t, "f", "l", NULL, numbers));
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, said, "f");
    close_writer(writer);
    scratch_remove(scratch);
}

static void negative_length(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.length = -1;
}

static void negative_offset(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.offset = -1;
}

static void end_overflows(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.length = INT64_MAX;
    column->array.offset = 1;
}

static void bytes_overflow(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.offset = INT64_MAX - ROWS;
}

static void short_column(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.length = ROWS - 1;
}

static void offset_of_table(struct arrows *t, struct arrows_node *column)
{
    (void)column;
    t->array.offset = 1;
}

static void few_nulls(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.null_count = -2;
}

static void many_nulls(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.null_count = ROWS + 1;
}

static void nulls_without_bitmap(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.null_count = 1;
}

static void one_buffer(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.n_buffers = 1;
}

static void three_buffers(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.n_buffers = 3;
}

static void no_buffers(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.buffers = NULL;
}

static void no_data(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->buffers[1] = NULL;
}

static void a_child(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->array.n_children = 1;
}

static void no_array(struct arrows *t, struct arrows_node *column)
{
    (void)column;
    t->arrays[0] = NULL;
}

static void no_format(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->schema.format = NULL;
}

static void no_dictionary(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    column->schema.dictionary = &column[1].schema;
    column[1].schema.format = "l";
}

static void no_indices(struct arrows *t, struct arrows_node *column)
{
    arrows_dictionary(column, "l", 2, 2, (const void *const[]){NULL, numbers});
    no_data(t, column);
}

static void few_indices(struct arrows *t, struct arrows_node *column)
{
    arrows_dictionary(column, "l", 9, 2, (const void *const[]){NULL, numbers});
    short_column(t, column);
}

static void negative_dictionary(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    arrows_dictionary(column, "l", -1, 2, (const void *const[]){NULL, numbers});
}

static void indices_that_are_text(struct arrows *t, struct arrows_node *column)
{
    (void)t;
    arrows_dictionary(column, "l", 9, 2, (const void *const[]){NULL, numbers});
    column->schema.format = "u";
}

START_TEST(refuses_invalid_arrays)
{
    expect_harm(negative_length, "invalid length -1");
    expect_harm(negative_offset, "at offset -1");
    expect_harm(end_overflows, "invalid length 9223372036854775807");
    expect_harm(bytes_overflow, "too long");
    expect_harm(short_column, "only 2 rows");
    expect_harm(offset_of_table, "only 3 rows");
    expect_harm(few_nulls, "null count: -2");
    expect_harm(many_nulls, "null count: 4");
    expect_harm(nulls_without_bitmap, "1 nulls, but no bitmap");
    expect_harm(one_buffer, "has 1 buffers, but its type has 2");
    expect_harm(three_buffers, "has 3 buffers");
    expect_harm(no_buffers, "has 0 buffers");
    expect_harm(no_data, "buffer of the Arrow array is NULL");
    expect_harm(a_child, "has 1 children");
    expect_harm(no_array, "lacks a child");
    expect_harm(no_format, "lacks a format");
    expect_harm(no_dictionary, "lacks a child or a dictionary");
    expect_harm(no_indices, "buffer of the Arrow array is NULL");
    expect_harm(few_indices, "only 2 rows");
    expect_harm(negative_dictionary, "invalid length -1");
    expect_harm(indices_that_are_text, "indices of a dictionary must be integers");
}
END_TEST

START_TEST(refuses_invalid_tables)
{
    char *scratch = scratch_make();
    lx_writer *writer = arrows_writer(LX_INT64, NULL, 0);
    struct arrows t;
    arrows_init(&t, -1);
    arrows_add(&t, "f", "l", NULL, numbers);
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "invalid length -1", "");
    t.array.length = ROWS;
    t.array.n_children = 2;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "has 2 children, but its type has 1", "");
    t.array.n_children = 1;
    t.array.n_buffers = 0;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "has 0 buffers", "");
    t.schema.n_children = -1;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "invalid children", "");
    t.schema.n_children = 1;
    t.schema.children = NULL;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "invalid children", "");
    t.schema.format = "l";
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "must have the Arrow type struct", "");
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/** Appending the table must fail at @p row of column "f". */
static void expect_row(lx_dtype dtype, const struct arrows *t, uint64_t row, const char *said)
{
    char *scratch = scratch_make();
    static const uint64_t shape[] = {2};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = dtype == LX_BYTES ? arrows_writer(dtype, NULL, 0)
                                          : arrows_writer(dtype, shape, 1);
    arrows_refused(writer, t, LX_ERR_ARGUMENT, said, "f");
    lx_writer_append_arrow(writer, &t->schema, &t->array, NULL, &error);
    ck_assert_uint_eq(error.record, row);
    close_writer(writer);
    scratch_remove(scratch);
}

START_TEST(refuses_offsets_that_lie)
{
    static const int32_t decreasing[] = {0, 5, 3, 8}, negative[] = {-4, 0, 1, 2},
                         filled[] = {0, 0, 1, 1};
    static const int64_t wide[] = {0, 1, INT64_MIN, 2};
    struct arrows t;
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "u", NULL, decreasing, "abcdefgh");
    expect_row(LX_BYTES, &t, 1, "5 and 3 are negative or decrease");
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "z", NULL, negative, "abcdefgh");
    expect_row(LX_BYTES, &t, 0, "-4 and 0 are negative");
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "Z", NULL, wide, "abcdefgh");
    expect_row(LX_BYTES, &t, 1, "negative or decrease");
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "u", NULL, filled, NULL);
    expect_row(LX_BYTES, &t, 1, "is NULL");
}
END_TEST

START_TEST(refuses_values_that_are_too_long)
{
    char *scratch = scratch_make();
    static const int64_t offsets[] = {0, 0, (int64_t)UINT32_MAX + 1, INT64_MAX};
    lx_writer *writer = arrows_writer(LX_BYTES, NULL, 0);
    struct arrows t;
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "U", NULL, offsets, "abcdefgh");
    arrows_refused(writer, &t, LX_ERR_LIMIT, "4294967296 bytes, but at most 4294967295", "f");
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_lists_that_lie)
{
    static const int32_t offsets[] = {0, 2, 4, 6};
    struct arrows t;
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "+l", NULL, offsets);
    arrows_child(column, "l", 5, NULL, numbers);
    expect_row(LX_INT64, &t, 2, "ends at item 6, but the child of the Arrow array has 5");
    arrows_init(&t, ROWS);
    column = arrows_add(&t, "f", "+w:2", NULL);
    arrows_child(column, "l", 5, NULL, numbers);
    expect_row(LX_INT64, &t, LX_NONE, "length 5, but lists refer to 6");
    column->array.offset = INT64_MAX - ROWS;
    expect_row(LX_INT64, &t, LX_NONE, "lists refer to 18446744073709551614");
    column->array.offset = 0;
    column->array.n_children = 0;
    expect_row(LX_INT64, &t, LX_NONE, "has 0 children, but its type has 1");
    column->array.n_children = 1;
    column->array_child = NULL;
    expect_row(LX_INT64, &t, LX_NONE, "lacks a child");
    column->schema.n_children = 0;
    expect_row(LX_INT64, &t, LX_NONE, "must have one child");
}
END_TEST

START_TEST(refuses_views_that_lie)
{
    struct {
        int32_t length, start, buffer, offset;
    } views[ROWS] = {{3, 0, 0, 0}, {13, 0, 0, 0}, {0, 0, 0, 0}};
    static const struct {
        int32_t length, buffer, offset;
    } wrong[] = {{-1, 0, 0}, {13, 1, 0}, {13, -1, 0}, {13, 0, -1}, {13, 0, 8}, {INT32_MAX, 0, 1}};
    int64_t sizes[] = {20};
    struct arrows t;
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "vz", NULL, views, "abcdefghijklmnopqrst",
                                            sizes);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        views[1].length = wrong[i].length;
        views[1].buffer = wrong[i].buffer;
        views[1].offset = wrong[i].offset;
        expect_row(LX_BYTES, &t, 1, "the Arrow view");
    }
    views[1].length = 13;
    views[1].buffer = views[1].offset = 0;
    sizes[0] = -1;
    expect_row(LX_BYTES, &t, 1, "the Arrow view");
    sizes[0] = 20;
    column->buffers[2] = NULL;
    expect_row(LX_BYTES, &t, 1, "the Arrow view");
    column->array.n_buffers = 2;
    expect_row(LX_BYTES, &t, LX_NONE, "has 2 buffers, but its type has 3");
}
END_TEST

START_TEST(names_the_value_of_a_dictionary)
{
    static const int32_t offsets[] = {0, 2, 1};
    static const int8_t indices[ROWS] = {0, 0, 0};
    struct arrows t;
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "c", NULL, indices);
    arrows_dictionary(column, "u", 2, 3, (const void *const[]){NULL, offsets, "ab"});
    expect_row(LX_BYTES, &t, LX_NONE, "(value 1 of the dictionary)");
}
END_TEST

/* ---- ragged fields, texts and JSON */

static int16_t elements[64];

static void number_elements(void)
{
    for (int16_t i = 0; i < 64; i++)
        elements[i] = i;
}

static const int32_t ragged_offsets[] = {1, 1, 1, 4};

/** A list per row: an empty one, which is missing, an empty one, and three items from the second
 * on. */
static struct arrows_node *add_ragged(struct arrows *t)
{
    static const uint8_t valid[] = {0x06};
    arrows_init(t, ROWS);
    return arrows_add(t, "f", "+l", valid, ragged_offsets);
}

/** Appends the lists to a ragged field; row 2 must have the three values at @p last. */
static void expect_ragged(const struct arrows *t, lx_dtype dtype, const uint64_t *shape,
                          size_t ndim, const void *last, size_t size)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = arrows_writer(dtype, shape, ndim);
    unit_ok(lx_writer_append_arrow(writer, &t->schema, &t->array, NULL, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    static const uint64_t indices[] = {0, 1, 2};
    uint64_t sizes[ROWS + 1];
    uint8_t present[ROWS], value[64];
    unit_ok(lx_dataset_get_sizes(dataset, 0, indices, ROWS, sizes, present, &error));
    ck_assert_mem_eq(present, ((const uint8_t[]){0, 1, 1}), ROWS);
    ck_assert_uint_eq(sizes[2], 0);
    ck_assert_uint_eq(sizes[3], size);
    unit_ok(lx_dataset_gather_bytes(dataset, 0, indices, ROWS, sizes, value, &error));
    ck_assert_mem_eq(value, last, size);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}

START_TEST(appends_lists_to_ragged_fields)
{
    static const uint64_t shape[] = {LX_NONE, 2};
    static const uint8_t bits[] = {0x0a}, flags[] = {1, 0, 1};
    static const int32_t days[] = {0, -1, 5, INT32_MIN};
    static const int64_t days_wide[] = {-1, 5, INT32_MIN};
    struct arrows t;
    number_elements();
    arrows_child(add_ragged(&t), "s", 4, NULL, elements);
    expect_ragged(&t, LX_INT16, shape, 1, elements + 1, 6);
    arrows_child(add_ragged(&t), "b", 4, NULL, bits);
    expect_ragged(&t, LX_BOOL, shape, 1, flags, 3);
    arrows_child(add_ragged(&t), "tdD", 4, NULL, days);
    expect_ragged(&t, LX_DATETIME64_D, shape, 1, days_wide, 24);
    arrows_child(arrows_child(add_ragged(&t), "+w:2", 4, NULL, NULL), "s", 8, NULL, elements);
    expect_ragged(&t, LX_INT16, shape, 2, elements + 2, 12);
}
END_TEST

START_TEST(appends_fixed_lists_to_ragged_fields)
{
    static const uint64_t shape[] = {LX_NONE, 2};
    static const uint8_t valid[] = {0x06};
    struct arrows t;
    char *scratch = scratch_make();
    number_elements();
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "+w:3", valid);
    arrows_child(arrows_child(column, "+w:2", 9, NULL, NULL), "s", 18, NULL, elements);
    const void *const right[] = {NULL, elements + 6, elements + 12};
    arrows_expect(arrows_writer(LX_INT16, shape, 2), &t, right, 12);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_lists_that_ragged_fields_cannot_take)
{
    static const uint64_t shape[] = {LX_NONE, 2};
    static const int64_t huge[] = {0, 0, 0, ((int64_t)1 << 61) + 3};
    char *scratch = scratch_make();
    lx_writer *writer = arrows_writer(LX_INT64, shape, 2);
    struct arrows t;
    arrows_child(add_ragged(&t), "l", 4, NULL, elements);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "list of int64, but the field is int64 [any, 2]",
                   "f");
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "l", NULL, elements);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "type int64, but the field is int64 [any, 2]", "f");
    close_writer(writer);
    lx_error error = LX_ERROR_INIT;
    for (int ragged = 0; ragged < 2; ragged++) { /* 8 times the number of items overflows */
        static const uint64_t shapes[] = {3, LX_NONE};
        unit_ok(lx_dataset_remove("d", &error));
        writer = arrows_writer(LX_INT64, &shapes[ragged], 1);
        arrows_init(&t, ROWS);
        struct arrows_node *column = arrows_add(&t, "f", "+L", NULL, huge);
        arrows_child(column, "c", INT64_MAX / 2, NULL, elements);
        arrows_refused(writer, &t, ragged ? LX_ERR_LIMIT : LX_ERR_MISMATCH,
                       ragged ? "at most 4294967295" : "elements", "f");
        close_writer(writer);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(checks_texts_and_json)
{
    static const int32_t offsets[] = {0, 2, 2, 4};
    static const uint8_t valid[] = {0x05}, indices[] = {0, 0, 0};
    static const struct {
        const char *format;
        lx_dtype dtype;
        const char *data;
        uint64_t record; /**< Which is invalid. */
    } cases[] = {
        {"u", LX_STR, "ab\xc3\xa4", LX_NONE},
        {"z", LX_STR, "\xc3\xa4zz", LX_NONE},
        {"u", LX_JSON, "[]{}", LX_NONE},
        {"u", LX_BYTES, "\xff\xff\xff\xff", LX_NONE},
        {"u", LX_STR, "ab\xc3z", 2},
        {"z", LX_STR, "\xffzzz", 0},
        {"u", LX_JSON, "[]{{", 2},
        {"w:1", LX_JSON, "1[]", 2},
        {"w:1", LX_STR, "a\xff\x62", LX_NONE},
    };
    char *scratch = scratch_make();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct arrows t;
        lx_error error = LX_ERROR_INIT;
        lx_writer *writer = arrows_writer(cases[k].dtype, NULL, 0);
        arrows_init(&t, ROWS);
        if (cases[k].format[0] == 'w')
            arrows_add(&t, "f", cases[k].format, valid, cases[k].data);
        else
            arrows_add(&t, "f", cases[k].format, valid, offsets, cases[k].data);
        lx_status status = lx_writer_append_arrow(writer, &t.schema, &t.array, NULL, &error);
        ck_assert_int_eq(status, cases[k].record == LX_NONE ? LX_OK : LX_ERR_ARGUMENT);
        ck_assert_uint_eq(error.record, cases[k].record);
        ck_assert_uint_eq(lx_writer_get_length(writer), status == LX_OK ? ROWS : 0);
        if (k == 0) { /* all values of a dictionary are checked */
            arrows_init(&t, ROWS);
            const void *const buffers[] = {NULL, offsets, "ab\xff\xff"};
            arrows_dictionary(arrows_add(&t, "f", "C", NULL, indices), "u", 3, 3, buffers);
            status = lx_writer_append_arrow(writer, &t.schema, &t.array, NULL, &error);
            expect_error(status, LX_ERR_ARGUMENT, "value 2 of the dictionary", "d");
        }
        close_writer(writer);
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/write/arrow-column", refuses_invalid_arrays, refuses_invalid_tables,
          refuses_offsets_that_lie, refuses_values_that_are_too_long, refuses_lists_that_lie,
          refuses_views_that_lie, names_the_value_of_a_dictionary, appends_lists_to_ragged_fields,
          appends_fixed_lists_to_ragged_fields, refuses_lists_that_ragged_fields_cannot_take,
          checks_texts_and_json)
