/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An order within another one: its epochs, what a thread keeps to read it, and how a state
 * names it.
 */
#ifndef LX_SAMPLER_INNER_ORDER_H
#define LX_SAMPLER_INNER_ORDER_H

#include "sampler/core/order.h"

typedef struct lx__part {
    lx_order *order; /**< Referenced. */
    uint64_t epochs; /**< Whole ones that there are positions for; 0 where the length is. */
} lx__part;

/** Takes a reference of @p order, which lx__part_check() has seen, as a part of the new order
 * @p in. */
void lx__part_init(lx__part *part, lx_order *order, lx_order *in);

/** Gives it back; also of one that is zero. */
void lx__part_clear(lx__part *part);

/** The position of an offset below the part's length, which is 1 or more, in @p epoch; the epochs
 * begin anew behind the last. */
static inline uint64_t lx__part_place(const lx__part *part, uint64_t epoch, uint64_t offset)
{
    epoch = epoch < part->epochs ? epoch : epoch % part->epochs; /* to divide takes long */
    return epoch * part->order->length + offset;
}

/**
 * As lx__order_map() of the part, with the scratch at @p scratch: NULL at first, made at need, and
 * for lx__scratch_free() in the end.
 */
lx_status lx__part_map(const lx__part *part, lx__scratch **scratch, uint64_t *places,
                       size_t count, lx_error *error);

/**
 * Tells in @p feistel which permutation maps all of the places, as find_feistel of its class does,
 * which has it; with a scratch as for lx__part_map().
 */
lx_status lx__part_find_feistel(const lx__part *part, lx__scratch **scratch, uint64_t *places,
                                size_t count, const lx__feistel **feistel, lx_error *error);

/** Frees the scratch of a part, to which @p scratch points: for a class with one part. */
void lx__part_clear_scratch(void *scratch);

/**
 * A part in the JSON of the order that it is in: whole where that is short, else what it is and a
 * checksum of the rest, so that states stay short. NULL without memory.
 */
json_t *lx__part_to_json(const lx__part *part);

/** Several of them. Many become their checksums alone, very many one checksum. */
json_t *lx__parts_to_json(const lx__part *parts, size_t count);

/**
 * Begins to make an order of @p part, which is NULL until then.
 *
 * @retval LX_ERR_ARGUMENT  One of both is not given.
 * @return Else as lx__part_check_size().
 */
lx_status lx__part_check(const lx_order *part, lx_order **made, lx_error *error);

/** Holds a part against the limits; @p size is that of all parts so far, this one among them.
 * @retval LX_ERR_MISMATCH  It is cut into batches.
 * @retval LX_ERR_LIMIT     There are #LX__ORDER_DEPTH_MAX orders within each other already, or in
 *                          all #LX__ORDER_SIZE_MAX. */
lx_status lx__part_check_size(const lx_order *part, size_t size, lx_error *error);

#endif
