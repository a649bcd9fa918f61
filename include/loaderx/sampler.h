/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Samplers, which walk along orders (order.h), a rank's part or all of it.
 *
 * @code
 * lx_order *order = NULL;
 * lx_sampler *sampler = NULL;
 * lx_order_new_shuffle(60000, 42, &order, &error);
 * lx_sampler_new(order, 0, 1, &sampler, &error);
 * lx_sampler_seek(sampler, 15360, &error);
 * lx_sampler_take(sampler, 256, indices, &taken, &error);
 * lx_sampler_free(sampler);
 * lx_order_unref(order);
 * @endcode
 */
#ifndef LOADERX_SAMPLER_H
#define LOADERX_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_sampler Take the indices of a rank
 * @{ */

/**
 * A place in an order, from which one rank takes its part.
 *
 * It stands at a global position p, at first 0. Of the positions of an epoch a rank owns those
 * whose offset, the position mod the order's length, is @a rank modulo @a world. One step looks at
 * the window of positions from p up to, and without, the lesser of p + world and the end of p's
 * epoch; it takes the index at the one position there that the rank owns, and moves p to the
 * window's end. At the end of an epoch whose length @a world does not divide, the window may be
 * short and hold nothing of the rank: the step then goes on into the next epoch.
 *
 * So ranks that stand at the same position take from the same window, and together take exactly
 * the global order; and where they stand says nothing about how many they are.
 *
 * @par Thread safety
 * One thread at a time. Samplers of one order do not disturb each other.
 */
typedef struct lx_sampler lx_sampler;

/**
 * Makes a sampler at position 0.
 *
 * @param[in]  order    The order; the sampler takes a reference of its own.
 * @param[in]  rank     Which part, below @p world.
 * @param[in]  world    How many parts, 1 or more.
 * @param[out] sampler  The sampler, for lx_sampler_free(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p world is 0, @p rank is not below it, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_sampler_new(lx_order *order, uint64_t rank, uint64_t world,
                                lx_sampler **sampler, lx_error *error);

/** Frees it, and gives its reference to the order back. NULL is nothing. */
LX_API void lx_sampler_free(lx_sampler *sampler);

/**
 * Takes the next @p count indices of the rank, epoch after epoch, and moves on behind the last.
 * To take a and then b gives what taking a + b at once does.
 *
 * @param[in]  sampler  The sampler.
 * @param[in]  count    How many are wanted.
 * @param[out] indices  Room for as many.
 * @param[out] taken    How many there were: fewer than @p count only where the positions end.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            All of them, or as many as there were left.
 * @retval LX_END           Nothing is left: the order's length is 0, or no more than the rank, or
 *                          the sampler stands behind the last position the rank owns. In the
 *                          first two cases the sampler stays where it is.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for the table of a shuffle, which the first call
 *                          takes. The sampler stays where it is.
 * @return Of an order with a table in a file also what ::lx_order says of these; the sampler stays
 *         where it is.
 */
LX_API lx_status lx_sampler_take(lx_sampler *sampler, uint64_t count, uint64_t *indices,
                                 uint64_t *taken, lx_error *error);

/**
 * Takes the next batch of the rank, of an order that is cut into batches (budgeted.h), and moves on
 * behind the step. Of an epoch a rank owns the batches whose number is @a rank modulo @a world; a
 * step looks at as many as there are ranks from the sampler's position on, up to the end of the
 * epoch, where there may be fewer: who has none then goes on into the next epoch. Where a seek went
 * into a batch, the step begins with what is left of it.
 *
 * @param[in]  sampler  The sampler.
 * @param[in]  room     How many there is room for: lx_order_get_batch_rows() is always enough.
 * @param[out] indices  The batch's, in their order.
 * @param[out] taken    How many; also where there is no room for as many, else 0 on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK               A batch.
 * @retval LX_END              Nothing is left; as of lx_sampler_take().
 * @retval LX_ERR_UNSUPPORTED  The order is not cut into batches.
 * @retval LX_ERR_LIMIT        The batch has more than @p room; or the rank has none in 100 epochs,
 *                             since they have fewer batches than there are ranks.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        There is no memory for what the order keeps of the epoch.
 *
 * On failure the sampler stays where it is.
 */
LX_API lx_status lx_sampler_take_batch(lx_sampler *sampler, uint64_t room, uint64_t *indices,
                                       uint64_t *taken, lx_error *error);

/**
 * Goes to @p position, which may be any, also one where no step from 0 would have ended;
 * 2^64 - 1 is the end.
 *
 * @retval LX_OK            It stands there.
 * @retval LX_ERR_ARGUMENT  @p sampler is NULL.
 */
LX_API lx_status lx_sampler_seek(lx_sampler *sampler, uint64_t position, lx_error *error);

/** The global position at which the sampler stands. */
LX_API uint64_t lx_sampler_tell(const lx_sampler *sampler);

/** Bytes in which the state of a sampler always fits, with the NUL behind it. */
#define LX_SAMPLER_STATE_SIZE 4096

/**
 * Writes where the sampler stands, and in what order, as one line of JSON (doc/orders.md), for
 * lx_sampler_restore() in any process, on any machine, with any number of ranks.
 *
 * Of several ranks that have taken all that they own up to some position, the state to keep is that
 * of the one furthest on: at the end of an epoch a rank may own nothing in the last window, and then
 * stands before it until it takes more.
 *
 * @param[in]  sampler  The sampler.
 * @param[out] text     Where the text goes, with a NUL; may be NULL if @p size is 0.
 * @param[in]  size     Bytes at @p text; 0 asks for the length alone.
 * @param[out] length   Length of the whole text without the NUL, whatever @p size; may be NULL.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Written, or nothing but the length was asked for.
 * @retval LX_ERR_LIMIT     @p size is not above the length. The text is empty.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     There is no memory to make the text in.
 */
LX_API lx_status lx_sampler_save(const lx_sampler *sampler, char *text, size_t size,
                                 size_t *length, lx_error *error);

/**
 * Goes to where the sampler stood that wrote @p text. That one's order must be equal to this one's
 * in kind, formula, length, seed and all parameters; its rank and world need not be.
 *
 * On failure the sampler stays where it is.
 *
 * @retval LX_OK               It stands there.
 * @retval LX_ERR_MISMATCH     The state is of another order, or of something else than a sampler;
 *                             the message names the first difference and both values.
 * @retval LX_ERR_UNSUPPORTED  It is of another version of states.
 * @retval LX_ERR_CORRUPT      It is not JSON, not complete, or was changed after it was written.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @retval LX_ERR_NOMEM        There is no memory to read it with.
 */
LX_API lx_status lx_sampler_restore(lx_sampler *sampler, const char *text, lx_error *error);

/** @} */

LX_END_DECLS

#endif
