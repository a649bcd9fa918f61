/* SPDX-License-Identifier: MIT */
#include "listing.h"

#include <inttypes.h>
#include <stdio.h>

/* Indices that are taken at a time. */
#define CHUNK 4096

static void print_some(const uint64_t *indices, uint64_t count, bool json, bool first)
{
    for (uint64_t i = 0; i < count; i++)
        if (json)
            printf("%s%" PRIu64, first && i == 0 ? "" : ", ", indices[i]);
        else
            printf("%" PRIu64 "\n", indices[i]);
}

lx_status listing_print(lx_sampler *sampler, uint64_t count, bool json, lx_error *error)
{
    uint64_t indices[CHUNK], left = count, taken;
    lx_status status = LX_OK;
    for (bool first = true; left != 0 && !ferror(stdout); first = false) {
        status = lx_sampler_take(sampler, left < CHUNK ? left : CHUNK, indices, &taken, error);
        if (status != LX_OK)
            break;
        print_some(indices, taken, json, first);
        left -= taken;
    }
    return status == LX_END ? LX_OK : status;
}
