/* SPDX-License-Identifier: MIT */
/* Inputs of every format, and the state of an interrupted import: each value lies in memory, and
 * what fits its field is stored. The first byte chooses the format, the second options, and the
 * rest is the input. */
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "fuzz.h"
#include "importer/columns.h"
#include "importer/cursor.h"
#include "importer/import-state.h"
#include "memory.h"

#define RECORD_LIMIT 2000

enum { SKIP = 1, NAMED = 2, REPAIR = 4, OTHER = 8 };

static const char *const formats[] = {"csv", "jsonl", "lines", "tar", "tfrecord", "lmdb"};
enum { CSV, TAR = 3, TFRECORD };
#define FORMATS (sizeof formats / sizeof *formats)

/** A byte of every value, which a sanitizer checks. */
static volatile uint8_t sink;

static void touch(const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sink ^= ((const uint8_t *)data)[i];
}

static void check_record(const lx__import_record *record)
{
    for (size_t i = 0; i < record->count; i++) {
        const lx__import_value *value = &record->values[i];
        touch(value->name, value->name_size);
        touch(value->data, value->size);
        touch(value->json, value->json != NULL ? value->json_size : 0);
        if (value->size > RECORD_LIMIT)
            fuzz_fail("a value has %zu bytes", value->size);
    }
}

/** Corrects the checksums of the headers of an archive. */
static void repair(uint8_t *archive, size_t size)
{
    for (size_t at = 0; at + 512 <= size;) {
        unsigned sum = 0;
        char text[13] = "";
        memset(archive + at + 148, ' ', 8);
        for (size_t i = 0; i < 512; i++)
            sum += archive[at + i];
        snprintf((char *)archive + at + 148, 8, "%06o", sum);
        memcpy(text, archive + at + 124, 12);
        at += 512 + (strtoull(text, NULL, 8) + 511) / 512 * 512;
    }
}

static void repair_crc(const uint8_t *data, size_t size, uint8_t *stored)
{
    uint32_t crc = lx__crc32c(0, data, size);
    lx__store_le32(stored, (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8));
}

/** Corrects the CRCs of a TFRecord file. */
static void repair_records(uint8_t *file, size_t size)
{
    for (size_t at = 0; size - at >= 12;) {
        uint64_t length = lx__load_le64(file + at);
        repair_crc(file + at, 8, file + at + 8);
        at += 12;
        if (length > size - at || size - at - length < 4)
            return;
        repair_crc(file + at, (size_t)length, file + at + length);
        at += (size_t)length + 4;
    }
}

static void set_options(lx_importer *importer, size_t format, unsigned options)
{
    lx_importer_set_record_limit(importer, RECORD_LIMIT, NULL);
    lx_importer_set_bad_policy(importer, options & SKIP ? LX_BAD_SKIP : LX_BAD_STOP, NULL);
    if (options & NAMED) {
        lx_importer_set_field(importer, "a", "float32[2]", NULL);
        lx_importer_set_field(importer, "b", "json", NULL);
        lx_importer_set_field(importer, "text", "uint8", NULL);
    }
    if (options & OTHER && format == CSV) {
        lx_importer_set_option(importer, "delimiter", ";", NULL);
        lx_importer_set_option(importer, "header", "no", NULL);
    } else if (options & OTHER && format == TAR) {
        lx_importer_set_option(importer, "key", "key", NULL);
    } else if (options & OTHER && format == TFRECORD) {
        lx_importer_set_option(importer, "lists", "a,text", NULL);
    }
}

/** Reads all records; with columns, also converts their values. */
static void read_all(lx__cursor *cursor, lx__cursor_purpose purpose, lx__import_fields *fields,
                     lx__import_columns *columns)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx__cursor_open(cursor, 0, purpose, &error);
    uint64_t last = 0;
    while (status == LX_OK && (status = lx__cursor_next(cursor, &error)) == LX_OK) {
        check_record(&cursor->record);
        if (!cursor->importer->format->opens_paths && cursor->number > 1 &&
            cursor->record.offset < last)
            fuzz_fail("a record begins before the last one");
        last = cursor->record.offset;
        if (columns == NULL) {
            status = lx__import_fields_observe(fields, &cursor->record, &error);
            continue;
        }
        if (lx__import_columns_full(columns))
            lx__import_columns_drop(columns);
        (void)lx__import_columns_add(columns, &cursor->record, NULL);
    }
    if (status < 0 && error.status != status)
        fuzz_fail("the error is not that of the status");
    lx__cursor_close(cursor);
}

static void import(size_t format, unsigned options)
{
    lx_error error = LX_ERROR_INIT;
    lx__cursor cursor;
    lx__import_fields fields = {0};
    lx__import_columns columns = {0};
    lx_importer *importer = need(lx_importer_new());
    lx_importer_set_format(importer, formats[format], NULL);
    lx_importer_add_input(importer, fuzz_path("input"), NULL);
    set_options(importer, format, options);
    lx__cursor_init(&cursor, importer, NULL, LX_NONE);
    read_all(&cursor, LX__CURSOR_SAMPLE, &fields, NULL);
    lx__import_fields_derive(&fields);
    for (size_t i = 0; i < importer->fields.count; i++) {
        char type[200];
        const lx__import_field *set = &importer->fields.list[i];
        (void)lx__import_fields_set(&fields, set->source,
                                    lx__import_type_print(set, type, sizeof type), NULL);
    }
    lx__import_fields_drop_shapes(&fields);
    lx_schema *schema = need(lx_schema_new());
    if (lx__import_fields_fill(&fields, schema, &error) == LX_OK &&
        lx__import_columns_init(&columns, &fields, &error) == LX_OK)
        read_all(&cursor, LX__CURSOR_IMPORT, &fields, &columns);
    lx_schema_free(schema);
    lx__import_columns_free(&columns);
    lx__import_fields_free(&fields);
    lx__cursor_free(&cursor);
    lx_importer_free(importer);
}

/** The state of an interrupted import. */
static void read_state(const struct input *input)
{
    lx__import_state state;
    lx_error error = LX_ERROR_INIT;
    char *text = need(calloc(input->size + 1, 1));
    if (input->size != 0)
        memcpy(text, input->data, input->size);
    lx_status status = lx__import_state_parse(&state, text, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status == LX_OK &&
        (state.done.length < state.done.before || state.next.length < state.done.length))
        fuzz_fail("the lengths do not ascend");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    size_t format = input_byte(&input) % (FORMATS + 1);
    unsigned options = input_byte(&input);
    fuzz_json_begin();
    if (format == FORMATS) {
        read_state(&input);
    } else {
        uint8_t *copy = need(malloc(input.size + 1));
        if (input.size != 0)
            memcpy(copy, input.data, input.size);
        if (format == TAR && options & REPAIR)
            repair(copy, input.size);
        if (format == TFRECORD && options & REPAIR)
            repair_records(copy, input.size);
        fuzz_write("input", copy, input.size);
        free(copy);
        import(format, options);
    }
    fuzz_json_end();
    return 0;
}
