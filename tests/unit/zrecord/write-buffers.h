/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Write buffers of records with two fields, raw and flate: helpers that make them, and
 * compare them with the chunks of the present directory.
 */
#ifndef LX_TESTS_WRITE_BUFFERS_H
#define LX_TESTS_WRITE_BUFFERS_H

#include "records.h"
#include "zrecord/format/codec.h"
#include "zrecord/write/write-buffer.h"

static inline void buffer_rules(lx__entry_rules rules[2], bool compresses)
{
    rules[0] = (lx__entry_rules){.uuid = "uuid", .field = 0, .align = 4, .size = LX_NONE};
    rules[1] = (lx__entry_rules){.uuid = "uuid",
                                 .field = 5,
                                 .align = 8,
                                 .size = LX_NONE,
                                 .codec = compresses ? &lx__flate : NULL};
}

static inline lx__write_buffer *new_buffer(void)
{
    lx__write_buffer *buffer = lx__write_buffer_new();
    ck_assert_ptr_nonnull(buffer);
    lx__write_buffer_clear(buffer);
    return buffer;
}

/** Adds one record to a write buffer. */
static inline void buffer_append(lx__write_buffer *buffer, const lx__entry_rules rules[2],
                                 const void *raw, uint64_t raw_size, const void *packed,
                                 uint64_t packed_size)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t room = lx__write_buffer_room(&rules[0], raw_size) +
                    lx__write_buffer_room(&rules[1], packed_size);
    unit_ok(lx__write_buffer_reserve(buffer, 2, room, &error));
    lx__write_buffer_add_operation(buffer, &(lx__operation){.kind = LX__APPEND, .values = 2});
    lx__write_buffer_add(buffer, 0, &rules[0], raw, raw_size);
    lx__write_buffer_add(buffer, 1, &rules[1], packed, packed_size);
}

/** The value of field @p field in record @p record: of various sizes; the flate one is
 * compressible. */
static inline uint64_t buffered_value(size_t field, uint64_t record, uint8_t value[VALUE_MAX])
{
    uint64_t size = mix(record * 2 + field) % 300;
    for (uint64_t i = 0; i < size; i++)
        value[i] = field == 1 ? (uint8_t)(record + i / 50) : (uint8_t)mix(record * 512 + i);
    return size % 7 == 0 ? LX_NONE : size;
}

/** A write buffer of the records [first, first + count). */
static inline lx__write_buffer *make_buffer(const lx__entry_rules rules[2], uint64_t first,
                                            uint64_t count)
{
    uint8_t raw[VALUE_MAX], packed[VALUE_MAX];
    lx__write_buffer *buffer = new_buffer();
    for (uint64_t record = first; record < first + count; record++) {
        uint64_t raw_size = buffered_value(0, record, raw);
        uint64_t packed_size = buffered_value(1, record, packed);
        buffer_append(buffer, rules, raw, raw_size, packed, packed_size);
    }
    return buffer;
}

static inline bool lies_in_a_chunk(const lx__entry *entry)
{
    return !lx__entry_is_inline(entry) && !lx__entry_is_missing(entry);
}

/** Every entry of a flushed buffer must lead to the right bytes in a chunk, and the buffer must
 * report the records and bytes of the chunk. */
static inline void expect_buffer(const lx__entry_rules rules[2], const lx__write_buffer *buffer,
                                 uint64_t first)
{
    uint8_t value[VALUE_MAX], back[VALUE_MAX];
    char name[32];
    uint8_t *bytes = NULL; /* of the chunk in this file */
    size_t length = 0;
    uint32_t chunk = UINT32_MAX;
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    for (size_t i = 0; i < buffer->count; i++) {
        const lx__entry_rules *of = &rules[i % 2];
        const lx__entry *entry = &buffer->values[i].entry;
        lx_error error = LX_ERROR_INIT;
        uint64_t size = buffered_value(i % 2, first + i / 2, value);
        unit_ok(lx__entry_check(entry, of, &error));
        ck_assert(lx__entry_is_missing(entry) == (size == LX_NONE));
        ck_assert(lx__entry_is_inline(entry) == (size <= 8));
        if (size == LX_NONE || size <= 8)
            continue;
        ck_assert_uint_eq(entry->logical, size);
        if (entry->chunk != chunk) {
            free(bytes);
            chunk = entry->chunk;
            snprintf(name, sizeof name, "%u.zr", chunk);
            bytes = file_bytes(name, &length);
        }
        size_t found = 0;
        ck_assert_uint_le(entry->offset + entry->physical, length);
        while (found < buffer->chunk_count && buffer->chunks[found].id != entry->chunk)
            found++;
        ck_assert_uint_lt(found, buffer->chunk_count);
        ck_assert_uint_le(entry->offset + entry->physical, buffer->chunks[found].bytes);
        ck_assert_uint_eq(lx__entry_crc(entry, of, bytes + entry->offset), entry->crc);
        if (lx__entry_is_compressed(entry)) {
            ck_assert(lx__inflate(inflater, bytes + entry->offset, entry->physical, back, size));
            ck_assert_mem_eq(back, value, size);
        } else {
            ck_assert_mem_eq(bytes + entry->offset, value, size);
        }
    }
    free(bytes);
    lx__inflater_free(inflater);
}

#endif
