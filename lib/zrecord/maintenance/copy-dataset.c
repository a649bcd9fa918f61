/* SPDX-License-Identifier: MIT */
/* Appends records of another dataset to this one, and copies their payloads in stored form. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/gather.h"
#include "zrecord/read/prefetch.h"
#include "zrecord/snapshot/sealed.h"
#include "zrecord/write/add.h"
#include "zrecord/write/handle.h"

/* Stands for a field that the other dataset does not have. */
#define NONE SIZE_MAX

typedef struct copying {
    lx_writer *writer;
    lx__snapshot *from;
    size_t *fields;     /* position in the other dataset, for each field of the writer */
    lx__value *read;    /* the values of the current record, as they are stored */
    lx__stored *values; /* the values of the current record, as they will be written */
    uint8_t **buffers;  /* for values that must be decompressed */
    size_t *capacities;
    lx__value_reader reader;
} copying;

/* ---- fields */

/** Finds the field of this dataset that gets the values of the other dataset's field. */
static lx_status match_field(copying *c, const lx_schema *there, size_t position, lx_error *error)
{
    const lx_schema *here = c->writer->meta.schema;
    size_t to;
    if (position >= there->count)
        return lx_fail(error, LX_ERR_RANGE, "%.200s has no field at position %zu",
                       c->from->store->directory.path, position);
    const lx_field *field = &lx__schema_field(there, position)->shown;
    lx_status status = LX_OK;
    if (lx_schema_find_field(here, field->name, &to, NULL) != LX_OK)
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "this dataset lacks the field, whose values would be lost: add it, or "
                         "choose the fields to copy");
    else if (!lx__field_same_form(&lx__schema_field(here, to)->shown, field))
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the field has a different dtype or shape in the source dataset");
    else
        c->fields[to] = position;
    lx_error_locate(error, c->from->store->directory.path, field->name, LX_NONE, LX_NONE);
    return status;
}

static lx_status begin(copying *c, const lx_schema *there, const size_t *fields, size_t field_count,
                       lx_error *error)
{
    size_t count = c->writer->tables.field_count;
    lx_status status = LX_OK;
    c->fields = lx__alloc_array(count, sizeof *c->fields);
    c->read = lx__alloc_array(count, sizeof *c->read);
    c->values = lx__alloc_array(count, sizeof *c->values);
    c->buffers = lx__alloc_array(count, sizeof *c->buffers);
    c->capacities = lx__alloc_array(count, sizeof *c->capacities);
    if (c->fields == NULL || c->read == NULL || c->values == NULL || c->buffers == NULL ||
        c->capacities == NULL)
        return lx__fail_memory(error, "a copy");
    for (size_t i = 0; i < count; i++)
        c->fields[i] = NONE;
    if (fields == NULL)
        field_count = there->count;
    if (field_count == 0)
        status = lx_fail(error, LX_ERR_MISMATCH, "no field is to be copied");
    for (size_t i = 0; status == LX_OK && i < field_count; i++)
        status = match_field(c, there, fields != NULL ? fields[i] : i, error);
    return status;
}

static void end(copying *c)
{
    for (size_t i = 0; c->buffers != NULL && i < c->writer->tables.field_count; i++)
        lx__free(c->buffers[i]);
    lx__free(c->buffers);
    lx__free(c->capacities);
    lx__free(c->values);
    lx__free(c->read);
    lx__free(c->fields);
    lx__value_reader_end(&c->reader);
}

/* ---- values */

/** Decompresses a value into memory that stays valid until the record is added. */
static lx_status inflate(copying *c, size_t position, uint64_t index, const lx__value *value,
                         lx_error *error)
{
    const lx__entry_rules *rules = c->from->columns[c->fields[position]].rules;
    uint32_t size = value->entry.logical;
    if (lx__payload_check_codec(&value->entry, rules, NULL) == LX_OK &&
        !lx__reserve(&c->buffers[position], &c->capacities[position], size))
        return lx__fail_memory(error, "a copy");
    c->values[position] = (lx__stored){.data = c->buffers[position], .size = size};
    return lx__value_decode(&c->reader, c->fields[position], index, value, c->buffers[position],
                            error);
}

/** Whether values of the field can be copied as the other dataset stores them, because the writer's
 * field is compressed in the same way. Dictionaries rule this out, since each field has its own. */
