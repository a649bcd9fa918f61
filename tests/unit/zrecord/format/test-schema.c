/* SPDX-License-Identifier: MIT */
#include "zrecord/format/schema.h"

#include "../records.h"

static lx_status add(lx_schema *schema, const char *name, lx_dtype dtype, size_t ndim,
                     const uint64_t *shape, lx_error *error)
{
    return lx_schema_add_field(schema, name, dtype, shape, ndim, LX_COMPRESSION_RAW, error);
}

START_TEST(keeps_the_level_and_the_dictionary_of_a_field)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "raw", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "flate", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, &error));
    unit_ok(lx_schema_set_compression(schema, "raw", 0, 0, &error));
    unit_fails(lx_schema_set_compression(schema, "raw", 1, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_schema_set_compression(schema, "raw", 0, 2000, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_schema_set_compression(schema, "flate", 9, 0, &error));
    ck_assert_int_eq(lx_schema_get_field(schema, 1)->level, 9);
    unit_fails(lx_schema_set_compression(schema, "flate", 10, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_schema_set_compression(schema, "flate", -1, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_schema_set_compression(schema, "flate", 9, 2000, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(lx_schema_get_field(schema, 1)->level, 9);
    unit_fails(lx_schema_set_compression(schema, "none", 1, 0, &error), LX_ERR_NOT_FOUND);
    unit_refuses_null(lx_schema_set_compression(NULL, "flate", 1, 0, &error), "schema");
    unit_refuses_null(lx_schema_set_compression(schema, NULL, 1, 0, &error), "name");
    if (WITH_ZSTD) {
        unit_ok(lx_schema_add_field(schema, "z", LX_BYTES, NULL, 0, LX_COMPRESSION_ZSTD, &error));
        unit_ok(lx_schema_set_compression(schema, "z", 22, LX_MAX_DICTIONARY, &error));
        ck_assert_uint_eq(lx_schema_get_field(schema, 2)->dictionary, LX_MAX_DICTIONARY);
        unit_fails(lx_schema_set_compression(schema, "z", 23, 0, &error), LX_ERR_ARGUMENT);
        unit_fails(lx_schema_set_compression(schema, "z", 1, LX_MAX_DICTIONARY + 1, &error),
                   LX_ERR_ARGUMENT);
        unit_ok(lx_schema_set_compression(schema, "z", 1, 1, &error));
    }
    lx_schema_free(schema);
}
END_TEST

START_TEST(fields_keep_their_attributes)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = records_schema();
    ck_assert_uint_eq(lx_schema_get_field_count(schema), FIELDS);
    static const struct {
        const char *name;
        lx_dtype dtype;
        size_t ndim;
        uint64_t size;
        lx_compression compression;
        uint32_t align;
    } expected[FIELDS] = {{"image", LX_UINT8, 2, 12, LX_COMPRESSION_RAW, 4},
                          {"label", LX_INT64, 0, 8, LX_COMPRESSION_RAW, 8},
                          {"wave", LX_INT32, 1, 64, LX_COMPRESSION_FLATE, 8},
                          {"caption", LX_BYTES, 0, LX_NONE, LX_COMPRESSION_FLATE, 8},
                          {"blob", LX_BYTES, 0, LX_NONE, LX_COMPRESSION_RAW, 8}};
    for (size_t i = 0; i < FIELDS; i++) {
        size_t position;
        const lx_field *field = lx_schema_get_field(schema, i);
        ck_assert_str_eq(field->name, expected[i].name);
        ck_assert_int_eq(field->dtype, expected[i].dtype);
        ck_assert_uint_eq(field->ndim, expected[i].ndim);
        ck_assert_uint_eq(field->size, expected[i].size);
        ck_assert_int_eq(field->compression, expected[i].compression);
        ck_assert_uint_eq(field->align, expected[i].align);
        ck_assert_uint_eq(field->id, i);
        unit_ok(lx_schema_find_field(schema, expected[i].name, &position, &error));
        ck_assert_uint_eq(position, i);
    }
    ck_assert_ptr_null(lx_schema_get_field(schema, FIELDS));
    ck_assert_ptr_null(lx_schema_get_field(schema, SIZE_MAX));
    lx_schema_free(schema);
    lx_schema_free(NULL);
}
END_TEST

START_TEST(pointers_to_fields_stay_valid)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = records_schema();
    const lx_field *image = lx_schema_get_field(schema, IMAGE);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        unit_ok(add(schema, name, LX_UINT8, 0, NULL, &error));
    }
    ck_assert_ptr_eq(lx_schema_get_field(schema, IMAGE), image);
    ck_assert_str_eq(image->name, "image");
    ck_assert_uint_eq(image->shape[1], 4);
    lx_schema_free(schema);
}
END_TEST

START_TEST(rejects_invalid_names)
{
    static const char *const good[] = {"a", "Z", "0", "_", "-", "a.b", "x..", "A-Z_0.9"};
    static const char *const bad[] = {"",    ".",   "..",       ".a",  "a b",
                                      "a/b", "a~1", "\xc3\xa4", "a\n", "a:b"};
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        unit_ok(add(schema, good[i], LX_UINT8, 0, NULL, &error));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        unit_fails(add(schema, bad[i], LX_UINT8, 0, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, NULL, LX_UINT8, 0, NULL, &error), LX_ERR_ARGUMENT);
    char name[LX_MAX_FIELD_NAME + 2];
    memset(name, 'n', sizeof name);
    name[LX_MAX_FIELD_NAME + 1] = '\0';
    unit_fails(add(schema, name, LX_UINT8, 0, NULL, &error), LX_ERR_ARGUMENT);
    name[LX_MAX_FIELD_NAME] = '\0';
    unit_ok(add(schema, name, LX_UINT8, 0, NULL, &error));
    ck_assert_uint_eq(lx_schema_get_field_count(schema), sizeof good / sizeof *good + 1);
    lx_schema_free(schema);
}
END_TEST

START_TEST(rejects_duplicate_names)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = records_schema();
    lx_status status = add(schema, "label", LX_UINT8, 0, NULL, &error);
    expect_error(status, LX_ERR_EXISTS, "label", "");
    unit_ok(add(schema, "Label", LX_UINT8, 0, NULL, &error)); /* byte by byte */
    lx_schema_free(schema);
}
END_TEST

START_TEST(rejects_invalid_types_and_shapes)
{
    static const uint64_t one[] = {1}, many[LX_MAX_NDIM + 1] = {0};
    static const uint64_t most[] = {65535, 65537}, more[] = {65536, 65536};
    static const uint64_t wraps[] = {1ull << 32, 1ull << 32}, none[] = {UINT32_MAX / 16, 0},
                          none_wraps[] = {UINT64_MAX, UINT64_MAX, 0},
                          none_large[] = {4611686018427387904u, 0}, none_more[] = {0, 268435456};
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_fails(add(schema, "f", LX_BYTES, 1, one, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", (lx_dtype)99, 0, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", (lx_dtype)-1, 0, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, LX_MAX_NDIM + 1, many, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, 2, more, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT16, 2, most, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, 2, wraps, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_schema_add_field(schema, "f", LX_UINT8, NULL, 0, (lx_compression)7, &error),
               LX_ERR_ARGUMENT);
    if (!WITH_ZSTD) {
        ck_assert_int_eq(
            lx_schema_add_field(schema, "f", LX_UINT8, NULL, 0, LX_COMPRESSION_ZSTD, &error),
            LX_ERR_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(error.message, "zstd is not supported"));
        lx_error_clear(&error);
    }
    ck_assert_uint_eq(lx_schema_get_field_count(schema), 0);
    unit_ok(add(schema, "most", LX_UINT8, 2, most, &error));
    ck_assert_uint_eq(lx_schema_get_field(schema, 0)->size, LX_MAX_VALUE);
    unit_fails(add(schema, "f", LX_UINT8, 3, none_wraps, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, 2, none_large, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_COMPLEX128, 2, none_more, &error), LX_ERR_ARGUMENT);
    unit_ok(add(schema, "none", LX_COMPLEX128, 2, none, &error));
    ck_assert_uint_eq(lx_schema_get_field(schema, 1)->size, 0);
    unit_ok(add(schema, "axes", LX_UINT8, LX_MAX_NDIM, many, &error));
    lx_schema_free(schema);
}
END_TEST

START_TEST(computes_the_sizes_of_items)
{
    static const uint64_t list[] = {LX_NONE}, boxes[] = {LX_NONE, 4}, planes[] = {LX_NONE, 2, 3},
                          none[] = {0, 3}, image[] = {5, 3}, empty[] = {3, 0};
    static const struct {
        lx_dtype dtype;
        size_t ndim;
        const uint64_t *shape;
        uint64_t size, item_size;
        uint32_t align;
    } cases[] = {{LX_INT64, 0, NULL, 8, 8, 8},
                 {LX_UINT8, 2, image, 15, 3, 1},
                 {LX_FLOAT32, 2, none, 0, 12, 8},
                 {LX_FLOAT32, 2, empty, 0, 0, 8},
                 {LX_BYTES, 0, NULL, LX_NONE, 1, 8},
                 {LX_STR, 0, NULL, LX_NONE, 1, 8},
                 {LX_JSON, 0, NULL, LX_NONE, 1, 8},
                 {LX_IMAGE, 0, NULL, LX_NONE, 1, 8},
                 {LX_BFLOAT16, 2, image, 30, 6, 2},
                 {LX_DATETIME64_NS, 0, NULL, 8, 8, 8},
                 {LX_INT32, 1, list, LX_NONE, 4, 8},
                 {LX_FLOAT32, 2, boxes, LX_NONE, 16, 8},
                 {LX_COMPLEX128, 3, planes, LX_NONE, 96, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_schema *schema = lx_schema_new();
        unit_ok(add(schema, "f", cases[i].dtype, cases[i].ndim, cases[i].shape, &error));
        const lx_field *field = lx_schema_get_field(schema, 0);
        ck_assert_uint_eq(field->size, cases[i].size);
        ck_assert_uint_eq(field->item_size, cases[i].item_size);
        ck_assert_uint_eq(field->align, cases[i].align);
        ck_assert_int_eq(lx__schema_has_ragged(schema),
                         cases[i].shape != NULL && cases[i].shape[0] == LX_NONE);
        lx_schema_free(schema);
    }
}
END_TEST

START_TEST(rejects_ragged_shapes_that_do_not_determine_a_length)
{
    static const uint64_t second[] = {2, LX_NONE}, both[] = {LX_NONE, LX_NONE},
                          zero[] = {LX_NONE, 0}, large[] = {LX_NONE, (uint64_t)LX_MAX_VALUE + 1},
                          wraps[] = {LX_NONE, 1ull << 33, 1ull << 33},
                          most[] = {LX_NONE, LX_MAX_VALUE};
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    ck_assert_int_eq(add(schema, "f", LX_UINT8, 2, second, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "only the first one may"));
    lx_error_clear(&error);
    unit_fails(add(schema, "f", LX_UINT8, 2, both, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, 2, zero, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, 2, large, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT8, 3, wraps, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_BYTES, 1, most, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_STR, 1, most, &error), LX_ERR_ARGUMENT);
    unit_fails(add(schema, "f", LX_UINT16, 2, most, &error), LX_ERR_ARGUMENT);
    unit_ok(add(schema, "f", LX_UINT8, 2, most, &error));
    lx_schema_free(schema);
}
END_TEST

START_TEST(limits_the_number_of_fields)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    char name[16];
    for (int i = 0; i < LX_MAX_FIELDS; i++) {
        snprintf(name, sizeof name, "f%d", i);
        unit_ok(add(schema, name, LX_UINT8, 0, NULL, &error));
    }
    unit_fails(add(schema, "one_more", LX_UINT8, 0, NULL, &error), LX_ERR_LIMIT);
    lx_schema_free(schema);
}
END_TEST

START_TEST(payload_alignment_divides_their_size)
{
    static const struct {
        uint64_t size;
        uint32_t align;
    } cases[] = {{1, 1},     {2, 2},   {3, 1},     {12, 4}, {784, 16},      {64, 64},
                 {4096, 64}, {96, 32}, {6144, 64}, {0, 8},  {4294967295, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_schema *schema = lx_schema_new();
        unit_ok(add(schema, "raw", LX_UINT8, 1, &cases[i].size, &error));
        unit_ok(lx_schema_add_field(schema, "flate", LX_UINT8, &cases[i].size, 1,
                                    LX_COMPRESSION_FLATE, &error));
        ck_assert_uint_eq(lx_schema_get_field(schema, 0)->align, cases[i].align);
        ck_assert_uint_eq(lx_schema_get_field(schema, 1)->align, 8);
        lx_schema_free(schema);
    }
}
END_TEST

START_TEST(an_unknown_field_is_reported_with_the_known_ones)
{
    lx_error error = LX_ERROR_INIT;
    size_t position;
    lx_schema *schema = records_schema();
    ck_assert_int_eq(lx_schema_find_field(schema, "colour", &position, &error), LX_ERR_NOT_FOUND);
    ck_assert_str_eq(error.field, "colour");
    ck_assert_ptr_nonnull(strstr(error.message, "image label wave caption blob"));
    lx_error_clear(&error);
    /* However many fields there are. */
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "a_field_with_a_long_name_%d", i);
        unit_ok(add(schema, name, LX_UINT8, 0, NULL, &error));
    }
    unit_fails(lx_schema_find_field(schema, "colour", &position, &error), LX_ERR_NOT_FOUND);
    unit_ok(lx_schema_find_field(schema, "a_field_with_a_long_name_199", &position, &error));
    ck_assert_uint_eq(position, FIELDS + 199);
    lx_schema_free(schema);
}
END_TEST

START_TEST(compares_copies_as_equal_and_others_as_different)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = records_schema(), *copy = lx__schema_copy(schema);
    ck_assert(lx__schema_equal(schema, copy));
    unit_ok(add(copy, "more", LX_UINT8, 0, NULL, &error));
    ck_assert(!lx__schema_equal(schema, copy));
    lx_schema_free(schema);
    ck_assert_str_eq(lx_schema_get_field(copy, IMAGE)->name, "image"); /* owns its texts */
    lx_schema_free(copy);

    static const uint64_t shape[] = {3, 4}, turned[] = {4, 3};
    lx_schema *a = lx_schema_new(), *b = lx_schema_new(), *c = lx_schema_new();
    unit_ok(add(a, "f", LX_UINT8, 2, shape, &error));
    unit_ok(add(b, "f", LX_UINT8, 2, turned, &error));
    unit_ok(add(c, "f", LX_INT8, 2, shape, &error));
    ck_assert(!lx__schema_equal(a, b));
    ck_assert(!lx__schema_equal(a, c));
    lx_schema_free(a);
    lx_schema_free(b);
    lx_schema_free(c);
}
END_TEST

