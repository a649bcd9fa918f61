/* SPDX-License-Identifier: MIT */
#include "../arrows.h"
#include "zrecord/format/arrow-type.h"

/** A schema for the columns must have the one field "f". */
static void expect_field(const struct arrows *t, lx_dtype dtype, const uint64_t *shape, size_t ndim)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_arrow(schema, &t->schema, LX_COMPRESSION_FLATE, &error));
    ck_assert_uint_eq(lx_schema_get_field_count(schema), 1);
    const lx_field *field = lx_schema_get_field(schema, 0);
    ck_assert_str_eq(field->name, "f");
    ck_assert_int_eq(field->dtype, dtype);
    ck_assert_int_eq(field->compression, LX_COMPRESSION_FLATE);
    ck_assert_uint_eq(field->ndim, ndim);
    for (size_t i = 0; i < ndim; i++)
        ck_assert_uint_eq(field->shape[i], shape[i]);
    lx_schema_free(schema);
}

START_TEST(chooses_the_field_for_a_column)
{
    static const struct {
        const char *format;
        lx_dtype dtype;
    } types[] = {
        {"b", LX_BOOL},
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
        {"z", LX_BYTES},
        {"Z", LX_BYTES},
        {"u", LX_STR},
        {"U", LX_STR},
        {"vz", LX_BYTES},
        {"vu", LX_STR},
        {"w:16", LX_BYTES},
        {"tdD", LX_DATETIME64_D},
        {"tdm", LX_DATETIME64_MS},
        {"tss:Europe/Berlin", LX_DATETIME64_S},
        {"tsm:", LX_DATETIME64_MS},
        {"tsu:", LX_DATETIME64_US},
        {"tsn:", LX_DATETIME64_NS},
        {"tts", LX_INT64},
        {"ttn", LX_INT64},
        {"tDu", LX_INT64},
    };
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        struct arrows t;
        arrows_init(&t, 0);
        arrows_add(&t, "f", types[k].format, NULL, NULL);
        expect_field(&t, types[k].dtype, NULL, 0);
    }
}
END_TEST

START_TEST(chooses_the_field_for_lists_and_dictionaries)
{
    static const uint64_t shape[] = {3, 0, 28};
    struct arrows t;
    arrows_init(&t, 0);
    struct arrows_node *column = arrows_add(&t, "f", "+w:3", NULL);
    arrows_child(arrows_child(arrows_child(column, "+w:0", 0, NULL, NULL), "+w:28", 0, NULL, NULL),
                 "tdD", 0, NULL, NULL);
    expect_field(&t, LX_DATETIME64_D, shape, 3);
    arrows_init(&t, 0);
    column = arrows_add(&t, "f", "i", NULL, NULL);
    arrows_dictionary(column, "u", 0, 3, (const void *const[]){NULL, NULL, NULL});
    expect_field(&t, LX_STR, NULL, 0);
}
END_TEST

START_TEST(chooses_ragged_fields_for_lists_that_vary)
{
    static const uint64_t shape[] = {LX_NONE, 4};
    for (int large = 0; large < 2; large++) {
        struct arrows t;
        arrows_init(&t, 0);
        struct arrows_node *column = arrows_add(&t, "f", large ? "+L" : "+l", NULL, NULL);
        arrows_child(column, "f", 0, NULL, NULL);
        expect_field(&t, LX_FLOAT32, shape, 1);
        arrows_child(arrows_child(column, "+w:4", 0, NULL, NULL), "b", 0, NULL, NULL);
        expect_field(&t, LX_BOOL, shape, 2);
    }
}
END_TEST

/** Making a schema for the columns must fail. */
static void expect_refused_type(const struct arrows *t, lx_status status, const char *said)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_status got = lx_schema_add_arrow(schema, &t->schema, LX_COMPRESSION_RAW, &error);
    ck_assert_str_eq(error.field, "f");
    expect_error(got, status, said, "");
    lx_schema_free(schema);
}

