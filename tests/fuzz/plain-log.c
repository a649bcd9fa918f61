/* SPDX-License-Identifier: MIT */
#include "plain-log.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "frames.h"

#define ROWS_MAX ((UINT64_C(1) << 59) - 1)

static struct plain_update all_updates[FRAMES_MAX / 40];
static struct plain_chunk all_chunks[FRAMES_MAX / 16];
static size_t ends[FRAMES_MAX / 72];
static struct plain_log plain;

/** Conditions 1 to 4 of 8.8: the bytes of the frame, 0 if it is absent. */
static size_t frame_size(const uint8_t *log, size_t size, size_t at)
{
    if (at > size || size - at < 72 || memcmp(log + at, "LXLF", 4) != 0)
        return 0;
    const uint8_t *frame = log + at;
    uint64_t bytes = 72 + UINT64_C(16) * lx__load_le32(frame + 32) +
                     UINT64_C(40) * lx__load_le32(frame + 36);
    return bytes == lx__load_le32(frame + 4) && bytes <= UINT32_C(1) << 30 && bytes <= size - at
               ? (size_t)bytes
               : 0;
}

static bool is_whole(const uint8_t *frame, size_t bytes)
{
    static const uint8_t generation[8];
    uint32_t crc = lx__crc32c(0, fuzz_uuid, sizeof fuzz_uuid);
    crc = lx__crc32c(crc, generation, sizeof generation);
    return lx__crc32c(crc, frame, bytes - 4) == lx__load_le32(frame + bytes - 4);
}

/** Classifies the bytes at and after an invalid frame (8.9). */
static enum plain_log_end search(const uint8_t *log, size_t size, size_t at, uint64_t sequence)
{
    uint64_t tried = 0;
    enum plain_log_end found = PLAIN_LOG_WHOLE;
    for (size_t offset = at; offset < size; offset += 8) {
        const uint8_t *frame = log + offset;
        size_t bytes = frame_size(log, size, offset);
        if (bytes == 0 || !(lx__load_le32(frame + 44) & 2) || lx__load_le64(frame + 8) < sequence)
            continue;
        tried += bytes;
        if (is_whole(frame, bytes))
            found = PLAIN_LOG_DAMAGED;
    }
    return tried > 4 * (size - at) ? PLAIN_LOG_COSTLY : found;
}

static struct plain_chunk *find_chunk(uint32_t id)
{
    for (size_t i = 0; i < plain.chunk_count; i++)
        if (all_chunks[i].id == id)
            return &all_chunks[i];
    return NULL;
}

/** Rules 6 and 7 of 8.8; applies the items. */
static bool take_chunks(const uint8_t *frame, uint32_t next)
{
    const uint8_t *item = frame + 64;
    for (uint32_t i = 0; i < lx__load_le32(frame + 32); i++, item += 16) {
        struct plain_chunk now = {lx__load_le32(item), lx__load_le32(item + 4),
                                  lx__load_le64(item + 8)};
        struct plain_chunk *before = find_chunk(now.id);
        if (now.id >= next || now.bytes > INT64_MAX ||
            (i != 0 && now.id <= lx__load_le32(item - 16)) ||
            (before != NULL && (now.records < before->records || now.bytes < before->bytes)))
            return false;
        if (before == NULL)
            before = &all_chunks[plain.chunk_count++];
        *before = now;
    }
    return true;
}

/** Rules 2 and 8 of 8.8. */
static bool check_sets(const uint8_t *frame, size_t bytes, bool first)
{
    const uint8_t *item = frame + 64 + 16 * (size_t)lx__load_le32(frame + 32);
    for (uint32_t i = 0; i < lx__load_le32(frame + 36); i++, item += 40) {
        if (lx__load_le32(item + 4) != 0)
            return false;
        uint64_t index = lx__load_le64(item + 8), before = i != 0 ? lx__load_le64(item - 32) : 0;
        if (first && i != 0 &&
            (index < before ||
             (index == before && lx__load_le32(item) <= lx__load_le32(item - 40))))
            return false;
    }
    return lx__load_le32(frame + bytes - 8) == 0;
}

static bool keeps_rules(const uint8_t *frame, size_t bytes, bool first, uint64_t items)
{
    uint32_t flags = lx__load_le32(frame + 44);
    uint64_t length = lx__load_le64(frame + 16), rows = lx__load_le64(frame + 24);
    uint32_t next = lx__load_le32(frame + 60);
    return (first ? flags == 3 : (flags & ~UINT32_C(2)) == 0) && rows >= plain.rows &&
           rows <= ROWS_MAX && length <= ROWS_MAX && length <= rows + items &&
           (first || lx__load_le32(frame + 56) == plain.table_generation) &&
           next >= plain.next_chunk && check_sets(frame, bytes, first) && take_chunks(frame, next);
}

