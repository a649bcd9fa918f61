/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The identity of a source in saved states.
 */
#ifndef LX_LOADER_SOURCE_STATE_H
#define LX_LOADER_SOURCE_STATE_H

#include "loader/sources/source.h"

/**
 * Compares the member "source" of a state with lx__source_to_json() of @p source.
 *
 * @retval LX_ERR_MISMATCH  The two differ; the message names the first difference.
 */
lx_status lx__source_match_state(const lx_source *source, const json_t *state, lx_error *error);

#endif
