/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The part of a damaged write-ahead log that can be replayed, and cutting off the rest.
 */
#ifndef LX_ZRECORD_LOG_PREFIX_H
#define LX_ZRECORD_LOG_PREFIX_H

#include "zrecord/wal/replay.h"

/** A log as far as it can be replayed. Zeroed, it is empty. */
typedef struct lx__log_prefix {
    lx__log_identity identity;
    lx__state state;     /**< After the last frame that counts. */
    bool damaged;        /**< The next frame is invalid, and was not torn. */
    lx_error damage;     /**< Then why. */
    uint64_t lost_bytes; /**< Then the bytes from there to the end of the log, which zeros may
                              follow. */
} lx__log_prefix;

/**
 * Replays the log of @p meta in @p directory up to its first invalid frame. The valid frames before
 * one that was whole when it was written all count: what they name was durable by then, or is of
 * the present boot.
 *
 * @retval LX_ERR_CORRUPT  The log is absent, its first frame is invalid, or a valid one breaks a
 *                         rule.
 */
lx_status lx__log_prefix_read(lx__log_prefix *prefix, const lx__file *directory,
                              const lx__meta *meta, lx_error *error);

void lx__log_prefix_free(lx__log_prefix *prefix);

/**
 * Cuts a damaged log after its prefix. What follows goes to the first free file of
 * DIR.log-tail-1, DIR.log-tail-2 ... The caller holds the writer's lock. Killed at any moment, the
 * log is still damaged, or it is cut; its prefix stays.
 *
 * @param[in]  chunks  The directory of chunks: no id of a file there will be used again.
 * @param[out] tail    Receives the path of the file, for lx__free(); NULL after a failure.
 */
lx_status lx__log_prefix_cut(lx__log_prefix *prefix, const lx__file *directory,
                             const lx__file *chunks, char **tail, lx_error *error);

/** Above @p next, and above the ids of all chunk files in @p chunks. */
lx_status lx__chunk_ids_above(const lx__file *chunks, uint32_t *next, lx_error *error);

/** Writes a frame after that of @p state which changes nothing and is synced, so that the frames
 * before it count on any machine and in any boot. All that they name must be durable. */
lx_status lx__log_append_synced(const lx__file *log, const lx__state *state,
                                const lx__log_identity *identity, lx_error *error);

#endif
