/* SPDX-License-Identifier: MIT */
#include "plain.h"

#include <inttypes.h>
#include <unistd.h>

/* One in this many values is missing. */
#define MISSING_IN 8
/* One in this many blobs is long. */
#define LONG_IN 24

static const char *const names[PLAIN_KINDS] = {"image", "label", "text", "blob"};

_Noreturn void plain_fail(const char *what, const lx_error *error)
{
    char text[900] = "";
    if (error != NULL)
        lx_error_describe(error, text, sizeof text);
    printf("%s%s%s\n", what, error != NULL ? ": " : "", text);
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

void plain_init(struct plain *plain, size_t columns)
{
    *plain = (struct plain){.column_count = columns, .next_id = (uint32_t)columns};
    for (size_t i = 0; i < columns; i++) {
        plain->columns[i].id = (uint32_t)i;
        plain->columns[i].kind = (enum plain_kind)(i % PLAIN_KINDS);
        snprintf(plain->columns[i].name, sizeof plain->columns[i].name, "%s",
                 names[i % PLAIN_KINDS]);
    }
}

void plain_free(struct plain *plain)
{
    free(plain->records);
    *plain = (struct plain){0};
}

void plain_set(struct plain *to, const struct plain *from)
{
    struct plain_record *records = to->records;
    if (to->capacity < from->count) {
        to->capacity = (size_t)from->count + 8;
        records = need(realloc(records, to->capacity * sizeof *records));
    }
    size_t capacity = to->capacity;
    *to = *from;
    to->records = records;
    to->capacity = capacity;
    if (from->count != 0)
        memcpy(records, from->records, (size_t)from->count * sizeof *records);
}

const uint64_t plain_shape[2] = {3, 4};

const struct plain_form plain_forms[PLAIN_KINDS] = {{LX_UINT8, 2, LX_COMPRESSION_RAW},
                                                    {LX_INT64, 0, LX_COMPRESSION_RAW},
                                                    {LX_BYTES, 0, LX_COMPRESSION_FLATE},
                                                    {LX_BYTES, 0, LX_COMPRESSION_RAW}};

lx_status plain_add_to(lx_schema *schema, const struct plain_column *column, lx_error *error)
{
    const struct plain_form *form = &plain_forms[column->kind];
    return lx_schema_add_field(schema, column->name, form->dtype, plain_shape, form->ndim,
                               form->compression, error);
}

lx_schema *plain_schema(const struct plain *plain)
{
    lx_schema *schema = lx_schema_new();
    for (size_t i = 0; schema != NULL && i < plain->column_count; i++) {
        if (plain_add_to(schema, &plain->columns[i], NULL) == LX_OK)
            continue;
        lx_schema_free(schema);
        return NULL;
    }
    return schema;
}

/* ---- values */

static uint64_t size_of(enum plain_kind kind, struct rng *rng)
{
    switch (kind) {
    case PLAIN_IMAGE:
        return 12;
    case PLAIN_LABEL:
        return 8;
    case PLAIN_TEXT:
        return rng_once_in(rng, 3) ? rng_below(rng, 12) : 20 + rng_below(rng, 300);
    default:
        return rng_once_in(rng, LONG_IN) ? PLAIN_VALUE - rng_below(rng, 3000) : rng_below(rng, 64);
    }
}

lx_value plain_value(enum plain_kind kind, uint32_t token, uint8_t memory[PLAIN_VALUE])
{
    if (token == 0)
        return (lx_value){NULL, LX_NONE};
    struct rng rng = {rng_mix(token, kind)};
    uint64_t size = size_of(kind, &rng);
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t bytes = rng_next(&rng);
        if (kind == PLAIN_TEXT && i % 32 != 0)
            memcpy(&bytes, "again.. ", 8);
        memcpy(memory + i, &bytes, size - i < 8 ? (size_t)(size - i) : 8);
    }
    return (lx_value){memory, size};
}

