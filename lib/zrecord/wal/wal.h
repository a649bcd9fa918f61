/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads the WAL (the file LOG): determines which frames are valid, and returns their
 * contents.
 */
#ifndef LX_ZRECORD_WAL_H
#define LX_ZRECORD_WAL_H

#include "base/file.h"
#include "zrecord/wal/frame.h"

/** A position in a log: the end of a frame. */
typedef struct lx__wal_position {
    uint64_t offset;   /**< The offset where the frame ends. */
    uint64_t sequence; /**< Sequence number of the next frame. */
    uint32_t crc;      /**< CRC of the frame; 0 at the start. */
} lx__wal_position;

/** The result of a scan. */
typedef struct lx__wal_scan {
    lx__wal_position valid; /**< The end of the last valid frame. */
    /** The end of the last frame that is durable or valid in this boot. */
    lx__wal_position valid_in_boot;
    lx__wal_position durable; /**< The end of the last synced frame. */
    uint64_t synced_start;    /**< Start of the last synced frame; LX_NONE if there is none. */
    bool torn;                /**< There are bytes after the last valid frame. */
} lx__wal_scan;

/** A log that is open for reading. Only one thread may use it at a time. */
typedef struct lx__wal_reader {
    lx__file file;
    lx__wal_identity identity;
    /** The current boot. Cached, because reading it costs more than reading a small frame. */
    uint64_t boot;
    uint64_t size; /**< Size of the file at the last fstat(). */
    /** Bytes [window_start, window_end) of the file; NULL until the first read. */
    uint8_t *window;
    uint64_t window_start;
    uint64_t window_end;
    size_t step; /**< Minimum number of bytes to read next. */
} lx__wal_reader;

/** What lx__wal_poll() found at the end of a state. */
typedef enum lx__wal_change {
    LX__WAL_UNCHANGED,   /**< There is no new frame. */
    LX__WAL_MAYBE_GROWN, /**< There may be new frames. */
    /** The last frame of the state is gone: it was not synced, and a writer truncated the log. */
    LX__WAL_TRUNCATED
} lx__wal_change;

/**
 * Opens the log of @p identity in @p directory.
 * @retval LX_ERR_CORRUPT  The log is missing.
 */
lx_status lx__wal_open(lx__wal_reader *log, const lx__file *directory,
                       const lx__wal_identity *identity, lx_error *error);

void lx__wal_close(lx__wal_reader *log);

/** Checks whether a scan from @p position may find new frames. Makes only one system call if there
 * are no new frames. */
lx_status lx__wal_poll(lx__wal_reader *log, const lx__wal_position *position,
                       lx__wal_change *change, lx_error *error);

/**
 * Follows the chain of frames to its end, starting at @p from, or at the start of the log if @p
 * from is zeroed.
 *
 * The valid frames up to the last synced frame are durable. The frames after it are valid in this
 * boot, up to the first frame that does not belong to the boot @p boot; if @p boot is 0 (unknown),
 * none of them are. An invalid frame is either torn or damaged. It is damaged if a later frame is
 * whole and is either synced or of this boot, or if the invalid frame itself was completely written
 * in this boot. A scan that does not start at the beginning of the log does not search for damage
 * if there are zeros where the next frame would begin, because writers preallocate zeros there.
 *
 * @retval LX_ERR_CORRUPT  A frame is damaged.
 */
lx_status lx__wal_scan_from(lx__wal_reader *log, const lx__wal_position *from, uint64_t boot,
                            lx__wal_scan *scan, lx_error *error);

/** Adds advice to the error of a failed scan: how to repair the dataset. */
void lx__wal_suggest_repair(lx_error *error, lx_status status);

/** Fails with LX_ERR_CORRUPT because the log has no valid first frame. */
lx_status lx__wal_fail_first(const lx__wal_reader *log, lx_error *error);

/** Returns the end of the nonzero bytes of the log, searching from @p start. */
uint64_t lx__wal_find_end(lx__wal_reader *log, uint64_t start);

/** Reads the header and the CRC of the frame at @p offset, which a scan must have found valid. */
lx_status lx__wal_read_frame(lx__wal_reader *log, uint64_t offset, lx__frame *frame,
                             lx_error *error);

/** Returns @p size bytes at @p offset, where @p size is at most LX__WAL_WINDOW; the bytes must be
 * in frames that a scan found valid. The bytes stay valid until the next call. */
lx_status lx__wal_read(lx__wal_reader *log, uint64_t offset, size_t size, const uint8_t **bytes,
                       lx_error *error);

/** Size of the window: large enough that a system call costs little per byte, and small enough to
 * fit into a second-level cache. */
#define LX__WAL_WINDOW ((size_t)1 << 17)

#endif
