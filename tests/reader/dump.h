/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The canonical form of a dataset's contents, which tests/reader/zrecord.py writes, too.
 *
 * It has a line with the length, one for each field in the order of the schema, and one for each
 * value, by record and then by field.
 */
#ifndef LX_TESTS_DUMP_H
#define LX_TESTS_DUMP_H

#include <stdio.h>
#include <stdlib.h>

#include <loaderx/zrecord.h>

#include "base/crc32c.h"

/** Values up to this many bytes are shown in full. */
#define DUMP_BYTES 32

static inline void dump_head(FILE *to, const lx_schema *schema, uint64_t length)
{
    static const char *const compressions[] = {"raw", "flate", "zstd"};
    fprintf(to, "length %llu\n", (unsigned long long)length);
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        fprintf(to, "field %s %s [", field->name, lx_dtype_get_name(field->dtype));
        for (size_t axis = 0; axis < field->ndim; axis++)
            if (field->shape[axis] == LX_NONE)
                fputc('*', to); /* varies */
            else
                fprintf(to, "%s%llu", axis != 0 ? "," : "", (unsigned long long)field->shape[axis]);
        fprintf(to, "] %s\n", compressions[field->compression]);
    }
}

/** @p size is LX_NONE for a missing value. */
static inline void dump_value(FILE *to, uint64_t index, const char *field, const uint8_t *value,
                              uint64_t size)
{
    fprintf(to, "%llu %s ", (unsigned long long)index, field);
    if (size == LX_NONE) {
        fputs("missing", to);
    } else if (size > DUMP_BYTES) {
        fprintf(to, "%llu bytes, crc %08x", (unsigned long long)size,
                lx__crc32c(0, value, (size_t)size));
    } else {
        fputs(size != 0 ? "= " : "=", to);
        for (uint64_t i = 0; i < size; i++)
            fprintf(to, "%02x", value[i]);
    }
    fputc('\n', to);
}

/** Reads one value by the calls for any field, and dumps it. */
static inline lx_status dump_one(FILE *to, lx_dataset *dataset, size_t position, uint64_t index,
                                 lx_error *error)
{
    const lx_field *field = lx_schema_get_field(lx_dataset_get_schema(dataset), position);
    uint64_t offsets[2];
    uint8_t present;
    lx_status status = lx_dataset_get_sizes(dataset, position, &index, 1, offsets, &present, error);
    uint8_t *value = status == LX_OK ? malloc((size_t)offsets[1] + 1) : NULL;
    if (value != NULL) {
        status = lx_dataset_gather_bytes(dataset, position, &index, 1, offsets, value, error);
        if (status == LX_OK)
            dump_value(to, index, field->name, value, present ? offsets[1] : LX_NONE);
    }
    free(value);
    return status;
}

/** Dumps the whole dataset; stops at the first value that cannot be read. */
static inline lx_status dump_dataset(FILE *to, lx_dataset *dataset, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    lx_status status = LX_OK;
    uint64_t length = lx_dataset_get_length(dataset);
    dump_head(to, schema, length);
    for (uint64_t index = 0; status == LX_OK && index < length; index++)
        for (size_t i = 0; status == LX_OK && i < lx_schema_get_field_count(schema); i++)
            status = dump_one(to, dataset, i, index, error);
    return status;
}

#endif
