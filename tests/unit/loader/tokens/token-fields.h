/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers that make and open fields of bytes whose records are documents of tokens.
 */
#ifndef LX_TESTS_TOKEN_FIELDS_H
#define LX_TESTS_TOKEN_FIELDS_H

#include <loaderx/writer.h>

#include "loader/tokens/token-field.h"
#include "token-files.h"

/** A missing value. */
#define ABSENT UINT32_MAX

/** Token @p at of the field. It fits in two bytes, and the period is not a multiple of a document's
 * length. */
static inline uint32_t token_at(uint64_t at)
{
    return (uint32_t)(at * 7919 % 65521);
}

/** Appends a document whose first token is token @p first of the field. */
static inline void append_document(lx_writer *writer, uint64_t first, uint32_t length, size_t width)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t *bytes = malloc((size_t)length * width + 8);
    for (uint32_t i = 0; i < length; i++)
        lx__store_le64(bytes + i * width, token_at(first + i));
    const lx_value value = {bytes, length * width};
    unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    free(bytes);
}

static inline lx_writer *create(const char *path, lx_dtype dtype, const uint64_t *shape,
                                size_t ndim, lx_compression compression)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "text", dtype, shape, ndim, compression, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    return writer;
}

/** Writes documents of these lengths, and closes the writer. */
static inline void write_documents(lx_writer *writer, const uint32_t *lengths, size_t count,
                                   size_t width)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first = 0;
    for (size_t i = 0; i < count; i++) {
        static const lx_value absent = {NULL, LX_NONE};
        if (lengths[i] == ABSENT) {
            unit_ok(lx_writer_append(writer, &absent, 1, NULL, &error));
            continue;
        }
        append_document(writer, first, lengths[i], width);
        first += lengths[i];
    }
    unit_ok(lx_writer_close(writer, &error));
}

/** The dataset at @p path, with documents of these lengths. */
static inline void write_field(const char *path, const uint32_t *lengths, size_t count,
                               size_t width, lx_compression compression)
{
    write_documents(create(path, LX_BYTES, NULL, 0, compression), lengths, count, width);
}

/** Moves all rows to the tables. */
static inline void seal(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    unit_ok(lx_writer_open(path, NULL, &writer, &error));
    unit_ok(lx_writer_seal(writer, &error));
    unit_ok(lx_writer_close(writer, &error));
}

static inline lx_dataset *open_dataset(const char *path, lx_access access, lx_damage_policy damage)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_access(options, access, &error));
    unit_ok(lx_dataset_options_set_damage_policy(options, damage, &error));
    unit_ok(lx_dataset_options_set_verify_policy(options, LX_VERIFY_ALWAYS, &error));
    unit_ok(lx_dataset_open(path, options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

static inline lx_tokens *open_field_by(const char *path, lx_dtype dtype, lx_access access)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens = NULL;
    lx_dataset *dataset = open_dataset(path, access, LX_DAMAGE_RAISE);
    unit_ok(lx_tokens_new_field(dataset, 0, dtype, &tokens, &error));
    lx_dataset_close(dataset);
    return tokens;
}

static inline lx_tokens *open_field(const char *path, lx_dtype dtype)
{
    return open_field_by(path, dtype, LX_ACCESS_MMAP);
}

static inline void expect_field(const lx_tokens *tokens, uint64_t at, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t *wide = malloc(4 * count + 8);
    unit_ok(lx_tokens_read(tokens, at, count, LX_INT32, wide, &error));
    for (uint64_t i = 0; i < count; i++)
        ck_assert_uint_eq(lx__load_le32(wide + 4 * i), token_at(at + i));
    free(wide);
}

#endif
