/* SPDX-License-Identifier: MIT */
/* Zeros behind the last frame of the log. To sync a frame that makes the file longer, the file
 * system has to write the file's new size and place, too, in its journal; where zeros were written
 * and synced before, it has only the frame to write. */
#include "base/bytes.h"
#include "base/file.h"
#include "zrecord/writer/writer.h"

/* As many zeros as there is log, within these: a small dataset stays small, and who opens a log that
 * was not closed has little to search behind its end. */
#define RESERVE_MIN ((uint64_t)4096)
#define RESERVE_MAX ((uint64_t)256 << 10)
/* A large frame takes longer than the journal. */
#define FRAME_MAX (RESERVE_MAX / 4)

static uint64_t choose_end(uint64_t end)
{
    uint64_t size = end < RESERVE_MIN ? RESERVE_MIN : end > RESERVE_MAX ? RESERVE_MAX : end;
    return lx__align_up(end + size, RESERVE_MIN);
}

void lx__writer_reserve_log(lx_writer *writer, uint64_t start, uint64_t end)
{
    static uint8_t zeros[RESERVE_MAX / 4]; /* not const: so it takes no room in the library */
    if (end <= writer->log_reserved || end - start > FRAME_MAX)
        return;
    uint64_t last = choose_end(end);
    for (uint64_t at = end; at < last;) {
        size_t step = last - at < sizeof zeros ? (size_t)(last - at) : sizeof zeros;
        if (lx__file_write(&writer->log, zeros, step, at, NULL) != LX_OK) {
            lx__writer_trim_log(writer, end); /* a full disk: nothing that is needed */
            return;
        }
        at += step;
    }
    writer->log_reserved = last;
}

void lx__writer_trim_log(lx_writer *writer, uint64_t end)
{
    writer->log_reserved = 0;
    /* Zeros that stay are a torn end, which the next writer cuts. */
    (void)lx__file_truncate(&writer->log, end, NULL);
}
