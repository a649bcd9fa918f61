/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What weighted orders have in common: how weights are checked, and told of in states.
 */
#ifndef LX_SAMPLER_ORDER_WEIGHTS_H
#define LX_SAMPLER_ORDER_WEIGHTS_H

#include <stdint.h>

#include <loaderx/order.h>

#include "base/json.h"

/** Most weights of an order: its tables have places of 32 bits, and sums of 64. */
#define LX__WEIGHTS_MAX ((UINT64_C(1) << 31) - 1)

/** What is known of weights. */
typedef struct lx__weighing {
    uint64_t count;
    uint64_t positive; /**< Of these are above 0. */
    double largest;
    uint32_t crc; /**< Of all of them, as little-endian words of 64 bits. */
} lx__weighing;

/**
 * Looks through the weights of a new order, which becomes NULL.
 *
 * @retval LX_ERR_ARGUMENT  There are none, one is none, or none is above 0; or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more than #LX__WEIGHTS_MAX.
 */
lx_status lx__weigh(const double *weights, uint64_t count, lx_order **order,
                    lx__weighing *weighing, lx_error *error);

/** Adds them and the seed to the JSON of an order; as describe of a class. */
int lx__weighing_describe(const lx__weighing *weighing, uint64_t seed, json_t *object);

#endif
