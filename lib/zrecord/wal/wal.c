/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/wal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/boot-id.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"

/* The search after an invalid frame checks all places that look like frames, until the sizes of
 * these frames add up to this many times the number of bytes to search. Without this limit, a
 * hostile log that looks like a large frame in every place would make the search take far too
 * long. */
#define SEARCH_EFFORT 4
/* How many bytes a scan that continues from a state reads first. Usually there are only a few
 * frames, followed by preallocated zeros. */
#define FIRST_STEP ((size_t)4096)
/* Number of bytes of the magic and the size at the start of a frame. If these bytes are zeros, no
 * frame has been written there yet. */
#define FRAME_START 8

lx_status lx__wal_open(lx__wal_reader *log, const lx__file *directory,
                       const lx__wal_identity *identity, lx_error *error)
{
    char name[LX__NAME_SIZE];
    *log = (lx__wal_reader){.file = LX__FILE_CLOSED, .identity = *identity};
    lx__wal_name(identity->generation, name);
    /* meta.json names the log, so the log must exist. */
    lx_status status =
        lx__file_must_exist(lx__file_open(&log->file, directory, name, O_RDONLY, error), error);
    if (status == LX_OK)
        status = lx__boot_id_read(&log->boot, error);
    if (status != LX_OK)
        lx__wal_close(log);
    return status;
}

void lx__wal_close(lx__wal_reader *log)
{
    lx__file_close(&log->file);
    lx__free(log->window);
    log->window = NULL;
}

static void clear_window(lx__wal_reader *log)
{
    log->window_start = log->window_end = 0;
}

/** Reads at least @p size bytes, unless the file ends earlier. */
static lx_status fill_window(lx__wal_reader *log, uint64_t offset, size_t size, lx_error *error)
{
    size_t got, step = size > log->step ? size : log->step;
    if (log->window == NULL)
        log->window = lx__alloc(LX__WAL_WINDOW);
    if (log->window == NULL)
        return lx__fail_memory(error, "the WAL read buffer");
    clear_window(log);
    /* Do not read beyond the last known size: finding the end of the file takes another call. */
    uint64_t there = offset < log->size ? log->size - offset : step;
    size_t wanted = there < step ? (size_t)there : step;
    log->step = step < LX__WAL_WINDOW / 2 ? 2 * step : LX__WAL_WINDOW;
    lx_status status = lx__file_read_some(&log->file, log->window, wanted, offset, &got, error);
    if (status == LX_OK) {
        log->window_start = offset;
        log->window_end = offset + got;
    }
    return status;
}

/** Returns bytes of the file, or NULL if the file ends before them: a writer may have truncated it
 * since the last fstat(). */
static lx_status view_bytes(lx__wal_reader *log, uint64_t offset, size_t size,
                            const uint8_t **bytes, lx_error *error)
{
    *bytes = NULL;
    if (offset < log->window_start || offset + size > log->window_end) {
        lx_status status = fill_window(log, offset, size, error);
        if (status != LX_OK)
            return status;
        if (log->window_end - offset < size) {
            clear_window(log);
            return LX_OK;
        }
    }
    *bytes = log->window + (offset - log->window_start);
    return LX_OK;
}

lx_status lx__wal_read(lx__wal_reader *log, uint64_t offset, size_t size, const uint8_t **bytes,
                       lx_error *error)
{
    lx_status status = view_bytes(log, offset, size, bytes, error);
    if (status != LX_OK || *bytes != NULL)
        return status;
    status = lx_fail(error, LX_ERR_CORRUPT, "the WAL was truncated while it was being read");
    lx_error_locate(error, log->file.path, NULL, LX_NONE, offset);
    return status;
}

lx_status lx__wal_read_frame(lx__wal_reader *log, uint64_t offset, lx__frame *frame,
                             lx_error *error)
{
    const uint8_t *bytes;
    lx_status status = lx__wal_read(log, offset, LX__FRAME_HEADER, &bytes, error);
    if (status != LX_OK)
        return status;
    /* The scan found the frame valid, but check it again, because callers advance by its size. */
    if (!lx__frame_load(frame, bytes)) {
        status = lx_fail(error, LX_ERR_CORRUPT, "the WAL was changed while it was being read");
        lx_error_locate(error, log->file.path, NULL, LX_NONE, offset);
        return status;
    }
    status = lx__wal_read(log, offset + frame->bytes - 4, 4, &bytes, error);
    if (status == LX_OK)
        frame->crc = lx__load_le32(bytes);
    return status;
}

