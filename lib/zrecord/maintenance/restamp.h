/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A damaged meta.json, and one of which nothing but the checksum is wrong. See
 * doc/zrecord-format.md, 11.9.
 */
#ifndef LX_ZRECORD_RESTAMP_H
#define LX_ZRECORD_RESTAMP_H

#include "zrecord/format/meta.h"

/**
 * Looks at meta.json of a dataset.
 *
 * @param[in]  directory  The dataset's.
 * @param[out] damage     That the checksum is absent or wrong, if all else is right: the rest is a
 *                        meta.json, and the first frame of the log belongs to it. Otherwise it is
 *                        left as it is.
 */
lx_status lx__restamp_look(const lx__file *directory, lx_error *damage, lx_error *error);

/** Replaces what lx__restamp_look() has found by the same with the right checksum. The caller holds
 * the writer's lock. */
lx_status lx__restamp_apply(const lx__file *directory, lx_error *error);

/** Reads meta.json, whatever checksum it has. */
lx_status lx__restamp_load(lx__meta *meta, const lx__file *directory, lx_error *error);

/** Adds to the error about a meta.json that is absent or damaged what may help. */
void lx__restamp_advise(const lx__file *directory, lx_error *error);

#endif
