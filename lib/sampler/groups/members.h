/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Indices in groups, as a table of 4 bytes each.
 */
#ifndef LX_SAMPLER_MEMBERS_H
#define LX_SAMPLER_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/order.h>

#include "sampler/numbers/permutation.h"
#include "sampler/numbers/radix.h"

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
 * Sorts indices, the values, by the keys.
 *
 * @param[out] members  The indices in that order, for lx__free().
 * @retval LX_ERR_NOMEM  There is no memory for it.
 */
lx_status lx__members_sort(lx__keyed *items, size_t count, uint32_t **members, lx_error *error);

#endif
