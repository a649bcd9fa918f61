/* SPDX-License-Identifier: MIT */
/* The valid values of a field, and their places in a column. */
#include "../arrows.h"
#include <loaderx/hooks.h>
#include "zrecord/write/value.h"
#include "zrecord/write/writer.h"

struct fixture {
    char *scratch;
    lx_writer *writer;
};

static struct fixture set_up(void)
{
    struct fixture f = {.scratch = scratch_make()};
    f.writer = records_create("d", NULL);
    return f;
}

static void tear_down(struct fixture *f)
{
    close_writer(f->writer);
    scratch_remove(f->scratch);
}

static const uint8_t some[64];

START_TEST(rejects_values_of_the_wrong_size)
{
    struct fixture f = set_up();
    static const struct {
        size_t field;
        lx_value value;
        lx_status status;
    } cases[] = {
        {IMAGE, {some, 12}, LX_OK},
        {IMAGE, {NULL, LX_NONE}, LX_OK}, /* missing */
        {IMAGE, {some, LX_NONE}, LX_OK},
        {IMAGE, {some, 11}, LX_ERR_ARGUMENT},
        {IMAGE, {some, 13}, LX_ERR_ARGUMENT},
        {IMAGE, {some, 0}, LX_ERR_ARGUMENT},
        {IMAGE, {some, UINT64_MAX - 1}, LX_ERR_ARGUMENT},
        {IMAGE, {NULL, 12}, LX_ERR_ARGUMENT},
        {LABEL, {some, 8}, LX_OK},
        {LABEL, {some, 12}, LX_ERR_ARGUMENT},
        {WAVE, {some, 64}, LX_OK},
        {CAPTION, {some, 0}, LX_OK},
        {CAPTION, {NULL, 0}, LX_OK}, /* empty */
        {CAPTION, {NULL, LX_NONE}, LX_OK},
        {CAPTION, {some, 64}, LX_OK},
        {CAPTION, {NULL, 1}, LX_ERR_ARGUMENT},
        {BLOB, {some, LX_MAX_VALUE}, LX_OK},
        {BLOB, {some, (uint64_t)LX_MAX_VALUE + 1}, LX_ERR_LIMIT},
        {BLOB, {some, UINT64_MAX - 1}, LX_ERR_LIMIT},
    };
    static const char *const names[] = {"image", "label", "wave", "caption", "blob"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = lx__value_check(f.writer, cases[i].field, &cases[i].value, &error);
        ck_assert_msg(status == cases[i].status, "case %zu: %s", i, lx_status_get_name(status));
        if (status == LX_OK)
            continue;
        ck_assert_str_eq(error.field, names[cases[i].field]);
        expect_error(status, cases[i].status, "the value has", "d");
    }
    tear_down(&f);
}
END_TEST

