/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief meta.json of a damaged dataset. If nothing but its checksum is wrong, it can be restamped:
 * written again with the right one. See doc/zrecord-format.md, 11.9.
 */
#ifndef LX_ZRECORD_RESTAMP_H
#define LX_ZRECORD_RESTAMP_H

#include "zrecord/format/meta.h"

/**
 * Reads meta.json.
 *
 * @param[out] meta       Receives it.
 * @param[in]  directory  The dataset's.
 * @param[out] damage     Receives a wrong or absent checksum, if everything else is right: the text
 *                        is valid, and the first frame of the log has its uuid and generation.
 *                        Unchanged if the checksum is right.
 * @param[out] error      Receives any other failure, with advice.
 */
lx_status lx__restamp_load(lx__meta *meta, const lx__file *directory, lx_error *damage,
                           lx_error *error);

#endif
