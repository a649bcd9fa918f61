/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of a split, as lx_split_indices() reads them.
 */
#ifndef LX_SAMPLER_SPLIT_OPTIONS_H
#define LX_SAMPLER_SPLIT_OPTIONS_H

#include <loaderx/split.h>

struct lx_split_options {
    uint64_t seed;
    double from, until;
};

/** By default, a split contains all indices. */
#define LX__SPLIT_DEFAULTS                                                                         \
    {                                                                                              \
        .until = 1                                                                                 \
    }

#endif
