/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tables of grouped indices, with 4 bytes per index.
 */
#ifndef LX_SAMPLER_GROUP_MEMBERS_H
#define LX_SAMPLER_GROUP_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/order.h>

#include "sampler/random/permutation.h"

/** Maximum number of indices of a grouped order. */
#define LX__GROUP_MEMBERS_MAX UINT32_MAX

/** Maximum length of a group whose permutation uses a table, as in a block (doc/orders.md, section
 * 6). */
#define LX__GROUP_TABLE 256

/**
 * Checks the arguments of a function that makes an order of @p count indices, and sets @p order to
 * NULL. Each index has an element in the array that @p what names, such as "classes".
 *
 * @retval LX_ERR_ARGUMENT  The elements are missing, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p count exceeds #LX__GROUP_MEMBERS_MAX.
 */
lx_status lx__group_members_check(const char *what, const void *given, uint64_t count,
                                  lx_order **order, lx_error *error);

/**
 * Sorts the indices of @p count keys by key, then by index.
 *
 * @param[out] members  The indices, to be freed with lx__free(); if @p groups is not NULL, followed
 *                      by the start of each group of equal keys and the end of the last group.
 * @param[out] groups   Number of groups; may be NULL.
 * @retval LX_ERR_NOMEM  Out of memory.
 */
lx_status lx__group_members_sort(const uint64_t *keys, size_t count, uint32_t **members,
                                 size_t *groups, lx_error *error);

#endif
