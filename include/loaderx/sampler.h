/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Samplers, which take the indices of one rank from an order.
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
 * @defgroup lx_sampler Take the indices of one rank from an order
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
 * A cursor in an order, from which one rank takes its share of the indices.
 *
 * A sampler is at a global position p, initially 0. In each epoch, a rank owns the positions whose
 * offset (the position modulo the length of the order) is congruent to @a rank modulo @a world. The
 * window of a step begins at p, and ends before p + @a world or at the end of the epoch, whichever
 * comes first. The step takes the index at the one position in the window that the rank owns, and
 * moves p to the end of the window. If @a world does not divide the length, the last window of an
 * epoch is shorter and may contain no position of the rank; the step then continues in the next
 * epoch.
 *
 * Ranks at the same position therefore take from the same window, and all ranks together take
 * exactly the global order. The meaning of a position does not depend on the number of ranks.
 *
 * @par Thread safety
 * Only one thread at a time may use a sampler. Samplers of the same order are independent.
 */
typedef struct lx_sampler lx_sampler;

/**
 * Creates a sampler at position 0.
 *
 * @param[in]  order    The order; the call takes a reference.
 * @param[in]  rank     The rank, less than @p world.
 * @param[in]  world    The number of ranks, 1 or more.
 * @param[out] sampler  Receives the sampler; free it with lx_sampler_free(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sampler was created.
 * @retval LX_ERR_ARGUMENT  @p world is 0, @p rank is not less than @p world, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_sampler_new(lx_order *order, uint64_t rank, uint64_t world,
                                lx_sampler **sampler, lx_error *error);

/** Frees a sampler and drops its reference to the order. NULL is allowed. */
LX_API void lx_sampler_free(lx_sampler *sampler);

/**
 * Takes the next @p count indices of the rank, across epochs, and moves past the last of these
 * indices. Taking a and then b indices gives the same result as taking a + b indices.
 *
 * @param[in]  sampler  The sampler.
 * @param[in]  count    The number of indices to take.
 * @param[out] indices  Receives the indices.
 * @param[out] taken    Receives the number of indices taken; it is less than @p count only if the
 *                      positions run out.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The indices were stored in @p indices.
 * @retval LX_END           No indices are left: the order is empty, its length does not exceed the
 *                          rank, or the sampler is past the last position that the rank owns. In
 *                          the first two cases, the sampler does not move.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     There is not enough memory for the table of a shuffle. The sampler does
 *                          not move.
 * @return Otherwise, any status that ::lx_order lists under "Tables in files"; the sampler does not
 *         move.
 */
LX_API lx_status lx_sampler_take(lx_sampler *sampler, uint64_t count, uint64_t *indices,
                                 uint64_t *taken, lx_error *error);

/**
 * Takes the next batch of the rank from an order that is cut into batches
 * (lx_order_new_budgeted()), and moves to the end of the step. In each epoch, a rank owns the
 * batches whose numbers are congruent to @a rank modulo @a world. A step covers one batch per rank,
 * starting at the sampler's position, but does not extend beyond the end of the epoch. If fewer
 * batches than ranks are left and none of them belongs to the rank, the sampler continues in the
 * next epoch. After a seek into the middle of a batch, the first step begins with the remainder of
 * that batch. On failure, the sampler does not move.
 *
 * @param[in]  sampler   The sampler.
 * @param[out] indices   Receives the indices of the batch, in order.
 * @param[in]  capacity  The number of indices that fit in @p indices; lx_order_get_max_batch_size()
 *                       is always enough.
 * @param[out] taken     Receives the size of the batch, even if @p capacity is too small; 0 on any
 *                       other failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The batch was stored in @p indices.
 * @retval LX_END           No indices are left, as for lx_sampler_take().
 * @retval LX_ERR_LIMIT     The batch is larger than @p capacity; or the rank got no batch in 100
 *                          epochs, because each of them has fewer batches than there are ranks.
 * @retval LX_ERR_ARGUMENT  The order is not cut into batches, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_sampler_take_batch(lx_sampler *sampler, uint64_t *indices, uint64_t capacity,
                                       uint64_t *taken, lx_error *error);

/**
 * Moves to any position, even to a position that no sequence of steps from position 0 reaches.
 * Position 2^64 - 1 is the end.
 *
 * @retval LX_OK            The sampler is at that position.
 * @retval LX_ERR_ARGUMENT  @p sampler is NULL.
 */
LX_API lx_status lx_sampler_seek(lx_sampler *sampler, uint64_t position, lx_error *error);

/** Returns the global position of the sampler. */
LX_API uint64_t lx_sampler_tell(const lx_sampler *sampler);

/** The maximum size of a sampler's state in bytes, including the NUL. */
#define LX_MAX_SAMPLER_STATE 4096

/**
 * Writes the state of a sampler, which consists of its position and a description of its order, as
 * one line of JSON (doc/orders.md). Any process can restore the state, on any machine and with any
 * number of ranks.
 *
 * Once all ranks have taken all of the indices that they own before some position, save the state
 * of the rank with the highest position: a rank that owns nothing in the last window of an epoch
 * stays before that window until it takes another index.
 *
 * @param[in]  sampler  The sampler.
 * @param[out] text     Receives the NUL-terminated state; may be NULL if @p size is 0.
 * @param[in]  size     The size of @p text in bytes; 0 to query only the length.
 * @param[out] length   Receives the length of the whole state, excluding the NUL; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The state was written to @p text, or only the length was queried.
 * @retval LX_ERR_LIMIT     @p size is too small: it must be at least the length plus 1. @p text is
 *                          set to an empty string.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_sampler_save(const lx_sampler *sampler, char *text, size_t size, size_t *length,
                                 lx_error *error);

/**
 * Moves to the position of a saved state. The saved order and the order of this sampler must have
 * the same kind, formula, length, seed and other parameters; rank and world may differ. On failure,
 * the sampler does not move.
 *
 * @retval LX_OK               The sampler is at that position.
 * @retval LX_ERR_MISMATCH     The state belongs to a different order, or to a loader; the message
 *                             names the first difference and both values.
 * @retval LX_ERR_UNSUPPORTED  The state was saved in an unsupported format version.
 * @retval LX_ERR_CORRUPT      @p text is not JSON, is incomplete, or was modified.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_sampler_restore(lx_sampler *sampler, const char *text, lx_error *error);

/** @} */

LX_END_DECLS

#endif