/** Computes the CRC of the frame at @p offset, window by window, and reads the stored CRC. Sets
 * @p all to whether the file contains the whole frame. */
static lx_status compute_crc(lx__wal_reader *log, uint64_t offset, lx__frame *frame, uint32_t *crc,
                             bool *all, lx_error *error)
{
    uint64_t left = frame->bytes - 4;
    const uint8_t *bytes;
    *crc = lx__frame_crc_start(&log->identity);
    while (left != 0) {
        size_t step = left < LX__WAL_WINDOW ? (size_t)left : LX__WAL_WINDOW;
        lx_status status = view_bytes(log, offset, step, &bytes, error);
        if (status != LX_OK || bytes == NULL)
            return status;
        *crc = lx__crc32c(*crc, bytes, step);
        offset += step;
        left -= step;
    }
    lx_status status = view_bytes(log, offset, 4, &bytes, error);
    *all = status == LX_OK && bytes != NULL;
    if (*all)
        frame->crc = lx__load_le32(bytes);
    return status;
}

/** Reads the frame at @p offset. Sets @p all to true if its size is plausible and the file contains
 * all of it, and sets @p crc to the CRC of its bytes. */
static lx_status read_frame(lx__wal_reader *log, uint64_t offset, lx__frame *frame, uint32_t *crc,
                            bool *all, lx_error *error)
{
    const uint8_t *bytes;
    *all = false;
    if (!lx__range_fits(offset, LX__FRAME_HEADER, log->size))
        return LX_OK;
    lx_status status = view_bytes(log, offset, LX__FRAME_HEADER, &bytes, error);
    if (status != LX_OK || bytes == NULL || !lx__frame_load(frame, bytes) ||
        !lx__range_fits(offset, frame->bytes, log->size))
        return status;
    return compute_crc(log, offset, frame, crc, all, error);
}

/** Checks whether there is a whole frame with the correct CRC at @p offset. */
static lx_status check_frame(lx__wal_reader *log, uint64_t offset, lx__frame *frame, bool *whole,
                             lx_error *error)
{
    uint32_t crc;
    bool all;
    lx_status status = read_frame(log, offset, frame, &crc, &all, error);
    *whole = all && (frame->crc == crc || LX__FAULT(FRAME_CRC));
    return status;
}

/** Checks whether the frame at position @p at is valid and continues the chain. */
static lx_status read_next(lx__wal_reader *log, const lx__wal_position *at, lx__frame *frame,
                           bool *valid, lx_error *error)
{
    lx_status status = check_frame(log, at->offset, frame, valid, error);
    *valid = *valid && frame->sequence == at->sequence && frame->previous_crc == at->crc;
    return status;
}

/** Returns the offset of the next data at or after @p offset, skipping a hole if there is one
 * there. The result is a multiple of 8. */
static uint64_t skip_hole(const lx__wal_reader *log, uint64_t offset)
{
    if (log->file.provider != NULL)
        return offset;
    off_t data = lseek(log->file.fd, (off_t)offset, SEEK_DATA);
    if (data == -1)
        return errno == ENXIO ? log->size : offset;
    uint64_t start = (uint64_t)data & ~(uint64_t)(LX__FRAME_ALIGN - 1);
    return start > offset ? start : offset;
}

/** Advances @p offset to the next frame magic at or after it; to the file size if there is none. */
static lx_status find_magic(lx__wal_reader *log, uint64_t *offset, lx_error *error)
{
    uint64_t at = *offset;
    while (lx__range_fits(at, LX__FRAME_HEADER, log->size)) {
        if (at < log->window_start || at + LX__FRAME_HEADER > log->window_end) {
            at = skip_hole(log, at);
            lx_status status = fill_window(log, at, LX__WAL_WINDOW, error);
            if (status != LX_OK)
                return status;
        }
        const uint8_t *bytes = log->window + (at - log->window_start);
        const uint8_t *end = log->window + (log->window_end - log->window_start);
        if ((size_t)(end - bytes) < LX__FRAME_HEADER)
            break; /* the file was truncated */
        for (; (size_t)(end - bytes) >= LX__FRAME_HEADER; bytes += LX__FRAME_ALIGN) {
            if (lx__load_le32(bytes) == LX__FRAME_MAGIC) {
                *offset = log->window_start + (uint64_t)(bytes - log->window);
                return LX_OK;
            }
        }
        at = log->window_start + (uint64_t)(bytes - log->window);
    }
    *offset = log->size;
    return LX_OK;
}

