/* SPDX-License-Identifier: MIT */
/* Numbers from their text. */
#include <inttypes.h>
#include <math.h>

#include "../unit.h"
#include "importer/number.h"

static bool store(const char *text, lx_dtype dtype, void *element)
{
    bool whole;
    size_t size = strlen(text);
    ck_assert_uint_eq(lx__number_span(text, text + size, &whole), size);
    return lx__number_store(text, size, dtype, element);
}

START_TEST(spans_follow_the_grammar_of_json)
{
    static const struct {
        const char *text;
        size_t span;
        bool whole;
    } cases[] = {{"0", 1, true},          {"-0", 2, true},    {"10", 2, true},     {"01", 1, true},
                 {"1.5", 3, false},       {"1.", 0, true},    {".5", 0, true},     {"-", 0, true},
                 {"1e5", 3, false},       {"1E+5", 4, false}, {"1e-05", 5, false}, {"1e", 0, true},
                 {"1e+", 0, true},        {"+1", 0, true},    {"0x10", 1, true},   {"1,5", 1, true},
                 {"-1.25e-3x", 8, false}, {"", 0, true},      {"NaN", 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool whole;
        const char *text = cases[i].text;
        size_t span = lx__number_span(text, text + strlen(text), &whole);
        ck_assert_msg(span == cases[i].span, "%s: %zu", text, span);
        ck_assert_msg(span == 0 || whole == cases[i].whole, "%s", text);
    }
}
END_TEST

START_TEST(integers_are_exact_or_refused)
{
    int64_t wide;
    uint64_t unsigned_wide;
    int8_t narrow;
    uint8_t byte;
    ck_assert(store("9223372036854775807", LX_INT64, &wide) && wide == INT64_MAX);
    ck_assert(store("-9223372036854775808", LX_INT64, &wide) && wide == INT64_MIN);
    ck_assert(!store("9223372036854775808", LX_INT64, &wide));
    ck_assert(!store("-9223372036854775809", LX_INT64, &wide));
    ck_assert(store("18446744073709551615", LX_UINT64, &unsigned_wide) &&
              unsigned_wide == UINT64_MAX);
    ck_assert(!store("18446744073709551616", LX_UINT64, &unsigned_wide));
    ck_assert(!store("99999999999999999999999999", LX_UINT64, &unsigned_wide));
    ck_assert(store("-128", LX_INT8, &narrow) && narrow == -128);
    ck_assert(store("127", LX_INT8, &narrow) && narrow == 127);
    ck_assert(!store("128", LX_INT8, &narrow) && !store("-129", LX_INT8, &narrow));
    ck_assert(store("255", LX_UINT8, &byte) && byte == 255);
    ck_assert(!store("256", LX_UINT8, &byte) && !store("-1", LX_UINT8, &byte));
    ck_assert(store("-0", LX_UINT8, &byte) && byte == 0);
    ck_assert(!store("1.0", LX_INT64, &wide) && !store("1e3", LX_INT64, &wide));
    ck_assert(store("1", LX_BOOL, &byte) && byte == 1);
    ck_assert(!store("2", LX_BOOL, &byte) && !store("10", LX_BOOL, &byte));
    ck_assert(!store("1", LX_FLOAT16, &wide) && !lx__number_has_text(LX_FLOAT16));
}
END_TEST

/** A number of up to 20 digits with a point and an exponent. */
static void make_text(uint64_t random, char text[64])
{
    size_t at = 0, digits = 1 + random % 20, point = random / 20 % (digits + 1);
    uint64_t state = random;
    if (random >> 40 & 1)
        text[at++] = '-';
    for (size_t i = 0; i < digits; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (i == point && i != 0)
            text[at++] = '.';
        text[at++] = (char)('0' + (i == 0 ? 1 + (state >> 33) % 9 : (state >> 33) % 10));
    }
    if (random >> 41 & 1)
        at += (size_t)snprintf(text + at, 64 - at, "e%d", (int)(random >> 42 & 63) - 32);
    text[at] = '\0';
}

START_TEST(floats_are_those_of_strtod)
{
    for (uint64_t i = 0; i < 200000; i++) {
        char text[64];
        double value, right;
        float single, right_single;
        make_text(i * UINT64_C(0x9e3779b97f4a7c15), text);
        right = strtod(text, NULL);
        right_single = (float)right;
        ck_assert_msg(store(text, LX_FLOAT64, &value) && memcmp(&value, &right, 8) == 0, "%s: %a",
                      text, value);
        if (isinf(right_single))
            continue;
        ck_assert_msg(store(text, LX_FLOAT32, &single) && memcmp(&single, &right_single, 4) == 0,
                      "%s", text);
    }
}
END_TEST

START_TEST(floats_that_are_too_large_are_refused)
{
    double value;
    float single;
    ck_assert(store("1.7976931348623157e308", LX_FLOAT64, &value));
    ck_assert(!store("1e309", LX_FLOAT64, &value));
    ck_assert(!store("-1e999999999999", LX_FLOAT64, &value));
    ck_assert(store("1e-999999999999", LX_FLOAT64, &value) && value == 0);
    ck_assert(!store("1e39", LX_FLOAT32, &single));
    ck_assert(store("-0.0", LX_FLOAT64, &value) && signbit(value));
    char text[2 * LX__NUMBER_TEXT];
    memset(text, '1', sizeof text);
    ck_assert(!lx__number_store(text, sizeof text, LX_FLOAT64, &value));
}
END_TEST

START_TEST(words_are_numbers_that_have_no_digits)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {
        {"nan", NAN},       {"NaN", NAN},        {"-NAN", NAN},          {"inf", INFINITY},
        {"+Inf", INFINITY}, {"-inf", -INFINITY}, {"Infinity", INFINITY}, {"-INFINITY", -INFINITY}};
    static const char *const others[] = {"",     "-",     "na",        "nano",    "1nan", "in",
                                         "infi", "--inf", "infinity1", "inf inf", "1",    "\x0e"};
    int64_t whole;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *text = words[i].text;
        double value;
        float single;
        ck_assert(lx__number_is_word(text, strlen(text)));
        ck_assert(lx__number_store(text, strlen(text), LX_FLOAT64, &value));
        ck_assert(lx__number_store(text, strlen(text), LX_FLOAT32, &single));
        ck_assert(isnan(words[i].value) ? isnan(value) && isnan(single)
                                        : value == words[i].value && single == (float)value);
        ck_assert(!lx__number_store(text, strlen(text), LX_INT64, &whole));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!lx__number_is_word(others[i], strlen(others[i])), "%s", others[i]);
}
END_TEST

