/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bytes per line of a dump. */
#define DUMP_LINE 16
/* binary16: bits of the fraction, and the exponent of the smallest normal number. */
#define HALF_BITS 10
#define HALF_LEAST (-14)
/* Number of digits that is enough to distinguish any two float64 numbers. */
#define REAL_DIGITS 17

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

/** Converts an IEEE 754 binary16 number exactly. */
static double load_half(const void *element)
{
    unsigned word = (unsigned)load(element, 2);
    int exponent = (int)(word >> 10 & 0x1f);
    double fraction = word & 0x3ff, value;
    if (exponent == 0x1f)
        value = fraction == 0 ? INFINITY : NAN;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(fraction + 1024, exponent - 25);
    return word & 0x8000 ? -value : value;
}

static double load_real(const void *element, size_t size)
{
    uint64_t word = load(element, size);
    uint32_t low = (uint32_t)word;
    double value;
    float narrow;
    if (size == 2)
        return load_half(element);
    if (size == 4) {
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&value, &word, sizeof value);
    return value;
}

/** Whether @p value is the binary16 number nearest to @p read, which means that the two differ by
 * less than half a step. Below a power of two, steps are half as wide. */
static bool rounds_to_half(double read, double value)
{
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    bool normal = exponent - 1 > HALF_LEAST;
    double step = ldexp(1, (normal ? exponent - 1 : HALF_LEAST) - HALF_BITS);
    if (normal && fraction == .5 && fabs(read) < fabs(value))
        step /= 2;
    return read == value || fabs(read - value) < step / 2;
}

/** Whether parsing @p text results in @p value, in a type of @p size bytes. */
static bool gives_back(const char *text, double value, size_t size)
{
    if (size == 8)
        return strtod(text, NULL) == value;
    if (size == 4)
        return strtof(text, NULL) == (float)value;
    return rounds_to_half(strtod(text, NULL), value);
}

/** If @p plus is set, the text always has a sign. */
static size_t format_real(const void *element, size_t size, bool plus, char *text)
{
    double value = load_real(element, size);
    const char *sign = plus && !signbit(value) ? "+" : "";
    size_t length;
    if (isnan(value))
        return (size_t)snprintf(text, VALUE_TEXT / 2, "%snan", plus ? "+" : "");
    for (int digits = 1;; digits++) {
        length = (size_t)snprintf(text, VALUE_TEXT / 2, "%s%.*g", sign, digits, value);
        if (digits == REAL_DIGITS || gives_back(text, value, size))
            return length;
    }
}

static size_t format_complex(const void *element, size_t size, char *text)
{
    size_t used = 1;
    text[0] = '(';
    used += format_real(element, size, false, text + used);
    used += format_real((const char *)element + size, size, true, text + used);
    memcpy(text + used, "j)", 3);
    return used + 2;
}

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
    case LX_UINT8:
    case LX_UINT16:
    case LX_UINT32:
    case LX_UINT64:
        return (size_t)snprintf(text, VALUE_TEXT, "%" PRIu64, load(element, size));
    case LX_FLOAT16:
    case LX_FLOAT32:
    case LX_FLOAT64:
        return format_real(element, size, false, text);
    case LX_COMPLEX64:
    case LX_COMPLEX128:
        return format_complex(element, size / 2, text);
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

void value_print(const lx_field *field, const void *record, FILE *to)
{
    char text[VALUE_TEXT];
    size_t size = lx_dtype_get_size(field->dtype);
    uint64_t count = field->size / size;
    uint64_t line = field->ndim != 0 ? field->shape[field->ndim - 1] : 1;
    uint64_t plane = field->ndim > 1 ? line * field->shape[field->ndim - 2] : 0;
    size_t width = field->ndim != 0 ? widest(field, record, count) : 0;
    for (uint64_t i = 0; i < count; i++) {
        if (plane != 0 && i != 0 && i % plane == 0)
            fputc('\n', to);
        value_format(field->dtype, (const char *)record + i * size, text);
        fprintf(to, "%*s%c", (int)width, text, (i + 1) % line == 0 ? '\n' : ' ');
    }
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