uint64_t lx__wal_find_end(lx__wal_reader *log, uint64_t start)
{
    uint64_t end = start, at = start;
    while ((at = skip_hole(log, at)) < log->size) {
        const uint8_t *bytes;
        uint64_t left = log->size - at;
        size_t step = left < LX__WAL_WINDOW ? (size_t)left : LX__WAL_WINDOW;
        if (lx__wal_read(log, at, step, &bytes, NULL) != LX_OK)
            break;
        for (size_t i = step; i != 0 && at + i > end; i--)
            if (bytes[i - 1] != 0)
                end = lx__align_up(at + i, LX__FRAME_ALIGN);
        at += step;
    }
    return end;
}

/** Whether the current boot wrote the frame, so that the data it refers to cannot have been lost in
 * a crash. */
static bool is_of_boot(const lx__frame *frame, uint64_t boot)
{
    return boot != 0 && frame->boot == boot;
}

/** Searches for a whole frame at or after @p at that is synced or of this boot and has at least the
 * sequence number of @p at. If there is one, the frame at @p at was whole when it was written. */
static lx_status find_later(lx__wal_reader *log, const lx__wal_position *at, uint64_t boot,
                            bool *found, lx_error *error)
{
    uint64_t tried = 0, limit = (log->size - at->offset) * SEARCH_EFFORT, offset = at->offset;
    lx_status status = find_magic(log, &offset, error);
    *found = false;
    while (status == LX_OK && !*found && offset < log->size) {
        const uint8_t *bytes;
        lx__frame frame;
        status = view_bytes(log, offset, LX__FRAME_HEADER, &bytes, error);
        if (status != LX_OK || bytes == NULL)
            break;
        if (lx__frame_load(&frame, bytes) && frame.sequence >= at->sequence &&
            ((frame.flags & LX__FRAME_SYNCED) != 0 || is_of_boot(&frame, boot)) &&
            lx__range_fits(offset, frame.bytes, log->size)) {
            /* Too many places look like frames, which cannot be due to a torn write. */
            tried += frame.bytes;
            if (tried > limit)
                *found = true;
            else
                status = check_frame(log, offset, &frame, found, error);
        }
        offset += LX__FRAME_ALIGN;
        if (status == LX_OK && !*found)
            status = find_magic(log, &offset, error);
    }
    return status;
}

static void accept_frame(lx__wal_scan *scan, const lx__frame *frame, uint64_t boot, bool *unbroken)
{
    uint64_t start = scan->valid.offset;
    scan->valid.offset += frame->bytes;
    scan->valid.sequence++;
    scan->valid.crc = frame->crc;
    if (frame->flags & LX__FRAME_SYNCED) {
        scan->durable = scan->valid_in_boot = scan->valid;
        scan->synced_start = start;
        *unbroken = true;
        return;
    }
    *unbroken = *unbroken && (is_of_boot(frame, boot) || (boot != 0 && LX__FAULT(BOOT)));
    if (*unbroken)
        scan->valid_in_boot = scan->valid;
}

static lx_status fail_damaged(lx__wal_reader *log, const lx__wal_position *at, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "WAL frame %" PRIu64 " is damaged",
                               at->sequence);
    lx_error_locate(error, log->file.path, NULL, LX_NONE, at->offset);
    return status;
}

void lx__wal_suggest_repair(lx_error *error, lx_status status)
{
    if (status == LX_ERR_CORRUPT)
        lx__error_append(error, ": run 'loaderx repair' to list the possible repairs");
}

lx_status lx__wal_fail_first(const lx__wal_reader *log, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "the first WAL frame is damaged");
    lx_error_locate(error, log->file.path, NULL, LX_NONE, 0);
    return status;
}

/** Updates the known file size, and discards the bytes in the window. */
static lx_status stat_file(lx__wal_reader *log, lx_error *error)
{
    clear_window(log);
    return lx__file_must_exist(lx__file_size(&log->file, &log->size, error), error);
}