START_TEST(what_a_float64_would_round_is_known)
{
    static const struct {
        const char *text;
        bool exact, decimal; /* decimal: exact although all digits count */
    } cases[] = {
        {"0.1", true, true},
        {"-0", true, true},
        {"9007199254740991", true, true},
        {"9007199254740992", true, true},
        {"-9007199254740993", false, false},
        {"9007199254740994", true, true},
        {"9223372036854775807", false, false},
        {"9223372036854775808", true, true},
        {"9223372036854775809", false, false},
        {"18446744073709551616", true, true},
        {"100000000000000000000000", false, false},
        {"1e23", true, true},
        {"0.30000000000000004", true, false},
        {"0.000000000000000000001", true, true},
        {"-123456789012.345", true, true},
        {"-123456789012.3456", true, false},
        {"9007199254740993.0", true, false},
        {"1234567890123456e-400", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        ck_assert_msg(lx__number_is_exact(text, strlen(text), false) == cases[i].exact, "%s", text);
        ck_assert_msg(lx__number_is_exact(text, strlen(text), true) == cases[i].decimal, "%s",
                      text);
    }
    char long_text[LX__NUMBER_TEXT + 2];
    memset(long_text, '0', sizeof long_text);
    *long_text = '1';
    for (size_t size = 16; size < sizeof long_text; size++) /* 5^23 has 54 bits */
        ck_assert_int_eq(lx__number_is_exact(long_text, size, false), size <= 23);
}
END_TEST

UNIT_MAIN("importer/number", what_a_float64_would_round_is_known, spans_follow_the_grammar_of_json,
          words_are_numbers_that_have_no_digits, integers_are_exact_or_refused,
          floats_are_those_of_strtod, floats_that_are_too_large_are_refused)
