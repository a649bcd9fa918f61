/* SPDX-License-Identifier: MIT */
#include "scenario.h"

/* Small chunks, so that there are several. */
#define CHUNK_RECORDS 40
#define CHUNK_BYTES 16384

void must(lx_status status, const char *what, const lx_error *error)
{
    char text[900];
    if (status == LX_OK)
        return;
    lx_error_describe(error, text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(EXIT_FAILURE);
}

static void extend(lx_writer *writer, struct plain *plain, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_values columns[PLAIN_COLUMNS];
    uint64_t first = plain->count;
    for (uint64_t i = 0; i < count; i++) {
        struct plain_record record = plain_make(plain, (uint32_t)plain->count + 1);
        plain_append(plain, &record);
    }
    plain_columns(plain, first, count, columns);
    must(lx_writer_extend(writer, count, columns, plain->column_count, NULL, &error), "extend",
         &error);
    plain_columns_free(plain, columns);
}

static lx_writer *create(const char *path, const struct plain *plain)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = need(plain_schema(plain));
    lx_writer_options *options = need(lx_writer_options_new());
    must(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error), "durability",
         &error);
    must(lx_writer_options_set_chunk_limits(options, CHUNK_RECORDS, CHUNK_BYTES, &error), "chunks",
         &error);
    must(lx_writer_create(path, schema, options, &writer, &error), "create", &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

void prepare_dataset(const char *path, struct plain *plain, uint64_t count, uint64_t in_log)
{
    lx_error error = LX_ERROR_INIT;
    plain_init(plain, PLAIN_KINDS);
    lx_writer *writer = create(path, plain);
    extend(writer, plain, count - in_log);
    must(lx_writer_commit(writer, &error), "commit", &error);
    for (uint64_t i = 0; i < in_log; i++) {
        extend(writer, plain, 1);
        if (i % 4 == 3)
            must(lx_writer_commit(writer, &error), "commit", &error);
    }
    must(lx_writer_close(writer, &error), "close", &error);
}

void prepare_sealed(const char *path, struct plain *plain, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    plain_init(plain, PLAIN_KINDS);
    lx_writer *writer = create(path, plain);
    extend(writer, plain, count);
    must(lx_writer_seal(writer, &error), "seal", &error);
    must(lx_writer_close(writer, &error), "close", &error);
}
