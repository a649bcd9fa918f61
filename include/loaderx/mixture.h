/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Mixtures: several sets of records in one order, each with its share.
 *
 * A ::lx_mixture is what is to be mixed: an order for each set, its weight, and what is done when a
 * set has given all of an epoch. lx_order_new_blend() makes an order of it, which no table is
 * needed for, and any position of which is found at once.
 *
 * @code
 * lx_mixture *mixture = lx_mixture_new();
 * lx_mixture_add(mixture, code, 0, 0.7, &error);             // an order over the first source,
 * lx_mixture_add(mixture, text, code_records, 0.3, &error);  // and over the one concatenated to it
 * lx_order_new_blend(mixture, &order, &error);
 * lx_mixture_free(mixture);
 * @endcode
 */
#ifndef LOADERX_MIXTURE_H
#define LOADERX_MIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_mixture Mix several sets in one order
 * @{ */

/** What is done when a set has given all positions of one of its epochs. */
typedef enum lx_exhausted {
    /** It goes on with its next epoch. An epoch of the mixture is as long as it is told to be. */
    LX_EXHAUSTED_REPEAT = 0,
    /** The epoch of the mixture ends before the first position that such a set would be given. */
    LX_EXHAUSTED_STOP = 1,
    /** The others take its share, by their weights, until no set with a weight has any left: each
     * gives all it has, once an epoch. A set whose weight is 0 where that ends has given what it
     * has given: weights that were set for later do not count. */
    LX_EXHAUSTED_REDISTRIBUTE = 2
} lx_exhausted;

/**
 * What is to be mixed.
 *
 * @par Thread safety
 * One thread at a time. An order copies what it needs.
 */
typedef struct lx_mixture lx_mixture;

/** An empty mixture; NULL when out of memory. */
LX_API lx_mixture *lx_mixture_new(void);

/** Ends it, and gives its references to orders back; NULL is nothing. */
LX_API void lx_mixture_free(lx_mixture *mixture);

/**
 * Adds a set.
 *
 * @param[in]  mixture  A mixture.
 * @param[in]  order    What of the set comes in which order; referenced.
 * @param[in]  offset   Added to its indices: where the set begins in a concatenation of sources.
 * @param[in]  weight   0 or more; a set has its weight over the sum of all as its share. 0 gives
 *                      nothing before other weights are set.
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  @p weight is negative, infinite or no number; the order's length is 0;
 *                          an index would be beyond 2^64 - 1; or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  @p order is cut into batches.
 * @retval LX_ERR_LIMIT     There are 65,535 sets already, or the order is made of others 64 deep.
 * @retval LX_ERR_STATE     Weights were set for a later offset already.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_mixture_add(lx_mixture *mixture, lx_order *order, uint64_t offset,
                                double weight, lx_error *error);

/**
 * Sets other weights from an offset of the epoch on, once all sets are added: a curriculum. The
 * offsets ascend from call to call.
 *
 * @param[in]  mixture  A mixture.
 * @param[in]  begin    The first offset with these weights, 1 or more.
 * @param[in]  weights  One for each set.
 * @param[in]  count    How many there are.
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  A weight is none, or all are 0; @p count is not the number of sets;
 *                          @p begin is not above the last one; or a pointer is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_mixture_set_weights(lx_mixture *mixture, uint64_t begin,
                                        const double *weights, size_t count, lx_error *error);

/**
 * Sets the positions in an epoch; 0, the default: as many as the sets have together, also those
 * without a weight. With #LX_EXHAUSTED_STOP and #LX_EXHAUSTED_REDISTRIBUTE it may end earlier.
 *
 * @retval LX_ERR_ARGUMENT  @p mixture is NULL.
 */
LX_API lx_status lx_mixture_set_length(lx_mixture *mixture, uint64_t length, lx_error *error);

/** Sets what is done about a set that has given all; #LX_EXHAUSTED_REPEAT by default.
 * @retval LX_ERR_ARGUMENT  @p exhausted is none of the three, or @p mixture is NULL. */
LX_API lx_status lx_mixture_set_exhausted(lx_mixture *mixture, lx_exhausted exhausted,
                                          lx_error *error);

/**
 * Makes the order of a mixture, by a closed form (doc/orders.md): of any positions from the
 * beginning of weights on, each set has its share to within half of the logarithm of the number of
 * sets (base 2, rounded up), half a sample for two sets. Within a set, its own order goes on from
 * one of its positions to the next, and with #LX_EXHAUSTED_REPEAT from epoch to epoch.
 *
 * It holds about 32 bytes a set, and 24 more for each set each time that weights change, which
 * they do also where a set is exhausted with #LX_EXHAUSTED_REDISTRIBUTE. Who reads it holds what
 * the orders of its sets need: of a shuffle of up to 65,536, a table of 128 KiB at most.
 *
 * @param[in]  mixture  At least one set with a weight above 0 at first.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  There is no set, none has a weight at first, or a pointer is NULL;
 *                          weights begin behind the end of the epoch; or the sets together have
 *                          more than 2^64 - 1 positions and no length is set.
 * @retval LX_ERR_LIMIT     Weights would change too often: more than 2^24 times over the number of
 *                          sets, which 4096 sets with #LX_EXHAUSTED_REDISTRIBUTE do not reach.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_blend(const lx_mixture *mixture, lx_order **order,
                                    lx_error *error);

/** The sets of a mixture's order; 0: it is the order of none. */
LX_API size_t lx_order_get_sets(const lx_order *order);

/**
 * Counts how many of the positions [first, end) each set of a mixture has.
 *
 * @param[in]  order   Of a mixture.
 * @param[in]  first   A position.
 * @param[in]  end     A position not below it.
 * @param[out] counts  One for each set, lx_order_get_sets() in all.
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_ARGUMENT     @p end is below @p first, or a pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  It is not the order of a mixture.
 * @retval LX_ERR_NOMEM        There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_count_sets(const lx_order *order, uint64_t first, uint64_t end,
                                     uint64_t *counts, lx_error *error);

/** @} */

LX_END_DECLS

#endif
