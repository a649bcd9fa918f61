/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders that files of tests/data describe.
 *
 * A description is as states have it, but whole at any length, with the tables and weights of which
 * states have a checksum. tests/golden/orders.py says more of it.
 */
#ifndef LX_TESTS_DESCRIBED_H
#define LX_TESTS_DESCRIBED_H

#include <loaderx/order.h>

#include "base/json.h"

/** A number, which from 2^63 on stands there as a text. */
uint64_t number_of(const json_t *object, const char *key);

/** An array of such numbers, for free(). */
uint64_t *numbers_of(const json_t *array, size_t *count);

/** The order that is described, for lx_order_unref(). */
lx_order *described_order(const json_t *description);

#endif
