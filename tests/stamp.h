/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Restamps a meta.json whose checksum is absent or wrong, so that edited text passes the
 * check of the checksum.
 */
#ifndef LX_TESTS_STAMP_H
#define LX_TESTS_STAMP_H

#include <stdlib.h>
#include <string.h>

#include "zrecord/format/meta-file.h"

/** A copy of @p text with a stamp and a NUL, for free(). Replaces an existing stamp; otherwise
 * inserts one after the first brace. */
static inline char *stamped(const char *text, size_t size, size_t *stamped_size)
{
    const size_t stamp = strlen(LX__META_STAMP), digits = stamp - 10;
    size_t skip = size != 0 && text[0] == '{';
    if (size >= stamp && memcmp(text, LX__META_STAMP, digits) == 0 &&
        memcmp(text + stamp - 2, &LX__META_STAMP[stamp - 2], 2) == 0)
        skip = stamp;
    size_t rest = size - skip;
    char *copy = malloc(stamp + rest + 1);
    if (copy == NULL)
        abort();
    memcpy(copy, LX__META_STAMP, stamp);
    memcpy(copy + stamp, text + skip, rest);
    copy[stamp + rest] = '\0';
    lx__meta_stamp(copy, stamp + rest);
    *stamped_size = stamp + rest;
    return copy;
}

#endif
