/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A second implementation of replay, on a log in memory, as in doc/zrecord-format.md, 8.14:
 * each frame visits all updates. The library must give the same result.
 */
#ifndef LX_TESTS_FUZZ_PLAIN_LOG_H
#define LX_TESTS_FUZZ_PLAIN_LOG_H

#include "fuzz.h"

enum plain_log_end {
    PLAIN_LOG_WHOLE,   /* the log has a state */
    PLAIN_LOG_DAMAGED, /* an invalid frame that an interrupted write cannot leave */
    PLAIN_LOG_COSTLY,  /* perhaps damaged: a reader may give up the search */
    PLAIN_LOG_BROKEN   /* a valid frame that breaks a rule */
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
    size_t *ends;  /* of the frames */
    uint64_t length, rows;
    uint32_t table_generation, next_chunk;
    uint64_t sequence;            /* of the last frame */
    uint32_t crc;                 /* of the last frame */
    uint64_t offset;              /* of the end of the last frame */
    struct plain_update *updates; /* all updates, including those that are not live */
    size_t update_count;
    struct plain_chunk *chunks; /* unordered */
    size_t chunk_count;
};

/** Reads a log of fuzz_uuid, generation 0. @p boot is the present boot. The result is valid until
 * the next call. */
const struct plain_log *plain_log_read(const uint8_t *log, size_t size, uint64_t boot,
                                       bool durable);

#endif
