/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The JSON that describes an order in saved states.
 */
#ifndef LX_SAMPLER_ORDER_JSON_H
#define LX_SAMPLER_ORDER_JSON_H

#include <loaderx/sampler.h>

#include "base/json.h"

/** Adds the members of lx__order_to_json() to @p object. Returns nonzero when out of memory. */
LX_API int lx__order_describe(const lx_order *order, json_t *object);

/** Returns {"kind", "formula", "length", ...}: everything that the order's indices depend on.
 * Returns NULL when out of memory. */
LX_API json_t *lx__order_to_json(const lx_order *order);

/**
 * Compares @p json, from a state, with lx__order_to_json() of @p order.
 *
 * @retval LX_ERR_MISMATCH  The two differ; the message states the path of the first difference,
 *                          which starts with "order", and both values.
 */
LX_API lx_status lx__order_match_json(const lx_order *order, const json_t *json, lx_error *error);

#endif
