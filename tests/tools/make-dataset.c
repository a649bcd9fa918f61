/* SPDX-License-Identifier: MIT */
/* Makes a dataset that tests of the command cannot import: values of varying size, empty and
 * missing ones. Usage: make-dataset DIR; or make-dataset DIR change, which changes the number of
 * the first record of such a dataset, and deletes the second record. */
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

int main(int argc, char **argv)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    if (argc < 2 || argc > 3 || schema == NULL)
        return 2;
    lx_status status = lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE,
                                           &error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "number", LX_FLOAT32, NULL, 0, LX_COMPRESSION_RAW,
                                     &error);
    if (status == LX_OK)
        status = argc == 3 ? change(argv[1], &error) : make(argv[1], schema, &error);
    lx_schema_free(schema);
    if (status == LX_OK)
        return 0;
    fprintf(stderr, "%s\n", error.message);
    return 1;
}
