/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The order of Nanotron's Nanosets, number for number: for who goes on with a training. For
 * a mixture of one's own, lx_order_new_blend() holds no table.
 */
#ifndef LOADERX_PARITY_NANOSET_H
#define LOADERX_PARITY_NANOSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_order_new_nanoset The order of Nanotron's Nanosets
 * @{ */

/**
 * Samples of several sets, mixed by their weights as Megatron's greedy loop does, each set from its
 * beginning again when it is used up; and shuffled by numpy.random.RandomState. An epoch has as
 * many samples as all sets together, and all epochs are alike. The indices are those of the sets
 * one after the other: that of sample s of set i is s more than the lengths of those before it.
 *
 * It holds 4 bytes a sample, or 8 where there are more than 2^32; making it takes 8 more, and for 8
 * sets some 30 ns a sample.
 *
 * @param[in]  lengths  Samples of each set, 1 or more.
 * @param[in]  weights  Of each set, 0 or more; NULL: as their lengths.
 * @param[in]  count    Sets, 1 to 65,535.
 * @param[in]  divide   With true, weights are divided by their sum, added as NumPy does: as
 *                      Nanotron's code has it. With false they are used as they are, which its
 *                      documentation's example needs: rounding may turn a tie.
 * @param[in]  seed     Below 2^32; Nanotron's default is 1234.
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    What failed; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  A length is 0; a weight is negative, infinite or no number, or all are
 *                          0; there is no set; @p seed is too large; or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more sets, or more than 2^53 samples.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_nanoset(const uint64_t *lengths, const double *weights, size_t count,
                                      bool divide, uint64_t seed, const char *tables,
                                      lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
