/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A log read a second time, from memory, as doc/zrecord-format.md, 8.14, writes it down:
 * frame by frame, with all updates walked over at each. The library must come to the same.
 */
#ifndef LX_TESTS_FUZZ_PLAIN_LOG_H
#define LX_TESTS_FUZZ_PLAIN_LOG_H

#include "fuzz.h"

enum plain_log_end {
    PLAIN_LOG_WHOLE,  /* it has a state */
    PLAIN_LOG_ROT,    /* an invalid frame that no interrupted write leaves */
    PLAIN_LOG_COSTLY, /* the same, or not: a reader may give up the search */
    PLAIN_LOG_BROKEN  /* a valid frame that breaks a rule */
};

struct plain_update {
    uint64_t index;
    uint32_t field; /* id */
    bool live;
    const uint8_t *rows;
};

struct plain_chunk {
    uint32_t id, records;
    uint64_t bytes;
};

struct plain_log {
    enum plain_log_end end;
    size_t frames; /* valid ones */
    size_t *ends;  /* of each */
    uint64_t length, rows;
    uint32_t table_generation, next_chunk;
    uint64_t sequence;            /* of the last frame */
    uint32_t crc;                 /* of it */
    uint64_t offset;              /* of its end */
    struct plain_update *updates; /* all that ever were: see live */
    size_t update_count;
    struct plain_chunk *chunks; /* in no order */
    size_t chunk_count;
};

/** Reads a log of fuzz_uuid, generation 0. @p boot is the present one. What it has stays until the
 * next call. */
const struct plain_log *plain_log_read(const uint8_t *log, size_t size, uint64_t boot,
                                       bool durable);

#endif
