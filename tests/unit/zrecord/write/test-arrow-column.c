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

UNIT_MAIN("zrecord/write/arrow-column", refuses_invalid_arrays, refuses_invalid_tables,
          refuses_offsets_that_lie, refuses_values_that_are_too_long, refuses_lists_that_lie,
          refuses_views_that_lie, names_the_value_of_a_dictionary)
