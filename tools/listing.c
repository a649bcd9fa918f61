/* SPDX-License-Identifier: MIT */
#include "listing.h"

#include <inttypes.h>
#include <stdio.h>

#include "report.h"

/* Number of indices fetched at a time. */
#define CHUNK 4096

static lx_status print_one(uint64_t index, listing_form form, const mixing *mixed, bool first,
                           lx_error *error)
{
    switch (form) {
    case LISTING_LINES:
        printf("%" PRIu64 "\n", index);
        break;
    case LISTING_LINES_SETS:
        printf("%" PRIu64 "\t%s\n", index, mixing_find(mixed, index)->name);
        break;
    case LISTING_LIST:
        printf("%s%" PRIu64, first ? "" : ", ", index);
        break;
    case LISTING_LIST_SETS:
        printf("%s", first ? "" : ", ");
        return report_print_text(mixing_find(mixed, index)->name, error);
    }
    return LX_OK;
}

lx_status listing_print(lx_sampler *sampler, uint64_t count, listing_form form, const mixing *mixed,
                        lx_error *error)
{
    uint64_t indices[CHUNK], left = count, taken;
    lx_status status = LX_OK;
    for (bool first = true; status == LX_OK && left != 0 && !ferror(stdout); first = false) {
        status = lx_sampler_take(sampler, left < CHUNK ? left : CHUNK, indices, &taken, error);
        if (status != LX_OK)
            break;
        for (uint64_t i = 0; status == LX_OK && i < taken; i++)
            status = print_one(indices[i], form, mixed, first && i == 0, error);
        left -= taken;
    }
    return status == LX_END ? LX_OK : status;
}