START_TEST(rejects_duplicate_stems_and_ids)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_field a = {.name = "a", .dtype = LX_BYTES, .id = 7, .align = 512};
    lx_field b = {.name = "b", .dtype = LX_BYTES, .id = 7};
    unit_ok(lx__schema_add(schema, &a, "a~2", false, &error));
    unit_fails(lx__schema_add(schema, &b, "b", false, &error), LX_ERR_EXISTS);
    b.id = 8;
    unit_fails(lx__schema_add(schema, &b, "a~2", false, &error), LX_ERR_EXISTS);
    unit_ok(lx__schema_add(schema, &b, "b", false, &error));
    ck_assert_uint_eq(lx_schema_get_field(schema, 0)->align, 512);
    ck_assert_str_eq(lx__schema_field(schema, 0)->stem, "a~2");
    lx_schema_free(schema);
}
END_TEST

START_TEST(derives_rules_of_entries_from_the_field)
{
    static const uint8_t uuid[LX__UUID_BYTES] = "0123456789abcde";
    lx_schema *schema = records_schema();
    lx__entry_rules image = lx__field_rules(lx__schema_field(schema, IMAGE), uuid);
    lx__entry_rules caption = lx__field_rules(lx__schema_field(schema, CAPTION), uuid);
    ck_assert_mem_eq(image.uuid, uuid, sizeof uuid);
    ck_assert(image.field == 0 && image.align == 4 && image.size == 12);
    ck_assert_ptr_null(image.codec);
    ck_assert(caption.field == CAPTION && caption.align == 8 && caption.size == LX_NONE);
    ck_assert_ptr_eq(caption.codec, &lx__flate);
    lx_schema_free(schema);
}
END_TEST

