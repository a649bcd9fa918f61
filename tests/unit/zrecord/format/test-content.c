/* SPDX-License-Identifier: MIT */
#include "zrecord/format/content.h"

#include "../../unit.h"

static void expect(lx_dtype dtype, const char *data, size_t size, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_status wanted = part != NULL ? LX_ERR_ARGUMENT : LX_OK;
    ck_assert_int_eq(lx__content_check(dtype, data, size, LX_ERR_ARGUMENT, &error), wanted);
    if (part != NULL)
        ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    ck_assert_int_eq(lx__content_check(dtype, data, size, LX_ERR_CORRUPT, NULL),
                     part != NULL ? LX_ERR_CORRUPT : LX_OK);
}

START_TEST(texts_are_utf_8)
{
    expect(LX_STR, NULL, 0, NULL);
    expect(LX_STR, "gr\xc3\xbc\xc3\x9f", 6, NULL);
    expect(LX_STR, "a\0b", 3, NULL);
    expect(LX_STR, "gr\xfc\xdf", 4, "at byte 2 of its 4 bytes (0xfc)");
    expect(LX_STR, "gr\xc3", 3, "at byte 2 of its 3 bytes (0xc3)");
}
END_TEST

START_TEST(json_is_json)
{
    expect(LX_JSON, "{\"a\": [1, 2]}", 13, NULL);
    expect(LX_JSON, NULL, 0, "expected a value at byte 0 of its 0 bytes");
    expect(LX_JSON, "{\"a\": [1, 2}", 12, "expected a comma or ']' at byte 11 of its 12 bytes");
    expect(LX_JSON, "\"\xff\"", 3, "expected UTF-8 at byte 1");
}
END_TEST

START_TEST(new_images_begin_as_images)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__content_check_new(LX_IMAGE, "\xff\xd8\xff", 3, &error));
    unit_ok(lx__content_check_new(LX_IMAGE, "GIF89a", 6, &error));
    unit_ok(lx__content_check_new(LX_BYTES, "a cat", 5, &error));
    ck_assert_int_eq(lx__content_check_new(LX_IMAGE, "a cat", 5, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "its 5 bytes do not begin as JPEG, PNG"));
    lx_error_clear(&error);
    unit_fails(lx__content_check_new(LX_IMAGE, NULL, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__content_check_new(LX_STR, "\xff", 1, &error), LX_ERR_ARGUMENT);
    ck_assert(lx__content_is_no_image(LX_IMAGE, "", 0));
    ck_assert(!lx__content_is_no_image(LX_STR, "", 0));
}
END_TEST

START_TEST(other_types_allow_all_bytes)
{
#define ANY(name, value, text, size)                                                               \
    if (name != LX_STR && name != LX_JSON)                                                         \
        expect(name, "\xff\xfe\xfd\xfc\xff\xfe\xfd\xfc", 8, NULL);
    LX_DTYPE_MAP(ANY)
    expect(LX_IMAGE, NULL, 0, NULL);
}
END_TEST

UNIT_MAIN("zrecord/content", texts_are_utf_8, json_is_json, new_images_begin_as_images,
          other_types_allow_all_bytes)
