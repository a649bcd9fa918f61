/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Log frames made from arbitrary bytes. Since no fuzzer guesses a CRC, an option makes them
 * valid, so that the input tests their rules and updates.
 */
#ifndef LX_TESTS_FUZZ_FRAMES_H
#define LX_TESTS_FUZZ_FRAMES_H

#include "fuzz.h"

/* The bits of the first byte of an input, which is followed by the bytes of a log. */
enum {
    FRAMES_REPAIR = 1,         /* correct sizes, sequence numbers and CRCs */
    FRAMES_THIS_BOOT = 2,      /* frames are of this boot */
    FRAMES_SENSIBLE = 4,       /* limit lengths, rows and chunks to small numbers */
    FRAMES_SNAPSHOT_FIRST = 8, /* the first frame has the flags of a first frame */
    FRAMES_HOW_SHIFT = 4,      /* the options of the reader: three bits */
    FRAMES_READ_ONLY = 128     /* skip the writer, which takes ten times as long */
};

#define FRAMES_MAX ((size_t)65536)
/* The number of chunks of the dataset, and their size, for a log with limited numbers. */
#define FRAMES_CHUNKS 4
#define FRAMES_CHUNK_BYTES 4096

/** Makes the bytes of a log from an input without its options; returns their number. */
size_t frames_make(const uint8_t *data, size_t size, unsigned options, uint8_t log[FRAMES_MAX]);

/** Writes the log of the dataset NAME (fuzz_make_dataset()), with tables and chunks of zeros. */
void frames_write(const char *name, const uint8_t *log, size_t size);

#endif
