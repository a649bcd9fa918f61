/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers that make files of tokens of each kind: token i is i by default.
 */
#ifndef LX_TESTS_TOKEN_FILES_H
#define LX_TESTS_TOKEN_FILES_H

#include <stdlib.h>

#include <loaderx/tokens.h>

#include "../../scratch.h"
#include "../npy-file.h"
#include "base/bytes.h"

/** Writes @p count numbers of @p width bytes, little-endian; NULL: 0, 1, 2 .. */
static inline void write_numbers(const char *path, size_t width, const uint64_t *numbers,
                                 size_t count)
{
    uint8_t *bytes = malloc(count * width + 8);
    for (size_t i = 0; i < count; i++)
        lx__store_le64(bytes + i * width, numbers != NULL ? numbers[i] : i);
    write_bytes(path, bytes, count * width);
    free(bytes);
}

/** Overwrites numbers of 8 bytes of a file in place, also in its mappings. */
static inline void overwrite(const char *path, const uint64_t *numbers, size_t count)
{
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[8];
        lx__store_le64(bytes, numbers[i]);
        ck_assert_uint_eq(fwrite(bytes, sizeof bytes, 1, file), 1);
    }
    ck_assert_int_eq(fclose(file), 0);
}

/** The numbers of an index of three documents of 100 tokens, to be overwritten. */
static const uint64_t liars[][3] = {
    {90, 95, 100}, {0, 0, 0}, {0, 0, 1}, {1, 100, 100}, {100, 1, 100}};

/** Writes an index of Megatron's for consecutive sequences of these lengths. */
static inline size_t write_idx(const char *path, int code, size_t width, const uint32_t *lengths,
                               size_t count)
{
    uint8_t bytes[4096] = "MMIDIDX";
    uint64_t place = 0;
    size_t size = 34 + 12 * count + 8 * (count + 1);
    lx__store_le64(bytes + 9, 1);
    bytes[17] = (uint8_t)code;
    lx__store_le64(bytes + 18, count);
    lx__store_le64(bytes + 26, count + 1);
    for (size_t i = 0; i < count; i++) {
        lx__store_le32(bytes + 34 + 4 * i, lengths[i]);
        lx__store_le64(bytes + 34 + 4 * count + 8 * i, place);
        place += lengths[i] * width;
    }
    for (size_t i = 0; i <= count; i++)
        lx__store_le64(bytes + 34 + 12 * count + 8 * i, i);
    write_bytes(path, bytes, size);
    return size;
}

static inline lx_tokens *open_tokens(const char *path, lx_dtype dtype)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens = NULL;
    unit_ok(lx_tokens_open(path, dtype, &tokens, &error));
    return tokens;
}

/** Tokens 0, 1 .. of 4 bytes, in documents of these lengths. */
static inline lx_tokens *make_documents(const char *name, const uint32_t *lengths, size_t count)
{
    char path[64];
    uint64_t total = 0, *ends = malloc((count + 1) * sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[i] = total += lengths[i];
    snprintf(path, sizeof path, "%s.ds.index", name);
    write_numbers(path, 8, ends, count);
    snprintf(path, sizeof path, "%s.ds", name);
    write_numbers(path, 4, NULL, total);
    free(ends);
    return open_tokens(path, LX_UINT32);
}

/** Tokens [first, first + count) must be @p from, @p from + 1, and so on. */
static inline void expect_tokens(const lx_tokens *tokens, uint64_t first, uint64_t count,
                                 uint32_t from)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t *wide = malloc(8 * count + 8);
    unit_ok(lx_tokens_read(tokens, first, count, LX_INT32, wide, &error));
    for (uint64_t i = 0; i < count; i++)
        ck_assert_uint_eq(lx__load_le32(wide + 4 * i), from + i);
    unit_ok(lx_tokens_read(tokens, first, count, LX_INT64, wide, &error));
    for (uint64_t i = 0; i < count; i++)
        ck_assert_uint_eq(lx__load_le64(wide + 8 * i), from + i);
    free(wide);
}

static inline void expect_document(const lx_tokens *tokens, uint64_t number, uint64_t first,
                                   uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t got_first, got_length;
    unit_ok(lx_tokens_get_document(tokens, number, &got_first, &got_length, &error));
    ck_assert_uint_eq(got_first, first);
    ck_assert_uint_eq(got_length, length);
}

#endif
