/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

/** Parses the digits at @p *text, and moves @p *text past them. Returns false if there are no
 * digits, or if the number overflows. */
static bool take_digits(const char **text, uint64_t *number)
{
    const char *at = *text;
    uint64_t value = 0;
    while (*at >= '0' && *at <= '9') {
        uint64_t digit = (uint64_t)(*at++ - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    bool any = at != *text;
    *text = at;
    *number = value;
    return any;
}

lx_status number_parse(const char *what, const char *text, uint64_t *number, lx_error *error)
{
    return number_parse_within(what, text, 0, UINT64_MAX, number, error);
}

lx_status number_parse_within(const char *what, const char *text, uint64_t least, uint64_t most,
                              uint64_t *number, lx_error *error)
{
    const char *at = text;
    if (take_digits(&at, number) && *at == '\0' && *number >= least && *number <= most)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "%s: '%.64s' is not a number from %" PRIu64 " to %" PRIu64, what, text, least,
                   most);
}

bool number_take_real(char **text, double *number)
{
    size_t length = strspn(*text, "0123456789.eE+-");
    char *end;
    if (**text == '-' || **text == '+')
        return false;
    *number = strtod(*text, &end);
    bool valid = length != 0 && end == *text + length && isfinite(*number);
    *text = end;
    return valid;
}

lx_status number_parse_size(const char *what, const char *text, uint64_t *bytes, lx_error *error)
{
    static const char suffixes[] = "kMGT";
    const char *at = text;
    unsigned shift = 0;
    bool valid = take_digits(&at, bytes);
    if (valid && *at != '\0') {
        const char *suffix = strchr(suffixes, *at == 'K' ? 'k' : *at);
        valid = suffix != NULL && (at[1] == '\0' || strcmp(at + 1, "iB") == 0);
        shift = valid ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    }
    if (!valid || *bytes > UINT64_MAX >> shift)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%s: '%.64s' is not a size in bytes, such as 4096, 64k, 512M or 1G", what,
                       text);
    *bytes <<= shift;
    return LX_OK;
}

lx_status number_parse_age(const char *what, const char *text, uint64_t *seconds, lx_error *error)
{
    static const char suffixes[] = "smhd";
    static const uint64_t units[] = {1, 60, 3600, 24 * 3600};
    const char *at = text;
    bool valid = take_digits(&at, seconds) && *at != '\0' && at[1] == '\0';
    const char *suffix = valid ? strchr(suffixes, *at) : NULL;
    uint64_t unit = suffix != NULL ? units[suffix - suffixes] : 0;
    if (suffix == NULL || *seconds > UINT64_MAX / unit)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%s: '%.64s' is not an age, such as 90s, 30m, 12h or 7d", what, text);
    *seconds *= unit;
    return LX_OK;
}

/** Parses an optional index that may be negative. */
static bool take_index(const char **text, bool *given, bool *from_end, uint64_t *magnitude)
{
    const char *at = *text;
    *from_end = *at == '-';
    at += *from_end;
    *given = *from_end || (*at >= '0' && *at <= '9');
    if (!*given)
        return true;
    *text = at;
    bool valid = take_digits(text, magnitude);
    *from_end = *from_end && *magnitude != 0; /* -0 is 0, as in Python */
    return valid;
}

lx_status index_range_parse(const char *text, index_range *range, lx_error *error)
{
    const char *at = text;
    *range = (index_range){0};
    bool valid = take_index(&at, &range->start_given, &range->start_from_end, &range->start);
    if (valid && *at == ':') {
        at++;
        valid = take_index(&at, &range->stop_given, &range->stop_from_end, &range->stop);
    } else {
        range->single = true;
        valid = valid && range->start_given;
    }
    if (valid && *at == '\0')
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "'%.64s' is not an index: use, for example, 5, -1 for the last record, or 10:20",
                   text);
}

lx_status index_range_parse_option(const char *option, const char *text, index_range *range,
                                   lx_error *error)
{
    lx_status status = index_range_parse(text, range, error);
    if (status != LX_OK || !range->single)
        return status;
    char end[24] = ""; /* omitted for the last record */
    if (!range->start_from_end)
        snprintf(end, sizeof end, "%" PRIu64, range->start + 1);
    else if (range->start > 1)
        snprintf(end, sizeof end, "-%" PRIu64, range->start - 1);
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "%s %.64s is an index, not a range A:B; use %.64s:%s for this record", option,
                   text, text, end);
}

/** The position of one end of a range, clamped to 0 .. length. */
static uint64_t clamp(bool from_end, uint64_t magnitude, uint64_t length)
{
    if (from_end)
        return magnitude < length ? length - magnitude : 0;
    return magnitude < length ? magnitude : length;
}

lx_status index_range_resolve(const index_range *range, uint64_t length, uint64_t *first,
                              uint64_t *end, lx_error *error)
{
    if (range->single) {
        bool there = range->start_from_end ? range->start >= 1 && range->start <= length
                                           : range->start < length;
        if (!there)
            return lx_fail(error, LX_ERR_RANGE,
                           "record %s%" PRIu64 " does not exist: the dataset has %" PRIu64
                           " records",
                           range->start_from_end ? "-" : "", range->start, length);
        *first = clamp(range->start_from_end, range->start, length);
        *end = *first + 1;
        return LX_OK;
    }
    *first = range->start_given ? clamp(range->start_from_end, range->start, length) : 0;
    *end = range->stop_given ? clamp(range->stop_from_end, range->stop, length) : length;
    if (*end < *first)
        *end = *first;
    return LX_OK;
}
