/* SPDX-License-Identifier: MIT */
#include "importer/json-value.h"

#include <string.h>

#include "base/error.h"
#include "base/json-scan.h"

lx_status lx__json_check(const char *what, const void *data, size_t size, lx_error *error)
{
    const char *expected;
    size_t at = lx__json_scan_check(data != NULL ? data : "", size, &expected);
    return at > size ? LX_OK
                     : lx_fail(error, LX_ERR_CORRUPT,
                               "%s is not valid JSON: expected %s at byte %zu", what, expected, at);
}

/* ---- strings */

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/** The four hexadecimal digits of an escape; -1 if they are not. */
static int32_t hex4(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit == -1)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/** Stores a character as UTF-8, and returns the end. */
static char *put_utf8(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
    } else if (point < 0x10000) {
        *to++ = (char)(0xe0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
    } else {
        *to++ = (char)(0xf0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 0x3f));
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (point & 0x3f));
    return to;
}

/** Copies the escape at *@p at and moves on; returns NULL for half of a surrogate pair. */
static char *put_escape(const char **at, const char *end, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    if ((*at)[1] != 'u') {
        *to = into[strchr(from, (*at)[1]) - from];
        *at += 2;
        return to + 1;
    }
    int32_t point = hex4(*at + 2, end);
    *at += 6;
    if (point >= 0xdc00 && point < 0xe000)
        return NULL;
    if (point >= 0xd800 && point < 0xdc00) {
        int32_t low = end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' ? hex4(*at + 2, end)
                                                                            : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        *at += 6;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_utf8(to, (uint32_t)point);
}

size_t lx__json_unescape(const char *text, size_t size, char *to)
{
    const char *end = text + size;
    char *begin = to;
    while (text < end) {
        const char *backslash = memchr(text, '\\', (size_t)(end - text));
        size_t plain = (size_t)((backslash != NULL ? backslash : end) - text);
        memcpy(to, text, plain);
        to += plain;
        text += plain;
        if (backslash != NULL && (to = put_escape(&text, end, to)) == NULL)
            return SIZE_MAX;
    }
    return (size_t)(to - begin);
}

/* ---- lists of numbers */

/** Measures the list at @p self, at depth @p axis; the first list of each depth gives its extent,
 * which all others must have. */
static bool measure(lx__json_scan *self, size_t axis, lx__json_list *list, bool *known)
{
    uint64_t count = 0;
    bool whole;
    if (axis == LX_MAX_NDIM || !lx__json_scan_pass(self, '[', ""))
        return false;
    lx__json_scan_skip_space(self);
    bool lists = *self->at == '[', numbers = !lists && *self->at != ']';
    if ((lists && axis + 1 == list->ndim) || (!lists && list->ndim != 0 && axis + 1 < list->ndim))
        return false;
    if (!lists)
        list->ndim = axis + 1;
    for (; lists || numbers; count++) {
        lx__json_scan_skip_space(self);
        if (lists) {
            if (!measure(self, axis + 1, list, known))
                return false;
        } else {
            size_t size = lx__number_span(self->at, self->end, &whole);
            if (size == 0)
                return false;
            if (!lx__numbers_add(&list->numbers, self->at, size, whole, false) &&
                list->inexact == NULL) {
                list->inexact = self->at;
                list->inexact_size = size;
            }
            self->at += size;
        }
        lx__json_scan_skip_space(self);
        if (*self->at != ',') {
            count++;
            break;
        }
        self->at++;
    }
    if (known[axis] && list->shape[axis] != count)
        return false;
    known[axis] = true;
    list->shape[axis] = count;
    return lx__json_scan_pass(self, ']', "");
}

bool lx__json_measure(const char *text, size_t size, lx__json_list *list)
{
    lx__json_scan self = {text, text + size, NULL};
    bool known[LX_MAX_NDIM] = {false};
    *list = (lx__json_list){0};
    return measure(&self, 0, list, known);
}

bool lx__json_store(const char *text, size_t size, lx_dtype dtype, void *elements)
{
    const char *end = text + size;
    uint8_t *to = elements;
    size_t step = lx_dtype_get_size(dtype);
    bool whole;
    while (text < end) {
        size_t length = *text == '-' || (*text >= '0' && *text <= '9')
                            ? lx__number_span(text, end, &whole)
                            : 0;
        if (length != 0) {
            if (!lx__number_store(text, length, dtype, to))
                return false;
            to += step;
        }
        text += length != 0 ? length : 1;
    }
    return true;
}
