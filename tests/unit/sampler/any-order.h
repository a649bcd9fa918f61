/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Random orders of all kinds, for tests of the properties of every order.
 */
#ifndef LX_TESTS_ANY_ORDER_H
#define LX_TESTS_ANY_ORDER_H

#include <stdbool.h>

#include <loaderx/order.h>

/** Longest epoch, and one more than the highest index. */
#define ANY_ORDER_MAX 2000

/** An order and its properties. */
struct any_order {
    lx_order *order; /* for lx_order_unref() */
    bool once;       /* no index is repeated in an epoch */
};

/** The next random order, a function of @p state, which advances. Its epochs have at least one
 * position. */
struct any_order any_order(uint64_t *state);

/** Its description in the form of states, for free(). */
char *any_order_text(const lx_order *order);

#endif
