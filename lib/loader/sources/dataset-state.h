/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The datasets of a source in saved states: which records a run read, and whether they are
 * still the same. See loaderx-state(5).
 */
#ifndef LX_LOADER_DATASET_STATE_H
#define LX_LOADER_DATASET_STATE_H

#include "loader/sources/source.h"

/** Creates a list with an object for each dataset that the source reads. */
lx_status lx__dataset_states_new(const lx_source *source, json_t **states, lx_error *error);

/**
 * Compares the lengths of the datasets with those in @p states. Ignores all other differences,
 * which a comparison of the sources reports.
 *
 * @retval LX_ERR_MISMATCH  A dataset has more or fewer records; the message says how to continue.
 */
lx_status lx__dataset_states_match_lengths(const lx_source *source, const json_t *states,
                                           lx_error *error);

/**
 * Finds out whether records have changed since @p states were saved; the sources and lengths in
 * them must match. If this cannot be determined, the call logs a warning and succeeds. A live
 * dataset is not compared, because it is supposed to change.
 *
 * @param wanted  Whether each column of the source is read; NULL: all are.
 * @retval LX_ERR_MISMATCH  Records of a field that is read have changed.
 * @retval LX_ERR_CORRUPT   @p states are not the states of the source's datasets.
 */
lx_status lx__dataset_states_match_records(const lx_source *source, const bool *wanted,
                                           const json_t *states, lx_error *error);

#endif
