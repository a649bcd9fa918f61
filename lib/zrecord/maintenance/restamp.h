/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The meta.json of a damaged dataset. If only its checksum is wrong, it can be restamped,
 * that is, written again with the correct checksum. See doc/zrecord-format.md, 11.9.
 */
#ifndef LX_ZRECORD_RESTAMP_H
#define LX_ZRECORD_RESTAMP_H

#include "zrecord/format/meta.h"

/**
 * Reads meta.json, even if it needs to be restamped.
 *
 * @param[out] meta       Receives the contents of meta.json.
 * @param[in]  directory  The dataset directory.
 * @param[out] damage     Receives the error if the checksum is wrong or missing, but everything
 *                        else is correct: the text is valid, and the first frame of the log has the
 *                        same UUID and generation. Unchanged if the checksum is correct.
 * @param[out] error      Receives any other failure, with advice.
 */
lx_status lx__restamp_load(lx__meta *meta, const lx__file *directory, lx_error *damage,
                           lx_error *error);

#endif
