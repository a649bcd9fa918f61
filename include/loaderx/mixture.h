/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Mixtures: several sets of records in one order.
 */
#ifndef LOADERX_MIXTURE_H
#define LOADERX_MIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_mixture Mix several orders into one
 *
 * A mixture has parts (for example one order per set of records), a weight for each part, and a
 * rule for parts that are exhausted. lx_order_new_blend() turns a mixture into an order that needs
 * no table and can find any position immediately.
 *
 * This example mixes code and text in a ratio of 7 to 3 and, starting at offset 1,000,000 of each
 * epoch, in equal shares:
 *
 * @code
 * const double later[] = {1, 1};
 * lx_mixture *mixture = lx_mixture_new();
 * lx_order *order = NULL;
 * lx_mixture_add_part(mixture, code, 0, 0.7, &error);
 * lx_mixture_add_part(mixture, text, code_records, 0.3, &error);
 * lx_mixture_add_phase(mixture, 1000000, later, 2, &error);
 * lx_order_new_blend(mixture, &order, &error);
 * lx_mixture_free(mixture);
 * @endcode
 * @see loaderx-blend(1), lx_error, lx_order, lx_order_new_concat(), lx_sampler
 * @{
 */

/**
 * What happens when a part is exhausted, that is, when all positions of one of its epochs have been
 * used.
 */
typedef enum lx_exhausted_policy {
    LX_EXHAUSTED_REPEAT = 0,      /**< The part continues with its next epoch, even across epochs of
                                       the mixture. The default. */
    LX_EXHAUSTED_STOP = 1,        /**< The epoch of the mixture ends before the first position that
                                       an exhausted part would get. */
    LX_EXHAUSTED_REDISTRIBUTE = 2 /**< The other parts take over the share of the exhausted part, in
                                       proportion to their weights. The epoch ends when no part with
                                       a weight above 0 has samples left, so each part is used
                                       completely once per epoch. A part whose weight is 0 at that
                                       point is left out, even if a later phase gives it a
                                       weight. */
} lx_exhausted_policy;

/**
 * A mixture.
 *
 * @par Thread safety
 * Only one thread at a time may use a mixture. An order copies what it needs from the mixture.
 */
typedef struct lx_mixture lx_mixture;

/** Returns an empty mixture; NULL if out of memory. */
LX_API lx_mixture *lx_mixture_new(void);

/** Frees a mixture and drops its references to orders. NULL is allowed. */
LX_API void lx_mixture_free(lx_mixture *mixture);

/**
 * Adds a part.
 *
 * @param[in]  mixture  The mixture.
 * @param[in]  order    The order of the part's samples; the call takes a reference.
 * @param[in]  offset   The number to add to the indices of the part, for example the first index of
 *                      its source in lx_source_new_concat().
 * @param[in]  weight   The weight of the part, 0 or more. The share of a part is its weight divided
 *                      by the sum of all weights. A part with a weight of 0 gets no samples until
 *                      lx_mixture_add_phase() gives it a weight.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The part was added.
 * @retval LX_ERR_ARGUMENT  @p weight is negative, infinite or not a number, the order is empty, an
 *                          index would exceed 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p order is cut into batches.
 * @retval LX_ERR_LIMIT     The mixture already has 65,535 parts, or the order is nested
 *                          #LX_MAX_ORDER_DEPTH levels deep.
 * @retval LX_ERR_STATE     lx_mixture_add_phase() has already been called.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_mixture_add_part(lx_mixture *mixture, lx_order *order, uint64_t offset,
                                     double weight, lx_error *error);

/**
 * Adds a phase: starting at an offset within each epoch, the parts have different weights, for
 * example to build a curriculum. Add all parts first. The offsets must ascend from call to call.
 *
 * @param[in]  mixture  The mixture.
 * @param[in]  begin    The first offset of the phase, 1 or more.
 * @param[in]  weights  A weight for each part.
 * @param[in]  count    The number of weights.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A weight is invalid, all weights are 0, @p count is not the number of
 *                          parts, @p begin is not greater than that of the previous call, or a
 *                          pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_mixture_add_phase(lx_mixture *mixture, uint64_t begin, const double *weights,
                                      size_t count, lx_error *error);

/**
 * Sets the number of positions in an epoch; 0, the default, means the sum of the lengths of all
 * parts, including parts with a weight of 0. With #LX_EXHAUSTED_STOP and
 * #LX_EXHAUSTED_REDISTRIBUTE, an epoch may end earlier.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p mixture is NULL.
 */
LX_API lx_status lx_mixture_set_length(lx_mixture *mixture, uint64_t length, lx_error *error);

/**
 * Sets what happens when a part is exhausted.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p exhausted is invalid, or @p mixture is NULL.
 */
LX_API lx_status lx_mixture_set_exhausted_policy(lx_mixture *mixture, lx_exhausted_policy exhausted,
                                                 lx_error *error);

/**
 * Creates the order of a mixture from a closed-form expression (doc/orders.md). In any range of
 * positions that begins where new weights take effect and ends before they change again, the number
 * of samples from a part differs from its share of the range by at most ceil(log2(n)) / 2, where n
 * is the number of parts. For two parts, the difference is at most half a sample. The samples of a
 * part come in the part's own order. With #LX_EXHAUSTED_REPEAT, this order continues from one epoch
 * of the mixture to the next; otherwise, each epoch of the mixture begins an epoch of each part.
 *
 * The order uses about 32 bytes per part, plus 24 bytes per part for each change of weights. With
 * #LX_EXHAUSTED_REDISTRIBUTE, the exhaustion of a part counts as a change. A reader uses only the
 * memory that the parts need: at most a 128 KiB table for each shuffle of up to 65,536 indices.
 *
 * @param[in]  mixture  A mixture in which at least one part has an initial weight above 0. You may
 *                      change or free the mixture afterwards.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  There are no parts, or no part has an initial weight above 0; a change
 *                          of weights begins after the end of the epoch; the parts together have
 *                          more than 2^64 - 1 positions, and no length is set; or a pointer is
 *                          NULL.
 * @retval LX_ERR_LIMIT     The weights would change too often: more than 2^24 / (number of parts)
 *                          times. A mixture of 4096 parts with #LX_EXHAUSTED_REDISTRIBUTE stays
 *                          within this limit.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_blend(const lx_mixture *mixture, lx_order **order, lx_error *error);

/** Returns the number of parts in the order of a mixture; 0 for any other order. */
LX_API size_t lx_order_get_part_count(const lx_order *order);

/**
 * Counts how many of the positions [first, end) belong to each part. The call does not iterate over
 * the positions, and its cost does not depend on their number.
 *
 * @param[in]  order   The order of a mixture.
 * @param[in]  first   The first position.
 * @param[in]  end     The position after the last position; at least @p first.
 * @param[out] counts  Receives lx_order_get_part_count() numbers, one per part.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p order is not the order of a mixture, @p end is less than @p first, or
 *                          a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, any status that ::lx_order lists under "Tables in files".
 */
LX_API lx_status lx_order_get_part_lengths(const lx_order *order, uint64_t first, uint64_t end,
                                           uint64_t *counts, lx_error *error);

/** @} */

LX_END_DECLS

#endif
