/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bytes per line of a dump. */
#define DUMP_LINE 16
/* Number of digits that is enough to distinguish any two float64 numbers. */
#define REAL_DIGITS 17

/** Which bits are not a finite number. */
typedef enum specials {
    HIGHEST_EXPONENT, /**< Infinity or NaN, as in IEEE 754. */
    ALL_ONES,         /**< NaN, whatever the sign. */
    NEGATIVE_ZERO     /**< NaN. */
} specials;

/** A floating-point format of at most 16 bits: a sign, an exponent and a fraction. Without bits for
 * the fraction, there are no sign and no zero. */
typedef struct narrow_format {
    int exponent_bits, fraction_bits, bias;
    specials specials;
} narrow_format;

static uint64_t load(const void *element, size_t size)
{
    const unsigned char *bytes = element;
    uint64_t word = 0;
    for (size_t i = size; i-- != 0;)
        word = word << 8 | bytes[i];
    return word;
}

/** Loads a two's complement number of @p size bytes, sign-extended to 64 bits. */
static int64_t load_signed(const void *element, size_t size)
{
    uint64_t word = load(element, size), sign = (uint64_t)1 << (8 * size - 1);
    return (int64_t)((word ^ sign) - sign);
}

/** Returns the format of a type; NULL for float32, float64 and the parts of complex numbers. */
static const narrow_format *narrow_format_of(lx_dtype dtype)
{
    static const struct {
        lx_dtype dtype;
        narrow_format format;
    } formats[] = {{LX_FLOAT16, {5, 10, 15, HIGHEST_EXPONENT}},
                   {LX_BFLOAT16, {8, 7, 127, HIGHEST_EXPONENT}},
                   {LX_FLOAT8_E4M3FN, {4, 3, 7, ALL_ONES}},
                   {LX_FLOAT8_E5M2, {5, 2, 15, HIGHEST_EXPONENT}},
                   {LX_FLOAT8_E4M3FNUZ, {4, 3, 8, NEGATIVE_ZERO}},
                   {LX_FLOAT8_E5M2FNUZ, {5, 2, 16, NEGATIVE_ZERO}},
                   {LX_FLOAT8_E8M0FNU, {8, 0, 127, ALL_ONES}}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].dtype == dtype)
            return &formats[i].format;
    return NULL;
}

/** Converts a number exactly. */
static double load_narrow(const void *element, const narrow_format *format)
{
    int exponent_mask = (1 << format->exponent_bits) - 1, bits = format->fraction_bits;
    int word = (int)load(element, (size_t)(format->exponent_bits + bits + 1) / 8);
    int exponent = word >> bits & exponent_mask, fraction = word & ((1 << bits) - 1);
    bool highest = exponent == exponent_mask, negative = word >> bits >> format->exponent_bits;
    double value;
    if (format->specials == HIGHEST_EXPONENT && highest)
        value = fraction != 0 ? NAN : INFINITY;
    else if (format->specials == ALL_ONES && highest && fraction == (1 << bits) - 1)
        value = NAN;
    else if (format->specials == NEGATIVE_ZERO && negative && exponent == 0 && fraction == 0)
        value = NAN;
    else if (exponent == 0 && bits != 0)
        value = ldexp(fraction, 1 - format->bias - bits);
    else
        value = ldexp(fraction + (1 << bits), exponent - format->bias - bits);
    return negative ? -value : value;
}

static double load_real(const void *element, size_t size, const narrow_format *format)
{
    uint64_t word = load(element, size);
    uint32_t low = (uint32_t)word;
    double value;
    float narrow;
    if (format != NULL)
        return load_narrow(element, format);
    if (size == 4) {
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&value, &word, sizeof value);
    return value;
}

/** Whether @p value is the number of a format that is nearest to @p read, which means that the two
 * differ by less than half a step. Below a power of two, steps are half as wide. */
