/* SPDX-License-Identifier: MIT */
#include "base/json-scan.h"

#include <jansson.h>
#include <string.h>

#include "../unit.h"

static size_t check(const char *text)
{
    const char *expected = NULL;
    size_t size = strlen(text), at = lx__json_scan_check(text, size, &expected);
    ck_assert_msg((at > size) == (expected == NULL), "%s", text);
    return at;
}

START_TEST(accepts_values_of_every_type)
{
    static const char *const good[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "12",
        "-1.5e+300",
        "0E0",
        "1e-7",
        "\"\"",
        "[]",
        "{}",
        " \t\r\n[ 1 , \"a\" , null , { } , [ ] ] \n",
        "{\"a\":{\"b\":[{}]},\"a\":2}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD800\"",
        "\"gr\xc3\xbc\xc3\x9f \x7f\"",
        "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(check(good[i]) == strlen(good[i]) + 1, "%s", good[i]);
}
END_TEST

START_TEST(finds_the_byte_that_is_wrong)
{
    static const struct {
        const char *text;
        size_t at;
    } bad[] = {{"", 0},          {"  ", 2},          {"nul", 0},
               {"True", 0},      {"NaN", 0},         {"Infinity", 0},
               {"01", 1},        {"-", 1},           {"+1", 0},
               {".5", 0},        {"1.", 2},          {"1e", 2},
               {"1e+", 3},       {"\"a", 2},         {"\"a\nb\"", 2},
               {"\"\\x\"", 2},   {"\"\\u12g4\"", 5}, {"[1", 2},
               {"[1,]", 3},      {"[,1]", 1},        {"[1 2]", 3},
               {"[1}", 2},       {"{1:2}", 1},       {"{\"a\"}", 4},
               {"{\"a\":}", 5},  {"{\"a\":1,}", 7},  {"{\"a\":1 \"b\"}", 7},
               {"{\"a\":1]", 6}, {"[]]", 2},         {"{} x", 3},
               {"'a'", 0},       {"[\xc3\xbc]", 1},  {"\"\xff\"", 1},
               {"\"\xc3\"", 1},  {"1 /* */", 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(check(bad[i].text) == bad[i].at, "%s: %zu", bad[i].text, check(bad[i].text));
}
END_TEST

START_TEST(rejects_a_text_truncated_at_any_byte)
{
    static const char text[] = "{\"a\": [1.5e3, \"\\u00fc\xc3\xbc\", {\"b\": [true, null]}]}";
    const char *expected;
    for (size_t size = 0; size < sizeof text - 1; size++) {
        char *copy = malloc(size + 1); /* so that sanitizers detect an over-read */
        memcpy(copy, text, size);
        ck_assert_msg(lx__json_scan_check(copy, size, &expected) <= size, "%zu", size);
        free(copy);
    }
    ck_assert_uint_eq(lx__json_scan_check(text, sizeof text - 1, &expected), sizeof text);
    ck_assert_uint_eq(lx__json_scan_check("1\0", 2, &expected), 1);
}
END_TEST

START_TEST(limits_the_depth)
{
    char text[2 * LX__JSON_SCAN_DEPTH + 2];
    const char *expected = NULL;
    size_t depth = LX__JSON_SCAN_DEPTH;
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    ck_assert_uint_eq(lx__json_scan_check(text, 2 * depth, &expected), 2 * depth + 1);
    memset(text, '[', depth + 1);
    memset(text + depth + 1, ']', depth + 1);
    ck_assert_uint_eq(lx__json_scan_check(text, 2 * depth + 2, &expected), depth);
    ck_assert_ptr_nonnull(strstr(expected, "512 levels"));
}
END_TEST

/** Objects and arrays alternate at random; each level must end as it began. */
START_TEST(tells_objects_from_arrays_at_every_level)
{
    uint32_t random = 1;
    for (int round = 0; round < 500; round++) {
        char text[4096], ends[400];
        size_t used = 0, depth = 1 + (size_t)round % 300;
        const char *expected;
        for (size_t i = 0; i < depth; i++) {
            random = random * 1664525 + 1013904223;
            bool object = random >> 31;
            used += (size_t)sprintf(text + used, "%s", object ? "{\"k\":" : "[");
            ends[depth - 1 - i] = object ? '}' : ']';
        }
        text[used++] = '0';
        memcpy(text + used, ends, depth);
        ck_assert_uint_eq(lx__json_scan_check(text, used + depth, &expected), used + depth + 1);
        size_t wrong = used + random % depth;
        text[wrong] = text[wrong] == '}' ? ']' : '}';
        ck_assert_uint_eq(lx__json_scan_check(text, used + depth, &expected), wrong);
    }
}
END_TEST

static bool is_valid(const char *text, size_t size)
{
    const char *expected;
    return lx__json_scan_check(text, size, &expected) > size;
}

START_TEST(valid_texts_are_those_of_jansson)
{
    static const char *const texts[] = {"null",
                                        "true",
                                        "false",
                                        "0",
                                        "-1.5e+3",
                                        "\"\"",
                                        "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                        "\"\\u00e9\\ud83d\\ude00\"",
                                        "[]",
                                        "{}",
                                        " [ 1 , [ 2 ] , { \"a\" : null } ] ",
                                        "{\"a\":{\"b\":[]}}",
                                        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
                                        "",
                                        " ",
                                        "nul",
                                        "nulll",
                                        "True",
                                        "01",
                                        "1.",
                                        "--1",
                                        "\"",
                                        "\"\\\"",
                                        "\"\\a\"",
                                        "\"\\u12\"",
                                        "\"\n\"",
                                        "\"\x1f\"",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "[",
                                        "]",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{\"a\":1,}",
                                        "{1:2}",
                                        "{'a':1}",
                                        "[1]]",
                                        "[1] x",
                                        "NaN",
                                        "Infinity",
                                        "-",
                                        "\"\xff\"",
                                        "\"\xc0\x80\"",
                                        "\"\xed\xa0\x80\"",
                                        "\"\xf4\x90\x80\x80\"",
                                        "\"\xe2\x82\"",
                                        "/**/1",
                                        "{\"a\" 1}",
                                        "tru",
                                        "\"abcdefgh\x01\"",
                                        "\"abcdefghi\\\"",
                                        "\"abcdefg\"h",
                                        "123abc"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *right = json_loadb(texts[i], strlen(texts[i]), JSON_DECODE_ANY, NULL);
        ck_assert_msg(is_valid(texts[i], strlen(texts[i])) == (right != NULL), "%s", texts[i]);
        json_decref(right);
    }
}
END_TEST

/** Mutations of a text: each byte is replaced by others, or removed. */
START_TEST(damaged_texts_are_judged_as_jansson_judges_them)
{
    static const char good[] =
        "{\"a\": [1, -2.5e3, {\"b\\n\": \"\xc3\xa9 \\u00e9\"}], \"c\": null}";
    static const char others[] = "\"\\[]{}:,0-.eEt \x01\x80\xc3";
    char text[sizeof good];
    for (size_t at = 0; at + 1 < sizeof good; at++) {
        for (size_t i = 0; i < sizeof others; i++) {
            size_t size = sizeof good - 1;
            memcpy(text, good, sizeof good);
            if (i + 1 == sizeof others)
                memmove(text + at, text + at + 1, size-- - at);
            else
                text[at] = others[i];
            json_t *right = json_loadb(text, size, JSON_DECODE_ANY, NULL);
            ck_assert_msg(is_valid(text, size) == (right != NULL), "%s", text);
            json_decref(right);
        }
    }
}
END_TEST

/** An importer takes the members of an object one by one. */
START_TEST(passes_values_within_a_text)
{
    static const char text[] = " \"a\\n\" : [1,{\"b\":2}] , -1.5 12,";
    lx__json_scan scan = {text, text + sizeof text - 1, NULL};
    lx__json_type type;
    bool escaped, whole;
    ck_assert(lx__json_scan_value(&scan, &type, &escaped));
    ck_assert(type == LX__JSON_SCAN_STRING && escaped);
    ck_assert(lx__json_scan_pass(&scan, ':', "a colon"));
    ck_assert(lx__json_scan_value(&scan, &type, &escaped));
    ck_assert(type == LX__JSON_SCAN_ARRAY && !escaped);
    ck_assert(lx__json_scan_pass(&scan, ',', "a comma"));
    lx__json_scan_skip_space(&scan);
    ck_assert(lx__json_scan_number(&scan, &whole) && !whole);
    lx__json_scan_skip_space(&scan);
    ck_assert(lx__json_scan_number(&scan, &whole) && whole);
    ck_assert(!lx__json_scan_string(&scan, &escaped));
    ck_assert_str_eq(scan.expected, "a string");
    ck_assert(!lx__json_scan_pass(&scan, ':', "a colon"));
    ck_assert_str_eq(scan.expected, "a colon");
    ck_assert_ptr_eq(scan.at, scan.end - 1);
}
END_TEST

UNIT_MAIN("base/json-scan", accepts_values_of_every_type, finds_the_byte_that_is_wrong,
          rejects_a_text_truncated_at_any_byte, limits_the_depth,
          tells_objects_from_arrays_at_every_level, valid_texts_are_those_of_jansson,
          damaged_texts_are_judged_as_jansson_judges_them, passes_values_within_a_text)
