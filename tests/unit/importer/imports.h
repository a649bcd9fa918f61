/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Imports of files that a test writes, and a look at the datasets that they make.
 */
#ifndef LX_TESTS_IMPORTS_H
#define LX_TESTS_IMPORTS_H

#include <inttypes.h>

#include <loaderx/import.h>
#include <loaderx/zrecord.h>

#include "../scratch.h"
#include "../unit.h"

/** How a JPEG begins. */
#define JPEG "\xff\xd8\xff"

/** Writes @p size bytes to a file. */
static inline void put_bytes(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(name, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static inline void put_text(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/** An importer of one input. */
static inline lx_importer *importer_of(const char *format, const char *input)
{
    lx_error error = LX_ERROR_INIT;
    lx_importer *importer = lx_importer_new();
    ck_assert_ptr_nonnull(importer);
    unit_ok(lx_importer_set_format(importer, format, &error));
    unit_ok(lx_importer_add_input(importer, input, &error));
    return importer;
}

/** Keeps the dataset as an interrupted import left it. */
static inline void forget_import(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    unit_ok(lx_writer_open(path, NULL, &writer, &error));
    unit_ok(lx_writer_set_card(writer, &(lx_card_entry){LX_CARD_IMPORT, NULL}, 1, &error));
    unit_ok(lx_writer_close(writer, &error));
}

/** Whether an import into the dataset is not complete. */
static inline bool is_incomplete(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_card *card;
    unit_ok(lx_dataset_open(path, NULL, &dataset, &error));
    unit_ok(lx_dataset_read_card(dataset, &card, &error));
    bool incomplete = lx_card_get_text(card, LX_CARD_IMPORT) != NULL;
    lx_card_free(card);
    lx_dataset_close(dataset);
    return incomplete;
}

/** Imports a file without settings into the dataset "d". */
static inline void import_text(const char *format, const char *text)
{
    lx_error error = LX_ERROR_INIT;
    put_text("input", text);
    lx_importer *importer = importer_of(format, "input");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
}

/** Imports a text that must be refused with @p status at a record and an offset, with a message
 * that contains @p part. */
static inline void refuse_bytes(const char *format, const void *data, size_t size, lx_status status,
                                uint64_t record, uint64_t offset, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    put_bytes("input", data, size);
    lx_importer *importer = importer_of(format, "input");
    lx_status got = lx_importer_run(importer, "refused", NULL, &error);
    ck_assert_msg(got == status && error.status == status, "%s: %s", lx_status_get_name(got),
                  error.message);
    ck_assert_msg(error.record == record && error.offset == offset,
                  "record %" PRIu64 ", offset %" PRIu64 ": %s", error.record, error.offset,
                  error.message);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    ck_assert_str_eq(error.path, "input");
    lx_importer_free(importer);
    lx_dataset_remove("refused", NULL);
}

static inline void refuse_text(const char *format, const char *text, lx_status status,
                               uint64_t record, uint64_t offset, const char *part)
{
    refuse_bytes(format, text, strlen(text), status, record, offset, part);
}

static inline lx_dataset *open_imported(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = NULL;
    unit_ok(lx_dataset_open(path, NULL, &dataset, &error));
    return dataset;
}

/** The fields of a dataset, as in "id:int64 text:str box:float32[4] ids:int64[?]". */
static inline void expect_schema(const char *path, const char *expected)
{
    char text[1024] = "";
    size_t at = 0;
    lx_dataset *dataset = open_imported(path);
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:%s", i != 0 ? " " : "",
                               field->name, lx_dtype_get_name(field->dtype));
        for (size_t axis = 0; axis < field->ndim; axis++)
            at += field->shape[axis] == LX_NONE
                      ? (size_t)snprintf(text + at, sizeof text - at, "[?%s",
                                         field->ndim == 1 ? "]" : "")
                      : (size_t)snprintf(text + at, sizeof text - at, "%c%" PRIu64 "%s",
                                         axis == 0 ? '[' : ',', field->shape[axis],
                                         axis + 1 == field->ndim ? "]" : "");
    }
    ck_assert_str_eq(text, expected);
    lx_dataset_close(dataset);
}

static inline void expect_length(const char *path, uint64_t length)
{
    lx_dataset *dataset = open_imported(path);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    lx_dataset_close(dataset);
}

/** The value of a record has exactly these bytes; NULL: it is missing. */
static inline void expect_bytes(const char *path, uint64_t record, const char *field,
                                const void *data, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    size_t position;
    uint64_t offsets[2];
    uint8_t present;
    lx_dataset *dataset = open_imported(path);
    unit_ok(lx_schema_find_field(lx_dataset_get_schema(dataset), field, &position, &error));
    unit_ok(lx_dataset_get_sizes(dataset, position, &record, 1, offsets, &present, &error));
    ck_assert_int_eq(present, data != NULL);
    if (data != NULL) {
        char *got = malloc((size_t)offsets[1] + 1);
        unit_ok(lx_dataset_gather_bytes(dataset, position, &record, 1, offsets, got, &error));
        ck_assert_uint_eq(offsets[1], size);
        ck_assert_mem_eq(got, data, size);
        free(got);
    }
    lx_dataset_close(dataset);
}

static inline void expect_text(const char *path, uint64_t record, const char *field,
                               const char *text)
{
    expect_bytes(path, record, field, text, text != NULL ? strlen(text) : 0);
}

static inline void expect_int64(const char *path, uint64_t record, const char *field, int64_t value)
{
    expect_bytes(path, record, field, &value, sizeof value);
}

static inline void expect_float64(const char *path, uint64_t record, const char *field,
                                  double value)
{
    expect_bytes(path, record, field, &value, sizeof value);
}

#endif
