/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Samplers, which take the indices of a rank from an order.
 */
#ifndef LOADERX_SAMPLER_H
#define LOADERX_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_sampler Take the indices of a rank from an order
 *
 * @code
 * lx_order *order = NULL;
 * lx_sampler *sampler = NULL;
 * uint64_t indices[256], taken;
 * lx_order_new_shuffle(60000, 42, &order, &error);
 * lx_sampler_new(order, rank, world, &sampler, &error);
 * lx_sampler_seek(sampler, 15360, &error);
 * lx_sampler_take(sampler, 256, indices, &taken, &error);
 * lx_sampler_free(sampler);
 * lx_order_unref(order);
 * @endcode
 * @see loaderx-sample(1), lx_error, lx_loader, lx_order, lx_order_new_budgeted(), loaderx-state(5),
 *      loaderx(7)
 * @{
 */

/**
 * A cursor in an order, from which one rank takes its part.
 *
 * It is at a global position p, at first 0. In each epoch a rank owns the positions whose offset,
 * the position modulo the length of the order, is @a rank modulo @a world. One step takes the index
 * at the position that the rank owns in the window from p up to, and without, the lesser of p +
 * world and the end of the epoch, and moves p to the end of the window. If @a world does not divide
 * the length, the last window of an epoch may be short and contain no position of the rank; the
 * step then continues in the next epoch.
 *
 * So ranks at the same position take from the same window, and together take exactly the global
 * order. A position does not depend on the number of ranks.
 *
 * @par Thread safety
 * One thread at a time. Samplers of the same order are independent.
 */
typedef struct lx_sampler lx_sampler;

/**
 * Makes a sampler at position 0.
 *
 * @param[in]  order    The order; referenced.
 * @param[in]  rank     The rank, below @p world.
 * @param[in]  world    The number of ranks, 1 or more.
 * @param[out] sampler  Receives the sampler, to be freed with lx_sampler_free(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sampler is made.
 * @retval LX_ERR_ARGUMENT  @p world is 0, @p rank is not below it, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_sampler_new(lx_order *order, uint64_t rank, uint64_t world,
                                lx_sampler **sampler, lx_error *error);

/** Frees a sampler and drops its reference to the order. NULL is allowed. */
LX_API void lx_sampler_free(lx_sampler *sampler);

/**
 * Takes the next @p count indices of the rank, across epochs, and moves after the last of them.
 * Taking a and then b indices gives the same as taking a + b.
 *
 * @param[in]  sampler  The sampler.
 * @param[in]  count    The number of indices to take.
 * @param[out] indices  Receives the indices.
 * @param[out] taken    Receives their number: less than @p count only where the positions end.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The indices are at @p indices.
 * @retval LX_END           Nothing is left: the length of the order is 0 or not above the rank, or
 *                          the sampler is after the last position that the rank owns. In the first
 *                          two cases the sampler does not move.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory for the table of a shuffle. The sampler does not move.
 * @return Otherwise, of a table in a file, as ::lx_order describes; the sampler does not move.
 */
LX_API lx_status lx_sampler_take(lx_sampler *sampler, uint64_t count, uint64_t *indices,
                                 uint64_t *taken, lx_error *error);

/**
 * Takes the next batch of the rank from an order that is cut into batches
 * (lx_order_new_budgeted()), and moves after the step. In each epoch a rank owns the batches whose
 * number is @a rank modulo @a world. A step covers one batch for each rank, from the sampler's
 * position up to the end of the epoch. If fewer are left there and none is the rank's, it continues
 * in the next epoch. After a seek into a batch, the step begins with the rest of it. On failure the
 * sampler does not move.
 *
 * @param[in]  sampler   The sampler.
 * @param[out] indices   Receives the indices of the batch, in order.
 * @param[in]  capacity  The number of indices that fit; lx_order_get_max_batch_size() is always
 *                       enough.
 * @param[out] taken     Receives their number, also if @p capacity is too small; 0 on any other
 *                       failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The batch is at @p indices.
 * @retval LX_END              Nothing is left, as for lx_sampler_take().
 * @retval LX_ERR_UNSUPPORTED  The order is not cut into batches.
 * @retval LX_ERR_LIMIT        The batch is larger than @p capacity. Or the rank has no batch in 100
 *                             epochs, because they have fewer batches than there are ranks.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_sampler_take_batch(lx_sampler *sampler, uint64_t *indices, uint64_t capacity,
                                       uint64_t *taken, lx_error *error);

/**
 * Moves to a position: any, also one at which no step from 0 would end. 2^64 - 1 is the end.
 *
 * @retval LX_OK            The sampler is there.
 * @retval LX_ERR_ARGUMENT  @p sampler is NULL.
 */
LX_API lx_status lx_sampler_seek(lx_sampler *sampler, uint64_t position, lx_error *error);

/** Returns the global position of the sampler. */
LX_API uint64_t lx_sampler_tell(const lx_sampler *sampler);

/** The most bytes of a sampler's state, with its NUL. */
#define LX_MAX_SAMPLER_STATE 4096

/**
 * Writes the state of a sampler as one line of JSON (doc/orders.md): its position and its order.
 * Any process restores it, on any machine, with any number of ranks.
 *
 * Of several ranks that have taken everything that they own up to some position, keep the state of
 * the one at the highest position: a rank that owns nothing in the last window of an epoch stays
 * before that window until it takes more.
 *
 * @param[in]  sampler  The sampler.
 * @param[out] text     Receives the state with a NUL; may be NULL if @p size is 0.
 * @param[in]  size     Bytes at @p text; 0 to ask for the length alone.
 * @param[out] length   Receives the length of the whole state without the NUL; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The state is at @p text, or only its length was asked for.
 * @retval LX_ERR_LIMIT     @p size is not above the length. The text is empty.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_sampler_save(const lx_sampler *sampler, char *text, size_t size, size_t *length,
                                 lx_error *error);

/**
 * Moves to the position of a saved state. The orders must be equal in kind, formula, length, seed
 * and all parameters; rank and world may differ. On failure the sampler does not move.
 *
 * @retval LX_OK               The sampler is there.
 * @retval LX_ERR_MISMATCH     The state is that of another order, or of a loader; the message names
 *                             the first difference and both values.
 * @retval LX_ERR_UNSUPPORTED  The state has another version.
 * @retval LX_ERR_CORRUPT      @p text is not JSON, is incomplete, or was changed.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_sampler_restore(lx_sampler *sampler, const char *text, lx_error *error);

/** @} */

LX_END_DECLS

#endif