static bool rounds_to(const narrow_format *format, double read, double value)
{
    int exponent, least = (format->fraction_bits != 0) - format->bias;
    double fraction = frexp(fabs(value), &exponent);
    bool normal = exponent - 1 > least;
    double step = ldexp(1, (normal ? exponent - 1 : least) - format->fraction_bits);
    if (normal && fraction == .5 && fabs(read) < fabs(value))
        step /= 2;
    return read == value || fabs(read - value) < step / 2;
}

/** Whether parsing @p text results in @p value, in a type of @p size bytes or in @p format. */
static bool gives_back(const char *text, double value, size_t size, const narrow_format *format)
{
    if (format != NULL)
        return rounds_to(format, strtod(text, NULL), value);
    return size == 8 ? strtod(text, NULL) == value : strtof(text, NULL) == (float)value;
}

/** If @p plus is set, the text always has a sign. */
static size_t format_real(const void *element, size_t size, const narrow_format *format, bool plus,
                          char *text)
{
    double value = load_real(element, size, format);
    const char *sign = plus && !signbit(value) ? "+" : "";
    size_t length;
    if (isnan(value))
        return (size_t)snprintf(text, VALUE_TEXT / 2, "%snan", plus ? "+" : "");
    for (int digits = 1;; digits++) {
        length = (size_t)snprintf(text, VALUE_TEXT / 2, "%s%.*g", sign, digits, value);
        if (digits == REAL_DIGITS || gives_back(text, value, size, format))
            return length;
    }
}

static size_t format_complex(const void *element, size_t size, char *text)
{
    size_t used = 1;
    text[0] = '(';
    used += format_real(element, size, NULL, false, text + used);
    used += format_real((const char *)element + size, size, NULL, true, text + used);
    memcpy(text + used, "j)", 3);
    return used + 2;
}

/* ---- dates and times */

/** Divides and rounds down; returns the remainder, which is not negative. */
static int64_t divide(int64_t number, int64_t by, int64_t *quotient)
{
    *quotient = number / by - (number % by < 0);
    return number - *quotient * by;
}

/** Formats a number of days since 1970-01-01 in the proleptic Gregorian calendar. Counts days from
 * the first of March of the year 0, in cycles of 400 years, as civil_from_days() of H. Hinnant. */
static size_t format_day(int64_t days, char *text)
{
    int64_t cycle, day = divide(days, 146097, &cycle) + 135080; /* 1970-01-01 is in cycle 4 */
    cycle += day < 146097 ? 4 : 5;
    day -= day < 146097 ? 0 : 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100);
    int64_t march = (5 * of_year + 2) / 153; /* months since March */
    int64_t month = march < 10 ? march + 3 : march - 9;
    return (size_t)snprintf(text, VALUE_TEXT, "%04" PRId64 "-%02" PRId64 "-%02" PRId64,
                            year + 400 * cycle + (month <= 2), month,
                            of_year - (153 * march + 2) / 5 + 1);
}

/** Formats a time as NumPy does. @p digits is the number of decimal places of a second, or -1 if
 * the number counts days. */
static size_t format_time(int64_t count, int digits, char *text)
{
    int64_t unit = 1, seconds, days;
    if (count == INT64_MIN)
        return (size_t)snprintf(text, VALUE_TEXT, "NaT");
    if (digits < 0)
        return format_day(count, text);
    for (int i = 0; i < digits; i++)
        unit *= 10;
    int64_t part = divide(count, unit, &seconds), second = divide(seconds, 86400, &days);
    size_t used = format_day(days, text);
    used += (size_t)snprintf(text + used, VALUE_TEXT - used,
                             "T%02" PRId64 ":%02" PRId64 ":%02" PRId64, second / 3600,
                             second / 60 % 60, second % 60);
    if (digits != 0)
        used += (size_t)snprintf(text + used, VALUE_TEXT - used, ".%0*" PRId64, digits, part);
    return used;
}

/* ---- elements */

