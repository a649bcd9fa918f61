/* SPDX-License-Identifier: MIT */
#include <loaderx/grouped.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "sampler/random/philox.h"
#include "sampler/random/stream-key.h"

/** A fraction of all 64-bit numbers: those below a limit, or all. */
typedef struct limit {
    bool all;
    uint64_t below;
} limit;

static lx_status make_limit(const char *name, double fraction, limit *made, lx_error *error)
{
    if (!(fraction >= 0 && fraction <= 1))
        return lx__fail(error, LX_ERR_ARGUMENT, "%s is %g: a fraction must be from 0 to 1", name,
                        fraction);
    *made = (limit){fraction == 1, fraction < 1 ? (uint64_t)ldexp(fraction, 64) : 0};
    return LX_OK;
}

static bool is_below(uint64_t number, limit most)
{
    return most.all || number < most.below;
}

lx_status lx_split_indices(const uint64_t *keys, uint64_t count, uint64_t seed, double from,
                           double until, uint64_t *indices, uint64_t *found, lx_error *error)
{
    limit first = {0}, end = {0};
    uint64_t key, n = 0;
    if (found == NULL)
        return lx__fail_null(error, "found");
    *found = 0;
    lx_status status = make_limit("from", from, &first, error);
    if (status == LX_OK)
        status = make_limit("until", until, &end, error);
    if (status == LX_OK && from > until)
        status = lx__fail(error, LX_ERR_ARGUMENT, "from is %g, which is above until, %g", from,
                          until);
    if (status != LX_OK)
        return status;
    lx__key(seed, 0, LX__STREAM_SPLIT, 1, &key);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t hash = lx__philox(keys != NULL ? keys[i] : i, 0, key).word[0];
        if (is_below(hash, first) || !is_below(hash, end))
            continue;
        if (indices != NULL)
            indices[n] = i;
        n++;
    }
    *found = n;
    return LX_OK;
}
