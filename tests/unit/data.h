/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The files of tests/data in the source tree.
 */
#ifndef LX_TESTS_DATA_H
#define LX_TESTS_DATA_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/** Reads tests/data/@p name as text, for free(). */
static inline char *data_read(const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/data/%s", top != NULL ? top : ".", name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is not there: run by make check, or in the top folder", path);
    size_t size = 0, room = 1 << 20;
    char *text = malloc(room);
    size = fread(text, 1, room - 1, file);
    ck_assert_uint_lt(size, room - 1);
    fclose(file);
    text[size] = '\0';
    return text;
}

#endif
