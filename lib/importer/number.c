/* SPDX-License-Identifier: MIT */
#include "importer/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json-scan.h"

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

size_t lx__number_span(const char *text, const char *end, bool *whole)
{
    lx__json_scan scan = {text, end, NULL};
    return lx__json_scan_number(&scan, whole) ? (size_t)(scan.at - text) : 0;
}

/** The first letter of a word for a number, after its sign, as a small letter; otherwise 0. */
static char letter_of_word(const char *text, size_t size)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    size_t sign = size != 0 && (*text == '-' || *text == '+');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t same = 0, length = strlen(words[i]);
        while (same < length && sign + same < size && (text[sign + same] | 0x20) == words[i][same])
            same++; /* strcasecmp() depends on the locale */
        if (same == length && sign + same == size)
            return *words[i];
    }
    return 0;
}

bool lx__number_is_word(const char *text, size_t size)
{
    return letter_of_word(text, size) != 0;
}

/** The absolute value of a whole number; false if it does not fit. */
static bool read_magnitude(const char *text, size_t size, uint64_t *magnitude)
{
    uint64_t value = 0;
    for (size_t i = *text == '-'; i < size; i++) {
        if (!is_digit(text[i]) || !lx__multiply_fits(value, 10, &value) ||
            !lx__add_fits(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *magnitude = value;
    return true;
}

/** Stores an integer of @p bytes bytes. */
static bool store_integer(const char *text, size_t size, size_t bytes, bool is_signed,
                          void *element)
{
    uint64_t magnitude, most = UINT64_MAX >> (64 - 8 * bytes);
    bool negative = *text == '-';
    if (!read_magnitude(text, size, &magnitude))
        return false;
    if (is_signed)
        most = (most >> 1) + negative;
    else if (negative)
        most = 0;
    if (magnitude > most)
        return false;
    uint64_t value = LX__LE64(negative ? 0 - magnitude : magnitude);
    memcpy(element, &value, bytes);
    return true;
}

bool lx__number_has_text(lx_dtype dtype)
{
    return (dtype >= LX_BOOL && dtype <= LX_UINT64) || dtype == LX_FLOAT32 || dtype == LX_FLOAT64;
}

/** strtod() in the locale "C". */
static bool read_slowly(const char *text, size_t size, double *value)
{
    char copy[LX__NUMBER_TEXT + 1];
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    *value = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return true;
}

/* A number of at most 15 digits times a power of ten up to 10^22 is exact in every step, so one
 * multiplication or division rounds as strtod() does. Source: W. D. Clinger, How to Read Floating
 * Point Numbers Accurately, PLDI 1990. */
#define EXACT_DIGITS 15
#define EXACT_POWER 22

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool read_double(const char *text, size_t size, double *value)
{
    uint64_t digits = 0;
    int count = 0, power = 0, exponent = 0;
    size_t i = *text == '-';
    bool fraction = false, negative = false;
    for (; i < size && (is_digit(text[i]) || text[i] == '.'); i++) {
        if (text[i] == '.') {
            fraction = true;
            continue;
        }
        if (digits != 0 || text[i] != '0')
            count++;
        if (count > EXACT_DIGITS)
            return read_slowly(text, size, value);
        digits = digits * 10 + (uint64_t)(text[i] - '0');
        power -= fraction;
    }
    if (i < size) {
        i++; /* the e */
        negative = text[i] == '-';
        i += negative || text[i] == '+';
        for (; i < size; i++)
            exponent = exponent < 1000 ? exponent * 10 + (text[i] - '0') : exponent;
        power += negative ? -exponent : exponent;
    }
    if (power < -EXACT_POWER || power > EXACT_POWER)
        return read_slowly(text, size, value);
    *value = power < 0 ? (double)digits / powers[-power] : (double)digits * powers[power];
    if (*text == '-')
        *value = -*value;
    return true;
}

bool lx__number_is_exact(const char *text, size_t size, bool decimal)
{
    char digits[LX__NUMBER_TEXT];
    size_t count = 0;
    bool whole = true, leads = true;
    double value;
    if (size <= EXACT_DIGITS)
        return true;
    for (size_t i = 0; i < size && (text[i] | 0x20) != 'e'; i++) {
        leads = leads && !(text[i] >= '1' && text[i] <= '9');
        count += is_digit(text[i]) && !leads;
    }
    for (size_t i = *text == '-'; whole && i < size; i++)
        whole = is_digit(text[i]);
    if (count <= EXACT_DIGITS || !whole)
        return count <= EXACT_DIGITS || !decimal;
    if (size >= sizeof digits || !read_double(text, size, &value))
        return false;
    return snprintf(digits, sizeof digits, "%.0f", value) == (int)size &&
           memcmp(digits, text, size) == 0; /* all digits of the double */
}

/* ---- what numbers are */

bool lx__numbers_add(lx__numbers *self, const char *text, size_t size, bool whole, bool decimal)
{
    uint64_t value;
    bool exact = lx__number_is_exact(text, size, decimal);
    if (!whole)
        self->fractions = true;
    else if (!store_integer(text, size, sizeof value, true, &value))
        self->large = true;
    self->inexact = self->inexact || !exact;
    return exact;
}

bool lx__numbers_choose(const lx__numbers *self, lx_dtype *dtype)
{
    *dtype = self->fractions ? LX_FLOAT64 : LX_INT64;
    return self->fractions ? !self->inexact : !self->large;
}

/* ---- storing */

static void put_float(double value, bool single, void *element)
{
    if (single) {
        float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        lx__store_le32(element, bits);
    } else {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        lx__store_le64(element, bits);
    }
}

/** Stores a floating-point number; one that is too large is not made infinite. */
static bool store_float(const char *text, size_t size, bool single, void *element)
{
    double value = 0;
    char word = letter_of_word(text, size);
    if (word != 0)
        value = word == 'n' ? NAN : *text == '-' ? -INFINITY : INFINITY;
    else if (size > LX__NUMBER_TEXT || !read_double(text, size, &value) ||
             isinf(single ? (double)(float)value : value))
        return false;
    put_float(value, single, element);
    return true;
}

bool lx__number_store(const char *text, size_t size, lx_dtype dtype, void *element)
{
    switch (dtype) {
    case LX_INT8:
    case LX_INT16:
    case LX_INT32:
    case LX_INT64:
        return store_integer(text, size, lx_dtype_get_size(dtype), true, element);
    case LX_UINT8:
    case LX_UINT16:
    case LX_UINT32:
    case LX_UINT64:
        return store_integer(text, size, lx_dtype_get_size(dtype), false, element);
    case LX_BOOL:
        *(uint8_t *)element = *text == '1';
        return size == 1 && (*text == '0' || *text == '1');
    case LX_FLOAT32:
    case LX_FLOAT64:
        return store_float(text, size, dtype == LX_FLOAT32, element);
    default:
        return false;
    }
}
