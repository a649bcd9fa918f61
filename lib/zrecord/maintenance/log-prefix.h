/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The valid frames at the beginning of a damaged write-ahead log, and cutting off the rest.
 */
#ifndef LX_ZRECORD_LOG_PREFIX_H
#define LX_ZRECORD_LOG_PREFIX_H

#include "zrecord/wal/replay.h"

/** The part of a log that can be replayed. Zeroed, it is empty. */
typedef struct lx__log_prefix {
    lx__log_identity identity;
    lx__state state;     /**< After the last frame that counts. */
    bool damaged;        /**< Whether an invalid frame follows that is not just torn, */
    lx_error damage;     /**< why it is invalid, */
    uint64_t lost_bytes; /**< and the bytes from there to the last one that is not zero. */
} lx__log_prefix;

/**
 * Replays the log of @p meta in @p directory up to its first invalid frame. All valid frames before
 * a damaged one count: when a later frame was written, what they name was durable, or is of the
 * present boot.
 *
 * @retval LX_ERR_CORRUPT  The log is absent, its first frame is invalid, or a valid frame breaks a
 *                         rule.
 */
lx_status lx__log_prefix_read(lx__log_prefix *prefix, const lx__file *directory,
                              const lx__meta *meta, lx_error *error);

void lx__log_prefix_free(lx__log_prefix *prefix);

/** Adds advice to the error of a log that cannot be read, if it is CORRUPT. */
void lx__log_prefix_advise(lx_error *error);

/**
 * Cuts a damaged log after its prefix. The rest is moved to the first free of the files
 * DIR.log-tail-1, DIR.log-tail-2 ... The caller holds the writer's lock. After a kill at any moment,
 * the log is either damaged as before or cut; its prefix stays.
 *
 * @param[in]  chunks  The directory of chunks: the id of a file in it is not used again.
 * @param[out] tail    Receives the path of the file, for lx__free(); NULL after a failure.
 */
lx_status lx__log_prefix_cut(lx__log_prefix *prefix, const lx__file *directory,
                             const lx__file *chunks, char **tail, lx_error *error);

/** Raises @p next above the ids of all chunk files in @p chunks. */
lx_status lx__chunk_ids_above(const lx__file *chunks, uint32_t *next, lx_error *error);

#endif