START_TEST(refuses_types_without_a_field)
{
    static const struct {
        const char *format;
        lx_status status;
        const char *said;
    } types[] = {
        {"d:10,2", LX_ERR_UNSUPPORTED, "decimal ('d:10,2')"},
        {"d:19,10,256", LX_ERR_UNSUPPORTED, "decimal"},
        {"+s", LX_ERR_UNSUPPORTED, "struct ('+s')"},
        {"+m", LX_ERR_UNSUPPORTED, "map"},
        {"+ud:0,1", LX_ERR_UNSUPPORTED, "union"},
        {"+us:0,1", LX_ERR_UNSUPPORTED, "union"},
        {"+r", LX_ERR_UNSUPPORTED, "run-end encoded"},
        {"+vl", LX_ERR_UNSUPPORTED, "list view"},
        {"tin", LX_ERR_UNSUPPORTED, "interval"},
        {"n", LX_ERR_UNSUPPORTED, "only nulls"},
        {"xyz", LX_ERR_UNSUPPORTED, "'xyz' is unknown"},
        {"", LX_ERR_UNSUPPORTED, "'' is unknown"},
        {"tss", LX_ERR_UNSUPPORTED, "'tss' is unknown"},
        {"ii", LX_ERR_UNSUPPORTED, "unknown"},
        {"w:", LX_ERR_ARGUMENT, "invalid size"},
        {"w:-1", LX_ERR_ARGUMENT, "invalid size"},
        {"w:4x", LX_ERR_ARGUMENT, "invalid size"},
        {"w:4294967296", LX_ERR_ARGUMENT, "invalid size"},
        {"w:99999999999999999999999999", LX_ERR_ARGUMENT, "invalid size"},
        {"+w:3", LX_ERR_ARGUMENT, "must have one child"},
        {"+l", LX_ERR_ARGUMENT, "must have one child"},
    };
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        struct arrows t;
        arrows_init(&t, 0);
        arrows_add(&t, "f", types[k].format, NULL, NULL);
        expect_refused_type(&t, types[k].status, types[k].said);
    }
}
END_TEST

START_TEST(refuses_lists_without_a_field)
{
    static const char *const formats[][3] = {
        {"+l", "u", "lists of the Arrow type string"},
        {"+w:2", "u", "lists of the Arrow type string"},
        {"+w:2", "w:3", "lists of the Arrow type fixed-size binary"},
        {"+w:2", "n", "lists of the Arrow type null"},
        {"+w:2", "+s", "struct"},
    };
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        struct arrows t;
        arrows_init(&t, 0);
        arrows_child(arrows_add(&t, "f", formats[k][0], NULL), formats[k][1], 0, NULL, NULL);
        expect_refused_type(&t, LX_ERR_UNSUPPORTED, formats[k][2]);
    }
    struct arrows t;
    arrows_init(&t, 0);
    struct arrows_node *column = arrows_add(&t, "f", "+l", NULL);
    arrows_child(arrows_child(column, "+l", 0, NULL, NULL), "l", 0, NULL, NULL);
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "lists of the Arrow type list");
    column->schema_child = &column->schema; /* a cycle */
    column->schema.format = "+w:1";
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "more than 32 deep");
    column->schema.format = "+w:65536";
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "more than 4294967295 elements");
    arrows_init(&t, 0);
    column = arrows_add(&t, "f", "+w:2", NULL);
    arrows_child(column, "c", 0, NULL, NULL)->schema.dictionary = &column->schema;
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "dictionary is inside");
}
END_TEST

/** Adds a column "f" of structs of bytes and paths. */
static struct arrows_node *add_file(struct arrows *t, const char *bytes, const char *path)
{
    static const void *const none[3] = {0};
    struct arrows_node *column = arrows_add(t, "f", "+s", NULL);
    return arrows_file(column, arrows_fill(column + 1, "bytes", bytes, t->array.length, 3, none),
                       arrows_fill(column + 2, "path", path, t->array.length, 3, none));
}

