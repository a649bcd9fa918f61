/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/wal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"

/* Behind a break, places that look like a frame are tried until their sizes sum to this many times
 * the bytes that are searched: a hostile log could make each place look like a large one. */
#define SEARCH_EFFORT 4
/* What is read first where a scan goes on: most often there are a few frames, and zeros that a writer
 * keeps behind them. */
#define FIRST_STEP ((size_t)4096)
/* Of a frame's header: magic and size. Where they are zero, no frame has been written yet. */
#define FRAME_START 8
/* The time of a file's last change is coarse, but not as coarse as that. */
#define MTIME_SECONDS 2

lx_status lx__log_open(lx__log_reader *log, const lx__file *directory,
                       const lx__log_identity *identity, lx_error *error)
{
    char name[LX__NAME_SIZE];
    *log = (lx__log_reader){.file = LX__FILE_CLOSED, .identity = *identity};
    lx__log_name(identity->generation, name);
    lx_status status = lx__file_open(&log->file, directory, name, O_RDONLY, error);
    if (status == LX_ERR_NOT_FOUND) {
        if (error != NULL && error->status == LX_ERR_NOT_FOUND)
            error->status = LX_ERR_CORRUPT; /* meta.json names it: it must be there */
        return LX_ERR_CORRUPT;
    }
    if (status == LX_OK)
        status = lx__boot_id_read(&log->boot, error);
    if (status != LX_OK)
        lx__log_close(log);
    return status;
}

void lx__log_close(lx__log_reader *log)
{
    lx__file_close(&log->file);
    lx__free(log->window);
    log->window = NULL;
}

static void clear_window(lx__log_reader *log)
{
    log->window_start = log->window_end = 0;
}

/** Takes @p size bytes or more, where there are so many. */
static lx_status fill_window(lx__log_reader *log, uint64_t offset, size_t size, lx_error *error)
{
    size_t got, step = size > log->step ? size : log->step;
    if (log->window == NULL)
        log->window = lx__alloc(LX__LOG_WINDOW);
    if (log->window == NULL)
        return lx__fail_memory(error, "the log's window");
    clear_window(log);
    /* No more than there was at the last look: to find the end takes another call. */
    uint64_t there = offset < log->size ? log->size - offset : step;
    size_t wanted = there < step ? (size_t)there : step;
    log->step = step < LX__LOG_WINDOW / 2 ? 2 * step : LX__LOG_WINDOW;
    lx_status status = lx__file_read_some(&log->file, log->window, wanted, offset, &got, error);
    if (status == LX_OK) {
        log->window_start = offset;
        log->window_end = offset + got;
    }
    return status;
}

/** The bytes, or NULL where the file ends before them: a writer may have cut a torn end since the
 * size was taken. */
