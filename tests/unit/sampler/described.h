/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders that are described in files of tests/data.
 *
 * A description has the form of states, but is complete at any length, with the tables and weights
 * of which states have a checksum. tests/golden/orders.py documents it.
 */
#ifndef LX_TESTS_DESCRIBED_H
#define LX_TESTS_DESCRIBED_H

#include <loaderx/order.h>

#include "base/json.h"

/** A number; from 2^63 on, it is given as a text. */
uint64_t number_of(const json_t *object, const char *key);

/** An array of such numbers, for free(). */
uint64_t *numbers_of(const json_t *array, size_t *count);

/** The described order, for lx_order_unref(). */
lx_order *described_order(const json_t *description);

#endif
