/* SPDX-License-Identifier: MIT */
#include "sampler/random/permutation.h"

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/random/feistel-map.h"
#include "sampler/random/fisher-yates.h"
#include "sampler/random/stream-key.h"

static bool has_table(const lx__permutation *permutation)
{
    return permutation->length <= permutation->table_length;
}

static lx_status make_table(lx__permutation *permutation, lx_error *error)
{
    uint64_t key, length = permutation->length;
    if (permutation->capacity < length) {
        lx__free(permutation->table);
        permutation->table = lx__alloc_array((size_t)length, sizeof *permutation->table);
        permutation->capacity = permutation->table != NULL ? length : 0;
    }
    if (permutation->table == NULL)
        return lx__fail_memory(error, "the table of a shuffle");
    lx__key(permutation->seed, permutation->epoch, LX__STREAM_FISHER_YATES, 1, &key);
    lx__fisher_yates(permutation->table, (uint32_t)length, key);
    return LX_OK;
}

lx_status lx__permutation_set(lx__permutation *permutation, uint64_t length, uint64_t seed,
                              uint64_t epoch, uint64_t table_length, lx_error *error)
{
    if (permutation->ready && permutation->length == length && permutation->seed == seed &&
        permutation->epoch == epoch)
        return LX_OK;
    permutation->length = length;
    permutation->seed = seed;
    permutation->epoch = epoch;
    permutation->table_length = table_length;
    lx_status status = LX_OK;
    if (has_table(permutation))
        status = make_table(permutation, error);
    else
        lx__feistel_init(&permutation->feistel, length, seed, epoch);
    permutation->ready = status == LX_OK;
    return status;
}

void lx__permutation_map(const lx__permutation *permutation, uint64_t *values, size_t count)
{
    if (has_table(permutation))
        lx__fisher_yates_map(permutation->table, values, count);
    else
        lx__feistel_map(&permutation->feistel, values, count);
}

uint64_t lx__permutation_find(const lx__permutation *permutation, uint64_t image)
{
    uint64_t number = 0;
    if (!has_table(permutation))
        return lx__feistel_invert(&permutation->feistel, image);
    while (permutation->table[number] != image)
        number++;
    return number;
}

void lx__permutation_clear(lx__permutation *permutation)
{
    lx__free(permutation->table);
    *permutation = (lx__permutation){0};
}
