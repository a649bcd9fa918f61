/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks the weights of weighted orders, and describes them in saved states.
 */
#ifndef LX_SAMPLER_ORDER_WEIGHTS_H
#define LX_SAMPLER_ORDER_WEIGHTS_H

#include <stdint.h>

#include <loaderx/order.h>

#include "base/json.h"

/** Maximum number of weights of an order, whose tables have 32-bit positions and 64-bit sums. */
#define LX__WEIGHTS_MAX ((UINT64_C(1) << 31) - 1)

/** Properties of weights. */
typedef struct lx__order_weights {
    uint64_t count;
    uint64_t positive; /**< Number of weights above 0. */
    double largest;
    uint32_t crc; /**< CRC-32C of all weights, as little-endian 64-bit words. */
} lx__order_weights;

/**
 * Checks the weights of a new order, sets @p order to NULL, and computes the properties of the
 * weights.
 *
 * @retval LX_ERR_ARGUMENT  The weights are missing, a weight is invalid, no weight is above 0, or a
 *                          pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count exceeds #LX__WEIGHTS_MAX.
 */
lx_status lx__order_weights_check(const double *weights, uint64_t count, lx_order **order,
                                  lx__order_weights *properties, lx_error *error);

/** Implements a class's describe function: adds the weights and the seed to the JSON of an
 * order. */
int lx__order_weights_describe(const lx__order_weights *properties, uint64_t seed, json_t *object);

#endif
