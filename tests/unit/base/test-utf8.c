/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include "../unit.h"

START_TEST(accepts_the_characters_of_rfc_3629)
{
    static const char *const good[] = {"a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    /* overlong form, surrogate, too large, invalid first byte, truncated */
    static const char *const bad[] = {"\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\x80",
                                      "\xc2",
                                      "\xe1\x80",
                                      "\xf1\x80\x80",
                                      "\xc2 ",
                                      "\xe1\x80 "};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(lx__utf8_valid(good[i]), "good %zu", i);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!lx__utf8_valid(bad[i]), "bad %zu", i);
}
END_TEST

START_TEST(validates_complete_texts)
{
    ck_assert(lx__utf8_valid(""));
    ck_assert(lx__utf8_valid("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"));
    ck_assert(!lx__utf8_valid("gr\xfc\xdf"));
    ck_assert(!lx__utf8_valid("cut \xe2\x82"));
}
END_TEST

/** Finds an invalid byte at any offset, whatever the length of the ASCII text around it. */
START_TEST(finds_the_first_invalid_byte)
{
    for (size_t size = 0; size < 40; size++) {
        char *text = malloc(size + 1); /* so that sanitizers detect an over-read */
        memset(text, 'a', size);
        ck_assert_uint_eq(lx__utf8_span(text, size), size);
        for (size_t at = 0; at < size; at++) {
            text[at] = '\xff';
            ck_assert_uint_eq(lx__utf8_span(text, size), at);
            text[at] = '\xc3';
            ck_assert_uint_eq(lx__utf8_span(text, size), at);
            if (at + 1 < size) {
                text[at + 1] = '\xbc';
                ck_assert_uint_eq(lx__utf8_span(text, size), size);
                text[at + 1] = 'a';
            }
            text[at] = at % 3 != 0 ? 'a' : '\0';
        }
        free(text);
    }
}
END_TEST

UNIT_MAIN("base/utf8", accepts_the_characters_of_rfc_3629, validates_complete_texts,
          finds_the_first_invalid_byte)
