/* SPDX-License-Identifier: MIT */
#include "sampler/core/index-table.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/saved-state.h"

lx_status lx__index_table_measure(const uint64_t *indices, uint64_t count, lx__index_table *table,
                                  lx_error *error)
{
    *table = (lx__index_table){.count = count};
    for (uint64_t i = 0; i < count; i++) {
        if (indices[i] == UINT64_MAX)
            return lx_fail(
                error, LX_ERR_ARGUMENT,
                "indices[%" PRIu64 "] is 2^64 - 1, but the largest possible index is 2^64 - 2", i);
        if (indices[i] >= table->bound)
            table->bound = indices[i] + 1;
        table->crc = lx__state_add(table->crc, indices[i]);
    }
    return LX_OK;
}

lx_status lx__index_table_fill(const uint64_t *indices, lx__index_table *table, lx_error *error)
{
    uint64_t count = table->count;
    if (count == 0)
        return LX_OK;
    bool narrow = lx__index_table_is_narrow(table->bound);
    size_t size = narrow ? sizeof(uint32_t) : sizeof(uint64_t);
    void *memory = count <= SIZE_MAX / size ? lx__alloc_array((size_t)count, size) : NULL;
    if (memory == NULL)
        return lx__fail_memory(error, "a table of indices");
    uint32_t *to = memory;
    for (uint64_t i = 0; narrow && i < count; i++)
        to[i] = (uint32_t)indices[i];
    if (narrow)
        table->narrow = memory;
    else
        table->wide = memcpy(memory, indices, (size_t)count * size);
    return LX_OK;
}

lx_status lx__index_table_new(const uint64_t *indices, uint64_t count, lx__index_table *table,
                              lx_error *error)
{
    lx_status status = lx__index_table_measure(indices, count, table, error);
    return status == LX_OK ? lx__index_table_fill(indices, table, error) : status;
}

void lx__index_table_free(lx__index_table *table)
{
    if (table->file != NULL) {
        lx__index_table_file_close(table->file);
    } else {
        lx__free((void *)table->narrow);
        lx__free((void *)table->wide);
    }
    *table = (lx__index_table){0};
}

lx_status lx__index_table_fail(const lx__index_table *table, lx_error *error)
{
    return lx__index_table_file_fail(table->file, "it contains numbers that are out of range",
                                     error);
}

lx_status lx__index_table_map(const lx__index_table *table, uint64_t *places, size_t count,
                              lx_error *error)
{
    uint64_t bound = table->bound;
    bool fits = true;
    lx_status status = lx__index_table_check(table, places, count, error);
    if (status != LX_OK)
        return status;
    if (table->narrow != NULL)
        for (size_t i = 0; i < count; i++)
            places[i] = table->narrow[places[i]];
    else
        for (size_t i = 0; i < count; i++)
            places[i] = table->wide[places[i]];
    if (table->file == NULL)
        return LX_OK;
    for (size_t i = 0; i < count; i++)
        fits &= places[i] < bound;
    return fits ? LX_OK : lx__index_table_fail(table, error);
}

json_t *lx__index_table_to_json(const lx__index_table *table)
{
    return lx__state_crc(table->crc);
}
