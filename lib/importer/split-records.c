/* SPDX-License-Identifier: MIT */
#include "importer/split-records.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/mix.h"

struct lx__split_record {
    uint64_t hash;   /**< Of the key: 64 bits do not meet by chance. */
    uint64_t fields; /**< Bit i modulo 64: the record has field i. 0: the place is free. */
    uint64_t offset;
    uint64_t input;
};

static uint64_t hash_key(const char *key, size_t size)
{
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = lx__mix(hash ^ (uint8_t)key[i]);
    return lx__mix(hash);
}

/** The fields of the members of a record, not that of its key. */
static uint64_t mark_fields(const lx__import_fields *fields, const lx__import_record *record)
{
    uint64_t marks = 0;
    for (size_t i = 0; i < record->count; i++) {
        const lx__import_value *value = &record->values[i];
        const lx__import_field *field = lx__import_fields_find(fields, i, value->name,
                                                               value->name_size);
        if (value->data != record->key && field != NULL)
            marks |= (uint64_t)1 << (field - fields->list) % 64;
    }
    return marks;
}

lx_status lx__split_records_add(lx__split_records *self, const lx__import_fields *fields,
                                const lx__import_record *record, char *const *inputs, size_t input,
                                lx_error *error)
{
    if (record->key == NULL || record->count >= fields->count)
        return LX_OK;
    if (self->table == NULL)
        self->table = lx__alloc_array(LX__SPLIT_RECORDS, sizeof *self->table);
    if (self->table == NULL)
        return lx__fail_memory(error, "the keys of incomplete records");
    lx__split_record added = {hash_key(record->key, record->key_size), mark_fields(fields, record),
                              record->offset, input};
    lx__split_record *place = &self->table[added.hash % LX__SPLIT_RECORDS];
    if (place->fields != 0 && place->hash == added.hash && (place->fields & added.fields) == 0)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "other members of the key '%.*s' are at byte %" PRIu64
                       " of %s: those of a record must follow one another in one archive. Write "
                       "archives whose members are sorted by name, and import them into a new "
                       "dataset, or, if these are two records, import the archives one by one, "
                       "with append",
                       record->key_size < 100 ? (int)record->key_size : 100, record->key,
                       place->offset, inputs[place->input]);
    *place = added;
    return LX_OK;
}

void lx__split_records_free(lx__split_records *self)
{
    lx__free(self->table);
    self->table = NULL;
}
