/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Frames of a log made of any bytes: since no fuzzer guesses a CRC, they are made valid if
 * that is asked for, and then it is their rules and their updates that are tried.
 */
#ifndef LX_TESTS_FUZZ_FRAMES_H
#define LX_TESTS_FUZZ_FRAMES_H

#include "fuzz.h"

/* What the options of an input mean, which is a byte of options and then the bytes of a log. */
enum {
    FRAMES_REPAIR = 1,         /* sizes, sequence numbers and CRCs are made right */
    FRAMES_THIS_BOOT = 2,      /* frames are of this boot */
    FRAMES_SENSIBLE = 4,       /* lengths, rows and chunks are not far beyond what there is */
    FRAMES_SNAPSHOT_FIRST = 8, /* the first frame has the flags of one */
    FRAMES_HOW_SHIFT = 4,      /* how it is read: three bits */
    FRAMES_READ_ONLY = 128     /* no writer opens it, which takes ten times as long */
};

#define FRAMES_MAX ((size_t)65536)
/* Of a log that is sensible, the dataset next to it has so many chunks of so many bytes. */
#define FRAMES_CHUNKS 4
#define FRAMES_CHUNK_BYTES 4096

/** Makes the bytes of a log of an input after its options; returns how many there are. */
size_t frames_make(const uint8_t *data, size_t size, unsigned options, uint8_t log[FRAMES_MAX]);

/** Writes the log of the dataset NAME (fuzz_make_dataset()), with tables and chunks of zeros. */
void frames_write(const char *name, const uint8_t *log, size_t size);

#endif
