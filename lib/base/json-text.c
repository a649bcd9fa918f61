/* SPDX-License-Identifier: MIT */
#include "base/json-text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/** The text that is left, and the arrays and objects that are open. */
typedef struct scan {
    const char *at, *end;
    const char *expected; /**< Set if the text is invalid at @ref at. */
    size_t depth;
    uint8_t
        objects[LX__JSON_TEXT_DEPTH / 8]; /**< For each level, a bit: whether it is an object. */
} scan;

static bool fail(scan *s, const char *expected)
{
    s->expected = expected;
    return false;
}

static bool is_next(const scan *s, char wanted)
{
    return s->at < s->end && *s->at == wanted;
}

static bool take(scan *s, char wanted)
{
    bool found = is_next(s, wanted);
    s->at += found;
    return found;
}

static void skip_space(scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
}

static bool is_digit(const scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static bool take_digits(scan *s)
{
    if (!is_digit(s))
        return fail(s, "a digit");
    while (is_digit(s))
        s->at++;
    return true;
}

static bool take_number(scan *s)
{
    (void)take(s, '-');
    if (!take(s, '0') && !take_digits(s))
        return false;
    if (take(s, '.') && !take_digits(s))
        return false;
    if (!take(s, 'e') && !take(s, 'E'))
        return true;
    if (!take(s, '+'))
        (void)take(s, '-');
    return take_digits(s);
}

static bool take_word(scan *s, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return fail(s, "a value");
    s->at += length;
    return true;
}

static bool take_escape(scan *s)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    if (s->at < s->end && memchr("\"\\/bfnrt", *s->at, 8) != NULL) {
        s->at++;
        return true;
    }
    if (!take(s, 'u'))
        return fail(s, "an escape sequence");
    for (int i = 0; i < 4; i++, s->at++)
        if (s->at == s->end || memchr(digits, *s->at, sizeof digits - 1) == NULL)
            return fail(s, "a hexadecimal digit");
    return true;
}

static bool take_string(scan *s)
{
    if (!take(s, '"'))
        return fail(s, "a string");
    while (s->at < s->end && (uint8_t)*s->at >= 0x20) {
        char c = *s->at++;
        if (c == '"')
            return true;
        if (c == '\\' && !take_escape(s))
            return false;
    }
    return fail(s, "a character of a string or its closing quote");
}

static bool in_object(const scan *s)
{
    size_t level = s->depth - 1;
    return s->depth != 0 && (s->objects[level / 8] >> level % 8 & 1) != 0;
}

static bool take_key(scan *s)
{
    skip_space(s);
    if (!take_string(s))
        return false;
    skip_space(s);
    return take(s, ':') || fail(s, "a colon");
}

/** Enters an array or an object; sets @p empty if it ends at once. */
static bool open(scan *s, bool object, bool *empty)
{
    if (s->depth == LX__JSON_TEXT_DEPTH)
        return fail(s, "no more than 512 levels of nesting");
    uint8_t bit = (uint8_t)(1u << s->depth % 8), *bits = &s->objects[s->depth / 8];
    *bits = (uint8_t)(object ? *bits | bit : *bits & ~bit);
    s->depth++;
    s->at++;
    skip_space(s);
    *empty = is_next(s, object ? '}' : ']');
    return *empty || !object || take_key(s);
}

/** Takes a value or, of an array or an object that is not empty, the beginning. Sets @p more if a
 * value follows immediately. */
static bool take_value(scan *s, bool *more)
{
    bool empty = true;
    *more = false;
    skip_space(s);
    if (s->at == s->end)
        return fail(s, "a value");
    switch (*s->at) {
    case '{':
    case '[':
        if (!open(s, *s->at == '{', &empty))
            return false;
        *more = !empty;
        return true;
    case '"':
        return take_string(s);
    case 't':
        return take_word(s, "true");
    case 'f':
        return take_word(s, "false");
    case 'n':
        return take_word(s, "null");
    default:
        return is_next(s, '-') || is_digit(s) ? take_number(s) : fail(s, "a value");
    }
}

/** Leaves the arrays and objects that end here. Sets @p more if another value follows. */
static bool take_ends(scan *s, bool *more)
{
    *more = false;
    for (;;) {
        skip_space(s);
        if (s->depth == 0)
            return s->at == s->end || fail(s, "the end");
        if (take(s, ','))
            break;
        if (!take(s, in_object(s) ? '}' : ']'))
            return fail(s, in_object(s) ? "a comma or '}'" : "a comma or ']'");
        s->depth--;
    }
    *more = true;
    return !in_object(s) || take_key(s);
}

size_t lx__json_text_check(const char *text, size_t size, const char **expected)
{
    scan s = {.at = text, .end = text + size};
    size_t valid = lx__utf8_span(text, size);
    bool more = true;
    if (valid != size) {
        *expected = "UTF-8";
        return valid;
    }
    while (more) {
        if (!take_value(&s, &more))
            break;
        if (!more && !take_ends(&s, &more))
            break;
    }
    if (s.expected == NULL)
        return size + 1;
    *expected = s.expected;
    return (size_t)(s.at - text);
}
