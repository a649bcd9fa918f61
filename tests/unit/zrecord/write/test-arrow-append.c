/* SPDX-License-Identifier: MIT */
/* Rows that are appended through the Arrow C data interface: types, slices and nulls, and tables
 * that do not fit. test-arrow-column.c has invalid arrays. */
#include "../arrows.h"

#define ROWS 3

/* ---- scalars */

static const uint8_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                                  0, 1, 0, 2, 0, 3, 0, 4, 0, 5,  0,  6,  0,  7,  0,  8,
                                  9, 8, 7, 6, 5, 4, 3, 2, 1, 0,  1,  2,  3,  4,  5,  6};

START_TEST(appends_scalars)
{
    static const struct {
        const char *format;
        lx_dtype dtype;
    } types[] = {
        {"c", LX_INT8},
        {"C", LX_UINT8},
        {"s", LX_INT16},
        {"S", LX_UINT16},
        {"i", LX_INT32},
        {"I", LX_UINT32},
        {"l", LX_INT64},
        {"L", LX_UINT64},
        {"e", LX_FLOAT16},
        {"f", LX_FLOAT32},
        {"g", LX_FLOAT64},
        {"tdm", LX_INT64},
        {"tsu:UTC", LX_INT64},
        {"tsn:", LX_INT64},
        {"ttn", LX_INT64},
        {"tDs", LX_INT64},
        {"tdD", LX_INT32},
        {"tss:", LX_DATETIME64_S},
        {"tdm", LX_DATETIME64_MS},
    };
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        char *scratch = scratch_make();
        size_t size = lx_dtype_get_size(types[k].dtype);
        static const uint8_t valid[] = {0x2d}; /* bits 2, 3 and 5, of which row 1 is bit 4 */
        struct arrows t;
        arrows_init(&t, ROWS);
        struct arrows_node *column = arrows_add(&t, "f", types[k].format, valid, numbers);
        column->array.offset = 2;
        t.array.offset = 1; /* of all columns */
        column->array.length = ROWS + 1;
        const void *const right[] = {numbers + 3 * size, NULL, numbers + 5 * size};
        arrows_expect(arrows_writer(types[k].dtype, NULL, 0), &t, right, size);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(widens_scalars)
{
    static const int8_t small[] = {-1, 127, -128};
    static const uint32_t natural[] = {0, UINT32_MAX, 7};
    static const float real[] = {-1.5f, 0, 3e38f};
    static const int32_t days[] = {-1, INT32_MAX, INT32_MIN};
    static const int64_t days_wide[] = {-1, INT32_MAX, INT32_MIN};
    static const int64_t small_wide[] = {-1, 127, -128}, natural_wide[] = {0, UINT32_MAX, 7};
    static const double real_wide[] = {-1.5, 0, 3e38f};
    const struct {
        const char *format;
        const void *from;
        lx_dtype dtype;
        const void *to;
    } cases[] = {
        {"c", small, LX_INT64, small_wide},        {"I", natural, LX_INT64, natural_wide},
        {"I", natural, LX_UINT64, natural_wide},   {"f", real, LX_FLOAT64, real_wide},
        {"tdD", days, LX_DATETIME64_D, days_wide},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *scratch = scratch_make();
        struct arrows t;
        arrows_init(&t, ROWS);
        arrows_add(&t, "f", cases[k].format, NULL, cases[k].from);
        const uint8_t *to = cases[k].to;
        const void *const right[] = {to, to + 8, to + 16};
        arrows_expect(arrows_writer(cases[k].dtype, NULL, 0), &t, right, 8);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(refuses_other_types)
{
    static const struct {
        const char *format;
        lx_dtype dtype;
        const char *said;
    } cases[] = {
        {"l", LX_INT32, "has the Arrow type int64, but the field is int32"},
        {"L", LX_INT64, "uint64, but the field is int64"},
        {"c", LX_UINT16, "int8, but the field is uint16"},
        {"g", LX_FLOAT32, "float64, but"},
        {"i", LX_FLOAT64, "int32, but"},
        {"C", LX_BOOL, "uint8, but"},
        {"C", LX_BYTES, "uint8, but the field is bytes"},
        {"u", LX_INT8, "string, but"},
        {"w:4", LX_INT32, "fixed-size binary [4], but"},
        {"l", LX_DATETIME64_S, "int64, but the field is datetime64[s]: cast"},
        {"tsm:", LX_DATETIME64_S, "timestamp, but the field is datetime64[s]: cast"},
        {"u", LX_IMAGE, "string, but the field is image"},
        {"e", LX_BFLOAT16, "but the field is bfloat16: Arrow has no such type"},
    };
    char *scratch = scratch_make();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct arrows t;
        arrows_init(&t, ROWS);
        arrows_add(&t, "f", cases[k].format, NULL, numbers);
        lx_writer *writer = arrows_writer(cases[k].dtype, NULL, 0);
        arrows_refused(writer, &t, LX_ERR_MISMATCH, cases[k].said, "f");
        close_writer(writer);
        lx_error error = LX_ERROR_INIT;
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_bits)
{
    char *scratch = scratch_make();
    static const uint8_t bits[] = {0xa8, 0x05}, valid[] = {0xff, 0xfe};
    static const uint8_t no = 0, yes = 1;
    struct arrows t;
    arrows_init(&t, 7);
    struct arrows_node *column = arrows_add(&t, "f", "b", valid, bits);
    column->array.offset = 3;
    const void *const right[] = {&yes, &no, &yes, &no, &yes, NULL, &no};
    arrows_expect(arrows_writer(LX_BOOL, NULL, 0), &t, right, 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_nulls_of_the_type_null)
{
    char *scratch = scratch_make();
    static const void *const right[ROWS] = {NULL};
    struct arrows t;
    arrows_init(&t, ROWS);
    arrows_add_column(&t, "f", "n", NULL, 0);
    arrows_expect(arrows_writer(LX_INT16, NULL, 0), &t, right, 2);
    scratch_remove(scratch);
}
END_TEST

/* ---- bytes */

static const char text[] = "xxabcdefghijklmnopqrstuvwxyz0123456789";

START_TEST(appends_bytes)
{
    static const int32_t offsets32[] = {99, 2, 5, 5, 30};
    static const int64_t offsets64[] = {99, 2, 5, 5, 30};
    static const char *const formats[] = {"z", "u", "Z", "U"};
    for (int k = 0; k < 4; k++) {
        char *scratch = scratch_make();
        static const uint8_t valid[] = {0x0b}; /* bit 0 belongs to no row, bit 2 is row 1 */
        struct arrows t;
        arrows_init(&t, ROWS);
        struct arrows_node *column = k < 2
                                         ? arrows_add(&t, "f", formats[k], valid, offsets32, text)
                                         : arrows_add(&t, "f", formats[k], valid, offsets64, text);
        column->array.offset = 1;
        const void *const right[] = {"abc", NULL, "defghijklmnopqrstuvwxyz01"};
        arrows_expect(arrows_writer(LX_BYTES, NULL, 0), &t, right, 0);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(appends_views)
{
    char *scratch = scratch_make();
    struct {
        int32_t length;
        char start[4];
        int32_t buffer, offset;
    } views[] = {
        {3, "abc", 0, 0}, {0, "", 0, 0}, {26, {'a', 'b', 'c', 'd'}, 1, 2}, {-5, "", 9, -1}};
    static const int64_t sizes[] = {0, sizeof text};
    static const uint8_t valid[] = {0x07};
    struct arrows t;
    arrows_init(&t, 4);
    arrows_add(&t, "f", "vu", valid, views, NULL, text, sizes);
    const void *const right[] = {"abc", "", "abcdefghijklmnopqrstuvwxyz", NULL};
    arrows_expect(arrows_writer(LX_BYTES, NULL, 0), &t, right, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_blocks_to_bytes_and_to_arrays)
{
    static const uint64_t shape[] = {2, 2};
    for (int dense = 0; dense < 2; dense++) {
        char *scratch = scratch_make();
        struct arrows t;
        arrows_init(&t, ROWS);
        struct arrows_node *column = arrows_add(&t, "f", "w:4", NULL, text);
        column->array.offset = 1;
        const void *const right[] = {text + 4, text + 8, text + 12};
        arrows_expect(dense ? arrows_writer(LX_UINT8, shape, 2) : arrows_writer(LX_BYTES, NULL, 0),
                      &t, right, 4);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(empty_values_need_no_data)
{
    char *scratch = scratch_make();
    static const int32_t offsets[ROWS + 1] = {0};
    struct arrows t;
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "u", NULL, offsets, NULL);
    const void *const right[] = {"", "", ""};
    arrows_expect(arrows_writer(LX_BYTES, NULL, 0), &t, right, 0);
    scratch_remove(scratch);
}
END_TEST

/* ---- lists */

static int16_t elements[64];

static void number_elements(void)
{
    for (int16_t i = 0; i < 64; i++)
        elements[i] = i;
}

START_TEST(appends_nested_fixed_lists)
{
    char *scratch = scratch_make();
    static const uint64_t shape[] = {2, 3};
    static const uint8_t valid[] = {0x15};
    struct arrows t;
    number_elements();
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "+w:2", valid);
    column->array.offset = 1; /* row 0 is bit 1, which is not set */
    struct arrows_node *middle = arrows_child(column, "+w:3", 8, NULL, NULL);
    middle->array.offset = 1;
    struct arrows_node *inner = arrows_child(middle, "s", 27, NULL, elements);
    inner->array.offset = 4;
    /* Row i begins at the child's item (1 + i) * 2, which is element (1 + 2 + 2i) * 3 + 4. */
    const void *const right[] = {NULL, elements + (1 + 4) * 3 + 4, NULL};
    arrows_expect(arrows_writer(LX_INT16, shape, 2), &t, right, 12);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_flat_lists_to_arrays)
{
    static const uint64_t shape[] = {2, 3};
    static const int64_t offsets[] = {1, 7, 7, 13};
    static const uint8_t valid[] = {0x05};
    for (int varying = 0; varying < 2; varying++) {
        char *scratch = scratch_make();
        struct arrows t;
        number_elements();
        arrows_init(&t, ROWS);
        struct arrows_node *column = varying ? arrows_add(&t, "f", "+L", valid, offsets)
                                             : arrows_add(&t, "f", "+w:6", valid);
        struct arrows_node *inner = arrows_child(column, "s", 18, NULL, elements);
        inner->array.offset = 2;
        int start = varying ? 1 : 0, last = varying ? 7 : 12;
        const void *const right[] = {elements + 2 + start, NULL, elements + 2 + last};
        arrows_expect(arrows_writer(LX_INT16, shape, 2), &t, right, 12);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(appends_lists_of_fixed_lists)
{
    char *scratch = scratch_make();
    static const uint64_t shape[] = {2, 3};
    static const int32_t offsets[] = {1, 3, 5, 7};
    struct arrows t;
    number_elements();
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "+l", NULL, offsets);
    struct arrows_node *middle = arrows_child(column, "+w:3", 8, NULL, NULL);
    middle->array.offset = 1;
    arrows_child(middle, "s", 27, NULL, elements);
    const void *const right[] = {elements + 6, elements + 12, elements + 18};
    arrows_expect(arrows_writer(LX_INT16, shape, 2), &t, right, 12);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_lists_of_bits)
{
    char *scratch = scratch_make();
    static const uint64_t shape[] = {3};
    static const uint8_t bits[] = {0xac, 0x01}; /* from bit 2: 110 101 1 */
    static const uint8_t first[] = {1, 1, 0}, second[] = {1, 0, 1};
    struct arrows t;
    arrows_init(&t, 2);
    struct arrows_node *column = arrows_add(&t, "f", "+w:3", NULL);
    arrows_child(column, "b", 6, NULL, bits)->array.offset = 2;
    const void *const right[] = {first, second};
    arrows_expect(arrows_writer(LX_BOOL, shape, 1), &t, right, 3);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_lists_that_do_not_fit)
{
    char *scratch = scratch_make();
    static const uint64_t shape[] = {2, 3};
    static const int32_t offsets[] = {0, 6, 11, 17};
    static const uint8_t holed[] = {0xff, 0x7f, 0xff}; /* element 15 is null */
    lx_writer *writer = arrows_writer(LX_INT16, shape, 2);
    struct arrows t;
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "+l", NULL, offsets);
    arrows_child(column, "s", 18, NULL, elements);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "the list has 5 elements", "f");

    arrows_init(&t, ROWS);
    column = arrows_add(&t, "f", "+w:6", NULL);
    arrows_child(column, "s", 18, holed, elements);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "contains a null", "f");
    lx_error error = LX_ERROR_INIT;
    lx_writer_append_arrow(writer, &t.schema, &t.array, NULL, &error);
    ck_assert_uint_eq(error.record, 2);

    arrows_init(&t, ROWS);
    column = arrows_add(&t, "f", "+w:3", NULL);
    arrows_child(arrows_child(column, "+w:2", 9, NULL, NULL), "s", 18, NULL, elements);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "int16 [3, 2], but the field is int16 [2, 3]", "f");
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_missing_list_may_contain_nulls)
{
    char *scratch = scratch_make();
    static const uint64_t shape[] = {2};
    static const uint8_t valid[] = {0x05}, inner[] = {0x33};
    struct arrows t;
    number_elements();
    arrows_init(&t, ROWS);
    struct arrows_node *column = arrows_add(&t, "f", "+w:2", valid);
    arrows_child(column, "s", 6, inner, elements);
    const void *const right[] = {elements, NULL, elements + 4};
    arrows_expect(arrows_writer(LX_INT16, shape, 1), &t, right, 4);
    scratch_remove(scratch);
}
END_TEST

/* ---- dictionaries */

START_TEST(decodes_dictionaries)
{
    static const int8_t indices8[] = {9, 2, 0, 1, 77, 2};
    static const uint64_t indices64[] = {9, 2, 0, 1, 77, 2};
    for (int wide = 0; wide < 2; wide++) {
        char *scratch = scratch_make();
        static const uint8_t valid[] = {0x2f}, words[] = {0x05};
        static const int32_t offsets[] = {0, 3, 5, 8};
        struct arrows t;
        arrows_init(&t, 5);
        struct arrows_node *column = wide ? arrows_add(&t, "f", "L", valid, indices64)
                                          : arrows_add(&t, "f", "c", valid, indices8);
        column->array.offset = 1;
        arrows_dictionary(column, "u", 3, 3, (const void *const[]){words, offsets, "redXXtea"});
        const void *const right[] = {"tea", "red", NULL, NULL, "tea"};
        arrows_expect(arrows_writer(LX_BYTES, NULL, 0), &t, right, 0);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(refuses_indices_out_of_range)
{
    char *scratch = scratch_make();
    static const int8_t indices[][ROWS] = {{0, 1, 2}, {0, 1, -1}};
    static const int64_t values[] = {10, 20};
    lx_writer *writer = arrows_writer(LX_INT64, NULL, 0);
    for (int k = 0; k < 2; k++) {
        struct arrows t;
        lx_error error = LX_ERROR_INIT;
        arrows_init(&t, ROWS);
        struct arrows_node *column = arrows_add(&t, "f", "c", NULL, indices[k]);
        arrows_dictionary(column, "l", 2, 2, (const void *const[]){NULL, values});
        arrows_refused(writer, &t, LX_ERR_ARGUMENT, "the dictionary has 2 values", "f");
        lx_writer_append_arrow(writer, &t.schema, &t.array, NULL, &error);
        ck_assert_uint_eq(error.record, 2);
    }
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- tables */

static lx_writer *two_fields(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "a", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "b", LX_INT16, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    return writer;
}

START_TEST(matches_columns_by_name)
{
    char *scratch = scratch_make();
    lx_writer *writer = two_fields();
    struct arrows t;
    arrows_init(&t, ROWS);
    arrows_add(&t, "b", "s", NULL, numbers);
    arrows_add(&t, "a", "c", NULL, numbers);
    const void *const right[] = {numbers, numbers + 1, numbers + 2};
    arrows_expect(writer, &t, right, 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_tables_that_do_not_match)
{
    char *scratch = scratch_make();
    lx_writer *writer = two_fields();
    struct arrows t;
    arrows_init(&t, ROWS);
    arrows_add(&t, "a", "c", NULL, numbers);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "no column for this field", "b");
    arrows_add(&t, "a", "c", NULL, numbers);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "several columns", "a");
    t.schemas[1]->name = "c";
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "no field with the name", "c");
    t.schemas[1]->name = NULL;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "column 1", "");
    t.schemas[1]->name = "b";
    t.schemas[1]->format = "d:10,2";
    arrows_refused(writer, &t, LX_ERR_UNSUPPORTED, "decimal ('d:10,2')", "b");
    t.schemas[1]->format = "s";
    static const uint8_t valid[] = {0x05};
    t.buffers[0] = valid;
    t.array.null_count = 1;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "the row is null", "");
    t.array.null_count = 0; /* then the bitmap has no meaning */
    const void *const right[] = {numbers, numbers + 1, numbers + 2};
    arrows_expect(writer, &t, right, 1);
    scratch_remove(scratch);
}
END_TEST

/* ---- structs of bytes and paths */

/** Adds a column "f" of structs with @p length children. */
static struct arrows_node *add_files(struct arrows *t, const uint8_t *valid, int64_t length,
                                     const uint8_t *bytes_valid, const uint8_t *paths_valid)
{
    static const int32_t offsets[] = {0, 1, 3, 6, 6, 6}, images[] = {0, 3, 6, 10, 10, 10};
    struct arrows_node *column = arrows_add(t, "f", "+s", valid);
    return arrows_file(column,
                       arrows_fill(column + 1, "bytes", "z", length, 3,
                                   (const void *const[]){bytes_valid, images,
                                                         "\xff\xd8\xff"
                                                         "bad"
                                                         "\xff\xd8\xff!"}),
                       arrows_fill(column + 2, "path", "u", length, 3,
                                   (const void *const[]){paths_valid, offsets, "xyyzzz"}));
}

START_TEST(appends_the_bytes_of_files)
{
    /* Rows 1 and 3 are null, so that the bytes of row 1 need be no image. */
    static const uint8_t valid[] = {0x0d}, both[] = {0x07};
    static const lx_dtype dtypes[] = {LX_IMAGE, LX_BYTES};
    for (size_t k = 0; k < 2; k++) {
        char *scratch = scratch_make();
        struct arrows t;
        arrows_init(&t, 4);
        add_files(&t, valid, 4, both, both);
        arrows_expect(arrows_writer(dtypes[k], NULL, 0), &t,
                      (const void *const[]){"\xff\xd8\xff", NULL, "\xff\xd8\xff!", NULL}, 0);
        scratch_remove(scratch);
        scratch = scratch_make();
        arrows_init(&t, 2); /* rows 1 and 2 of a slice of a slice */
        struct arrows_node *column = add_files(&t, valid, 4, NULL, NULL);
        t.array.offset = 1;
        column->array.length = 3;
        arrows_expect(arrows_writer(dtypes[k], NULL, 0), &t,
                      (const void *const[]){NULL, "\xff\xd8\xff!"}, 0);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(refuses_files_that_have_no_bytes)
{
    static const uint8_t none[] = {0}, first[] = {0x01};
    char *scratch = scratch_make();
    lx_writer *writer = arrows_writer(LX_IMAGE, NULL, 0);
    struct arrows t;
    arrows_init(&t, 3);
    add_files(&t, NULL, 3, first, NULL);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "a path but no bytes", "f");
    lx_error error = LX_ERROR_INIT;
    lx_writer_append_arrow(writer, &t.schema, &t.array, NULL, &error);
    ck_assert_uint_eq(error.record, 1);
    arrows_init(&t, 3);
    add_files(&t, NULL, 2, NULL, NULL);
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "only 2 rows", "f");
    arrows_init(&t, 3);
    add_files(&t, NULL, 3, NULL, NULL)->array.length = 2;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "only 2 rows", "f");
    arrows_init(&t, 3);
    add_files(&t, NULL, 3, NULL, NULL)->array.n_children = 1;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "1 children", "f");
    arrows_init(&t, 3);
    add_files(&t, NULL, 3, NULL, NULL)->part_arrays[1] = NULL;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "lacks a child", "f");
    arrows_init(&t, 3);
    add_files(&t, none, 3, NULL, NULL)[1].buffers[1] = NULL;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "NULL", "f");
    close_writer(writer);
    writer = NULL;
    scratch_remove(scratch);
    scratch = scratch_make();
    writer = arrows_writer(LX_INT64, NULL, 0);
    arrows_init(&t, 3);
    add_files(&t, NULL, 3, NULL, NULL);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "struct of binary, but the field is int64", "f");
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(matches_names_that_fields_cannot_have)
{
    static const int64_t values[] = {1, 2};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "a_b", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    lx_writer *writer;
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    struct arrows t;
    arrows_init(&t, 1);
    arrows_add(&t, "a b", "l", NULL, values);
    struct arrows_node *second = arrows_add(&t, "a:b", "l", NULL, values);
    arrows_refused(writer, &t, LX_ERR_MISMATCH, "several columns", "a:b");
    second->schema.name = "";
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "has 0 bytes", "");
    t.schema.n_children = t.array.n_children = 1;
    arrows_expect(writer, &t, (const void *const[]){values}, sizeof *values);
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_no_rows)
{
    char *scratch = scratch_make();
    lx_writer *writer = arrows_writer(LX_BYTES, NULL, 0);
    struct arrows t;
    arrows_init(&t, 0);
    arrows_add(&t, "f", "u", NULL, NULL, NULL); /* old versions of Arrow have no offsets then */
    arrows_expect(writer, &t, NULL, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_null_and_released_structs)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = arrows_writer(LX_INT8, NULL, 0);
    struct arrows t;
    arrows_init(&t, ROWS);
    arrows_add(&t, "f", "c", NULL, numbers);
    unit_refuses_null(lx_writer_append_arrow(NULL, &t.schema, &t.array, NULL, &error), "writer");
    unit_refuses_null(lx_writer_append_arrow(writer, NULL, &t.array, NULL, &error), "columns");
    unit_refuses_null(lx_writer_append_arrow(writer, &t.schema, NULL, NULL, &error), "rows");
    t.array.release = NULL;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "array was released", "");
    t.schema.release = NULL;
    arrows_refused(writer, &t, LX_ERR_ARGUMENT, "schema was released", "");
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/write/arrow-append", appends_scalars, widens_scalars, refuses_other_types,
          appends_bits, appends_nulls_of_the_type_null, appends_bytes, appends_views,
          appends_blocks_to_bytes_and_to_arrays, empty_values_need_no_data,
          appends_nested_fixed_lists, appends_flat_lists_to_arrays, appends_lists_of_fixed_lists,
          appends_lists_of_bits, refuses_lists_that_do_not_fit, a_missing_list_may_contain_nulls,
          decodes_dictionaries, refuses_indices_out_of_range, matches_columns_by_name,
          refuses_tables_that_do_not_match, appends_the_bytes_of_files,
          refuses_files_that_have_no_bytes, matches_names_that_fields_cannot_have, appends_no_rows,
          refuses_null_and_released_structs)
