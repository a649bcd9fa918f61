/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Indices in groups, as a table of 4 bytes each.
 */
#ifndef LX_SAMPLER_GROUP_MEMBERS_H
#define LX_SAMPLER_GROUP_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/order.h>

#include "sampler/random/permutation.h"

/** Most indices of an order of groups. */
#define LX__MEMBERS_MAX UINT32_MAX

/** Longest group whose permutation is a table: as of a block (doc/orders.md, section 6). */
#define LX__GROUP_TABLE 256

/**
 * Begins a new order, which becomes NULL, of @p count indices about which @p what, "classes", was
 * given.
 *
 * @retval LX_ERR_ARGUMENT  There is nothing to tell, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more than #LX__MEMBERS_MAX.
 */
lx_status lx__members_check(const char *what, const void *given, uint64_t count, lx_order **order,
                            lx_error *error);

/**
 * Sorts the indices of @p count keys by these, equal ones by index.
 *
 * @param[out] members  The indices, for lx__free(); and with @p groups, behind them: where each
 *                      group of equal keys begins, and where the last one ends.
 * @param[out] groups   How many there are; may be NULL.
 * @retval LX_ERR_NOMEM  There is no memory for it.
 */
lx_status lx__members_sort(const uint64_t *keys, size_t count, uint32_t **members, size_t *groups,
                           lx_error *error);

#endif
