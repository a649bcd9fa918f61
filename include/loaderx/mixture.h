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
 * @defgroup lx_mixture Mix several orders in one
 *
 * A mixture has parts, such as an order for each set of records, with a weight for each, and a rule
 * for a part that is exhausted. lx_order_new_blend() makes an order of it, without a table, in
 * which any position is found at once.
 *
 * Seven parts of code and three of text, and from the millionth sample on equal parts:
 *
 * @code
 * const double later[] = {1, 1};
 * lx_mixture *mixture = lx_mixture_new();
 * lx_order *order = NULL;
 * lx_mixture_add_part(mixture, code, 0, 0.7, &error);
 * lx_mixture_add_part(mixture, text, code_records, 0.3, &error);
 * lx_mixture_set_weights(mixture, 1000000, later, 2, &error);
 * lx_order_new_blend(mixture, &order, &error);
 * lx_mixture_free(mixture);
 * @endcode
 * @see loaderx-blend(1), lx_error, lx_order, lx_order_new_concat(), lx_sampler
 * @{
 */

/** What happens when a part is exhausted: all positions of one of its epochs are used. */
typedef enum lx_exhausted_policy {
    LX_EXHAUSTED_REPEAT = 0,      /**< It continues with its next epoch, also across epochs of the
                                       mixture. The default. */
    LX_EXHAUSTED_STOP = 1,        /**< The epoch of the mixture ends before the first position that
                                       an exhausted part would get. */
    LX_EXHAUSTED_REDISTRIBUTE = 2 /**< The other parts take its share, by their weights, until no
                                       part with a weight has samples left. Each part is used
                                       completely once per epoch. A part whose weight is 0 when this
                                       ends is not continued: weights that were set for later do not
                                       count. */
} lx_exhausted_policy;

/**
 * A mixture.
 *
 * @par Thread safety
 * One thread at a time. An order copies what it needs.
 */
typedef struct lx_mixture lx_mixture;

/** Returns an empty mixture; NULL when out of memory. */
LX_API lx_mixture *lx_mixture_new(void);

/** Frees a mixture and drops its references to orders. NULL is allowed. */
LX_API void lx_mixture_free(lx_mixture *mixture);

/**
 * Adds a part.
 *
 * @param[in]  mixture  The mixture.
 * @param[in]  order    The order of the part's samples; referenced.
 * @param[in]  offset   Added to the indices of the part: its first index in a concatenation of
 *                      sources.
 * @param[in]  weight   The weight of the part, 0 or more; its share is its weight over the sum of
 *                      all. A part with 0 has no samples until lx_mixture_set_weights() gives it a
 *                      weight.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The part is added.
 * @retval LX_ERR_ARGUMENT  @p weight is negative, infinite or not a number, the order is empty, an
 *                          index would exceed 2^64 - 1, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p order is cut into batches.
 * @retval LX_ERR_LIMIT     The mixture has 65,535 parts, or the order is nested
 *                          #LX_MAX_ORDER_DEPTH deep.
 * @retval LX_ERR_STATE     lx_mixture_set_weights() was called already.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_mixture_add_part(lx_mixture *mixture, lx_order *order, uint64_t offset,
                                     double weight, lx_error *error);

/**
 * Sets other weights from an offset of each epoch on: a curriculum. Add all parts first. The
 * offsets ascend from call to call.
 *
 * @param[in]  mixture  The mixture.
 * @param[in]  begin    The first offset with these weights, 1 or more.
 * @param[in]  weights  A weight for each part.
 * @param[in]  count    The number of weights.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The weights are set.
 * @retval LX_ERR_ARGUMENT  A weight is invalid, all are 0, @p count is not the number of parts,
 *                          @p begin is not above the previous one, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_mixture_set_weights(lx_mixture *mixture, uint64_t begin, const double *weights,
                                        size_t count, lx_error *error);

/**
 * Sets the number of positions in an epoch. With 0, the default, it is the sum of the lengths of
 * all parts, also of those without a weight. With #LX_EXHAUSTED_STOP and #LX_EXHAUSTED_REDISTRIBUTE
 * an epoch may end earlier.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p mixture is NULL.
 */
LX_API lx_status lx_mixture_set_length(lx_mixture *mixture, uint64_t length, lx_error *error);

/**
 * Sets what happens when a part is exhausted.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p exhausted is invalid, or @p mixture is NULL.
 */
LX_API lx_status lx_mixture_set_exhausted_policy(lx_mixture *mixture, lx_exhausted_policy exhausted,
                                                 lx_error *error);

/**
 * Makes the order of a mixture by a closed form (doc/orders.md). In any range of positions with the
 * same weights that begins where these begin, the number of samples of a part differs from its
 * share by at most half the logarithm of the number of parts (base 2, rounded up): half a sample
 * for two parts. Within a part, its own order continues from one of its positions to the next and,
 * with #LX_EXHAUSTED_REPEAT, from epoch to epoch.
 *
 * The order holds about 32 bytes for each part, and 24 for each part whenever the weights change,
 * which they also do when a part is exhausted with #LX_EXHAUSTED_REDISTRIBUTE. A reader holds what
 * the parts need: at most a table of 128 KiB for a shuffle of up to 65,536.
 *
 * @param[in]  mixture  A mixture in which at least one part has a weight above 0 at first. It may
 *                      be changed or freed afterwards.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  There is no part, or none with a weight at first; weights begin after
 *                          the end of the epoch; the parts have more than 2^64 - 1 positions
 *                          together and no length is set; or a pointer is NULL.
 * @retval LX_ERR_LIMIT     The weights would change too often: more than 2^24 times over the number
 *                          of parts. 4096 parts with #LX_EXHAUSTED_REDISTRIBUTE do not reach that.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_order_new_blend(const lx_mixture *mixture, lx_order **order, lx_error *error);

/** Returns the number of parts in the order of a mixture; 0 for any other order. */
LX_API size_t lx_order_get_part_count(const lx_order *order);

/**
 * Counts the positions of each part among the positions [first, end). It reads nothing, and its
 * cost does not depend on the number of positions.
 *
 * @param[in]  order   The order of a mixture.
 * @param[in]  first   The first position.
 * @param[in]  end     The position after the last; not below @p first.
 * @param[out] counts  Receives a number for each part, lx_order_get_part_count() in all.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK               They are counted.
 * @retval LX_ERR_ARGUMENT     @p end is below @p first, or a pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  @p order is not the order of a mixture.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, of a table in a file, as ::lx_order describes.
 */
LX_API lx_status lx_order_get_part_lengths(const lx_order *order, uint64_t first, uint64_t end,
                                           uint64_t *counts, lx_error *error);

/** @} */

LX_END_DECLS

#endif
