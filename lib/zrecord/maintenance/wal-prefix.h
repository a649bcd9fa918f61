/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The valid frames at the beginning of a damaged write-ahead log, and truncation of the
 * rest.
 */
#ifndef LX_ZRECORD_WAL_PREFIX_H
#define LX_ZRECORD_WAL_PREFIX_H

#include "zrecord/wal/replay.h"

/** The part of a log that can be replayed. If zeroed, it is empty. */
typedef struct lx__wal_prefix {
    lx__wal_identity identity;
    lx__state state;     /**< The state at the last frame of the prefix. */
    bool damaged;        /**< Whether the next frame is damaged rather than just torn. */
    lx_error damage;     /**< If so, why the frame is invalid. */
    uint64_t lost_bytes; /**< If so, the number of bytes from that frame to the last nonzero
                              byte. */
} lx__wal_prefix;

/**
 * Replays the log of @p meta in @p directory up to its first invalid frame. All valid frames before
 * a damaged frame belong to the prefix: when a later frame was written, everything that the earlier
 * frames refer to was either durable or from the current boot.
 *
 * @retval LX_ERR_CORRUPT  The log is missing, its first frame is invalid, or a valid frame violates
 *                         a rule.
 */
lx_status lx__wal_prefix_read(lx__wal_prefix *prefix, const lx__file *directory,
                              const lx__meta *meta, lx_error *error);

void lx__wal_prefix_free(lx__wal_prefix *prefix);

/** If a log could not be read because it is corrupt, adds advice to the error. */
void lx__wal_prefix_advise(lx_error *error);

/**
 * Truncates a damaged log after its prefix. The rest is first copied to DIR.log-tail-1 or, if that
 * exists already, to DIR.log-tail-2, and so on. The caller must hold the writer's lock. If the
 * process is killed at any point, the log is either still damaged as before or already truncated,
 * and its prefix is intact.
 *
 * @param[in]  chunks  The chunk directory; the ids of its files are not used again.
 * @param[out] tail    Receives the path of the file, to be freed with lx__free(); NULL on failure.
 */
lx_status lx__wal_prefix_cut(lx__wal_prefix *prefix, const lx__file *directory,
                             const lx__file *chunks, char **tail, lx_error *error);

/** Raises @p next so that it is greater than the ids of all chunk files in @p chunks. */
lx_status lx__chunk_ids_above(const lx__file *chunks, uint32_t *next, lx_error *error);

#endif