lx_status lx__wal_poll(lx__wal_reader *log, const lx__wal_position *position,
                       lx__wal_change *change, lx_error *error)
{
    uint8_t bytes[4 + FRAME_START]; /* the last frame's CRC and the start of the next frame */
    size_t got;
    *change = LX__WAL_MAYBE_GROWN;
    if (position->offset == 0)
        return LX_OK;
    lx_status status = lx__file_read_once(&log->file, bytes, sizeof bytes, position->offset - 4,
                                          &got, error);
    if (status != LX_OK)
        return status;
    if (got < 4 || lx__load_le32(bytes) != position->crc)
        *change = LX__WAL_TRUNCATED;
    else if (got == 4 || (got == sizeof bytes && lx__load_le64(bytes + 4) == 0))
        *change = LX__WAL_UNCHANGED;
    return LX_OK;
}

/** Checks whether there are zeros where the next frame would begin. */
static lx_status starts_with_zeros(lx__wal_reader *log, uint64_t offset, bool *blank,
                                   lx_error *error)
{
    const uint8_t *bytes;
    lx_status status = view_bytes(log, offset, FRAME_START, &bytes, error);
    *blank = status == LX_OK && bytes != NULL && lx__load_le64(bytes) == 0;
    return status;
}

/** Follows the chain to its current end. */
static lx_status follow_chain(lx__wal_reader *log, uint64_t boot, lx__wal_scan *scan,
                              bool *unbroken, lx_error *error)
{
    lx_status status = stat_file(log, error);
    while (status == LX_OK) {
        lx__frame frame;
        bool valid;
        status = read_next(log, &scan->valid, &frame, &valid, error);
        if (status != LX_OK || !valid)
            break;
        accept_frame(scan, &frame, boot, unbroken);
    }
    return status;
}

/** What was read from an invalid frame that may be damaged. Only two identical reads prove damage;
 * otherwise, a writer may be writing or truncating the frame at the same time. */
typedef struct evidence {
    uint64_t offset; /**< Offset of the frame; LX_NONE if it is torn. */
    uint32_t crc;    /**< CRC of its bytes. */
    uint32_t own;    /**< CRC in its trailer. Both CRCs are 0 if a later frame proves the damage. */
} evidence;

/** Classifies the invalid frame at @p at. It is damaged if a later frame proves that it was once
 * whole, or if it was completely written in this boot. A write that is cut short by a crash of the
 * writer leaves only the beginning of a frame: where the CRC should be, there are zeros, or the
 * file ends before that. */
static lx_status classify_invalid(lx__wal_reader *log, const lx__wal_position *at, uint64_t boot,
                                  evidence *rot, lx_error *error)
{
    lx__frame frame;
    bool later, all;
    *rot = (evidence){.offset = LX_NONE};
    lx_status status = find_later(log, at, boot, &later, error);
    if (status == LX_OK && later)
        rot->offset = at->offset;
    if (status != LX_OK || later)
        return status;
    status = read_frame(log, at->offset, &frame, &rot->crc, &all, error);
    if (status == LX_OK && all && is_of_boot(&frame, boot) && frame.crc != 0) {
        rot->offset = at->offset;
        rot->own = frame.crc;
    }
    return status;
}

lx_status lx__wal_scan_from(lx__wal_reader *log, const lx__wal_position *from, uint64_t boot,
                            lx__wal_scan *scan, lx_error *error)
{
    bool unbroken = true, blank = false;
    evidence before = {.offset = LX_NONE}, now;
    *scan = (lx__wal_scan){
        .valid = *from, .valid_in_boot = *from, .durable = *from, .synced_start = LX_NONE};
    log->step = from->offset != 0 ? FIRST_STEP : LX__WAL_WINDOW;
    lx_status status = follow_chain(log, boot, scan, &unbroken, error);
    /* A reader that finds zeros does not search beyond them; that is done the next time the dataset
     * is opened. */
    if (status == LX_OK && from->offset != 0)
        status = starts_with_zeros(log, scan->valid.offset, &blank, error);
    while (status == LX_OK && !blank) {
        status = classify_invalid(log, &scan->valid, boot, &now, error);
        if (status != LX_OK || now.offset == LX_NONE)
            break;
        if (now.offset == before.offset && now.crc == before.crc && now.own == before.own)
            return fail_damaged(log, &scan->valid, error);
        /* A writer may have changed the frame between the two reads. */
        before = now;
        status = follow_chain(log, boot, scan, &unbroken, error);
    }
    scan->torn = scan->valid.offset < log->size;
    return status;
}
