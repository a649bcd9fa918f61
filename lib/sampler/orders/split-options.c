/* SPDX-License-Identifier: MIT */
#include "sampler/orders/split-options.h"

#include "base/alloc.h"
#include "base/error.h"

lx_split_options *lx_split_options_new(void)
{
    lx_split_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_split_options)LX__SPLIT_DEFAULTS;
    return options;
}

void lx_split_options_free(lx_split_options *options)
{
    lx__free(options);
}

lx_status lx_split_options_set_seed(lx_split_options *options, uint64_t seed, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->seed = seed;
    return LX_OK;
}

lx_status lx_split_options_set_range(lx_split_options *options, double from, double until,
                                     lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (!(from >= 0 && until <= 1))
        return lx_fail(error, LX_ERR_ARGUMENT, "from (%g) and until (%g) must be between 0 and 1",
                       from, until);
    if (!(from <= until))
        return lx_fail(error, LX_ERR_ARGUMENT, "from (%g) must not be greater than until (%g)",
                       from, until);
    options->from = from;
    options->until = until;
    return LX_OK;
}