static lx_status view_bytes(lx__log_reader *log, uint64_t offset, size_t size,
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

lx_status lx__log_read(lx__log_reader *log, uint64_t offset, size_t size, const uint8_t **bytes,
                       lx_error *error)
{
    lx_status status = view_bytes(log, offset, size, bytes, error);
    if (status != LX_OK || *bytes != NULL)
        return status;
    status = lx__fail(error, LX_ERR_CORRUPT, "the log was cut while it was read");
    lx__error_locate(error, log->file.path, NULL, LX_NONE, offset);
    return status;
}

lx_status lx__log_read_frame(lx__log_reader *log, uint64_t offset, lx__frame *frame,
                             lx_error *error)
{
    const uint8_t *bytes;
    lx_status status = lx__log_read(log, offset, LX__FRAME_HEADER, &bytes, error);
    if (status != LX_OK)
        return status;
    /* It was valid when it was scanned. Who goes on by its size must not be led to stand still. */
    if (!lx__frame_load(frame, bytes)) {
        status = lx__fail(error, LX_ERR_CORRUPT, "the log was changed while it was read");
        lx__error_locate(error, log->file.path, NULL, LX_NONE, offset);
        return status;
    }
    status = lx__log_read(log, offset + frame->bytes - 4, 4, &bytes, error);
    if (status == LX_OK)
        frame->crc = lx__load_le32(bytes);
    return status;
}

/** Takes the CRC of the frame at @p offset, window by window, and reads its own. @p all: the file
 * did not end before. */
static lx_status compute_crc(lx__log_reader *log, uint64_t offset, lx__frame *frame, uint32_t *crc,
                             bool *all, lx_error *error)
{
    uint64_t left = frame->bytes - 4;
    const uint8_t *bytes;
    *crc = lx__frame_crc_start(&log->identity);
    while (left != 0) {
        size_t step = left < LX__LOG_WINDOW ? (size_t)left : LX__LOG_WINDOW;
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

/** Reads the frame at @p offset, if there is one of a possible size: @p all. @p crc is that of its
 * bytes. */
static lx_status read_frame(lx__log_reader *log, uint64_t offset, lx__frame *frame, uint32_t *crc,
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

lx_status lx__log_check_frame(lx__log_reader *log, uint64_t offset, lx__frame *frame, bool *whole,
                              lx_error *error)
{
    uint32_t crc;
    bool all;
    lx_status status = read_frame(log, offset, frame, &crc, &all, error);
    *whole = all && (frame->crc == crc || LX__FAULT(FRAME_CRC));
    return status;
}

/** Whether the frame at the place @p at carries on the chain there. */
static lx_status read_next(lx__log_reader *log, const lx__log_position *at, lx__frame *frame,
                           bool *valid, lx_error *error)
{
    lx_status status = lx__log_check_frame(log, at->offset, frame, valid, error);
    *valid = *valid && frame->sequence == at->sequence && frame->previous_crc == at->crc;
    return status;
}

/** Where bytes begin again at or behind @p offset, which a hole may follow: a multiple of 8. */
static uint64_t skip_hole(const lx__log_reader *log, uint64_t offset)
{
    off_t data = lseek(log->file.fd, (off_t)offset, SEEK_DATA);
    if (data == -1)
        return errno == ENXIO ? log->size : offset;
    uint64_t start = (uint64_t)data & ~(uint64_t)(LX__FRAME_ALIGN - 1);
    return start > offset ? start : offset;
}

lx_status lx__log_find_magic(lx__log_reader *log, uint64_t *offset, lx_error *error)
{
    uint64_t at = *offset;
    while (lx__range_fits(at, LX__FRAME_HEADER, log->size)) {
        if (at < log->window_start || at + LX__FRAME_HEADER > log->window_end) {
            at = skip_hole(log, at);
            lx_status status = fill_window(log, at, LX__LOG_WINDOW, error);
            if (status != LX_OK)
                return status;
        }
        const uint8_t *bytes = log->window + (at - log->window_start);
        const uint8_t *end = log->window + (log->window_end - log->window_start);
        if ((size_t)(end - bytes) < LX__FRAME_HEADER)
            break; /* it was cut */
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

uint64_t lx__log_find_end(lx__log_reader *log, uint64_t start)
{
    uint64_t end = start, at = start;
    while ((at = skip_hole(log, at)) < log->size) {
        const uint8_t *bytes;
        uint64_t left = log->size - at;
        size_t step = left < LX__LOG_WINDOW ? (size_t)left : LX__LOG_WINDOW;
        if (lx__log_read(log, at, step, &bytes, NULL) != LX_OK)
            break;
        for (size_t i = step; i != 0 && at + i > end; i--)
            if (bytes[i - 1] != 0)
                end = lx__align_up(at + i, LX__FRAME_ALIGN);
        at += step;
    }
    return end;
}

/** Whether a kill leaves what the frame names: the present boot wrote it. */
static bool is_of_boot(const lx__frame *frame, uint64_t boot)
{
    return boot != 0 && frame->boot == boot;
}

/** Whether a whole frame that is synced, or of this boot, and of an epoch not below @p at's, lies
 * there or anywhere after it: whichever it is, the frame at @p at was whole when it was written. */
static lx_status find_later(lx__log_reader *log, const lx__log_position *at, uint64_t boot,
                            bool *found, lx_error *error)
{
    uint64_t tried = 0, limit = (log->size - at->offset) * SEARCH_EFFORT, offset = at->offset;
    lx_status status = lx__log_find_magic(log, &offset, error);
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
            /* Too much that looks like frames: no torn end does that. */
            tried += frame.bytes;
            if (tried > limit)
                *found = true;
            else
                status = lx__log_check_frame(log, offset, &frame, found, error);
        }
        offset += LX__FRAME_ALIGN;
        if (status == LX_OK && !*found)
            status = lx__log_find_magic(log, &offset, error);
    }
    return status;
}

static void accept_frame(lx__log_scan *scan, const lx__frame *frame, uint64_t boot, bool *unbroken)
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

static lx_status fail_damaged(lx__log_reader *log, const lx__log_position *at, lx_error *error)
{
    lx_status status = lx__fail(
        error, LX_ERR_CORRUPT,
        "frame %" PRIu64 " of the log is damaged: it was whole when it was written", at->sequence);
    lx__error_locate(error, log->file.path, NULL, LX_NONE, at->offset);
    return status;
}

void lx__log_suggest_repair(lx_error *error, lx_status status)
{
    if (status != LX_ERR_CORRUPT || error == NULL)
        return;
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used,
             "; 'loaderx repair' tells what can be done");
}

lx_status lx__log_fail_first(const lx__log_reader *log, lx_error *error)
{
    lx_status status = lx__fail(error, LX_ERR_CORRUPT, "the first frame of the log is damaged");
    lx__error_locate(error, log->file.path, NULL, LX_NONE, 0);
    return status;
}

/** Takes the size of the file, and notes whether later changes of it will show. */
static lx_status stat_file(lx__log_reader *log, lx_error *error)
{
    struct stat about;
    struct timespec now;
    if (fstat(log->file.fd, &about) == -1)
        return lx__fail_errno(error, errno, log->file.path, "cannot look at");
    clock_gettime(CLOCK_REALTIME, &now);
    log->size = (uint64_t)about.st_size;
    log->tail = (lx__log_tail){.mtime_reliable = now.tv_sec - about.st_mtim.tv_sec >= MTIME_SECONDS,
                               .offset = LX_NONE,
                               .mtime = about.st_mtim};
    clear_window(log);
    return LX_OK;
}

void lx__log_set_end(lx__log_reader *log, uint64_t offset)
{
    log->tail.offset = offset;
}

/** Whether the file is as it was when nothing counted from @p offset on. */
static bool is_unchanged(const lx__log_reader *log, uint64_t offset)
{
    struct stat about;
    return log->tail.mtime_reliable && log->tail.offset == offset &&
           fstat(log->file.fd, &about) == 0 && (uint64_t)about.st_size == log->size &&
           about.st_mtim.tv_sec == log->tail.mtime.tv_sec &&
           about.st_mtim.tv_nsec == log->tail.mtime.tv_nsec;
}

lx_status lx__log_poll(lx__log_reader *log, const lx__log_position *position,
                       lx__log_change *change, lx_error *error)
{
    uint8_t bytes[4 + FRAME_START]; /* the crc of the last frame, and what is behind it */
    size_t got;
    *change = LX__LOG_MAYBE_GROWN;
    if (position->offset == 0)
        return LX_OK;
    lx_status status = lx__file_read_once(&log->file, bytes, sizeof bytes, position->offset - 4,
                                          &got, error);
    if (status != LX_OK)
        return status;
    if (got < 4 || lx__load_le32(bytes) != position->crc)
        *change = LX__LOG_TRUNCATED;
    else if (got == 4 || (got == sizeof bytes && lx__load_le64(bytes + 4) == 0) ||
             is_unchanged(log, position->offset))
        *change = LX__LOG_UNCHANGED;
    return LX_OK;
}

/** Whether zeros stand where the next frame would begin. */
static lx_status starts_with_zeros(lx__log_reader *log, uint64_t offset, bool *blank,
                                   lx_error *error)
{
    const uint8_t *bytes;
    lx_status status = view_bytes(log, offset, FRAME_START, &bytes, error);
    *blank = status == LX_OK && bytes != NULL && lx__load_le64(bytes) == 0;
    return status;
}

/** Follows the chain as far as it goes now. */
static lx_status follow_chain(lx__log_reader *log, uint64_t boot, lx__log_scan *scan,
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

/** What was read of an invalid frame that may be rot. Two readings that are equal are of a frame
 * that no writer is writing, or cutting, at the same time. */
typedef struct evidence {
    uint64_t offset; /**< LX_NONE: there is no suspicion. */
    uint32_t crc;    /**< Of its bytes, */
    uint32_t own;    /**< and the one that it has. Both 0: a later frame shows that it is rot. */
} evidence;

/**
 * Judges the invalid frame at @p at. It is rot if a later frame shows that it was whole, or if it
 * was written to its end in this boot: a write that a kill interrupts leaves the beginning of a
 * frame, with zeros or the end of the file where the crc of the trailer would be.
 */
static lx_status classify_invalid(lx__log_reader *log, const lx__log_position *at, uint64_t boot,
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

lx_status lx__log_scan_from(lx__log_reader *log, const lx__log_position *from, uint64_t boot,
                            lx__log_scan *scan, lx_error *error)
{
    bool unbroken = true, blank = false;
    evidence before = {.offset = LX_NONE}, now;
    *scan = (lx__log_scan){
        .valid = *from, .valid_in_boot = *from, .durable = *from, .synced_start = LX_NONE};
    log->step = from->offset != 0 ? FIRST_STEP : LX__LOG_WINDOW;
    lx_status status = follow_chain(log, boot, scan, &unbroken, error);
    /* A reader that follows a log leaves it to the next opening to search what comes after zeros. */
    if (status == LX_OK && from->offset != 0)
        status = starts_with_zeros(log, scan->valid.offset, &blank, error);
    while (status == LX_OK && !blank) {
        status = classify_invalid(log, &scan->valid, boot, &now, error);
        if (status != LX_OK || now.offset == LX_NONE)
            break;
        if (now.offset == before.offset && now.crc == before.crc && now.own == before.own)
            return fail_damaged(log, &scan->valid, error);
        /* A writer may have been at work between the two looks. */
        before = now;
        status = follow_chain(log, boot, scan, &unbroken, error);
    }
    scan->torn = scan->valid.offset < log->size;
    return status;
}
