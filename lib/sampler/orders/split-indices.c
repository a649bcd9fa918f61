/* SPDX-License-Identifier: MIT */
#include <loaderx/split.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "sampler/orders/split-options.h"
#include "sampler/random/philox.h"
#include "sampler/random/stream-key.h"

/** A fraction of all 64-bit numbers: those below a limit, or all of them. */
typedef struct limit {
    bool all;
    uint64_t below;
} limit;

static limit make_limit(double fraction)
{
    return (limit){fraction == 1, fraction < 1 ? (uint64_t)ldexp(fraction, 64) : 0};
}

static bool is_below(uint64_t number, limit most)
{
    return most.all || number < most.below;
}

lx_status lx_split_indices(const uint64_t *keys, uint64_t count, const lx_split_options *options,
                           uint64_t *indices, uint64_t *found, lx_error *error)
{
    uint64_t key, n = 0;
    if (found == NULL)
        return lx__fail_null(error, "found");
    const lx_split_options defaults = LX__SPLIT_DEFAULTS;
    if (options == NULL)
        options = &defaults;
    const limit first = make_limit(options->from), end = make_limit(options->until);
    lx__key(options->seed, 0, LX__STREAM_SPLIT, 1, &key);
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