START_TEST(rejects_offsets_that_do_not_ascend)
{
    struct fixture f = set_up();
    static const uint64_t fine[] = {5, 5, 20, 64}, down[] = {5, 4, 20, 64}, end[] = {0, 1, 2, 1},
                          far[] = {0, 1, 2, (uint64_t)LX_MAX_VALUE + 3}, nil[] = {7, 7, 7, 7};
    static const struct {
        size_t field;
        lx_values column;
        lx_status status;
        uint64_t record;
    } cases[] = {
        {CAPTION, {some, fine, NULL}, LX_OK, 0},
        {CAPTION, {NULL, nil, NULL}, LX_OK, 0},
        {CAPTION, {NULL, NULL, NULL}, LX_OK, 0}, /* all missing */
        {CAPTION, {some, NULL, NULL}, LX_ERR_ARGUMENT, LX_NONE},
        {CAPTION, {some, down, NULL}, LX_ERR_ARGUMENT, LX_NONE},
        {CAPTION, {some, end, NULL}, LX_ERR_ARGUMENT, LX_NONE},
        {CAPTION, {NULL, fine, NULL}, LX_ERR_ARGUMENT, LX_NONE},
        {CAPTION, {some, far, NULL}, LX_ERR_LIMIT, 2},
        {IMAGE, {some, NULL, NULL}, LX_OK, 0}, /* dense ones need none */
        {IMAGE, {NULL, NULL, NULL}, LX_OK, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = lx__column_check(f.writer, cases[i].field, &cases[i].column, 3, &error);
        ck_assert_msg(status == cases[i].status, "case %zu: %s", i, lx_status_get_name(status));
        if (status == LX_OK)
            continue;
        ck_assert_str_eq(error.field, "caption");
        ck_assert_uint_eq(error.record, cases[i].record);
        expect_error(status, cases[i].status, "", "d");
    }
    lx_error error = LX_ERROR_INIT;
    lx_values column = {some, NULL, NULL};
    unit_ok(lx__column_check(f.writer, CAPTION, &column, 0, &error)); /* without records, every
                                                                       * column is valid */
    column.offsets = down;
    unit_ok(lx__column_check(f.writer, CAPTION, &column, 0, &error));
    tear_down(&f);
}
END_TEST

static const lx_field *shown(const struct fixture *f, size_t field)
{
    return lx_schema_get_field(lx_writer_get_schema(f->writer), field);
}

static void expect_at(const lx_value *value, const void *data, uint64_t size)
{
    ck_assert_uint_eq(value->size, size);
    ck_assert_ptr_eq(value->data, data);
}

START_TEST(finds_the_values_of_a_column)
{
    struct fixture f = set_up();
    static const uint8_t present[] = {1, 0, 255};
    static const uint64_t offsets[] = {4, 4, 9, 20};
    lx_values dense = {some, NULL, NULL}, bytes = {some, offsets, NULL}, none = {0};
    lx_values empty = {NULL, offsets, NULL};
    for (uint64_t i = 0; i < 3; i++) {
        lx_value value = lx__column_value(shown(&f, IMAGE), &dense, i);
        expect_at(&value, some + 12 * i, 12);
        value = lx__column_value(shown(&f, BLOB), &bytes, i);
        expect_at(&value, some + offsets[i], offsets[i + 1] - offsets[i]);
        value = lx__column_value(shown(&f, IMAGE), &none, i);
        ck_assert_uint_eq(value.size, LX_NONE);
        value = lx__column_value(shown(&f, BLOB), &none, i);
        ck_assert_uint_eq(value.size, LX_NONE);
    }
    dense.present = bytes.present = empty.present = present;
    for (uint64_t i = 0; i < 3; i++) {
        lx_value value = lx__column_value(shown(&f, IMAGE), &dense, i);
        ck_assert_uint_eq(value.size, i == 1 ? LX_NONE : 12);
        value = lx__column_value(shown(&f, BLOB), &bytes, i);
        ck_assert_uint_eq(value.size, i == 1 ? LX_NONE : offsets[i + 1] - offsets[i]);
        value = lx__column_value(shown(&f, BLOB), &empty, i);
        ck_assert(i != 1 || value.size == LX_NONE);
    }
    lx_value value = lx__column_value(shown(&f, BLOB), &empty, 0); /* of bytes: there, and empty */
    expect_at(&value, NULL, 0);
    tear_down(&f);
}
END_TEST

START_TEST(checks_items_texts_and_json)
{
    char *scratch = scratch_make();
    static const uint64_t boxes[] = {LX_NONE, 4};
    static const uint64_t offsets[] = {0, 2, 5, 6};
    static const struct {
        size_t field;
        const char *data;
        uint64_t size;
        const char *said; /* NULL: the value is valid */
    } cases[] = {
        {0, "0123456789abcdef", 16, NULL},
        {0, "", 0, NULL},
        {0, "0123456789abcdef", 12, "not a multiple of the 16 bytes of an item"},
        {1, "gr\xc3\xbc\xc3\x9f", 6, NULL},
        {1, "gr\xfc\xdf", 4, "byte 2"},
        {2, "[1, {}]", 7, NULL},
        {2, "[1, {]", 6, "byte 5"},
        {2, "", 0, "byte 0"},
        {3, "\xff\xd8\xff", 3, NULL},
        {3, "BM\0\0\0\0\0\0\0\0", 10, NULL},
        {3, "\xff\xd8", 2, "no image"},
        {3, "a cat", 5, "no image"},
        {3, "", 0, "no image"},
    };
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "boxes", LX_FLOAT32, boxes, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "text", LX_STR, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "json", LX_JSON, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "image", LX_IMAGE, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_value value = {cases[i].data, cases[i].size};
        lx_error why = LX_ERROR_INIT;
        lx_status status = lx__value_check(writer, cases[i].field, &value, &why);
        ck_assert_msg((status == LX_OK) == (cases[i].said == NULL), "case %zu", i);
        if (status == LX_OK)
            continue;
        ck_assert_int_eq(status, LX_ERR_ARGUMENT);
        ck_assert_msg(strstr(why.message, cases[i].said) != NULL, "%s", why.message);
    }
    lx_values texts = {"abcd\xff"
                       "e",
                       offsets, NULL};
    ck_assert_int_eq(lx__column_check(writer, 1, &texts, 3, &error), LX_ERR_ARGUMENT);
    ck_assert_str_eq(error.field, "text");
    ck_assert_uint_eq(error.record, 1);
    ck_assert_ptr_nonnull(strstr(error.message, "byte 2 of its 3 bytes"));
    lx_error_clear(&error);
    static const uint8_t present[] = {1, 0, 1};
    texts.present = present; /* the content of a missing value does not matter */
    unit_ok(lx__column_check(writer, 1, &texts, 3, &error));
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- images */

static const lx_value jpeg = {"\xff\xd8\xff", 3}, text = {"a cat", 5}, gif = {"GIF89a", 6};

static unsigned warnings;

static void count_warning(lx_log_level level, const char *message, void *user)
{
    (void)user;
    if (level >= LX_LOG_WARNING && strstr(message, "field 'image") != NULL &&
        strstr(message, "GIF is stored, but cannot be decoded") != NULL)
        warnings++;
}

static lx_status append_image(lx_writer *writer, lx_value image, lx_error *error)
{
    return lx_writer_append(writer, &image, 1, NULL, error);
}

/** The column of an image; the offsets are shared. */
static lx_values column_of(lx_value image)
{
    static uint64_t offsets[] = {0, 0};
    offsets[1] = image.size;
    return (lx_values){image.data, offsets, NULL};
}

static lx_status extend_images(lx_writer *writer, lx_value image, lx_error *error)
{
    lx_values column = column_of(image);
    return lx_writer_extend(writer, 1, &column, 1, NULL, error);
}

static lx_status modify_image(lx_writer *writer, lx_value image, lx_error *error)
{
    return lx_writer_modify(writer, 0, (const size_t[]){0}, &image, 1, error);
}

static lx_status modify_images(lx_writer *writer, lx_value image, lx_error *error)
{
    lx_values column = column_of(image);
    return lx_writer_modify_many(writer, (const uint64_t[]){0}, 1, (const size_t[]){0}, &column, 1,
                                 error);
}

static lx_status append_arrow(lx_writer *writer, lx_value image, lx_error *error)
{
    struct arrows t;
    const int32_t offsets[] = {0, (int32_t)image.size};
    arrows_init(&t, 1);
    arrows_add(&t, "image", "z", NULL, offsets, image.data);
    return lx_writer_append_arrow(writer, &t.schema, &t.array, NULL, error);
}

static lx_status add_default(lx_writer *writer, lx_value image, lx_error *error)
{
    (void)lx_writer_drop_field(writer, "images", NULL); /* of the call before */
    return lx_writer_add_field_default(writer, "images", LX_IMAGE, NULL, 0, LX_COMPRESSION_RAW,
                                       &image, error);
}

static lx_status give_image(const lx_values *values, uint64_t count, lx_values *made, void *user,
                            lx_error *error)
{
    (void)values;
    (void)count;
    (void)error;
    *made = column_of(*(const lx_value *)user);
    return LX_OK;
}

static lx_status convert(lx_writer *writer, lx_value image, lx_error *error)
{
    return lx_writer_convert_field(writer, "image", LX_IMAGE, NULL, 0, give_image, &image, error);
}

START_TEST(each_call_refuses_what_is_no_image)
{
    static lx_status (*const calls[])(lx_writer *, lx_value, lx_error *) = {
        append_image, extend_images, modify_image, modify_images,
        append_arrow, convert,       add_default};
    lx_set_log_hook(count_warning, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        lx_writer *writer;
        lx_schema *schema = lx_schema_new();
        unit_ok(
            lx_schema_add_field(schema, "image", LX_IMAGE, NULL, 0, LX_COMPRESSION_RAW, &error));
        unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
        lx_schema_free(schema);
        unit_ok(append_image(writer, jpeg, &error));
        unit_ok(lx_writer_commit(writer, &error));
        unit_ok(calls[i](writer, jpeg, &error));
        warnings = 0;
        unit_ok(calls[i](writer, gif, &error));
        ck_assert_msg(warnings == 1, "call %zu: %u warnings", i, warnings);
        unit_ok(calls[i](writer, gif, &error));
        ck_assert_uint_eq(warnings, 1);
        lx_status status = calls[i](writer, text, &error);
        ck_assert_msg(status == LX_ERR_ARGUMENT && strstr(error.message, "no image") != NULL &&
                          strncmp(error.field, "image", 5) == 0,
                      "call %zu: %s", i, error.message);
        close_writer(writer);
        scratch_remove(scratch);
    }
    lx_set_log_hook(NULL, NULL);
}
END_TEST

UNIT_MAIN("zrecord/value", rejects_values_of_the_wrong_size, rejects_offsets_that_do_not_ascend,
          checks_items_texts_and_json, finds_the_values_of_a_column,
          each_call_refuses_what_is_no_image)