/** Steps 1 to 3 of 8.11. */
static void apply_updates(const uint8_t *frame)
{
    uint64_t length = lx__load_le64(frame + 16), rows = lx__load_le64(frame + 24);
    const uint8_t *item = frame + 64 + 16 * (size_t)lx__load_le32(frame + 32);
    for (size_t i = 0; i < plain.update_count; i++)
        if (all_updates[i].index >= plain.rows && all_updates[i].index < rows)
            all_updates[i].live = false;
    for (uint32_t i = 0; i < lx__load_le32(frame + 36); i++, item += 40) {
        struct plain_update now = {lx__load_le64(item + 8), lx__load_le32(item), true, item + 16};
        for (size_t k = 0; k < plain.update_count; k++)
            if (all_updates[k].index == now.index && all_updates[k].field == now.field)
                all_updates[k].live = false;
        all_updates[plain.update_count++] = now;
    }
    for (size_t i = 0; i < plain.update_count; i++)
        if (all_updates[i].index >= length)
            all_updates[i].live = false;
}

static void apply(const uint8_t *frame, size_t bytes)
{
    apply_updates(frame);
    plain.length = lx__load_le64(frame + 16);
    plain.rows = lx__load_le64(frame + 24);
    plain.table_generation = lx__load_le32(frame + 56);
    plain.next_chunk = lx__load_le32(frame + 60);
    plain.sequence = lx__load_le64(frame + 8);
    plain.crc = lx__load_le32(frame + bytes - 4);
    plain.offset += bytes;
}

/** Finds the valid frames, and classifies the bytes after them. */
static void find_frames(const uint8_t *log, size_t size)
{
    size_t at = 0, bytes;
    uint32_t crc = 0;
    for (; (bytes = frame_size(log, size, at)) != 0; at += bytes) {
        const uint8_t *frame = log + at;
        if (lx__load_le64(frame + 8) != plain.frames || lx__load_le32(frame + 40) != crc ||
            !is_whole(frame, bytes))
            break;
        crc = lx__load_le32(frame + bytes - 4);
        ends[plain.frames++] = at + bytes;
    }
    plain.end = at == 0 ? PLAIN_LOG_DAMAGED : search(log, size, at, plain.frames);
}

/** The number of frames that are replayed. */
static size_t count_frames(const uint8_t *log, uint64_t boot, bool durable)
{
    size_t count = 0;
    for (size_t i = 0; i < plain.frames; i++) {
        const uint8_t *frame = log + (i != 0 ? ends[i - 1] : 0);
        if (lx__load_le32(frame + 44) & 2)
            count = i + 1;
    }
    for (; !durable && boot != 0 && count < plain.frames; count++)
        if (lx__load_le64(log + (count != 0 ? ends[count - 1] : 0) + 48) != boot)
            break;
    return count;
}

/** Applies the first @p count frames to an empty state. Returns false if one breaks a rule. */
static bool replay(const uint8_t *log, size_t count)
{
    size_t at = 0;
    uint64_t items = 0;
    plain.length = plain.rows = plain.offset = plain.sequence = 0;
    plain.crc = plain.table_generation = plain.next_chunk = 0;
    plain.update_count = plain.chunk_count = 0;
    for (size_t i = 0; i < count; at = ends[i++]) {
        items += lx__load_le32(log + at + 36);
        if (!keeps_rules(log + at, ends[i] - at, i == 0, items))
            return false;
        apply(log + at, ends[i] - at);
    }
    return true;
}

const struct plain_log *plain_log_read(const uint8_t *log, size_t size, uint64_t boot, bool durable)
{
    plain = (struct plain_log){.updates = all_updates, .chunks = all_chunks, .ends = ends};
    find_frames(log, size);
    if (plain.end == PLAIN_LOG_DAMAGED)
        return &plain;
    if (!replay(log, plain.frames))
        plain.end = plain.end == PLAIN_LOG_COSTLY ? PLAIN_LOG_COSTLY : PLAIN_LOG_BROKEN;
    else if (!replay(log, count_frames(log, boot, durable)))
        plain.end = PLAIN_LOG_BROKEN;
    return &plain;
}
