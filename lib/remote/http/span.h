/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A part of a text, which need not be terminated.
 */
#ifndef LX_REMOTE_SPAN_H
#define LX_REMOTE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lx__span {
    const char *at;
    size_t size;
} lx__span;

static inline bool lx__span_is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/** Returns @p span without the space at its beginning and end. */
static inline lx__span lx__span_trim(lx__span span)
{
    for (; span.size > 0 && lx__span_is_space(*span.at); span.at++)
        span.size--;
    while (span.size > 0 && lx__span_is_space(span.at[span.size - 1]))
        span.size--;
    return span;
}

#endif
