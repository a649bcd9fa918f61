/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Frames of the write-ahead log (WAL). A frame is one commit; doc/zrecord-format.md, section
 * 8, specifies its byte layout.
 */
#ifndef LX_ZRECORD_FRAME_H
#define LX_ZRECORD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "zrecord/format/entry.h"
#include "zrecord/format/meta.h"

#define LX__FRAME_MAGIC 0x464c584cu /**< "LXLF" */
#define LX__FRAME_HEADER 64
#define LX__FRAME_TRAILER 8
#define LX__FRAME_CHUNK 16
#define LX__FRAME_UPDATE 40
#define LX__FRAME_MAX (1ull << 30)
#define LX__FRAME_ALIGN 8
#define LX__FRAME_SNAPSHOT 1u
#define LX__FRAME_SYNCED 2u

/** Identifies a log. The CRC of a frame covers the identity of its log, so the frame is invalid in
 * any other log. */
typedef struct lx__wal_identity {
    uint8_t uuid[LX__UUID_BYTES];
    uint64_t generation;
} lx__wal_identity;

/** The header of a frame, together with the CRC from its trailer. */
typedef struct lx__frame {
    uint32_t bytes; /**< Size of the whole frame. */
    uint64_t sequence;
    uint64_t length;
    uint64_t rows;
    uint32_t chunk_count;
    uint32_t update_count;
    uint32_t previous_crc;
    uint32_t flags;
    uint64_t boot;
    uint32_t table_generation;
    uint32_t next_chunk;
    uint32_t crc;
} lx__frame;

/** A row update in a frame: its entry overrides a row of the tables. */
typedef struct lx__update_item {
    uint32_t field; /**< Field id. */
    uint64_t index;
    lx__entry entry;
} lx__update_item;

/** Returns the size of a frame with this many items; LX_NONE if the size exceeds LX__FRAME_MAX. */
uint64_t lx__frame_size(uint64_t chunk_count, uint64_t update_count);

/** Decodes a header. Returns false if the magic is wrong or the size does not match the counts. */
bool lx__frame_load(lx__frame *frame, const uint8_t header[LX__FRAME_HEADER]);

/** Returns the CRC of the log's identity, from which the CRC of a frame continues. */
uint32_t lx__frame_crc_start(const lx__wal_identity *log);

/** Compares two lx__chunk_item by id, for qsort() and bsearch(). */
int lx__chunk_item_compare(const void *a, const void *b);

lx__chunk_item lx__chunk_item_load(const uint8_t item[LX__FRAME_CHUNK]);

/** Whether the reserved bytes of an update item are zero. */
static inline bool lx__update_item_reserved_is_zero(const uint8_t item[LX__FRAME_UPDATE])
{
    return lx__load_le32(item + 4) == 0;
}

/** A frame under construction: add all chunks first, then all updates. Initialize it to zeros. A
 * builder can build any number of frames and reuses its memory. */
typedef struct lx__frame_builder {
    uint8_t *data;
    size_t size;
    size_t capacity;
    uint32_t chunk_count;
    uint32_t update_count;
} lx__frame_builder;

/** Begins a frame with at most this many items, and reserves memory for them. */
lx_status lx__frame_begin(lx__frame_builder *builder, uint64_t chunk_count, uint64_t update_count,
                          lx_error *error);

void lx__frame_add_chunk(lx__frame_builder *builder, const lx__chunk_item *item);
void lx__frame_add_update(lx__frame_builder *builder, const lx__update_item *item);

/** Fills in the header and the trailer. Sets the size, the counts and the CRC in @p frame. */
void lx__frame_finish(lx__frame_builder *builder, lx__frame *frame, const lx__wal_identity *log);

void lx__frame_builder_free(lx__frame_builder *builder);

#endif