START_TEST(a_reference_keeps_a_schema_alive)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "a", LX_UINT8, NULL, 0, LX_COMPRESSION_RAW, &error));
    ck_assert_ptr_eq(lx__schema_ref(schema), schema);
    lx_schema_free(schema);
    ck_assert_str_eq(lx_schema_get_field(schema, 0)->name, "a");
    lx_schema_free(schema);
}
END_TEST

START_TEST(selects_shown_fields_by_id)
{
    static const uint64_t shape[] = {2, 3};
    lx_error error = LX_ERROR_INIT;
    const lx_field fields[] = {
        {.name = "x", .dtype = LX_UINT8, .ndim = 2, .shape = shape, .id = 4},
        {.name = "y", .dtype = LX_BYTES, .compression = LX_COMPRESSION_FLATE, .id = 9},
        {.name = "z", .dtype = LX_INT16, .id = 1}};
    lx_schema *now = lx_schema_new(), *shown = lx_schema_new(), *picked = NULL;
    lx_field old = fields[2], other = fields[0];
    old.name = "a"; /* it was renamed later */
    unit_ok(lx__schema_add(shown, &old, "a", false, &error));
    unit_ok(lx__schema_add(shown, &other, "x", false, &error));
    for (size_t i = 0; i < 3; i++)
        unit_ok(lx__schema_add(now, &fields[i], i == 0 ? "x~4" : fields[i].name, i == 0, &error));
    unit_ok(lx__schema_pick(now, shown, &picked, &error));
    ck_assert_uint_eq(lx_schema_get_field_count(picked), 2);
    ck_assert_str_eq(lx_schema_get_field(picked, 0)->name, "a");
    ck_assert_uint_eq(lx_schema_get_field(picked, 0)->id, 1);
    ck_assert_str_eq(lx__schema_field(picked, 0)->stem, "z"); /* files are those of the present
                                                               * schema */
    ck_assert_str_eq(lx__schema_field(picked, 1)->stem, "x~4");
    ck_assert_uint_eq(lx_schema_get_field(picked, 1)->shape[1], 3);
    ck_assert(!lx__schema_field(picked, 0)->complete && lx__schema_field(picked, 1)->complete);
    lx_schema_free(picked);
    picked = NULL;
    /* A dropped field, and one that was replaced. */
    lx_field dropped = {.name = "g", .dtype = LX_UINT8, .id = 2};
    unit_ok(lx__schema_add(shown, &dropped, "g", false, &error));
    ck_assert_int_eq(lx__schema_pick(now, shown, &picked, &error), LX_ERR_STATE);
    ck_assert_str_eq(error.field, "g");
    lx_error_clear(&error);
    unit_ok(lx__schema_add(now, &(lx_field){.name = "g", .dtype = LX_INT8, .id = 2}, "g", false,
                           &error));
    ck_assert_int_eq(lx__schema_pick(now, shown, &picked, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_null(picked);
    lx_schema_free(now);
    lx_schema_free(shown);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    size_t position;
    unit_refuses_null(lx_schema_add_field(NULL, "a", LX_UINT8, NULL, 0, LX_COMPRESSION_RAW, &error),
                      "schema");
    unit_refuses_null(
        lx_schema_add_field(schema, "a", LX_UINT8, NULL, 1, LX_COMPRESSION_RAW, &error), "shape");
    unit_fails(lx_schema_add_field(schema, NULL, LX_UINT8, NULL, 0, LX_COMPRESSION_RAW, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_schema_find_field(NULL, "a", &position, &error), "schema");
    unit_refuses_null(lx_schema_find_field(schema, NULL, &position, &error), "name");
    unit_refuses_null(lx_schema_find_field(schema, "a", NULL, &error), "position");
    lx_schema_free(schema);
    lx_schema_free(NULL);
}
END_TEST

START_TEST(makes_valid_names)
{
    static const char *const names[][2] = {{"a", "a"},         {"a b", "a_b"}, {".a", "_a"},
                                           {"a.b-c", "a.b-c"}, {"/", "_"},     {"\xc3\xa9", "__"}};
    lx_error error = LX_ERROR_INIT;
    char name[LX_MAX_FIELD_NAME + 1], longest[LX_MAX_FIELD_NAME + 2];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unit_ok(lx__field_name_make(names[i][0], name, &error));
        ck_assert_str_eq(name, names[i][1]);
        ck_assert(lx__field_name_valid(name));
    }
    memset(longest, ' ', sizeof longest);
    longest[LX_MAX_FIELD_NAME + 1] = '\0';
    unit_fails(lx__field_name_make(longest, name, &error), LX_ERR_ARGUMENT);
    longest[LX_MAX_FIELD_NAME] = '\0';
    unit_ok(lx__field_name_make(longest, name, &error));
    ck_assert_uint_eq(strlen(name), LX_MAX_FIELD_NAME);
    unit_fails(lx__field_name_make("", name, &error), LX_ERR_ARGUMENT);
}
END_TEST

UNIT_MAIN("zrecord/schema", makes_valid_names, keeps_the_level_and_the_dictionary_of_a_field,
          fields_keep_their_attributes, pointers_to_fields_stay_valid, rejects_invalid_names,
          rejects_duplicate_names, rejects_invalid_types_and_shapes, computes_the_sizes_of_items,
          rejects_ragged_shapes_that_do_not_determine_a_length, limits_the_number_of_fields,
          payload_alignment_divides_their_size, an_unknown_field_is_reported_with_the_known_ones,
          compares_copies_as_equal_and_others_as_different, rejects_duplicate_stems_and_ids,
          derives_rules_of_entries_from_the_field, a_reference_keeps_a_schema_alive,
          selects_shown_fields_by_id, rejects_null_by_name)
