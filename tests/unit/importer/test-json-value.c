/* SPDX-License-Identifier: MIT */
#include "importer/json-value.h"

#include "../unit.h"

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
        size_t size = lx__json_unescape(cases[i].text, strlen(cases[i].text), plain);
        ck_assert_uint_eq(size, strlen(cases[i].plain));
        ck_assert_mem_eq(plain, cases[i].plain, size);
    }
    static const char *const halves[] = {"\\ud800",  "\\udc00",    "\\ud800\\ud800",
                                         "\\ud800x", "\\ud800\\n", "\\udfff\\ud800"};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        ck_assert_uint_eq(lx__json_unescape(halves[i], strlen(halves[i]), plain), SIZE_MAX);
    ck_assert_uint_eq(lx__json_unescape("\\u0000", 6, plain), 1);
}
END_TEST

START_TEST(lists_of_numbers_are_measured)
{
    lx__json_list list;
    int64_t numbers[6];
    static const char text[] = "[[1,-2 ],[ 3,4], [5,6] ]";
    ck_assert(lx__json_measure(text, strlen(text), &list));
    ck_assert(list.ndim == 2 && list.shape[0] == 3 && list.shape[1] == 2 &&
              !list.numbers.fractions && !list.numbers.large);
    ck_assert(lx__json_store(text, strlen(text), LX_INT64, numbers));
    for (int64_t i = 0; i < 6; i++)
        ck_assert_int_eq(numbers[i], i == 1 ? -2 : i + 1);
    ck_assert(lx__json_measure("[1.5]", 5, &list) && list.numbers.fractions);
    static const char wide[] = "[0.5, -9007199254740993, 9007199254740995]";
    ck_assert(lx__json_measure(wide, strlen(wide), &list) && list.inexact == wide + 6);
    ck_assert_uint_eq(list.inexact_size, 17);
    ck_assert(lx__json_measure("[[],[]]", 7, &list) && list.shape[1] == 0);
    static const char *const irregular[] = {
        "[[1],[2,3]]", "[1,[2]]",  "[[1],2]",  "[\"a\"]", "[1,null]",         "[{}]",
        "[[[1]],[2]]", "[[],[1]]", "[[1],[]]", "{}",      "[[[1]],[[2],[3]]]"};
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        ck_assert_msg(!lx__json_measure(irregular[i], strlen(irregular[i]), &list), "%s",
                      irregular[i]);
    char deep[200];
    memset(deep, '[', 40);
    deep[40] = '1';
    memset(deep + 41, ']', 40);
    ck_assert(!lx__json_measure(deep, 81, &list));
}
END_TEST

UNIT_MAIN("importer/json-value", escapes_are_removed, lists_of_numbers_are_measured)
