/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a mixture was told, for the orders that are made of it.
 */
#ifndef LX_SAMPLER_MIXTURE_H
#define LX_SAMPLER_MIXTURE_H

#include <loaderx/mixture.h>

#include "base/json.h"

/** One set. */
typedef struct lx__mixed {
    lx_order *order; /**< Referenced. */
    uint64_t offset;
} lx__mixed;

/** Weights, and from which offset on. */
typedef struct lx__weighting {
    uint64_t begin;
    double *weights; /**< One for each set. */
} lx__weighting;

struct lx_mixture {
    lx__mixed *sets;
    size_t count, capacity;
    size_t size; /**< Orders that they are made of, themselves among them. */
    lx__weighting *weightings; /**< The first begins at 0, and is there once there is a set. */
    size_t weighting_count, weighting_capacity;
    size_t weight_capacity; /**< Of the first. */
    uint64_t length;
    lx_exhausted_policy exhausted;
};

/** Holds a mixture against what every order of one needs.
 * @retval LX_ERR_ARGUMENT  There is no set, or none has a weight at first. */
LX_API lx_status lx__mixture_check(const lx_mixture *mixture, lx_error *error);

/** Adds what is done about exhausted sets to the JSON of an order; as describe of a class. */
LX_API int lx__exhausted_describe(lx_exhausted_policy exhausted, json_t *object);

#endif
