/* SPDX-License-Identifier: MIT */
#include "records.h"

#include <inttypes.h>

/* ---- what is in them */

static void add_field(struct records *records, struct dice *dice, bool small)
{
    char name[16];
    uint64_t shape = 0;
    lx_dtype dtype = LX_UINT8;
    lx_compression compression = LX_RAW;
    switch (small ? dice_below(dice, 2) : dice_below(dice, 6)) {
    case 0:
        dtype = LX_INT64;
        break;
    case 1:
        shape = 5; /* inline, shorter than its slot */
        break;
    case 2:
        shape = 9 + dice_below(dice, 400);
        break;
    case 3:
        shape = 16;
        dtype = LX_FLOAT32;
        compression = LX_FLATE;
        break;
    case 4:
        dtype = LX_BYTES;
        break;
    default:
        dtype = LX_BYTES;
        compression = LX_FLATE;
    }
    snprintf(name, sizeof name, "field%zu", records->fields++);
    if (lx_schema_add_field(records->schema, name, dtype, &shape, shape != 0, compression, NULL) !=
        LX_OK)
        give_up(name);
}

void records_init(struct records *records, uint64_t seed, bool small)
{
    struct dice dice = {dice_mix(seed, 1)};
    *records = (struct records){.seed = seed, .schema = need(lx_schema_new())};
    size_t count = 1 + (size_t)dice_below(&dice, RECORDS_FIELDS);
    while (records->fields < (small ? RECORDS_FIELDS : count))
        add_field(records, &dice, small);
}

static void forget_values(struct records *records)
{
    for (uint64_t i = 0; i < records->made * records->fields; i++)
        free((void *)(uintptr_t)records->values[i].data);
    free(records->values);
    records->values = NULL;
    records->made = 0;
}

void records_free(struct records *records)
{
    forget_values(records);
    lx_schema_free(records->schema);
    *records = (struct records){0};
}

static lx_value make_value(const struct records *records, uint64_t serial, size_t field)
{
    struct dice dice = {dice_mix(records->seed, serial * RECORDS_FIELDS + field)};
    const lx_field *about = lx_schema_get_field(records->schema, field);
    uint64_t size = about->size;
    if (dice_once_in(&dice, 12))
        return (lx_value){NULL, LX_NONE};
    if (size == LX_NONE && dice_once_in(&dice, 60))
        size = 4000 + dice_below(&dice, 3000); /* a chunk of its own, where chunks are small */
    else if (size == LX_NONE)
        size = dice_below(&dice, 4) == 0 ? dice_below(&dice, 10) : dice_below(&dice, 600);
    uint8_t *data = need(malloc((size_t)size + 1));
    /* Few different bytes in long runs: flate has something to do, and no two values are alike. */
    for (uint64_t i = 0; i < size; i++)
        data[i] = i % 16 < 8 ? (uint8_t)dice_roll(&dice) : data[i - 8];
    return (lx_value){data, size};
}

const lx_value *records_get(struct records *records, uint64_t serial)
{
    if (serial >= records->made) {
        uint64_t made = serial + serial / 2 + 64;
        size_t fields = records->fields;
        records->values =
            need(realloc(records->values, (size_t)made * fields * sizeof *records->values));
        for (uint64_t i = records->made * fields; i < made * fields; i++)
            records->values[i] = make_value(records, i / fields, i % fields);
        records->made = made;
    }
    return records->values + serial * records->fields;
}

/* ---- writing */

static void join(struct records *records, uint64_t first, uint64_t count, size_t field,
                 lx_values *column)
{
    uint64_t *offsets = need(malloc((size_t)(count + 1) * sizeof *offsets));
    uint8_t *present = need(malloc((size_t)count + 1)), *data = NULL;
    uint64_t width = lx_schema_get_field(records->schema, field)->size, used = 0;
    for (uint64_t i = 0; i < count; i++) {
        lx_value value = records_get(records, first + i)[field];
        present[i] = value.size != LX_NONE;
        uint64_t size = present[i] ? value.size : width != LX_NONE ? width : 0;
        data = need(realloc(data, (size_t)(used + size) + 1));
        if (present[i])
            memcpy(data + used, value.data, (size_t)size);
        else
            memset(data + used, 0, (size_t)size);
        offsets[i] = used;
        used += size;
    }
    offsets[count] = used;
    *column = (lx_values){data, width == LX_NONE ? offsets : NULL, present};
    if (width != LX_NONE)
        free(offsets);
}

lx_status records_extend(struct records *records, lx_writer *writer, uint64_t first,
                         uint64_t count, lx_error *error)
{
    lx_values columns[RECORDS_FIELDS];
    for (size_t i = 0; i < records->fields; i++)
        join(records, first, count, i, &columns[i]);
    lx_status status = lx_writer_extend(writer, count, columns, NULL, error);
    for (size_t i = 0; i < records->fields; i++) {
        free((void *)(uintptr_t)columns[i].data);
        free((void *)(uintptr_t)columns[i].offsets);
        free((void *)(uintptr_t)columns[i].present);
    }
    return status;
}

/* ---- reading */

struct reading {
    uint64_t *indices;
    uint64_t *offsets;
    uint8_t *present;
    uint8_t *data;
};

static bool compare_field(struct records *records, lx_dataset *dataset, size_t field,
                          const uint32_t *serials, uint64_t count, struct reading *reading,
                          char *why, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_dataset_measure(dataset, field, reading->indices, (size_t)count,
                                          reading->offsets, reading->present, &error);
    if (status == LX_OK) {
        reading->data = need(realloc(reading->data, (size_t)reading->offsets[count] + 1));
        status = lx_dataset_gather_bytes(dataset, field, reading->indices, (size_t)count,
                                         reading->data, reading->offsets, &error);
    }
    if (status != LX_OK) {
        lx_error_describe(&error, why, size);
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        lx_value value = records_get(records, serials[i])[field];
        uint64_t got = reading->offsets[i + 1] - reading->offsets[i];
        bool missing = value.size == LX_NONE;
        if (missing == (reading->present[i] == 0) &&
            (missing || (got == value.size && memcmp(reading->data + reading->offsets[i],
                                                     value.data, (size_t)got) == 0)))
            continue;
        snprintf(why, size, "record %" PRIu64 " of field %zu is not serial %" PRIu32, i, field,
                 serials[i]);
        return false;
    }
    return true;
}

bool records_compare(struct records *records, lx_dataset *dataset, const uint32_t *serials,
                     uint64_t count, char *why, size_t size)
{
    struct reading reading = {.indices = need(malloc((size_t)(count + 1) * sizeof(uint64_t))),
                              .offsets = need(malloc((size_t)(count + 1) * sizeof(uint64_t))),
                              .present = need(malloc((size_t)count + 1))};
    bool equal = true;
    for (uint64_t i = 0; i < count; i++)
        reading.indices[i] = i;
    for (size_t field = 0; equal && field < records->fields; field++)
        equal = compare_field(records, dataset, field, serials, count, &reading, why, size);
    free(reading.indices);
    free(reading.offsets);
    free(reading.present);
    free(reading.data);
    return equal;
}
