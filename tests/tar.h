/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Members of a tar (POSIX ustar) in memory: the corpora of the fuzzers, and golden files.
 */
#ifndef LX_TESTS_TAR_H
#define LX_TESTS_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A member is a header, with the name and the size in octal digits at these places, and its bytes,
 * padded to a multiple of TAR_BLOCK. */
#define TAR_BLOCK 512
#define TAR_NAME 100
#define TAR_SIZE 124

/** A file in the tar. */
struct tar_member {
    char name[TAR_NAME + 1];
    const uint8_t *data;
    size_t size;
};

/** Moves to the next member; returns false at the end. @p at is 0 initially. A truncated tar
 * aborts. */
static inline bool tar_next(const uint8_t *tar, size_t size, size_t *at, struct tar_member *member)
{
    if (size < TAR_BLOCK || *at > size - TAR_BLOCK || tar[*at] == '\0')
        return false;
    const char *head = (const char *)tar + *at;
    snprintf(member->name, sizeof member->name, "%.*s", TAR_NAME, head);
    member->size = strtoul(head + TAR_SIZE, NULL, 8);
    member->data = tar + *at + TAR_BLOCK;
    *at += TAR_BLOCK;
    if (member->size > size - *at)
        abort();
    *at += (member->size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    return true;
}

#endif
