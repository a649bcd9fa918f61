/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders that are cut into batches by what their samples cost: tokens, for instance, of
 * which a device holds so many.
 *
 * @code
 * lx_order *shuffled = NULL, *order = NULL;
 * lx_order_new_shuffle(60000, 42, &shuffled, &error);
 * lx_order_new_budgeted(shuffled, tokens, 60000, 16384, 0, true, &order, &error);
 * lx_order_unref(shuffled);
 * lx_loader_options_set_order(options, order, &error);   // a batch is as many as fit in 16384
 * @endcode
 */
#ifndef LOADERX_BUDGETED_H
#define LOADERX_BUDGETED_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_order_new_budgeted Batches by a budget
 * @{ */

/**
 * The same index at each position as @p part, cut into batches. From the beginning of each epoch on
 * each batch takes as many samples as fit, in their order; the last one has what is left. They fit
 * while the sum of their costs is no more than @p budget; or, with @p padded, while their number
 * times the largest of their costs is, which is what they take in memory when all are made as long
 * as the longest. Over samples of like lengths (lx_order_new_bucketed()) little is padded.
 *
 * The cuts depend on the order alone. A loader hands out whole batches: of N ranks each takes one of
 * N that follow each other, so that the budget is that of one device, and a step of 4 ranks is two
 * of 2. lx_sampler_take_batch() does the same without a loader.
 *
 * It holds the costs, 4 bytes each where all fit, else 8; and where the batches begin in the last
 * two epochs that were entered, which takes about an eighth of a byte a position. Who enters an
 * epoch first reads it once, for all threads: some nanoseconds a position, and what the part takes.
 * An order that is cut is no part of another one: cut last.
 *
 * @param[in]  part    An order of any kind that is not cut itself, of up to 2^32 - 1 positions.
 * @param[in]  costs   What each index costs, 1 or more; copied.
 * @param[in]  count   How many: all indices of @p part are below it.
 * @param[in]  budget  What a batch may cost, 1 or more.
 * @param[in]  rows    Samples of a batch at most; 0: as many as fit. A loader keeps memory for the
 *                     largest batch that there could be, which is of the cheapest sample alone: so
 *                     give this where some are far cheaper than most.
 * @param[in]  padded  Whether every sample of a batch costs as much as its most expensive one.
 * @param[out] order   The order, for lx_order_unref(); NULL on failure.
 * @param[out] error   What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  A cost is 0, or alone above the budget; @p budget is 0; or a pointer is
 *                          NULL.
 * @retval LX_ERR_MISMATCH  @p part has indices that are not below @p count, or is cut into batches.
 * @retval LX_ERR_LIMIT     It has more positions; or it would be made of too many orders, or more
 *                          than 64 deep.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_order_new_budgeted(lx_order *part, const uint64_t *costs, uint64_t count,
                                       uint64_t budget, uint64_t rows, bool padded,
                                       lx_order **order, lx_error *error);

/** Samples of a batch at most, whatever the epoch; 0: the order is not cut into batches. */
LX_API uint64_t lx_order_get_batch_rows(const lx_order *order);

/**
 * Counts the batches of an epoch, of all ranks together.
 *
 * @param[in]  order  An order that is cut.
 * @param[in]  epoch  Which; one behind the last has none.
 * @param[out] count  How many.
 * @param[out] error  What failed; may be NULL.
 *
 * @retval LX_OK               Counted.
 * @retval LX_ERR_UNSUPPORTED  The order is not cut into batches.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL.
 * @return Else as reading the order: #LX_ERR_NOMEM, if there is no memory for what the epoch takes.
 */
LX_API lx_status lx_order_count_batches(const lx_order *order, uint64_t epoch, uint64_t *count,
                                        lx_error *error);

/**
 * Finds the batch that has a position.
 *
 * @param[in]  order     An order that is cut.
 * @param[in]  position  Any.
 * @param[out] number    Which batch of its epoch it is, from 0 on; may be NULL, as the next two.
 * @param[out] begin     The position at which it begins.
 * @param[out] end       The position behind its last.
 * @param[out] error     What failed; may be NULL.
 *
 * @retval LX_OK               Found.
 * @retval LX_END              There is no such position: the order is empty, or it is 2^64 - 1.
 * @retval LX_ERR_UNSUPPORTED  The order is not cut into batches.
 * @retval LX_ERR_ARGUMENT     @p order is NULL.
 * @return Else as reading the order: #LX_ERR_NOMEM, if there is no memory for what the epoch takes.
 */
LX_API lx_status lx_order_find_batch(const lx_order *order, uint64_t position, uint64_t *number,
                                     uint64_t *begin, uint64_t *end, lx_error *error);

/** @} */

LX_END_DECLS

#endif
