/* SPDX-License-Identifier: MIT */
#include "importer/json-scan.h"

#include <string.h>

#include "base/utf8.h"
#include "importer/number.h"

static bool fail(lx__json_scan *self, const char *why)
{
    self->why = why;
    return false;
}

void lx__json_scan_skip_space(lx__json_scan *self)
{
    while (self->at < self->end &&
           (*self->at == ' ' || *self->at == '\t' || *self->at == '\n' || *self->at == '\r'))
        self->at++;
}

bool lx__json_scan_pass(lx__json_scan *self, char byte, const char *why)
{
    lx__json_scan_skip_space(self);
    if (self->at == self->end || *self->at != byte)
        return fail(self, why);
    self->at++;
    return true;
}

/* ---- strings */

#define ONES UINT64_C(0x0101010101010101)
#define HIGH UINT64_C(0x8080808080808080)

/** A high bit for each of eight bytes that is below 0x20, a quote, a backslash, or not ASCII; bytes
 * after the first of them may be marked wrongly. */
static uint64_t find_special(uint64_t word)
{
    uint64_t quote = word ^ (ONES * '"'), backslash = word ^ (ONES * '\\');
    return ((word - ONES * 0x20) | (quote - ONES) | (backslash - ONES) | word) & HIGH;
}

/** Passes the plain ASCII of a string. */
static const char *skip_plain(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        if (find_special(word) != 0)
            break;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20 &&
           (unsigned char)*at < 0x80)
        at++;
    return at;
}

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

static bool pass_escape(lx__json_scan *self)
{
    if (self->end - self->at < 2)
        return fail(self, "a string does not end");
    if (self->at[1] == 'u') {
        if (hex4(self->at + 2, self->end) == -1)
            return fail(self, "\\u needs four hexadecimal digits");
        self->at += 6;
        return true;
    }
    if (memchr("\"\\/bfnrt", self->at[1], 8) == NULL)
        return fail(self, "an escape is unknown");
    self->at += 2;
    return true;
}

bool lx__json_scan_string(lx__json_scan *self, bool *escaped)
{
    *escaped = false;
    for (self->at++;;) {
        self->at = skip_plain(self->at, self->end);
        if (self->at == self->end)
            return fail(self, "a string does not end");
        if (*self->at == '"')
            break;
        if (*self->at == '\\') {
            *escaped = true;
            if (!pass_escape(self))
                return false;
        } else if ((unsigned char)*self->at < 0x20) {
            return fail(self, "a string contains a control character");
        } else {
            size_t length = lx__utf8_character(self->at, (size_t)(self->end - self->at));
            if (length == 0)
                return fail(self, "invalid UTF-8");
            self->at += length;
        }
    }
    self->at++;
    return true;
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

size_t lx__json_scan_unescape(const char *text, size_t size, char *to)
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

/* ---- values */

static bool pass_word(lx__json_scan *self, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(self->end - self->at) < size || memcmp(self->at, word, size) != 0)
        return fail(self, "a value is not JSON");
    self->at += size;
    return true;
}

static bool pass_number(lx__json_scan *self)
{
    bool whole;
    size_t size = lx__number_span(self->at, self->end, &whole);
    if (size == 0)
        return fail(self, "a number is invalid");
    if (size > LX__NUMBER_TEXT)
        return fail(self, "a number is too long");
    self->at += size;
    return true;
}

static bool pass_any(lx__json_scan *self, lx__json_type *type, bool *escaped, int depth);

/** Passes an array or object, whose first byte was passed. */
static bool pass_items(lx__json_scan *self, char close, int depth)
{
    lx__json_type type;
    bool escaped;
    if (depth == LX__JSON_SCAN_DEPTH)
        return fail(self, "arrays and objects are nested too deeply");
    lx__json_scan_skip_space(self);
    if (self->at < self->end && *self->at == close) {
        self->at++;
        return true;
    }
    for (;;) {
        if (close == '}') {
            lx__json_scan_skip_space(self);
            if (self->at == self->end || *self->at != '"')
                return fail(self, "a key must be a string");
            if (!lx__json_scan_string(self, &escaped) ||
                !lx__json_scan_pass(self, ':', "a colon is missing"))
                return false;
        }
        if (!pass_any(self, &type, &escaped, depth + 1))
            return false;
        lx__json_scan_skip_space(self);
        if (self->at < self->end && *self->at == close) {
            self->at++;
            return true;
        }
        if (!lx__json_scan_pass(self, ',', "a comma or the end of an array or object is missing"))
            return false;
    }
}

static bool pass_any(lx__json_scan *self, lx__json_type *type, bool *escaped, int depth)
{
    *escaped = false;
    lx__json_scan_skip_space(self);
    if (self->at == self->end)
        return fail(self, "a value is missing");
    switch (*self->at) {
    case '"':
        *type = LX__JSON_SCAN_STRING;
        return lx__json_scan_string(self, escaped);
    case '[':
        *type = LX__JSON_SCAN_ARRAY;
        self->at++;
        return pass_items(self, ']', depth);
    case '{':
        *type = LX__JSON_SCAN_OBJECT;
        self->at++;
        return pass_items(self, '}', depth);
    case 't':
        *type = LX__JSON_SCAN_BOOL;
        return pass_word(self, "true");
    case 'f':
        *type = LX__JSON_SCAN_BOOL;
        return pass_word(self, "false");
    case 'n':
        *type = LX__JSON_SCAN_NULL;
        return pass_word(self, "null");
    default:
        *type = LX__JSON_SCAN_NUMBER;
        return pass_number(self);
    }
}

bool lx__json_scan_value(lx__json_scan *self, lx__json_type *type, bool *escaped)
{
    return pass_any(self, type, escaped, 0);
}

bool lx__json_scan_is_valid(const char *text, size_t size)
{
    lx__json_scan self = {text, text + size, NULL};
    lx__json_type type;
    bool escaped;
    if (!lx__json_scan_value(&self, &type, &escaped))
        return false;
    lx__json_scan_skip_space(&self);
    return self.at == self.end;
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
            list->int64 = list->int64 && whole && lx__number_is_int64(self->at, size);
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

bool lx__json_scan_measure(const char *text, size_t size, lx__json_list *list)
{
    lx__json_scan self = {text, text + size, NULL};
    bool known[LX_MAX_NDIM] = {false};
    *list = (lx__json_list){.int64 = true};
    return measure(&self, 0, list, known);
}

bool lx__json_scan_store(const char *text, size_t size, lx_dtype dtype, void *elements)
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
