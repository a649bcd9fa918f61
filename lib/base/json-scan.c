/* SPDX-License-Identifier: MIT */
#include "base/json-scan.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static bool fail(lx__json_scan *self, const char *expected)
{
    self->expected = expected;
    return false;
}

static bool is_next(const lx__json_scan *self, char wanted)
{
    return self->at < self->end && *self->at == wanted;
}

static bool take(lx__json_scan *self, char wanted)
{
    bool found = is_next(self, wanted);
    self->at += found;
    return found;
}

void lx__json_scan_skip_space(lx__json_scan *self)
{
    while (self->at < self->end &&
           (*self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'))
        self->at++;
}

bool lx__json_scan_pass(lx__json_scan *self, char byte, const char *expected)
{
    lx__json_scan_skip_space(self);
    return take(self, byte) || fail(self, expected);
}

/* ---- numbers, words and strings */

static bool is_digit(const lx__json_scan *self)
{
    return self->at < self->end && *self->at >= '0' && *self->at <= '9';
}

static bool take_digits(lx__json_scan *self)
{
    if (!is_digit(self))
        return fail(self, "a digit");
    while (is_digit(self))
        self->at++;
    return true;
}

bool lx__json_scan_number(lx__json_scan *self, bool *whole)
{
    *whole = true;
    (void)take(self, '-');
    if (!take(self, '0') && !take_digits(self))
        return false;
    if (take(self, '.')) {
        *whole = false;
        if (!take_digits(self))
            return false;
    }
    if (!take(self, 'e') && !take(self, 'E'))
        return true;
    *whole = false;
    if (!take(self, '+'))
        (void)take(self, '-');
    return take_digits(self);
}

static bool take_word(lx__json_scan *self, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(self->end - self->at) < length || memcmp(self->at, word, length) != 0)
        return fail(self, "a value");
    self->at += length;
    return true;
}

static bool take_escape(lx__json_scan *self)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    if (self->at < self->end && memchr("\"\\/bfnrt", *self->at, 8) != NULL) {
        self->at++;
        return true;
    }
    if (!take(self, 'u'))
        return fail(self, "an escape sequence");
    for (int i = 0; i < 4; i++, self->at++)
        if (self->at == self->end || memchr(digits, *self->at, sizeof digits - 1) == NULL)
            return fail(self, "a hexadecimal digit");
    return true;
}

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

bool lx__json_scan_string(lx__json_scan *self, bool *escaped)
{
    *escaped = false;
    if (!take(self, '"'))
        return fail(self, "a string");
    for (;;) {
        self->at = skip_plain(self->at, self->end);
        if (take(self, '"'))
            return true;
        if (take(self, '\\')) {
            *escaped = true;
            if (!take_escape(self))
                return false;
        } else if (self->at == self->end || (unsigned char)*self->at < 0x20) {
            return fail(self, "a character of a string or its closing quote");
        } else {
            size_t length = lx__utf8_character(self->at, (size_t)(self->end - self->at));
            if (length == 0)
                return fail(self, "UTF-8");
            self->at += length;
        }
    }
}

/* ---- arrays and objects */

/** The arrays and objects that are open. */
typedef struct nesting {
    size_t depth;
    uint8_t
        objects[LX__JSON_SCAN_DEPTH / 8]; /**< For each level, a bit: whether it is an object. */
} nesting;

static bool in_object(const nesting *levels)
{
    size_t level = levels->depth - 1;
    return levels->depth != 0 && (levels->objects[level / 8] >> level % 8 & 1) != 0;
}

static bool take_key(lx__json_scan *self)
{
    bool escaped;
    lx__json_scan_skip_space(self);
    return lx__json_scan_string(self, &escaped) && lx__json_scan_pass(self, ':', "a colon");
}

/** Enters an array or an object; sets @p more if it is not empty: a value follows. */
static bool enter(lx__json_scan *self, nesting *levels, bool object, bool *more)
{
    size_t level = levels->depth;
    if (level == LX__JSON_SCAN_DEPTH)
        return fail(self, "no more than 512 levels of nesting");
    uint8_t bit = (uint8_t)(1u << level % 8), *bits = &levels->objects[level / 8];
    *bits = (uint8_t)(object ? *bits | bit : *bits & ~bit);
    levels->depth++;
    self->at++;
    lx__json_scan_skip_space(self);
    *more = !is_next(self, object ? '}' : ']');
    return !*more || !object || take_key(self);
}

/** Takes a value or, of an array or an object that is not empty, the beginning. Sets @p more if a
 * value follows immediately. */
static bool take_value(lx__json_scan *self, nesting *levels, lx__json_type *type, bool *escaped,
                       bool *more)
{
    bool whole;
    *more = false;
    lx__json_scan_skip_space(self);
    switch (self->at < self->end ? *self->at : '\0') {
    case '{':
        *type = LX__JSON_SCAN_OBJECT;
        return enter(self, levels, true, more);
    case '[':
        *type = LX__JSON_SCAN_ARRAY;
        return enter(self, levels, false, more);
    case '"':
        *type = LX__JSON_SCAN_STRING;
        return lx__json_scan_string(self, escaped);
    case 't':
        *type = LX__JSON_SCAN_BOOL;
        return take_word(self, "true");
    case 'f':
        *type = LX__JSON_SCAN_BOOL;
        return take_word(self, "false");
    case 'n':
        *type = LX__JSON_SCAN_NULL;
        return take_word(self, "null");
    default:
        *type = LX__JSON_SCAN_NUMBER;
        return is_next(self, '-') || is_digit(self) ? lx__json_scan_number(self, &whole)
                                                    : fail(self, "a value");
    }
}

/** Leaves the arrays and objects that end here. Sets @p more if another value follows. */
static bool take_ends(lx__json_scan *self, nesting *levels, bool *more)
{
    *more = false;
    while (levels->depth != 0) {
        bool object = in_object(levels);
        lx__json_scan_skip_space(self);
        if (take(self, ',')) {
            *more = true;
            return !object || take_key(self);
        }
        if (!take(self, object ? '}' : ']'))
            return fail(self, object ? "a comma or '}'" : "a comma or ']'");
        levels->depth--;
    }
    return true;
}

bool lx__json_scan_value(lx__json_scan *self, lx__json_type *type, bool *escaped)
{
    nesting levels;
    lx__json_type inner;
    bool more, ignored;
    levels.depth = 0;
    *escaped = false;
    if (!take_value(self, &levels, type, escaped, &more))
        return false;
    while (more || levels.depth != 0) {
        if (!more && !take_ends(self, &levels, &more))
            return false;
        if (more && !take_value(self, &levels, &inner, &ignored, &more))
            return false;
    }
    return true;
}

size_t lx__json_scan_check(const char *text, size_t size, const char **expected)
{
    lx__json_scan self = {text, text + size, NULL};
    lx__json_type type;
    bool escaped;
    if (lx__json_scan_value(&self, &type, &escaped)) {
        lx__json_scan_skip_space(&self);
        if (self.at == self.end)
            return size + 1;
        (void)fail(&self, "the end");
    }
    *expected = self.expected;
    return (size_t)(self.at - text);
}
