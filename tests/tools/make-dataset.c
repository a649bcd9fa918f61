/* SPDX-License-Identifier: MIT */
/* Makes a dataset that tests of the command cannot import: values of varying size, empty and
 * missing ones. Usage: make-dataset DIR; or make-dataset DIR change, which changes the number of
 * the first record of such a dataset, and deletes the second record; or make-dataset DIR types,
 * which makes a dataset with a field of each type that the first one does not have. */
#include <stdio.h>
#include <string.h>

#include <loaderx/zrecord.h>

/** Four records of two fields: the texts are short, empty, missing, and long but compressible. */
static lx_status append_all(lx_writer *writer, lx_error *error)
{
    static char much[1000];
    const float number = 1.5F;
    const lx_value missing = {NULL, LX_NONE};
    const lx_value records[][2] = {{{"hello, world\n", 13}, {&number, sizeof number}},
                                   {{"", 0}, missing},
                                   {missing, {&number, sizeof number}},
                                   {{much, sizeof much}, {&number, sizeof number}}};
    memset(much, 'x', sizeof much);
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < sizeof records / sizeof *records; i++)
        status = lx_writer_append(writer, records[i], 2, NULL, error);
    return status;
}

static lx_status make(const char *path, const lx_schema *schema, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_status status = lx_writer_create(path, schema, NULL, &writer, error);
    if (status == LX_OK)
        status = append_all(writer, error);
    lx_status closed = lx_writer_close(writer, error);
    return status != LX_OK ? status : closed;
}

/** Seals first, so that the changes are updates of entries in the tables. */
static lx_status change(const char *path, lx_error *error)
{
    static const size_t field = 1;
    const float number = 2.5F;
    const lx_value value = {&number, sizeof number};
    lx_writer *writer = NULL;
    lx_status status = lx_writer_open(path, NULL, &writer, error);
    if (status == LX_OK)
        status = lx_writer_seal(writer, error);
    lx_writer_close(writer, NULL);
    if (status == LX_OK)
        status = lx_dataset_unseal(path, error);
    if (status == LX_OK)
        status = lx_writer_open(path, NULL, &writer, error);
    else
        return status;
    if (status == LX_OK)
        status = lx_writer_modify(writer, 0, &field, &value, 1, error);
    if (status == LX_OK)
        status = lx_writer_delete(writer, 1, NULL, error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

/** A field, and its values in the two records. */
typedef struct typed_field {
    const char *name;
    lx_dtype dtype;
    size_t ndim;
    lx_value values[2];
} typed_field;

#define BYTES(literal)                                                                             \
    {                                                                                              \
        "" literal, sizeof literal - 1                                                             \
    }

/* Multi-byte values are little-endian. */
static const typed_field typed_fields[] = {
    {"text", LX_STR, 0, {BYTES("caf\xc3\xa9 \"one\"\n\x1b[31m"), BYTES("")}},
    {"json", LX_JSON, 0, {BYTES("{\"a\": [1, null]}"), BYTES("\"text\"")}},
    {"image", LX_IMAGE, 0, {BYTES("\xff\xd8\xff"), {NULL, LX_NONE}}},
    {"brain", LX_BFLOAT16, 0, {BYTES("\xc0\x3f"), BYTES("\x80\xff")}},
    {"e4m3", LX_FLOAT8_E4M3FN, 0, {BYTES("\x30"), BYTES("\x7f")}},
    {"e5m2", LX_FLOAT8_E5M2, 0, {BYTES("\xc0"), BYTES("\x7c")}},
    {"e4m3fnuz", LX_FLOAT8_E4M3FNUZ, 0, {BYTES("\xff"), BYTES("\x80")}},
    {"e5m2fnuz", LX_FLOAT8_E5M2FNUZ, 0, {BYTES("\x01"), BYTES("\x80")}},
    {"e8m0", LX_FLOAT8_E8M0FNU, 0, {BYTES("\x80"), BYTES("\xff")}},
    {"day", LX_DATETIME64_D, 0, {BYTES("\x0b\x4d\0\0\0\0\0\0"), BYTES("\0\0\0\0\0\0\0\x80")}},
    {"boxes", LX_INT16, 2, {BYTES("\1\0\2\0\3\0\4\0"), BYTES("")}}};

#define TYPED (sizeof typed_fields / sizeof *typed_fields)

static lx_status make_types(const char *path, lx_error *error)
{
    static const uint64_t shape[] = {LX_NONE, 2};
    lx_schema *schema = lx_schema_new();
    lx_writer *writer = NULL;
    lx_status status = schema != NULL ? LX_OK : LX_ERR_NOMEM;
    for (size_t i = 0; status == LX_OK && i < TYPED; i++)
        status = lx_schema_add_field(schema, typed_fields[i].name, typed_fields[i].dtype, shape,
                                     typed_fields[i].ndim, LX_COMPRESSION_RAW, error);
    if (status == LX_OK)
        status = lx_writer_create(path, schema, NULL, &writer, error);
    lx_schema_free(schema);
    for (int record = 0; status == LX_OK && record < 2; record++) {
        lx_value values[TYPED];
        for (size_t i = 0; i < TYPED; i++)
            values[i] = typed_fields[i].values[record];
        status = lx_writer_append(writer, values, TYPED, NULL, error);
    }
    lx_status closed = lx_writer_close(writer, error);
    return status != LX_OK ? status : closed;
}

static lx_status make_varied(const char *path, lx_error *error)
{
    lx_schema *schema = lx_schema_new();
    lx_status status = lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE,
                                           error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "number", LX_FLOAT32, NULL, 0, LX_COMPRESSION_RAW,
                                     error);
    if (status == LX_OK)
        status = make(path, schema, error);
    lx_schema_free(schema);
    return status;
}

int main(int argc, char **argv)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status;
    if (argc == 2)
        status = make_varied(argv[1], &error);
    else if (argc == 3 && strcmp(argv[2], "change") == 0)
        status = change(argv[1], &error);
    else if (argc == 3 && strcmp(argv[2], "types") == 0)
        status = make_types(argv[1], &error);
    else
        return 2;
    if (status == LX_OK)
        return 0;
    fprintf(stderr, "%s\n", error.message);
    return 1;
}
