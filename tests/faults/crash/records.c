/* SPDX-License-Identifier: MIT */
#include "records.h"

/* ---- fields */

static struct kind choose_kind(struct rng *rng, bool small)
{
    switch (small ? rng_below(rng, 2) : rng_below(rng, 6)) {
    case 0:
        return (struct kind){LX_INT64, 0, LX_COMPRESSION_RAW};
    case 1:
        return (struct kind){LX_UINT8, 5, LX_COMPRESSION_RAW}; /* inline, shorter than 8 bytes */
    case 2:
        return (struct kind){LX_UINT8, 9 + rng_below(rng, 400), LX_COMPRESSION_RAW};
    case 3:
        return (struct kind){LX_FLOAT32, 16, LX_COMPRESSION_FLATE};
    case 4:
        return (struct kind){LX_BYTES, 0, LX_COMPRESSION_RAW};
    default:
        return (struct kind){LX_BYTES, 0, LX_COMPRESSION_FLATE};
    }
}

void records_name(struct column column, char name[16])
{
    snprintf(name, 16, "field%u_%u", column.kind, column.name);
}

bool records_columns(const lx_schema *schema, struct columns *columns)
{
    columns->count = lx_schema_get_field_count(schema);
    for (size_t i = 0; i < columns->count; i++) {
        unsigned kind, name;
        if (i == RECORDS_FIELDS ||
            sscanf(lx_schema_get_field(schema, i)->name, "field%u_%u", &kind, &name) != 2 ||
            kind >= RECORDS_FIELDS)
            return false;
        columns->list[i] = (struct column){(uint8_t)kind, (uint8_t)name};
    }
    return true;
}

void records_init(struct records *records, uint64_t seed, bool small)
{
    struct rng rng = {rng_mix(seed, 1)};
    *records = (struct records){.seed = seed, .schema = need(lx_schema_new())};
    size_t count = small ? RECORDS_FIELDS : 1 + (size_t)rng_below(&rng, RECORDS_FIELDS);
    for (size_t i = 0; i < RECORDS_FIELDS; i++)
        records->kinds[i] = choose_kind(&rng, small);
    for (size_t i = 0; i < count; i++) {
        char name[16];
        const struct kind *kind = &records->kinds[i];
        records->columns.list[i] = (struct column){(uint8_t)i, 0};
        records_name(records->columns.list[i], name);
        if (lx_schema_add_field(records->schema, name, kind->dtype, &kind->shape, kind->shape != 0,
                                kind->compression, NULL) != LX_OK)
            give_up(name);
    }
    records->columns.count = count;
}

void records_free(struct records *records)
{
    for (uint64_t i = 0; i < records->capacity * RECORDS_FIELDS; i++)
        free((void *)(uintptr_t)records->values[i].data);
    free(records->values);
    lx_schema_free(records->schema);
    *records = (struct records){0};
}

/* ---- values */

/** The bytes of a value; LX_NONE if each has its own length. */
static uint64_t width(const struct kind *kind)
{
    uint64_t items = kind->shape != 0 ? kind->shape : 1;
    switch (kind->dtype) {
    case LX_BYTES:
        return LX_NONE;
    case LX_INT64:
        return 8 * items;
    case LX_FLOAT32:
        return 4 * items;
    default:
        return items;
    }
}

static lx_value make_value(const struct records *records, uint64_t serial, size_t kind)
{
    struct rng rng = {rng_mix(records->seed, serial * RECORDS_FIELDS + kind)};
    uint64_t size = width(&records->kinds[kind]);
    if (rng_once_in(&rng, 12))
        return (lx_value){NULL, LX_NONE};
    if (size == LX_NONE && rng_once_in(&rng, 60))
        size = 4000 + rng_below(&rng, 3000); /* more than a small chunk */
    else if (size == LX_NONE)
        size = rng_below(&rng, 4) == 0 ? rng_below(&rng, 10) : rng_below(&rng, 600);
    uint8_t *data = need(malloc((size_t)size + 1));
    /* Few different bytes in long runs: flate can compress them, and no two values are equal. */
    for (uint64_t i = 0; i < size; i++)
        data[i] = i % 16 < 8 ? (uint8_t)rng_next(&rng) : data[i - 8];
    return (lx_value){data, size};
}

lx_value records_get(struct records *records, uint32_t serial, uint8_t kind)
{
    if (serial == RECORDS_MISSING)
        return (lx_value){NULL, LX_NONE};
    if (serial >= records->capacity) {
        uint64_t old = records->capacity * RECORDS_FIELDS;
        records->capacity = serial + serial / 2 + 64;
        size_t values = (size_t)records->capacity * RECORDS_FIELDS;
        records->values = need(realloc(records->values, values * sizeof *records->values));
        memset(records->values + old, 0, (values - (size_t)old) * sizeof *records->values);
    }
    lx_value *value = &records->values[(size_t)serial * RECORDS_FIELDS + kind];
    if (value->data == NULL && value->size == 0)
        *value = make_value(records, serial, kind);
    return *value;
}

lx_values records_join(struct records *records, uint8_t kind, uint64_t first, uint64_t count)
{
    uint64_t *offsets = need(malloc((size_t)(count + 1) * sizeof *offsets));
    uint8_t *present = need(malloc((size_t)count + 1)), *data = NULL;
    uint64_t each = width(&records->kinds[kind]), used = 0;
    for (uint64_t i = 0; i < count; i++) {
        lx_value value = records_get(records, (uint32_t)(first + i), kind);
        present[i] = value.size != LX_NONE;
        uint64_t size = present[i] ? value.size : each != LX_NONE ? each : 0;
        data = need(realloc(data, (size_t)(used + size) + 1));
        if (present[i])
            memcpy(data + used, value.data, (size_t)size);
        else
            memset(data + used, 0, (size_t)size);
        offsets[i] = used;
        used += size;
    }
    offsets[count] = used;
    if (each != LX_NONE) {
        free(offsets);
        offsets = NULL;
    }
    return (lx_values){data, offsets, present};
}

void records_free_values(lx_values *values)
{
    free((void *)(uintptr_t)values->data);
    free((void *)(uintptr_t)values->offsets);
    free((void *)(uintptr_t)values->present);
}