static bool same_compression(const copying *c, size_t position)
{
    const lx__meta *here = &c->writer->meta, *there = &c->from->store->meta;
    const lx_field *shown = &lx__schema_field(c->from->store->schema, c->fields[position])->shown;
    uint32_t known;
    return lx__schema_field(here->schema, position)->shown.compression == shown->compression &&
           !lx__meta_find_dict(here, position, NULL) &&
           !lx__training_has(&c->writer->training, position) &&
           !(lx__schema_find_id(there->schema, shown->id, &known) &&
             lx__meta_find_dict(there, known, NULL));
}

/** Takes one value of a record. Always checks its CRC, whatever the verify mode of the dataset,
 * because the copy gets a CRC of its own, which must not make damaged data look intact. */
static lx_status take_value(copying *c, size_t position, uint64_t index, lx_error *error)
{
    size_t field = c->fields[position];
    lx__stored *stored = &c->values[position];
    lx__value *value = &c->read[position];
    *stored = (lx__stored){.size = LX_NONE};
    if (field == NONE)
        return LX_OK;
    lx_status status = lx__value_fetch_verified(&c->reader, field, index, value, error);
    if (status != LX_OK)
        return status;
    if (value->data == NULL) /* missing: here, too, damaged data must not look intact */
        return lx__sealed_check_field(c->from->store, &c->from->state, field, error);
    const lx__entry *entry = &value->entry;
    *stored = (lx__stored){.data = value->data, .size = entry->physical, .logical = entry->logical};
    if (lx__entry_is_inline(entry))
        return LX_OK;
    stored->as_stored = same_compression(c, position) && entry->logical > LX__INLINE_MAX;
    if (lx__entry_is_compressed(entry) && !stored->as_stored)
        return inflate(c, position, index, value, error);
    return LX_OK;
}

static lx_status copy_record(copying *c, uint64_t index, lx_error *error)
{
    lx_writer *writer = c->writer;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < writer->tables.field_count; i++)
        status = take_value(c, i, index, error);
    lx__operation operation = {.kind = LX__APPEND,
                               .index = writer->length,
                               .values = (uint32_t)writer->tables.field_count};
    if (status == LX_OK)
        status = lx__writer_add_stored(writer, &operation, c->values, error);
    if (status == LX_OK)
        writer->length++;
    return status;
}

/* ---- the whole call */

static lx_status check_indices(const copying *c, const uint64_t *indices, uint64_t count,
                               lx_error *error)
{
    lx_status status = lx__writer_usable(c->writer, error);
    uint64_t length = c->from->length;
    if (status == LX_OK && count > LX__LENGTH_MAX - c->writer->length)
        return lx_fail(
            error, LX_ERR_LIMIT,
            "cannot copy %llu records: the dataset would have too many records: copy fewer records",
            (unsigned long long)count);
    if (status == LX_OK && indices == NULL && count > length)
        return lx__fail_index(c->from, 0, length, error);
    for (uint64_t i = 0; status == LX_OK && indices != NULL && i < count; i++)
        if (indices[i] >= length)
            status = lx__fail_index(c->from, 0, indices[i], error);
    return status;
}

static lx_status copy(copying *c, const uint64_t *indices, uint64_t count, uint64_t *first,
                      lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = LX_OK;
    if (first != NULL)
        *first = c->writer->length;
    for (uint64_t i = 0; status == LX_OK && i < count; i++) {
        for (size_t k = 0; status == LX_OK && k < c->writer->tables.field_count; k++)
            if (c->fields[k] != NONE)
                status = lx__prefetch_block(&c->reader, c->fields[k], indices, count, i, &failure);
        if (status == LX_OK)
            status = copy_record(c, indices != NULL ? indices[i] : i, &failure);
    }
    return lx__writer_end_call(c->writer, status, &failure, error);
}

lx_status lx_writer_copy(lx_writer *writer, lx_dataset *from, const size_t *fields,
                         size_t field_count, const uint64_t *indices, uint64_t count,
                         uint64_t *first, lx_error *error)
{
    if (from == NULL)
        return lx__fail_null(error, "from");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    copying c = {.writer = writer};
    status = lx__dataset_pin_newest(from, &c.from, error);
    if (status != LX_OK) {
        lx__writer_leave(writer);
        return status;
    }
    if (indices == NULL && count == LX_NONE)
        count = c.from->length;
    c.reader = lx__value_reader_of(c.from);
    status = check_indices(&c, indices, count, error);
    if (status == LX_OK)
        status = begin(&c, from->schema, fields, field_count, error);
    if (status == LX_OK)
        status = copy(&c, indices, count, first, error);
    end(&c);
    lx__snapshot_unref(c.from);
    lx__writer_leave(writer);
    return status;
}