START_TEST(chooses_images_for_structs_of_bytes_and_a_path)
{
    static const void *const none[3] = {0};
    struct arrows t;
    arrows_init(&t, 0);
    add_file(&t, "z", "u");
    expect_field(&t, LX_IMAGE, NULL, 0);
    arrows_init(&t, 0);
    add_file(&t, "Z", "vu");
    expect_field(&t, LX_IMAGE, NULL, 0);
    arrows_init(&t, 0);
    add_file(&t, "l", "u");
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "binary and string, not int64 and string");
    arrows_init(&t, 0);
    add_file(&t, "w:4", "u");
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "binary and string");
    arrows_init(&t, 0);
    struct arrows_node *column = arrows_add(&t, "f", "i", NULL, NULL);
    struct arrows_node *file = arrows_dictionary(column, "+s", 0, 1, none);
    arrows_file(file, arrows_fill(file + 1, "bytes", "z", 0, 3, none),
                arrows_fill(file + 2, "path", "u", 0, 3, none));
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "struct ('+s')");
    arrows_init(&t, 0);
    add_file(&t, "z", "u")[2].schema.name = "paths";
    expect_refused_type(&t, LX_ERR_UNSUPPORTED, "struct ('+s')");
}
END_TEST

START_TEST(makes_names_that_fields_may_have)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    struct arrows t;
    arrows_init(&t, 0);
    arrows_add(&t, "a b", "l", NULL, NULL);
    arrows_add(&t, ".\xc3\xa9", "l", NULL, NULL);
    unit_ok(lx_schema_add_arrow(schema, &t.schema, LX_COMPRESSION_RAW, &error));
    ck_assert_str_eq(lx_schema_get_field(schema, 0)->name, "a_b");
    ck_assert_str_eq(lx_schema_get_field(schema, 1)->name, "___");
    t.schemas[0]->name = "a_b";
    t.schemas[1]->name = "a:b";
    lx_schema *other = lx_schema_new();
    lx_status got = lx_schema_add_arrow(other, &t.schema, LX_COMPRESSION_RAW, &error);
    ck_assert_str_eq(error.field, "a:b");
    expect_error(got, LX_ERR_EXISTS, "'a_b' already exists", "");
    lx_schema_free(other);
    lx_schema_free(schema);
}
END_TEST

START_TEST(refuses_names_that_are_not_fields)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    struct arrows t;
    arrows_init(&t, 0);
    arrows_add(&t, "", "l", NULL, NULL);
    unit_fails(lx_schema_add_arrow(schema, &t.schema, LX_COMPRESSION_RAW, &error), LX_ERR_ARGUMENT);
    t.schemas[0]->name = "a";
    arrows_add(&t, "a", "l", NULL, NULL);
    unit_fails(lx_schema_add_arrow(schema, &t.schema, LX_COMPRESSION_RAW, &error), LX_ERR_EXISTS);
    unit_refuses_null(lx_schema_add_arrow(NULL, &t.schema, LX_COMPRESSION_RAW, &error), "schema");
    unit_refuses_null(lx_schema_add_arrow(schema, NULL, LX_COMPRESSION_RAW, &error), "columns");
    lx_schema_free(schema);
}
END_TEST

START_TEST(has_a_format_for_each_dtype)
{
#define EXPECT(name, value, text, size)                                                            \
    ck_assert_msg((lx__arrow_format_for(name) == NULL) ==                                          \
                      (name == LX_COMPLEX64 || name == LX_COMPLEX128 || name == LX_BFLOAT16 ||     \
                       strncmp(text, "float8", 6) == 0),                                           \
                  text);
    LX_DTYPE_MAP(EXPECT)
#undef EXPECT
    ck_assert_str_eq(lx__arrow_format_for(LX_BYTES)->text, "Z");
    ck_assert_str_eq(lx__arrow_format_for(LX_INT64)->text, "l");
    ck_assert_str_eq(lx__arrow_format_for(LX_STR)->text, "U");
    ck_assert_str_eq(lx__arrow_format_for(LX_JSON)->text, "U");
    ck_assert_str_eq(lx__arrow_format_for(LX_IMAGE)->text, "Z");
    ck_assert_str_eq(lx__arrow_format_for(LX_DATETIME64_D)->text, "tdD");
    ck_assert_str_eq(lx__arrow_format_for(LX_DATETIME64_MS)->text, "tsm:");
}
END_TEST

UNIT_MAIN("zrecord/format/arrow-type", chooses_the_field_for_a_column,
          chooses_the_field_for_lists_and_dictionaries, chooses_ragged_fields_for_lists_that_vary,
          refuses_types_without_a_field, refuses_lists_without_a_field,
          chooses_images_for_structs_of_bytes_and_a_path, makes_names_that_fields_may_have,
          refuses_names_that_are_not_fields, has_a_format_for_each_dtype)
