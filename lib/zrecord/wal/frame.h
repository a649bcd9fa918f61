/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A frame of the log: one commit, as it lies in LOG.
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

/** The log that a frame belongs to: no frame is valid in another. */
typedef struct lx__log_identity {
    uint8_t uuid[LX__UUID_BYTES];
    uint64_t generation;
} lx__log_identity;

/** A frame's header, and the CRC from its trailer. */
typedef struct lx__frame {
    uint32_t bytes; /**< Of the whole frame. */
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

/** An entry of the log: it stands in place of the table's. */
typedef struct lx__update_item {
    uint32_t field; /**< Id. */
    uint64_t index;
    lx__entry entry;
} lx__update_item;

/** Bytes that a frame of so many items has; LX_NONE if that is over LX__FRAME_MAX. */
uint64_t lx__frame_size(uint64_t chunk_count, uint64_t update_count);

/** Reads a header. False if it cannot be one: wrong magic, or a size that is not its items'. */
bool lx__frame_load(lx__frame *frame, const uint8_t header[LX__FRAME_HEADER]);

/** What the CRC of a frame begins with, before the frame's own bytes. */
uint32_t lx__frame_crc_start(const lx__log_identity *log);

lx__chunk_item lx__chunk_item_load(const uint8_t item[LX__FRAME_CHUNK]);
lx__update_item lx__update_item_load(const uint8_t item[LX__FRAME_UPDATE]);

/** True if the bytes that must be zero in a set item are. */
static inline bool lx__update_item_reserved_is_zero(const uint8_t item[LX__FRAME_UPDATE])
{
    return lx__load_le32(item + 4) == 0;
}

/** A frame being built: all chunks first, then all sets. Zero it before its first use; the
 * memory is kept from one frame to the next. */
typedef struct lx__frame_builder {
    uint8_t *data;
    size_t size;
    size_t capacity;
    uint32_t chunk_count;
    uint32_t update_count;
} lx__frame_builder;

/** Starts a frame of at most so many items; takes the memory for all of them. */
lx_status lx__frame_begin(lx__frame_builder *builder, uint64_t chunk_count, uint64_t update_count,
                          lx_error *error);

void lx__frame_add_chunk(lx__frame_builder *builder, const lx__chunk_item *item);
void lx__frame_add_update(lx__frame_builder *builder, const lx__update_item *item);

/** Fills in header and trailer; sizes, counts and crc are set in @p frame. */
void lx__frame_finish(lx__frame_builder *builder, lx__frame *frame, const lx__log_identity *log);

void lx__frame_builder_free(lx__frame_builder *builder);

/**
 * The first 8 bytes of the kernel's boot id; 0 where the kernel does not show it. That it cannot be
 * read just now (too many open files, say) is a failure: with 0, commits of this boot that are not
 * synced would be taken for lost, and be cut off.
 */
lx_status lx__boot_id_read(uint64_t *boot, lx_error *error);

/** The same; 0 also after a failure, for what does not depend on it. */
uint64_t lx__boot_id(void);

#endif
