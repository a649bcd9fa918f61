/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief LOG: which of its frames count, and what is in them. Reading only; the committer writes.
 */
#ifndef LX_ZRECORD_WAL_H
#define LX_ZRECORD_WAL_H

#include <time.h>

#include "base/file.h"
#include "zrecord/wal/frame.h"

/** A place in a log: after a frame. */
typedef struct lx__log_position {
    uint64_t offset;   /**< End of the frame. */
    uint64_t sequence; /**< Of the next frame. */
    uint32_t crc;      /**< Of the frame; 0 at the start. */
} lx__log_position;

/** What a scan found. */
typedef struct lx__log_scan {
    lx__log_position valid;         /**< After the last valid frame. */
    lx__log_position valid_in_boot; /**< After the last frame that counts in this boot. */
    lx__log_position durable;       /**< After the last synced frame. */
    uint64_t synced_start; /**< Where the last synced frame starts; LX_NONE: there is none. */
    bool torn;             /**< There are bytes after the last valid frame. */
} lx__log_scan;

/** What is known of a file in which nothing more counts, though there are more bytes. */
typedef struct lx__log_tail {
    bool mtime_reliable; /**< They were not written just now, so that a change of them shows. */
    uint64_t offset;     /**< Where they begin; LX_NONE while that is not known. */
    struct timespec mtime;
} lx__log_tail;

/** A log open for reading, with a window on it. Used by one thread at a time. */
typedef struct lx__log_reader {
    lx__file file;
    lx__log_identity identity;
    uint64_t boot;   /**< The present one, dearer to ask for than a small frame to read. */
    uint64_t size;   /**< Of the file, when it was last looked at. */
    uint8_t *window; /**< Bytes [window_start, window_end) of the file; NULL until it is read. */
    uint64_t window_start;
    uint64_t window_end;
    size_t step; /**< Bytes that are read next at the least. */
    lx__log_tail tail;
} lx__log_reader;

/** What a look at the place where a state ends shows. */
typedef enum lx__log_change {
    LX__LOG_UNCHANGED,   /**< There is nothing behind it that counts. */
    LX__LOG_MAYBE_GROWN, /**< There may be. */
    LX__LOG_TRUNCATED /**< The frame before it is not there any more: it was never synced, and cut. */
} lx__log_change;

/** Opens the log of @p identity in @p directory. A log that is not there is LX_ERR_CORRUPT. */
lx_status lx__log_open(lx__log_reader *log, const lx__file *directory,
                       const lx__log_identity *identity, lx_error *error);

void lx__log_close(lx__log_reader *log);

/** Whether it is worth a scan to go on from @p position: one system call where nothing is new. */
lx_status lx__log_poll(lx__log_reader *log, const lx__log_position *position,
                       lx__log_change *change, lx_error *error);

/**
 * Follows the chain of frames from @p from (zeros: the start) to its end.
 *
 * Frames up to the last synced one count; later ones count as long as they are of the boot @p boot
 * (0: unknown, none counts). An invalid frame is rot, and fails with LX_ERR_CORRUPT, if a whole
 * frame follows it that is synced or of this boot, or if it was written to its end in this boot; any
 * other is a torn end. A scan from a place after the start does not search for rot where the next
 * frame would begin with zeros, which writers keep there.
 */
lx_status lx__log_scan_from(lx__log_reader *log, const lx__log_position *from, uint64_t boot,
                            lx__log_scan *scan, lx_error *error);

/** Adds to the error of a scan that failed what to do about it. */
void lx__log_suggest_repair(lx_error *error, lx_status status);

/** Fails with LX_ERR_CORRUPT, as a scan found no valid frame at the start of the log. */
lx_status lx__log_fail_first(const lx__log_reader *log, lx_error *error);

/** The next place from @p offset on where a frame may begin, by its magic; the end of the file if
 * there is none. */
lx_status lx__log_find_magic(lx__log_reader *log, uint64_t *offset, lx_error *error);

/** Looks whether a whole frame with the right CRC lies at @p offset. */
lx_status lx__log_check_frame(lx__log_reader *log, uint64_t offset, lx__frame *frame, bool *whole,
                              lx_error *error);

/** Where the bytes of the log end, from @p start on, without the zeros that a writer keeps there. */
uint64_t lx__log_find_end(lx__log_reader *log, uint64_t start);

/** Notes that after a scan nothing counts from @p offset on, for lx__log_poll(). */
void lx__log_set_end(lx__log_reader *log, uint64_t offset);

/** Reads the header at @p offset of a frame that a scan found valid, its crc too. */
lx_status lx__log_read_frame(lx__log_reader *log, uint64_t offset, lx__frame *frame,
                             lx_error *error);

/** The @p size bytes of such a frame at @p offset of the file, at most LX__LOG_WINDOW; valid until
 * the next call. */
lx_status lx__log_read(lx__log_reader *log, uint64_t offset, size_t size, const uint8_t **bytes,
                       lx_error *error);

/** Bytes that are read, and can be looked at, at once: a call for so many costs little, and a
 * second level cache holds them. */
#define LX__LOG_WINDOW ((size_t)1 << 17)

#endif
