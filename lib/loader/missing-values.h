/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a loader does with missing values, which sources read as zeros: it rejects them,
 * leaves the zeros, marks them, or replaces them.
 */
#ifndef LX_LOADER_MISSING_VALUES_H
#define LX_LOADER_MISSING_VALUES_H

#include "loader/batch.h"
#include "loader/loader-options.h"

/** Frees the rules of options. */
void lx__missing_rules_clear(lx_loader_options *options);

/**
 * Sets the rule for each column of a layout, and makes room for the marks.
 *
 * @retval LX_ERR_NOT_FOUND  The options name a column that the loader does not read.
 * @retval LX_ERR_ARGUMENT   A replacement does not have the size of a value.
 */
lx_status lx__missing_lay_out(lx__layout *layout, const lx_loader_options *options,
                              lx_error *error);

/**
 * Rejects a source with missing values in a column whose policy is RAISE.
 *
 * @retval LX_ERR_MISMATCH  There are missing values; the error names the column and a record.
 */
lx_status lx__missing_check(const lx__layout *layout, lx_error *error);

/**
 * Marks or replaces the missing values in a filled batch.
 *
 * @param source  The source that the batch was read from: the layout's, or a snapshot of it.
 * @retval LX_ERR_MISMATCH  The policy is RAISE, but a value of a live dataset became missing after
 *                          the loader was opened.
 */
lx_status lx__missing_apply(lx_source *source, lx_batch *batch, lx_error *error);

#endif