struct plain_record plain_make(const struct plain *plain, uint32_t number)
{
    struct plain_record record = {{0}};
    struct rng rng = {rng_mix(number, 77)};
    for (size_t i = 0; i < plain->column_count; i++)
        if (!rng_once_in(&rng, MISSING_IN))
            record.tokens[i] = number * PLAIN_COLUMNS + (uint32_t)i + 1;
    return record;
}

/* ---- records */

void plain_append(struct plain *plain, const struct plain_record *record)
{
    plain->records = grow(plain->records, (size_t)plain->count, &plain->capacity,
                          sizeof *plain->records);
    plain->records[plain->count++] = *record;
}

uint64_t plain_delete(struct plain *plain, uint64_t index)
{
    uint64_t last = --plain->count;
    plain->records[index] = plain->records[last];
    return index != last ? last : LX_NONE;
}

void plain_add_column(struct plain *plain, const char *name, enum plain_kind kind)
{
    size_t column = plain->column_count++;
    plain->columns[column].kind = kind;
    plain->columns[column].id = plain->next_id++;
    plain_rename_column(plain, column, name);
    for (uint64_t i = 0; i < plain->count; i++)
        plain->records[i].tokens[column] = 0;
}

void plain_drop_column(struct plain *plain, size_t column)
{
    size_t after = --plain->column_count - column;
    memmove(&plain->columns[column], &plain->columns[column + 1], after * sizeof *plain->columns);
    for (uint64_t i = 0; i < plain->count; i++) {
        uint32_t *tokens = plain->records[i].tokens;
        memmove(&tokens[column], &tokens[column + 1], after * sizeof *tokens);
    }
}

void plain_rename_column(struct plain *plain, size_t column, const char *name)
{
    snprintf(plain->columns[column].name, sizeof plain->columns[column].name, "%s", name);
}

bool plain_equals(const struct plain *a, const struct plain *b)
{
    if (a->count != b->count || a->column_count != b->column_count)
        return false;
    for (size_t i = 0; i < a->column_count; i++)
        if (a->columns[i].kind != b->columns[i].kind ||
            strcmp(a->columns[i].name, b->columns[i].name) != 0)
            return false;
    for (uint64_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < a->column_count; k++)
            if (a->records[i].tokens[k] != b->records[i].tokens[k])
                return false;
    return true;
}

const lx_value *plain_values(const struct plain *plain, const struct plain_record *record)
{
    static uint8_t memory[PLAIN_COLUMNS][PLAIN_VALUE];
    static lx_value values[PLAIN_COLUMNS];
    for (size_t i = 0; i < plain->column_count; i++)
        values[i] = plain_value(plain->columns[i].kind, record->tokens[i], memory[i]);
    return values;
}

static bool is_dense(enum plain_kind kind)
{
    return kind == PLAIN_IMAGE || kind == PLAIN_LABEL;
}

static uint64_t dense_size(enum plain_kind kind)
{
    return kind == PLAIN_IMAGE ? 12 : 8;
}

static void join(const struct plain *plain, size_t column, uint64_t first, uint64_t count,
                 lx_values *values)
{
    uint8_t memory[PLAIN_VALUE], *data = need(malloc(2 * PLAIN_VALUE));
    uint64_t room = 2 * PLAIN_VALUE;
    enum plain_kind kind = plain->columns[column].kind;
    uint64_t *offsets = need(calloc((size_t)count + 1, sizeof *offsets));
    uint8_t *present = need(calloc((size_t)count + 1, 1));
    uint64_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        lx_value value = plain_value(kind, plain->records[first + i].tokens[column], memory);
        present[i] = value.size != LX_NONE;
        uint64_t size = present[i] ? value.size : is_dense(kind) ? dense_size(kind) : 0;
        if (present[i] && size != 0)
            memcpy(data + used, memory, (size_t)size);
        else
            memset(data + used, 0, (size_t)size);
        used += size;
        offsets[i + 1] = used;
        if (room - used < PLAIN_VALUE)
            data = need(realloc(data, (size_t)(room *= 2)));
    }
    if (is_dense(kind)) {
        free(offsets);
        offsets = NULL;
    }
    *values = (lx_values){data, offsets, present};
}

