/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An order within another order: its epochs, a thread's scratch buffer for it, and its JSON
 * in a state.
 */
#ifndef LX_SAMPLER_INNER_ORDER_H
#define LX_SAMPLER_INNER_ORDER_H

#include "sampler/core/order.h"

typedef struct lx__inner_order {
    lx_order *order; /**< Owned reference. */
    uint64_t epochs; /**< Number of whole epochs that fit in the positions; 0 if the length is 0. */
} lx__inner_order;

/** Adds a reference to @p order, which lx__inner_order_check() accepted, as a part of the new order
 * @p in. */
void lx__inner_order_init(lx__inner_order *inner, lx_order *order, lx_order *in);

/** Makes @p in have the blocks of its only part; its class has a find_block function. */
void lx__inner_order_keep_blocks(const lx__inner_order *inner, lx_order *in);

/** Drops the reference. A zeroed struct is allowed. */
void lx__inner_order_clear(lx__inner_order *inner);

/** Returns the part's position for an offset in @p epoch. The offset must be below the part's
 * length, which must be at least 1. After the last epoch, the epochs repeat. */
static inline uint64_t lx__inner_order_place(const lx__inner_order *inner, uint64_t epoch,
                                             uint64_t offset)
{
    epoch = epoch < inner->epochs ? epoch : epoch % inner->epochs; /* a division is slow */
    return epoch * inner->order->length + offset;
}

/**
 * Like lx__order_map(), for the part. The part's scratch buffer, to which @p scratch points, is
 * NULL at first and is created when needed; free it with lx__scratch_free().
 */
lx_status lx__inner_order_map(const lx__inner_order *inner, lx__scratch **scratch,
                              uint64_t *positions, size_t count, lx_error *error);

/** Like lx__order_find_block(), for the part; @p scratch as for lx__inner_order_map(). */
lx_status lx__inner_order_find_block(const lx__inner_order *inner, lx__scratch **scratch,
                                     uint64_t position, lx__index_block *block, lx_error *error);

/** Frees a part's scratch buffer, to which @p scratch points: for a class with one part. */
void lx__inner_order_clear_scratch(void *scratch);

/**
 * Returns a part's JSON for the outer order's JSON: in full if it is short, otherwise its kind,
 * length and checksum, so that states stay short. Returns NULL when out of memory.
 */
json_t *lx__inner_order_to_json(const lx__inner_order *inner);

/** Like lx__inner_order_to_json() for several parts. Many parts become a list of checksums, and
 * very many parts become a single checksum. */
json_t *lx__inner_orders_to_json(const lx__inner_order *inners, size_t count);

/**
 * Checks the arguments of a function that makes an order from @p inner, and sets @p made to NULL.
 *
 * @retval LX_ERR_ARGUMENT  An argument is NULL.
 * @return Otherwise, any status that lx__inner_order_check_size() returns.
 */
lx_status lx__inner_order_check(const lx_order *inner, lx_order **made, lx_error *error);

/** Checks a part against the limits; @p size is the total size of all parts up to and including
 * this part.
 * @retval LX_ERR_MISMATCH  The part is cut into batches.
 * @retval LX_ERR_LIMIT     The part's nesting depth has reached #LX_MAX_ORDER_DEPTH, or @p size has
 *                          reached #LX_MAX_ORDERS. */
lx_status lx__inner_order_check_size(const lx_order *inner, size_t size, lx_error *error);

#endif
