/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/changes.h"

#include <string.h>

#include "base/error.h"
#include "zrecord/wal/shared-array.h"

lx_status lx__changes_add(lx__changes *changes, size_t count, size_t position, uint32_t crc,
                          lx_error *error)
{
    if (changes->fields == NULL || !lx__shared_is_own(changes->fields)) {
        uint64_t *own = lx__shared_new(count, sizeof *own);
        if (own == NULL)
            return lx__fail_memory(error, "replaying the WAL");
        if (changes->fields != NULL)
            memcpy(own, changes->fields, count * sizeof *own);
        lx__shared_unref(changes->fields);
        changes->fields = own;
    }
    changes->fields[position] += crc;
    return LX_OK;
}

static uint64_t of_dataset(const lx__changes *changes, const lx__meta *meta)
{
    return (meta->changes != LX_NONE ? meta->changes : changes->first_crc) + changes->dataset;
}

static uint64_t of_field(const lx__changes *changes, const lx_schema *schema, size_t position)
{
    return lx__schema_field(schema, position)->changes +
           (changes->fields != NULL ? changes->fields[position] : 0);
}

uint64_t lx__changes_get(const lx__changes *changes, const lx__meta *meta, const lx_schema *schema,
                         size_t position)
{
    return (of_dataset(changes, meta) + of_field(changes, schema, position)) & LX__CHANGES_MAX;
}

void lx__changes_add_to_meta(const lx__changes *changes, lx__meta *meta)
{
    meta->changes = of_dataset(changes, meta) & LX__CHANGES_MAX;
    for (size_t i = 0; i < meta->schema->count; i++)
        meta->schema->fields[i]->changes = of_field(changes, meta->schema, i) & LX__CHANGES_MAX;
}

void lx__changes_copy(lx__changes *copy, const lx__changes *changes)
{
    *copy = *changes;
    (void)lx__shared_ref(copy->fields);
}

void lx__changes_free(lx__changes *changes)
{
    lx__shared_unref(changes->fields);
    *changes = (lx__changes){0};
}
