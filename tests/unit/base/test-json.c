/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <string.h>

#include "../unit.h"
#include "base/alloc.h"

static lx_status parse(const char *text, json_t **object, lx_error *error)
{
    return lx__json_parse(text, strlen(text), object, error);
}

START_TEST(rejects_values_of_wrong_type_or_range)
{
    lx_error error = LX_ERROR_INIT;
    json_t *object, *list;
    uint64_t number;
    const char *text;
    bool flag;
    unit_ok(parse("{\"n\": 7, \"t\": \"x\", \"f\": true, \"l\": [1], \"m\": -1, \"r\": 7.0}",
                  &object, &error));
    unit_ok(lx__json_get_integer(object, "n", 7, 7, &number, &error));
    ck_assert_uint_eq(number, 7);
    unit_fails(lx__json_get_integer(object, "n", 8, 9, &number, &error), LX_ERR_CORRUPT);
    unit_fails(lx__json_get_integer(object, "m", 0, 9, &number, &error), LX_ERR_CORRUPT);
    unit_fails(lx__json_get_integer(object, "r", 0, 9, &number, &error), LX_ERR_CORRUPT);
    unit_fails(lx__json_get_integer(object, "t", 0, 9, &number, &error), LX_ERR_CORRUPT);
    unit_fails(lx__json_get_integer(object, "absent", 0, 9, &number, &error), LX_ERR_CORRUPT);
    unit_ok(lx__json_get_text(object, "t", &text, &error));
    ck_assert_str_eq(text, "x");
    unit_ok(lx__json_get_bool(object, "f", &flag, &error));
    ck_assert(flag);
    unit_fails(lx__json_get_bool(object, "n", &flag, &error), LX_ERR_CORRUPT);
    unit_ok(lx__json_get(object, "l", JSON_ARRAY, &list, &error));
    unit_fails(lx__json_get(object, "l", JSON_OBJECT, &list, &error), LX_ERR_CORRUPT);
    json_decref(object);
}
END_TEST

START_TEST(rejects_hostile_texts)
{
    lx_error error = LX_ERROR_INIT;
    json_t *object;
    static const char *const bad[] = {"",
                                      "[]",
                                      "1",
                                      "{",
                                      "{}x",
                                      "{\"a\": 1, \"a\": 2}",
                                      "{\"a\\u0000\": 1}",
                                      "{\"a\": 9223372036854775808}",
                                      "{\"a\": \"\xff\"}",
                                      "\xef\xbb\xbf{}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        unit_fails(parse(bad[i], &object, &error), LX_ERR_CORRUPT);

    char deep[100000];
    memset(deep, '[', sizeof deep);
    unit_fails(lx__json_parse(deep, sizeof deep, &object, &error), LX_ERR_CORRUPT);
}
END_TEST

START_TEST(rejects_texts_nested_too_deeply)
{
    lx_error error = LX_ERROR_INIT;
    json_t *object;
    char text[100];
    for (int depth = LX__JSON_DEPTH; depth <= LX__JSON_DEPTH + 1; depth++) {
        int arrays = depth - 1;
        snprintf(text, sizeof text, "{\"a\": %.*s%.*s}", arrays, "[[[[[[[[[[[[[[[[[[", arrays,
                 "]]]]]]]]]]]]]]]]]]");
        if (depth <= LX__JSON_DEPTH) {
            unit_ok(parse(text, &object, &error));
            json_decref(object);
        } else {
            unit_fails(parse(text, &object, &error), LX_ERR_CORRUPT);
        }
    }
}
END_TEST

/** jansson needs a hundred times the bytes of such a text. */
START_TEST(rejects_too_many_values)
{
    lx_error error = LX_ERROR_INIT;
    json_t *object;
    size_t size = LX__JSON_VALUES * 3 + 16;
    char *text = malloc(size);
    strcpy(text, "{\"a\": [{}");
    for (size_t used = strlen(text); used + 5 < size; used += 3)
        strcpy(text + used, ",{}");
    strcat(text, "]}");
    unit_fails(parse(text, &object, &error), LX_ERR_LIMIT);
    free(text);
}
END_TEST

START_TEST(text_keeps_the_order_of_keys)
{
    json_t *object = json_pack("{s:i, s:[i,i]}", "z", 1, "a", 2, 3);
    char *text = lx__json_text(object, JSON_COMPACT);
    ck_assert_str_eq(text, "{\"z\":1,\"a\":[2,3]}");
    lx__free(text);
    json_decref(object);
}
END_TEST

UNIT_MAIN("base/json", rejects_values_of_wrong_type_or_range, rejects_hostile_texts,
          rejects_texts_nested_too_deeply, rejects_too_many_values, text_keeps_the_order_of_keys)
