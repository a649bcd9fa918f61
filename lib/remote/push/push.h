/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Publishes a sealed snapshot at a URL. What is at the URL:
 *
 * - meta.json: that of the published generation.
 * - meta.json.new: that of the generation which a push is sending. It is the claim of that push: it
 *   is written on the condition that no other has appeared, and removed after the publication. So
 *   of several pushes of different datasets, only one sends files.
 * - the other files. A file with the right name and length is not sent again if one of the two tells
 *   that it belongs to the same dataset: chunks, logs and dictionaries of one dataset only grow.
 *   A table is known by its checksum.
 *
 * The last request is that which writes meta.json, on the condition that it is still the one that
 * the push has seen first.
 */
#ifndef LX_REMOTE_PUSH_H
#define LX_REMOTE_PUSH_H

#include <loaderx/progress.h>

#include "remote/push/target.h"
#include "zrecord/snapshot/snapshot.h"

/**
 * Publishes @p snapshot at the URL of @p target. See lx_dataset_push().
 *
 * @param[in]  progress  May be NULL.
 * @param[out] sent      Receives the number of bytes that this call has sent, also on failure.
 */
lx_status lx__push(lx__target *target, const lx__snapshot *snapshot, bool replace,
                   lx_progress_function progress, void *user, uint64_t *sent, lx_error *error);

#endif
