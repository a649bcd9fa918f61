/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Valid and invalid .npy files.
 */
#ifndef LX_TESTS_NPY_FILE_H
#define LX_TESTS_NPY_FILE_H

#include <stdint.h>
#include <string.h>

#include "../unit.h"

static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/** Makes a file of that version with @p header as its text, of @p size bytes including the data, in
 * which byte i is i. Returns the offset of the data. */
static inline size_t write_npy(const char *path, int version, const char *header, size_t data)
{
    size_t length = strlen(header), start = version == 1 ? 10 : 12;
    uint8_t *bytes = calloc(1, start + length + data + 1);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (uint8_t)version;
    bytes[8] = (uint8_t)length;
    bytes[9] = (uint8_t)(length >> 8);
    memcpy(bytes + start, header, length);
    for (size_t i = 0; i < data; i++)
        bytes[start + length + i] = (uint8_t)i;
    write_bytes(path, bytes, start + length + data);
    free(bytes);
    return start + length;
}

#endif
