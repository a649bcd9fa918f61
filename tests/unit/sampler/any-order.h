/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders of all kinds with any parameters, for tests of what holds for every one.
 */
#ifndef LX_TESTS_ANY_ORDER_H
#define LX_TESTS_ANY_ORDER_H

#include <stdbool.h>

#include <loaderx/order.h>

/** Longest epoch, and one more than the highest index. */
#define ANY_ORDER_MAX 2000

/** An order, and what is known of it. */
struct any_order {
    lx_order *order; /* for lx_order_unref() */
    bool once;       /* no index comes twice in an epoch */
};

/** The next one: a function of @p state, which moves on. Its epochs have one position at least. */
struct any_order any_order(uint64_t *state);

/** What it is, as states have it, for free(). */
char *any_order_text(const lx_order *order);

#endif
