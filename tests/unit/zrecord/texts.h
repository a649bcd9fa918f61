/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Short texts of common words: a dictionary helps to compress them.
 */
#ifndef LX_TESTS_TEXTS_H
#define LX_TESTS_TEXTS_H

#include "numbers.h"

#define TEXT_MAX 400

/** Writes a text of a number to @p text; returns its length, 200 to TEXT_MAX. */
static inline size_t text_of(uint64_t number, char text[TEXT_MAX])
{
    static const char *const words[] = {"the ",    "record ", "of ",      "values ", "stored ",
                                        "chunk ",  "table ",  "reader ",  "writer ", "snapshot ",
                                        "frames ", "log ",    "commits ", "field ",  "index "};
    size_t used = 0, wanted = 200 + mix(number) % 180;
    for (uint64_t i = 0; used < wanted; i++) {
        const char *word = words[mix(number * 1000 + i) % (sizeof words / sizeof *words)];
        used += (size_t)snprintf(text + used, TEXT_MAX - used, "%s", word);
    }
    return used;
}

/** Creates a dataset of one zstd field of bytes, named text. */
static inline lx_writer *texts_create(const char *path, lx_executor *executor, int level,
                                      uint32_t dictionary)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = options_on(executor, LX_DURABILITY_PERIODIC);
    unit_ok(lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_ZSTD, &error));
    unit_ok(lx_schema_set_compression(schema, "text", level, dictionary, &error));
    unit_ok(lx_writer_create(path, schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

static inline void texts_append(lx_writer *writer, uint64_t first, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    char text[TEXT_MAX];
    for (uint64_t i = first; i < first + count; i++) {
        lx_value value = {text, text_of(i, text)};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
}

static inline void texts_expect(lx_dataset *dataset, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    char text[TEXT_MAX];
    uint8_t got[VALUE_MAX];
    ck_assert_uint_eq(lx_dataset_get_length(dataset), count);
    for (uint64_t i = 0; i < count; i++) {
        size_t size = text_of(i, text);
        uint64_t got_size;
        bool there;
        unit_ok(read_value(dataset, 0, i, got, &got_size, &there, &error));
        ck_assert(there && got_size == size && memcmp(got, text, size) == 0);
    }
}

/** The stored bytes of the texts of a dataset. */
static inline uint64_t texts_stored(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_field_stats field;
    lx_dataset *dataset = open_dataset(path);
    unit_ok(lx_dataset_stat(dataset, &totals, &field, &error));
    lx_dataset_close(dataset);
    return field.stored_bytes;
}

#endif
