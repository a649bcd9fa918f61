/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed zrecord, valid as C11 and C++17: writes records to a dataset, and reads
 * them in another order.
 */
#include <loaderx/zrecord.h>

#include <stdio.h>
#include <unistd.h>

static char path[64]; /* unique: several builds of this client run in one folder */

static int complain(const lx_error *error, int where)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "%d: %s\n", where, line);
    return where;
}

static lx_status write_records(lx_error *error)
{
    lx_schema *schema = lx_schema_new();
    lx_writer *writer = NULL;
    lx_status status = lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW,
                                           error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE,
                                     error);
    if (status == LX_OK)
        status = lx_writer_create(path, schema, NULL, &writer, error);
    lx_schema_free(schema);
    for (int64_t i = 0; status == LX_OK && i < 10; i++) {
        lx_value values[2];
        values[0].data = &i;
        values[0].size = sizeof i;
        values[1].data = "again and again and again and again";
        values[1].size = i == 3 ? LX_NONE : 35;
        status = lx_writer_append(writer, values, 2, NULL, error);
    }
    lx_status closed = lx_writer_close(writer, error);
    return status != LX_OK ? status : closed;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = NULL;
    const uint64_t indices[3] = {9, 3, 9};
    int64_t labels[3];
    uint64_t offsets[4];
    uint8_t present[3];
    snprintf(path, sizeof path, "client-dataset-%ld", (long)getpid());
    if (write_records(&error) != LX_OK)
        return complain(&error, 1);
    if (lx_dataset_open(path, NULL, &dataset, &error) != LX_OK)
        return complain(&error, 2);
    if (lx_dataset_gather(dataset, 0, indices, 3, labels, sizeof *labels, &error) != LX_OK ||
        lx_dataset_get_sizes(dataset, 1, indices, 3, offsets, present, &error) != LX_OK ||
        lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error) != LX_OK)
        return complain(&error, 3);
    printf("%llu records\n", (unsigned long long)lx_dataset_get_length(dataset));
    lx_dataset_close(dataset);
    return labels[0] == 9 && labels[1] == 3 && labels[2] == 9 && offsets[3] == 70 && !present[1]
               ? 0
               : 4;
}
