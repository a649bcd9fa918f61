/* SPDX-License-Identifier: MIT */
/* Reads a part of a value. Of a long raw value, only the bytes of the part are read; their CRC
 * covers the whole value, so they are then not verified. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/read/gather.h"
#include "zrecord/read/refresh.h"

/* A raw value of up to this size is read and verified as a whole: that takes a few microseconds. */
#define WHOLE_MAX ((uint32_t)64 << 10)

/** A part of a value, in bytes, and where it goes. */
typedef struct part {
    uint64_t first, count; /**< The items that the caller wants. */
    uint64_t items;        /**< Number of items read; LX_NONE if the value is missing. */
    size_t start, size;
    uint8_t *out;
} part;

/** Computes which bytes of a value belong to the part. */
static void find_bytes(const lx_field *field, uint64_t size, part *p)
{
    uint64_t item = field->item_size;
    uint64_t total = item != 0 ? size / item : field->shape[0]; /* an item may have no bytes */
    uint64_t first = p->first < total ? p->first : total;
    p->items = p->count < total - first ? p->count : total - first;
    p->start = (size_t)(first * item);
    p->size = (size_t)(p->items * item);
}

/** Reads only the bytes of the part. */
static lx_status copy_part(lx__value_reader *reader, size_t field, uint64_t index, lx__value *value,
                           const part *p, lx_error *error)
{
    value->extent.offset += p->start;
    value->extent.size = (uint32_t)p->size;
    lx_status status = lx__value_fetch(reader, field, index, value, p->out, error);
    if (status == LX_OK && value->data != p->out)
        memcpy(p->out, value->data, p->size);
    return status;
}

/** Reads and verifies the whole value, and copies the part. */
static lx_status copy_verified(lx__value_reader *reader, size_t field, uint64_t index,
                               lx__value *value, const part *p, lx_error *error)
{
    lx_status status = lx__value_fetch(reader, field, index, value, NULL, error);
    if (status == LX_OK)
        status = lx__snapshot_verify(reader->snapshot, field, index, value, error);
    if (status != LX_OK)
        return status;
    if (!lx__entry_is_compressed(&value->entry)) {
        memcpy(p->out, value->data + p->start, p->size);
        return LX_OK;
    }
    /* Without the codec, there is no bound on the length that the entry may claim. */
    const lx__entry_rules *rules = reader->snapshot->columns[field].rules;
    bool known = lx__payload_check_codec(&value->entry, rules, NULL) == LX_OK;
    uint8_t *whole = known ? lx__alloc(value->entry.logical) : NULL;
    if (known && whole == NULL)
        return lx__fail_memory(error, "a value");
    status = lx__value_decode(reader, field, index, value, whole, error);
    if (status == LX_OK)
        memcpy(p->out, whole + p->start, p->size);
    lx__free(whole);
    return status;
}

static lx_status read_part(lx__value_reader *reader, size_t field, uint64_t index, part *p,
                           lx_error *error)
{
    lx__value value;
    const lx__store *store = reader->snapshot->store;
    if (index >= reader->snapshot->length)
        return lx__fail_index(reader->snapshot, field, index, error);
    lx_status status = lx__value_find(reader, field, index, &value, error);
    if (status != LX_OK)
        return status;
    p->items = LX_NONE;
    if (lx__entry_is_missing(&value.entry))
        return LX_OK;
    find_bytes(&lx__schema_field(store->schema, field)->shown, value.entry.logical, p);
    if (p->size == 0)
        return LX_OK;
    bool alone = value.extent.chunk != NULL && !lx__entry_is_compressed(&value.entry) &&
                 value.entry.physical > WHOLE_MAX && store->verify != LX_VERIFY_ALWAYS;
    return alone ? copy_part(reader, field, index, &value, p, error)
                 : copy_verified(reader, field, index, &value, p, error);
}

/** Reads a part; if the damage policy is ZEROS, reads a damaged value as missing. */
static lx_status read_any(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                          uint64_t index, part *p, lx_error *error)
{
    lx__value_reader reader = lx__value_reader_of(snapshot);
    lx_status status = read_part(&reader, field, index, p, error);
    if (lx__value_renew(&reader, field, index, status, error))
        status = read_part(&reader, field, index, p, error);
    if (status != LX_OK && lx__damage_count(damages, status)) {
        lx__value_forget_damage(&reader, field, index, error);
        p->items = LX_NONE;
        status = LX_OK;
    }
    lx__value_reader_end(&reader);
    return status;
}

lx_status lx_dataset_read_part(lx_dataset *dataset, size_t field, uint64_t index, uint64_t first,
                               uint64_t count, void *out, uint64_t *read, lx_error *error)
{
    lx__snapshot *snapshot;
    part p = {.first = first, .count = count, .out = out};
    lx_status status = lx__dataset_check_field(dataset, field, error);
    if (status == LX_OK && read == NULL)
        status = lx__fail_null(error, "read");
    if (status == LX_OK && out == NULL && count != 0)
        status = lx__fail_null(error, "out");
    if (status == LX_OK)
        status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    status = read_any(snapshot, dataset->damages, field, index, &p, error);
    lx__snapshot_unref(snapshot);
    if (status == LX_OK)
        *read = p.items;
    return status;
}
