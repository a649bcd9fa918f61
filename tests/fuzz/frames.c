/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include "base/boot-id.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "zrecord/wal/frame.h"

/** Numbers that are likely to pass further checks. */
static void make_sensible(uint8_t *frame, uint32_t chunks, uint32_t updates)
{
    lx__store_le64(frame + 16, lx__load_le64(frame + 16) % (FUZZ_ROWS * 2));
    lx__store_le64(frame + 24, lx__load_le64(frame + 24) % (FUZZ_ROWS + 1));
    lx__store_le32(frame + 44, lx__load_le32(frame + 44) & LX__FRAME_SYNCED);
    lx__store_le32(frame + 56, 0);
    lx__store_le32(frame + 60, FRAMES_CHUNKS);
    uint8_t *item = frame + LX__FRAME_HEADER;
    for (uint32_t i = 0; i < chunks; i++, item += LX__FRAME_CHUNK) {
        lx__store_le32(item, i);
        lx__store_le64(item + 8, lx__load_le64(item + 8) % (FRAMES_CHUNK_BYTES + 1));
    }
    for (uint32_t i = 0; i < updates; i++, item += LX__FRAME_UPDATE) {
        lx__store_le32(item, lx__load_le32(item) % 5);
        lx__store_le32(item + 4, 0);
        lx__store_le64(item + 8, lx__load_le64(item + 8) % (FUZZ_ROWS * 2));
    }
    lx__store_le32(item, 0);
}

/** Makes frames from the bytes, one after another; returns their size in bytes. */
static size_t repair(uint8_t *log, size_t size, unsigned options)
{
    static uint64_t boot;
    lx__wal_identity identity = {.generation = 0};
    size_t at = 0;
    uint32_t crc = 0;
    if (boot == 0)
        boot = lx__boot_id();
    memcpy(identity.uuid, fuzz_uuid, sizeof fuzz_uuid);
    for (uint64_t sequence = 0; size - at >= LX__FRAME_HEADER + LX__FRAME_TRAILER; sequence++) {
        uint8_t *frame = log + at;
        size_t room = size - at - LX__FRAME_HEADER - LX__FRAME_TRAILER;
        uint32_t chunks = lx__load_le32(frame + 32) % (FRAMES_CHUNKS + 1);
        if (chunks * LX__FRAME_CHUNK > room)
            chunks = (uint32_t)(room / LX__FRAME_CHUNK);
        room -= chunks * LX__FRAME_CHUNK;
        uint32_t updates = lx__load_le32(frame + 36) % 64;
        if (updates * LX__FRAME_UPDATE > room)
            updates = (uint32_t)(room / LX__FRAME_UPDATE);
        uint32_t bytes = (uint32_t)lx__frame_size(chunks, updates);
        lx__store_le32(frame, LX__FRAME_MAGIC);
        lx__store_le32(frame + 4, bytes);
        lx__store_le64(frame + 8, sequence);
        lx__store_le32(frame + 32, chunks);
        lx__store_le32(frame + 36, updates);
        lx__store_le32(frame + 40, crc);
        if (options & FRAMES_SENSIBLE)
            make_sensible(frame, chunks, updates);
        if ((options & FRAMES_SNAPSHOT_FIRST) && sequence == 0)
            lx__store_le32(frame + 44, LX__FRAME_SNAPSHOT | LX__FRAME_SYNCED);
        if (options & FRAMES_THIS_BOOT)
            lx__store_le64(frame + 48, boot);
        crc = lx__crc32c(lx__frame_crc_start(&identity), frame, bytes - 4);
        lx__store_le32(frame + bytes - 4, crc);
        at += bytes;
    }
    return at;
}

size_t frames_make(const uint8_t *data, size_t size, unsigned options, uint8_t log[FRAMES_MAX])
{
    if (size > FRAMES_MAX)
        size = FRAMES_MAX;
    if (size != 0)
        memcpy(log, data, size);
    return options & FRAMES_REPAIR ? repair(log, size, options) : size;
}

void frames_write(const char *name, const uint8_t *log, size_t size)
{
    static const char *const stems[] = {"image", "label", "text", "blob"};
    static const uint8_t zeros[FRAMES_CHUNK_BYTES];
    char file[64];
    snprintf(file, sizeof file, "%s/LOG", name);
    fuzz_write(file, log, size);
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        snprintf(file, sizeof file, "%s/%s.offset", name, stems[i]);
        fuzz_write_sparse(file, "", 0, FUZZ_ROWS * LX__OFFSET_ROW);
        snprintf(file, sizeof file, "%s/%s.check", name, stems[i]);
        fuzz_write_sparse(file, "", 0, FUZZ_ROWS * LX__CHECK_ROW);
    }
    for (unsigned i = 0; i < FRAMES_CHUNKS; i++) {
        snprintf(file, sizeof file, "%s/chunk/%u.zr", name, i);
        fuzz_write(file, zeros, sizeof zeros);
    }
}
