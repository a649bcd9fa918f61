/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The properties of a mixture, for the orders made from it.
 */
#ifndef LX_SAMPLER_MIXTURE_H
#define LX_SAMPLER_MIXTURE_H

#include <loaderx/mixture.h>

#include "base/json.h"

/** A set of a mixture. */
typedef struct lx__mixture_set {
    lx_order *order; /**< Owned reference. */
    uint64_t offset;
} lx__mixture_set;

/** Weights that take effect at an offset. */
typedef struct lx__mixture_weights {
    uint64_t begin;
    double *weights; /**< One for each set. */
} lx__mixture_weights;

struct lx_mixture {
    lx__mixture_set *sets;
    size_t count, capacity;
    size_t size;                     /**< Total number of orders in the sets, including nested
                                          orders. */
    lx__mixture_weights *weightings; /**< The first weights begin at 0; they exist if there is a
                                          set. */
    size_t weighting_count, weighting_capacity;
    size_t weight_capacity; /**< Capacity of the first weights. */
    uint64_t length;
    lx_exhausted_policy exhausted;
};

/** Checks what all orders made from a mixture require.
 * @retval LX_ERR_ARGUMENT  The mixture has no sets, or no initial weight is above 0. */
LX_API lx_status lx__mixture_check(const lx_mixture *mixture, lx_error *error);

/** Implements a class's describe function: adds the policy for exhausted sets to the JSON of an
 * order. */
LX_API int lx__exhausted_describe(lx_exhausted_policy exhausted, json_t *object);

#endif
