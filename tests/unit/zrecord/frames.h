/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Handmade logs, byte by byte from doc/zrecord-format.md, valid or invalid.
 */
#ifndef LX_TESTS_FRAMES_H
#define LX_TESTS_FRAMES_H

#include "base/boot-id.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "files.h"
#include "zrecord/wal/frame.h"
#include "zrecord/wal/wal.h"

/** The bytes of a frame without items. */
#define EMPTY_FRAME 72

/** The log of the document's example. */
static const lx__wal_identity example_log = {{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                              0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff},
                                             0};

/** The first log of the dataset with that uuid. */
static inline lx__wal_identity identity_of(const char *uuid)
{
    lx__wal_identity identity = {.generation = 0};
    for (size_t digits = 0; *uuid != '\0'; uuid++) {
        if (*uuid == '-')
            continue;
        int value = *uuid <= '9' ? *uuid - '0' : *uuid - 'a' + 10;
        identity.uuid[digits / 2] = (uint8_t)(identity.uuid[digits / 2] << 4 | value);
        digits++;
    }
    return identity;
}

/** Whether unsynced frames count: not if the kernel does not report its boot. */
static inline bool boots_are_known(void)
{
    if (lx__boot_id() != 0)
        return true;
    fprintf(stderr, "skipped: the kernel's boot id is unknown\n");
    return false;
}

/** Bits of flags. */
enum { SNAPSHOT = 1, SYNCED = 2 };

/** The contents of a frame; members that are zero are filled in so that the frame is valid. */
struct frame {
    uint64_t length;
    uint64_t rows;
    uint32_t flags;
    uint64_t boot;
    uint32_t table_generation;
    uint32_t next_chunk;
    const lx__chunk_item *chunks;
    uint32_t chunk_count;
    const lx__update_item *updates;
    uint32_t update_count;
    /* The following members make it invalid. */
    uint32_t sequence_error; /**< Added to the sequence number. */
    uint32_t previous_error; /**< XORed into the crc of the previous frame. */
    uint32_t crc_error;      /**< XORed into its own crc. */
    uint32_t trailer_zero;   /**< In place of a reserved zero. */
    uint32_t set_zero;       /**< In place of the zero of the last update. */
};

/** A log that grows frame by frame. */
struct log {
    lx__wal_identity identity;
    uint8_t *bytes;
    size_t size;
    uint64_t sequence;
    uint32_t crc;
};

static inline size_t frame_bytes(const struct frame *frame)
{
    return 64 + 16 * (size_t)frame->chunk_count + 40 * (size_t)frame->update_count + 8;
}

static inline void put_items(uint8_t *at, const struct frame *frame)
{
    for (uint32_t i = 0; i < frame->chunk_count; i++, at += 16) {
        lx__store_le32(at, frame->chunks[i].id);
        lx__store_le32(at + 4, frame->chunks[i].records);
        lx__store_le64(at + 8, frame->chunks[i].bytes);
    }
    for (uint32_t i = 0; i < frame->update_count; i++, at += 40) {
        const lx__entry *entry = &frame->updates[i].entry;
        lx__store_le32(at, frame->updates[i].field);
        lx__store_le32(at + 4, i + 1 == frame->update_count ? frame->set_zero : 0);
        lx__store_le64(at + 8, frame->updates[i].index);
        lx__store_le32(at + 16, entry->chunk);
        lx__store_le32(at + 20, entry->physical);
        lx__store_le64(at + 24, entry->offset);
        lx__store_le32(at + 32, entry->logical);
        lx__store_le32(at + 36, entry->crc);
    }
    lx__store_le32(at, frame->trailer_zero);
}

/** The CRC of a frame: over the uuid, the generation, and its bytes except the last four. */
static inline uint32_t crc_of_frame(const lx__wal_identity *identity, const uint8_t *frame,
                                    size_t size)
{
    uint8_t seed[24];
    memcpy(seed, identity->uuid, 16);
    lx__store_le64(seed + 16, identity->generation);
    return lx__crc32c(lx__crc32c(0, seed, sizeof seed), frame, size - 4);
}

/** Adds a frame to the end of the log. */
static inline void log_add(struct log *log, const struct frame *frame)
{
    size_t size = frame_bytes(frame);
    log->bytes = realloc(log->bytes, log->size + size);
    uint8_t *at = log->bytes + log->size;
    memcpy(at, "LXLF", 4);
    lx__store_le32(at + 4, (uint32_t)size);
    lx__store_le64(at + 8, log->sequence + frame->sequence_error);
    lx__store_le64(at + 16, frame->length);
    lx__store_le64(at + 24, frame->rows);
    lx__store_le32(at + 32, frame->chunk_count);
    lx__store_le32(at + 36, frame->update_count);
    lx__store_le32(at + 40, log->crc ^ frame->previous_error);
    lx__store_le32(at + 44, frame->flags);
    lx__store_le64(at + 48, frame->boot);
    lx__store_le32(at + 56, frame->table_generation);
    lx__store_le32(at + 60, frame->next_chunk);
    put_items(at + 64, frame);
    log->crc = crc_of_frame(&log->identity, at, size) ^ frame->crc_error;
    lx__store_le32(at + size - 4, log->crc);
    log->sequence++;
    log->size += size;
}

/** A log of @p identity with its first frame, that of a new dataset. */
static inline struct log log_new(const lx__wal_identity *identity)
{
    struct log log = {.identity = *identity};
    log_add(&log, &(struct frame){.flags = SNAPSHOT | SYNCED});
    return log;
}

static inline void log_free(struct log *log)
{
    free(log->bytes);
    log->bytes = NULL;
}

/** Writes the log to its path in the present directory, and opens it. */
static inline lx__wal_reader log_put(const struct log *log)
{
    lx_error error = LX_ERROR_INIT;
    lx__wal_reader reader;
    lx__file here;
    char name[64] = "LOG";
    if (log->identity.generation != 0)
        snprintf(name, sizeof name, "LOG.%llu", (unsigned long long)log->identity.generation);
    file_put(name, log->bytes, log->size);
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    unit_ok(lx__wal_open(&reader, &here, &log->identity, &error));
    lx__file_close(&here);
    return reader;
}

#endif
