/* SPDX-License-Identifier: MIT */
/* The operations of version.h by the public interface. */
#include "version.h"

#include "zrecord/write/install.h"
#include "zrecord/write/rotate.h"

struct operation operation_choose(struct rng *rng, uint64_t length, size_t fields, uint64_t serial,
                                  uint64_t from_length)
{
    struct operation operation = {.kind = OPERATION_APPEND, .first = serial, .count = 1};
    unsigned which = (unsigned)rng_below(rng, 16);
    if (which < 3 || length == 0)
        return operation;
    operation.index = rng_below(rng, length);
    operation.stride = 1 + rng_below(rng, 7);
    operation.fields = 1 + (uint32_t)rng_below(rng, (1u << fields) - 1);
    if (which < 5) {
        operation.count = 2 + rng_below(rng, 30);
    } else if (which < 9) {
        operation.kind = OPERATION_MODIFY;
    } else if (which < 11) {
        operation.kind = OPERATION_MODIFY;
        operation.count = 2 + rng_below(rng, 20);
    } else if (which < 14) {
        operation.kind = OPERATION_DELETE;
    } else if (which == 14) {
        operation.kind = OPERATION_TRUNCATE;
        operation.index = length - rng_below(rng, 1 + (length < 8 ? length : length / 4));
    } else if (from_length != 0) {
        operation.kind = OPERATION_COPY;
        operation.index = rng_below(rng, from_length);
        operation.count = 1 + rng_below(rng, 10);
    }
    return operation;
}

/** A kind without a field; RECORDS_FIELDS if every kind has one. */
static uint64_t absent_kind(struct rng *rng, const struct columns *columns)
{
    uint64_t first = rng_below(rng, RECORDS_FIELDS);
    for (uint64_t i = 0; i < RECORDS_FIELDS; i++) {
        bool found = false;
        for (size_t k = 0; k < columns->count; k++)
            found = found || columns->list[k].kind == (first + i) % RECORDS_FIELDS;
        if (!found)
            return (first + i) % RECORDS_FIELDS;
    }
    return RECORDS_FIELDS;
}

struct operation operation_choose_switch(struct rng *rng, const struct columns *columns,
                                         uint64_t serial)
{
    struct operation operation = {.index = rng_below(rng, columns->count)};
    uint64_t kind = absent_kind(rng, columns);
    switch (rng_below(rng, 9)) {
    case 0:
    case 1:
        operation.kind = OPERATION_CHECKPOINT;
        break;
    case 2:
    case 3:
        operation.kind = OPERATION_REBALANCE;
        break;
    case 4:
        operation.kind = OPERATION_ROTATE;
        break;
    case 5:
        operation.kind = columns->count > 1 ? OPERATION_DROP : OPERATION_CHECKPOINT;
        break;
    case 6:
        operation.kind = columns->list[operation.index].name < UINT8_MAX ? OPERATION_RENAME
                                                                         : OPERATION_CHECKPOINT;
        break;
    default:
        operation.kind = kind < RECORDS_FIELDS ? OPERATION_ADD : OPERATION_REBALANCE;
        operation.index = kind < RECORDS_FIELDS ? kind : 0;
        operation.first = serial;
        operation.count = operation.kind == OPERATION_ADD ? rng_below(rng, 2) : 0;
    }
    return operation;
}

/** The present columns of the writer. */
static struct columns columns_of(const lx_writer *writer)
{
    struct columns columns;
    if (!records_columns(lx_writer_get_schema(writer), &columns))
        give_up("a field has an unknown name");
    return columns;
}

static lx_status append_one(const struct operation *operation, struct records *records,
                            lx_writer *writer, const struct columns *columns, lx_error *error)
{
    lx_value values[RECORDS_FIELDS];
    for (size_t i = 0; i < columns->count; i++)
        values[i] = records_get(records, (uint32_t)operation->first, columns->list[i].kind);
    return lx_writer_append(writer, values, columns->count, NULL, error);
}

static lx_status append_many(const struct operation *operation, struct records *records,
                             lx_writer *writer, const struct columns *columns, lx_error *error)
{
    lx_values values[RECORDS_FIELDS];
    for (size_t i = 0; i < columns->count; i++)
        values[i] = records_join(records, columns->list[i].kind, operation->first,
                                 operation->count);
    lx_status status = lx_writer_extend(writer, operation->count, values, columns->count, NULL,
                                        error);
    for (size_t i = 0; i < columns->count; i++)
        records_free_values(&values[i]);
    return status;
}

static uint64_t *list_indices(const struct operation *operation, uint64_t length)
{
    uint64_t *indices = need(malloc((size_t)operation->count * sizeof *indices));
    for (uint64_t i = 0; i < operation->count; i++)
        indices[i] = operation_index(operation, i, length);
    return indices;
}

