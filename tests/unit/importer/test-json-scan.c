/* SPDX-License-Identifier: MIT */
/* JSON text. */
#include <jansson.h>

#include "../unit.h"
#include "importer/json-scan.h"

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
        ck_assert_msg(lx__json_scan_is_valid(texts[i], strlen(texts[i])) == (right != NULL), "%s",
                      texts[i]);
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
            ck_assert_msg(lx__json_scan_is_valid(text, size) == (right != NULL), "%s", text);
            json_decref(right);
        }
    }
}
END_TEST

START_TEST(nesting_is_limited)
{
    char text[2 * LX__JSON_SCAN_DEPTH + 3];
    memset(text, '[', sizeof text);
    memset(text + LX__JSON_SCAN_DEPTH, ']', LX__JSON_SCAN_DEPTH);
    ck_assert(lx__json_scan_is_valid(text, (size_t)2 * LX__JSON_SCAN_DEPTH));
    memset(text, '[', LX__JSON_SCAN_DEPTH + 1);
    memset(text + LX__JSON_SCAN_DEPTH + 1, ']', LX__JSON_SCAN_DEPTH + 1);
    ck_assert(!lx__json_scan_is_valid(text, (size_t)2 * LX__JSON_SCAN_DEPTH + 2));
}
END_TEST

START_TEST(escapes_are_removed)
{
    static const struct {
        const char *text, *plain;
    } cases[] = {{"a\\nb", "a\nb"},
                 {"\\\"\\\\\\/\\b\\f\\r\\t", "\"\\/\b\f\r\t"},
                 {"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
                 {"plain", "plain"},
                 {"", ""}};
    char plain[100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = lx__json_scan_unescape(cases[i].text, strlen(cases[i].text), plain);
        ck_assert_uint_eq(size, strlen(cases[i].plain));
        ck_assert_mem_eq(plain, cases[i].plain, size);
    }
    static const char *const halves[] = {"\\ud800",  "\\udc00",    "\\ud800\\ud800",
                                         "\\ud800x", "\\ud800\\n", "\\udfff\\ud800"};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        ck_assert_uint_eq(lx__json_scan_unescape(halves[i], strlen(halves[i]), plain), SIZE_MAX);
    ck_assert_uint_eq(lx__json_scan_unescape("\\u0000", 6, plain), 1);
}
END_TEST

START_TEST(lists_of_numbers_are_measured)
{
    lx__json_list list;
    int64_t numbers[6];
    static const char text[] = "[[1,-2 ],[ 3,4], [5,6] ]";
    ck_assert(lx__json_scan_measure(text, strlen(text), &list));
    ck_assert(list.ndim == 2 && list.shape[0] == 3 && list.shape[1] == 2 && list.int64);
    ck_assert(lx__json_scan_store(text, strlen(text), LX_INT64, numbers));
    for (int64_t i = 0; i < 6; i++)
        ck_assert_int_eq(numbers[i], i == 1 ? -2 : i + 1);
    ck_assert(lx__json_scan_measure("[1.5]", 5, &list) && !list.int64);
    ck_assert(lx__json_scan_measure("[[],[]]", 7, &list) && list.shape[1] == 0);
    static const char *const irregular[] = {
        "[[1],[2,3]]", "[1,[2]]",  "[[1],2]",  "[\"a\"]", "[1,null]",         "[{}]",
        "[[[1]],[2]]", "[[],[1]]", "[[1],[]]", "{}",      "[[[1]],[[2],[3]]]"};
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        ck_assert_msg(!lx__json_scan_measure(irregular[i], strlen(irregular[i]), &list), "%s",
                      irregular[i]);
    char deep[200];
    memset(deep, '[', 40);
    deep[40] = '1';
    memset(deep + 41, ']', 40);
    ck_assert(!lx__json_scan_measure(deep, 81, &list));
}
END_TEST

UNIT_MAIN("importer/json-scan", valid_texts_are_those_of_jansson,
          damaged_texts_are_judged_as_jansson_judges_them, nesting_is_limited, escapes_are_removed,
          lists_of_numbers_are_measured)
