/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <inttypes.h>

/* A number in the table, an uncompressed block, a compressed text. */
enum { NUMBER, BLOCK, TEXT };
#define BLOCK_SIZE 240

lx_schema *values_schema(void)
{
    const uint64_t shape = BLOCK_SIZE;
    lx_schema *schema = need(lx_schema_new());
    if (lx_schema_add_field(schema, "number", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, NULL) !=
            LX_OK ||
        lx_schema_add_field(schema, "block", LX_UINT8, &shape, 1, LX_COMPRESSION_RAW, NULL) !=
            LX_OK ||
        lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, NULL) != LX_OK)
        give_up("a schema");
    return schema;
}

uint32_t values_expected(uint32_t serial, size_t field)
{
    return (serial + field) % 13 == 0 ? VALUES_MISSING : serial;
}

lx_value values_make(uint32_t serial, size_t field, uint8_t data[VALUES_SIZE])
{
    if (values_expected(serial, field) == VALUES_MISSING)
        return (lx_value){NULL, LX_NONE};
    uint64_t size = field == NUMBER ? 8 : field == BLOCK ? BLOCK_SIZE : 4 + serial % 300;
    uint64_t word = (uint64_t)serial << 32 | field;
    for (size_t i = 0; i < size; i += sizeof word) {
        memcpy(data + i, &word, sizeof word);
        if (field == BLOCK || i % 32 == 0)
            word = word * UINT64_C(0xd1342543de82ef95) + 1;
    }
    memcpy(data, &serial, sizeof serial);
    return (lx_value){data, size};
}

uint32_t values_parse(size_t field, lx_value value)
{
    uint8_t data[VALUES_SIZE];
    uint32_t serial;
    if (value.size == LX_NONE)
        return VALUES_MISSING;
    if (value.size < sizeof serial)
        return VALUES_DAMAGED;
    memcpy(&serial, value.data, sizeof serial);
    lx_value right = values_make(serial, field, data);
    return right.size == value.size && memcmp(right.data, value.data, (size_t)value.size) == 0
               ? serial
               : VALUES_DAMAGED;
}

/* ---- the whole dataset */

struct reading {
    uint64_t count;
    uint64_t *indices, *offsets;
    uint8_t *present, *data;
};

static lx_status read_field(lx_dataset *dataset, size_t field, struct reading *reading,
                            lx_error *error)
{
    lx_status status = lx_dataset_get_sizes(dataset, field, reading->indices,
                                            (size_t)reading->count, reading->offsets,
                                            reading->present, error);
    if (status != LX_OK)
        return status;
    reading->data = need(realloc(reading->data, (size_t)reading->offsets[reading->count] + 1));
    return lx_dataset_gather_bytes(dataset, field, reading->indices, (size_t)reading->count,
                                   reading->offsets, reading->data, error);
}

static bool parse_field(const struct reading *reading, size_t field, uint32_t *found,
                        uint64_t *digest, char *why, size_t size)
{
    for (uint64_t i = 0; i < reading->count; i++) {
        lx_value value = {reading->data + reading->offsets[i],
                          reading->present[i] != 0 ? reading->offsets[i + 1] - reading->offsets[i]
                                                   : LX_NONE};
        uint32_t serial = values_parse(field, value);
        found[i * VALUES_FIELDS + field] = serial;
        *digest += values_digest(i, field, serial);
        if (serial != VALUES_DAMAGED)
            continue;
        snprintf(why, size,
                 "record %" PRIu64 " of %" PRIu64 ", field %zu, is no value that was "
                 "written",
                 i, reading->count, field);
        return false;
    }
    return true;
}

uint32_t *values_read(lx_dataset *dataset, uint64_t *digest, char *why, size_t size)
{
    struct reading reading = {.count = lx_dataset_get_length(dataset)};
    size_t count = (size_t)reading.count;
    uint32_t *found = need(malloc(count * VALUES_FIELDS * sizeof *found + 1));
    bool right = true;
    reading.indices = need(malloc((count + 1) * sizeof *reading.indices));
    reading.offsets = need(malloc((count + 1) * sizeof *reading.offsets));
    reading.present = need(malloc(count + 1));
    for (uint64_t i = 0; i < reading.count; i++)
        reading.indices[i] = i;
    *digest = rng_mix(reading.count, 0);
    for (size_t field = 0; right && field < VALUES_FIELDS; field++) {
        lx_error error = LX_ERROR_INIT;
        right = read_field(dataset, field, &reading, &error) == LX_OK;
        if (!right)
            lx_error_describe(&error, why, size);
        else
            right = parse_field(&reading, field, found, digest, why, size);
    }
    free(reading.indices);
    free(reading.offsets);
    free(reading.present);
    free(reading.data);
    if (right)
        return found;
    free(found);
    return NULL;
}