static lx_status modify_one(const struct operation *operation, struct records *records,
                            lx_writer *writer, const struct columns *columns, lx_error *error)
{
    lx_value values[RECORDS_FIELDS];
    size_t fields[RECORDS_FIELDS], count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (!(operation->fields >> i & 1))
            continue;
        fields[count] = i;
        values[count++] = records_get(records, (uint32_t)operation->first, columns->list[i].kind);
    }
    return lx_writer_modify(writer, operation->index, fields, values, count, error);
}

static lx_status modify_many(const struct operation *operation, struct records *records,
                             lx_writer *writer, const struct columns *columns, lx_error *error)
{
    lx_values values[RECORDS_FIELDS];
    size_t fields[RECORDS_FIELDS], count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (!(operation->fields >> i & 1))
            continue;
        fields[count] = i;
        values[count++] = records_join(records, columns->list[i].kind, operation->first,
                                       operation->count);
    }
    uint64_t *indices = list_indices(operation, lx_writer_get_length(writer));
    lx_status status = lx_writer_modify_many(writer, indices, operation->count, fields, values,
                                             count, error);
    for (size_t i = 0; i < count; i++)
        records_free_values(&values[i]);
    free(indices);
    return status;
}

/** Copies the fields that both have. */
static lx_status copy(const struct operation *operation, lx_writer *writer, lx_dataset *from,
                      lx_error *error)
{
    uint64_t *indices = list_indices(operation, lx_dataset_get_length(from));
    const lx_schema *here = lx_writer_get_schema(writer), *there = lx_dataset_get_schema(from);
    size_t fields[LX_MAX_FIELDS], count = 0, position;
    for (size_t i = 0; i < lx_schema_get_field_count(there); i++)
        if (lx_schema_find_field(here, lx_schema_get_field(there, i)->name, &position, NULL) ==
            LX_OK)
            fields[count++] = i;
    lx_status status = lx_writer_copy(writer, from, fields, count, indices, operation->count, NULL,
                                      error);
    free(indices);
    return status;
}

/* ---- operations on the whole dataset */

static lx_status add_field(const struct operation *operation, struct records *records,
                           lx_writer *writer, lx_error *error)
{
    char name[16];
    lx_value value =
        records_get(records, operation->count != 0 ? (uint32_t)operation->first : RECORDS_MISSING,
                    (uint8_t)operation->index);
    const struct kind *kind = &records->kinds[operation->index];
    records_name((struct column){(uint8_t)operation->index, 0}, name);
    return lx_writer_add_field_default(writer, name, kind->dtype, &kind->shape, kind->shape != 0,
                                       kind->compression, &value, error);
}

static lx_status rename_field(struct column column, lx_writer *writer, lx_error *error)
{
    char name[16], to[16];
    records_name(column, name);
    column.name++;
    records_name(column, to);
    return lx_writer_rename_field(writer, name, to, error);
}

static lx_status drop_field(struct column column, lx_writer *writer, lx_error *error)
{
    char name[16];
    records_name(column, name);
    return lx_writer_drop_field(writer, name, error);
}

/** A rotation, which commits trigger when the log is long. */
static lx_status restart(lx_writer *writer, void *user, lx_error *error)
{
    (void)user;
    return lx__writer_rotate(writer, error);
}

lx_status operation_do(const struct operation *operation, struct records *records,
                       lx_writer *writer, lx_dataset *from, lx_error *error)
{
    struct columns columns = columns_of(writer);
    switch (operation->kind) {
    case OPERATION_APPEND:
        return (operation->count == 1 ? append_one : append_many)(operation, records, writer,
                                                                  &columns, error);
    case OPERATION_MODIFY:
        return (operation->count == 1 ? modify_one : modify_many)(operation, records, writer,
                                                                  &columns, error);
    case OPERATION_DELETE:
        return lx_writer_delete(writer, operation->index, NULL, error);
    case OPERATION_TRUNCATE:
        return lx_writer_truncate(writer, operation->index, error);
    case OPERATION_COPY:
        return copy(operation, writer, from, error);
    case OPERATION_ADD:
        return add_field(operation, records, writer, error);
    case OPERATION_DROP:
        return drop_field(columns.list[operation->index], writer, error);
    case OPERATION_RENAME:
        return rename_field(columns.list[operation->index], writer, error);
    case OPERATION_CHECKPOINT:
        return lx_writer_checkpoint(writer, error);
    case OPERATION_REBALANCE:
        return lx_writer_rebalance(writer, NULL, NULL, NULL, error);
    case OPERATION_ROTATE:
        return lx__install_call(writer, restart, NULL, error);
    default:
        return LX_OK;
    }
}