void plain_columns(const struct plain *plain, uint64_t first, uint64_t count,
                   lx_values columns[PLAIN_COLUMNS])
{
    for (size_t i = 0; i < plain->column_count; i++)
        join(plain, i, first, count, &columns[i]);
}

void plain_columns_free(const struct plain *plain, lx_values columns[PLAIN_COLUMNS])
{
    for (size_t i = 0; i < plain->column_count; i++) {
        free((void *)(uintptr_t)columns[i].data);
        free((void *)(uintptr_t)columns[i].offsets);
        free((void *)(uintptr_t)columns[i].present);
    }
}

/* ---- comparison */

/** Whether value @p at of those that were read is that of the token. */
static bool is_right(enum plain_kind kind, uint32_t token, bool present, const uint8_t *got,
                     uint64_t size)
{
    uint8_t memory[PLAIN_VALUE];
    lx_value right = plain_value(kind, token, memory);
    if (present != (right.size != LX_NONE))
        return false;
    if (present)
        return size == right.size && (size == 0 || memcmp(got, memory, (size_t)size) == 0);
    if (size != (is_dense(kind) ? dense_size(kind) : 0))
        return false;
    for (uint64_t i = 0; i < size; i++)
        if (got[i] != 0)
            return false;
    return true;
}

bool plain_check_values(const struct plain *plain, lx_dataset *dataset, size_t column,
                        const uint64_t *indices, size_t count, lx_status *status, char *why,
                        size_t size)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t *offsets = need(calloc(count + 1, sizeof *offsets));
    uint8_t *present = need(calloc(count + 1, 1)), *data = NULL;
    bool right = true;
    *status = lx_dataset_get_sizes(dataset, column, indices, count, offsets, present, &error);
    if (*status == LX_OK) {
        data = need(malloc((size_t)offsets[count] + 1));
        *status = lx_dataset_gather_bytes(dataset, column, indices, count, offsets, data, &error);
    }
    if (*status != LX_OK)
        lx_error_describe(&error, why, size);
    for (size_t i = 0; *status == LX_OK && right && i < count; i++) {
        right = is_right(plain->columns[column].kind, plain->records[indices[i]].tokens[column],
                         present[i] != 0, data + offsets[i], offsets[i + 1] - offsets[i]);
        if (!right)
            snprintf(why, size, "record %" PRIu64 " of field %s is not what was written",
                     indices[i], plain->columns[column].name);
    }
    free(offsets);
    free(present);
    free(data);
    return right && *status == LX_OK;
}

static bool same_columns(const struct plain *plain, const lx_schema *schema)
{
    if (lx_schema_get_field_count(schema) != plain->column_count)
        return false;
    for (size_t i = 0; i < plain->column_count; i++)
        if (strcmp(lx_schema_get_field(schema, i)->name, plain->columns[i].name) != 0)
            return false;
    return true;
}

bool plain_check(const struct plain *plain, lx_dataset *dataset, char *why, size_t size)
{
    lx_status status;
    uint64_t length = lx_dataset_get_length(dataset);
    if (!same_columns(plain, lx_dataset_get_schema(dataset))) {
        snprintf(why, size, "the fields are others");
        return false;
    }
    if (length != plain->count) {
        snprintf(why, size, "%" PRIu64 " records, not %" PRIu64, length, plain->count);
        return false;
    }
    uint64_t *indices = need(malloc((size_t)length * sizeof *indices + 1));
    for (uint64_t i = 0; i < length; i++)
        indices[i] = i;
    bool right = true;
    for (size_t i = 0; right && i < plain->column_count; i++)
        right = plain_check_values(plain, dataset, i, indices, (size_t)length, &status, why, size);
    free(indices);
    return right;
}
