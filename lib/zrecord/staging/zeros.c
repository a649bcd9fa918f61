/* SPDX-License-Identifier: MIT */
#include "zrecord/staging/zeros.h"

#include "base/bytes.h"

/* As many zeros as the file has bytes, but not fewer than this: a small dataset stays small, and
 * who opens a log that was not closed has little to search behind its end. */
#define LEAST ((uint64_t)4096)
/* To sync more than this share of the zeros takes longer than the journal. */
#define SHARE 4

static uint64_t choose_end(uint64_t end, uint64_t most, uint64_t limit)
{
    uint64_t size = end < LEAST ? LEAST : end > most ? most : end;
    uint64_t last = lx__align_up(end + size, LEAST);
    return last < limit ? last : limit;
}

void lx__zeros_extend(uint64_t *zeros_end, const lx__file *file, uint64_t start, uint64_t end,
                      uint64_t most, uint64_t limit)
{
    static uint8_t zeros[64 << 10]; /* not const: so it takes no room in the library */
    if (end <= *zeros_end || end - start > most / SHARE)
        return;
    uint64_t last = choose_end(end, most, limit);
    for (uint64_t at = end; at < last;) {
        size_t step = last - at < sizeof zeros ? (size_t)(last - at) : sizeof zeros;
        if (lx__file_write(file, zeros, step, at, NULL) != LX_OK) {
            lx__zeros_cut(zeros_end, file, end); /* a full disk: nothing that is needed */
            return;
        }
        at += step;
    }
    *zeros_end = last;
}

void lx__zeros_cut(uint64_t *zeros_end, const lx__file *file, uint64_t end)
{
    *zeros_end = 0;
    /* What stays is overwritten in the course of time; behind a log it is a torn end. */
    (void)lx__file_truncate(file, end, NULL);
}
