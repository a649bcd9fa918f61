/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A meta.json of which nothing but the checksum is wrong. See doc/zrecord-format.md, 11.9.
 */
#ifndef LX_ZRECORD_RESTAMP_H
#define LX_ZRECORD_RESTAMP_H

#include "base/file.h"

/**
 * Looks at meta.json of a dataset.
 *
 * @param[in]  directory  The dataset's.
 * @param[out] damage     That the checksum is absent or wrong, if all else is right: the rest is a
 *                        meta.json, and the first frame of the log belongs to it. Otherwise it is
 *                        left as it is.
 */
lx_status lx__restamp_look(const lx__file *directory, lx_error *damage, lx_error *error);

/** Writes what lx__restamp_look() has found anew, with the right checksum. Takes the writer's lock
 * meanwhile.
 * @retval LX_ERR_BUSY  There is a writer. */
lx_status lx__restamp_apply(const lx__file *directory, lx_error *error);

#endif
