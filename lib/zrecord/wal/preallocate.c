/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/preallocate.h"

#include "base/bytes.h"

/* Minimum number of zeros to write. Once the log is larger than this, as many zeros are written as
 * the log has bytes. A small dataset thus stays small, and opening it after a crash searches only a
 * few bytes beyond the last frame. */
#define LEAST ((uint64_t)4096)
/* A frame longer than 1/SHARE of the maximum number of zeros takes longer to sync than the journal
 * does. */
#define SHARE 4

static uint64_t choose_end(uint64_t end, uint64_t most)
{
    uint64_t size = end < LEAST ? LEAST : end > most ? most : end;
    return lx__align_up(end + size, LEAST);
}

void lx__preallocate(uint64_t *zeros_end, const lx__file *file, uint64_t start, uint64_t end,
                     uint64_t most)
{
    /* not const, so that it takes up no space in the library file */
    static uint8_t zeros[64 << 10];
    if (end <= *zeros_end || end - start > most / SHARE)
        return;
    uint64_t last = choose_end(end, most);
    for (uint64_t at = end; at < last;) {
        size_t step = last - at < sizeof zeros ? (size_t)(last - at) : sizeof zeros;
        if (lx__file_write(file, zeros, step, at, NULL) != LX_OK) {
            lx__preallocate_trim(zeros_end, file, end);
            return;
        }
        at += step;
    }
    *zeros_end = last;
}

void lx__preallocate_trim(uint64_t *zeros_end, const lx__file *file, uint64_t end)
{
    *zeros_end = 0;
    (void)lx__file_truncate(file, end, NULL);
}
