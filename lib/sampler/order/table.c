/* SPDX-License-Identifier: MIT */
#include "sampler/order/table.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/order/state.h"

static lx_status find_bound(const uint64_t *indices, uint64_t count, lx__table *table,
                            lx_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        if (indices[i] == UINT64_MAX)
            return lx__fail(error, LX_ERR_ARGUMENT,
                            "index %" PRIu64 " is 2^64 - 1, beyond the indices of any order", i);
        if (indices[i] >= table->bound)
            table->bound = indices[i] + 1;
        table->crc = lx__state_add(table->crc, indices[i]);
    }
    return LX_OK;
}

lx_status lx__table_new(const uint64_t *indices, uint64_t count, lx__table *table,
                        lx_error *error)
{
    *table = (lx__table){.count = count};
    lx_status status = find_bound(indices, count, table, error);
    if (status != LX_OK || count == 0)
        return status;
    bool narrow = table->bound - 1 <= UINT32_MAX;
    size_t size = narrow ? sizeof *table->narrow : sizeof *table->wide;
    void *memory = count <= SIZE_MAX / size ? lx__alloc_array((size_t)count, size) : NULL;
    if (memory == NULL)
        return lx__fail_memory(error, "a table of indices");
    if (narrow) {
        table->narrow = memory;
        for (uint64_t i = 0; i < count; i++)
            table->narrow[i] = (uint32_t)indices[i];
    } else {
        table->wide = memory;
        for (uint64_t i = 0; i < count; i++)
            table->wide[i] = indices[i];
    }
    return LX_OK;
}

void lx__table_free(lx__table *table)
{
    lx__free(table->narrow);
    lx__free(table->wide);
    *table = (lx__table){0};
}

void lx__table_map(const lx__table *table, uint64_t *places, size_t count)
{
    if (table->narrow != NULL) {
        for (size_t i = 0; i < count; i++)
            places[i] = table->narrow[places[i]];
        return;
    }
    for (size_t i = 0; i < count; i++)
        places[i] = table->wide[places[i]];
}

json_t *lx__table_to_json(const lx__table *table)
{
    return lx__state_crc(table->crc);
}
