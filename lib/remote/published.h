/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Whether the generation of a dataset elsewhere that was opened is still the published one.
 */
#ifndef LX_REMOTE_PUBLISHED_H
#define LX_REMOTE_PUBLISHED_H

#include "remote/place.h"

/**
 * Explains why a file is missing or has another length than it should: fetches meta.json again.
 *
 * @param why  The failure so far. Becomes #LX_ERR_STATE if meta.json has changed; unchanged if it
 *             has not, or if that cannot be found out.
 * @return The status in @p why.
 */
lx_status lx__place_explain(lx__place *place, lx_error *why);

#endif