size_t value_format(lx_dtype dtype, const void *element, char *text)
{
    size_t size = lx_dtype_get_size(dtype);
    switch (dtype) {
    case LX_BOOL:
        return (size_t)snprintf(text, VALUE_TEXT, "%s", load(element, 1) != 0 ? "true" : "false");
    case LX_INT8:
    case LX_INT16:
    case LX_INT32:
    case LX_INT64:
        return (size_t)snprintf(text, VALUE_TEXT, "%" PRId64, load_signed(element, size));
    case LX_BYTES:
    case LX_STR:
    case LX_JSON:
    case LX_IMAGE:
    case LX_UINT8:
    case LX_UINT16:
    case LX_UINT32:
    case LX_UINT64:
        return (size_t)snprintf(text, VALUE_TEXT, "%" PRIu64, load(element, size));
    case LX_FLOAT16:
    case LX_FLOAT32:
    case LX_FLOAT64:
    case LX_BFLOAT16:
    case LX_FLOAT8_E4M3FN:
    case LX_FLOAT8_E5M2:
    case LX_FLOAT8_E4M3FNUZ:
    case LX_FLOAT8_E5M2FNUZ:
    case LX_FLOAT8_E8M0FNU:
        return format_real(element, size, narrow_format_of(dtype), false, text);
    case LX_COMPLEX64:
    case LX_COMPLEX128:
        return format_complex(element, size / 2, text);
    case LX_DATETIME64_D:
        return format_time(load_signed(element, size), -1, text);
    case LX_DATETIME64_S:
        return format_time(load_signed(element, size), 0, text);
    case LX_DATETIME64_MS:
        return format_time(load_signed(element, size), 3, text);
    case LX_DATETIME64_US:
        return format_time(load_signed(element, size), 6, text);
    case LX_DATETIME64_NS:
        return format_time(load_signed(element, size), 9, text);
    }
    text[0] = '\0';
    return 0;
}

/** The length of the longest text of an element, for the alignment of columns. */
static size_t widest(const lx_field *field, const char *record, uint64_t count)
{
    char text[VALUE_TEXT];
    size_t size = lx_dtype_get_size(field->dtype), width = 0;
    for (uint64_t i = 0; i < count; i++) {
        size_t length = value_format(field->dtype, record + i * size, text);
        if (length > width)
            width = length;
    }
    return width;
}

void value_print(const lx_field *field, const void *record, uint64_t bytes, FILE *to)
{
    char text[VALUE_TEXT];
    size_t size = lx_dtype_get_size(field->dtype);
    uint64_t count = bytes / size, line = field->ndim != 0 ? field->shape[field->ndim - 1] : 1;
    uint64_t plane = field->ndim > 2 ? line * field->shape[field->ndim - 2] : 0;
    if (line == LX_NONE)
        line = count;
    size_t width = field->ndim != 0 ? widest(field, record, count) : 0;
    for (uint64_t i = 0; i < count; i++) {
        if (plane != 0 && i != 0 && i % plane == 0)
            fputc('\n', to);
        value_format(field->dtype, (const char *)record + i * size, text);
        fprintf(to, "%*s%c", (int)width, text, (i + 1) % line == 0 ? '\n' : ' ');
    }
}

void value_print_text(const char *text, uint64_t size, FILE *to)
{
    for (uint64_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned char next = i + 1 < size ? (unsigned char)text[i + 1] : 0;
        bool two = c == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F */
        if (two)
            fprintf(to, "\\x%02x", (unsigned char)text[++i]);
        else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            fprintf(to, "\\x%02x", c);
        else
            fputc(c, to);
    }
    fputc('\n', to);
}

void value_dump(const void *data, uint64_t size, FILE *to)
{
    const unsigned char *bytes = data;
    for (uint64_t at = 0; at < size; at += DUMP_LINE) {
        uint64_t end = at + DUMP_LINE < size ? at + DUMP_LINE : size;
        fprintf(to, "%08" PRIx64 " ", at);
        for (uint64_t i = at; i < at + DUMP_LINE; i++) {
            if (i % (DUMP_LINE / 2) == 0)
                fputc(' ', to);
            if (i < end)
                fprintf(to, "%02x ", bytes[i]);
            else
                fputs("   ", to);
        }
        fputs(" |", to);
        for (uint64_t i = at; i < end; i++)
            fputc(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.', to);
        fputs("|\n", to);
    }
}
