/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One row of a field: where a record's value lies, how long it is, and its checksum.
 */
#ifndef LX_ZRECORD_ENTRY_H
#define LX_ZRECORD_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "base/bytes.h"
#include "zrecord/format/codec.h"
#include "zrecord/format/constants.h"

/** A row of the offset table and the row of the check table that belongs to it. */
typedef struct lx__entry {
    uint32_t chunk;    /**< Id of the chunk, or LX__CHUNK_INLINE. */
    uint32_t physical; /**< Stored bytes. */
    uint64_t offset;   /**< In the chunk; of an inline value its bytes, the first one lowest. */
    uint32_t logical;  /**< Bytes of the value. */
    uint32_t crc;      /**< See lx__entry_crc(). */
} lx__entry;

/** Bytes of both rows, as they stand in a set item. */
#define LX__ENTRY_BYTES (LX__OFFSET_ROW + LX__CHECK_ROW)

/** What the entries of one field are bound to. */
typedef struct lx__entry_rules {
    uint8_t uuid[LX__UUID_BYTES];
    uint32_t field;    /**< Id. */
    uint32_t align;    /**< Of payloads; a power of two. */
    uint64_t size;     /**< Of a dense record; LX_NONE where it varies. */
    const lx__codec *codec; /**< Of stored bytes with physical < logical; NULL: there are none. */
} lx__entry_rules;

static inline bool lx__entry_is_missing(const lx__entry *entry)
{
    return (entry->chunk | entry->physical | entry->logical | entry->crc) == 0 &&
           entry->offset == 0;
}

/** Inline or empty: the value lies in the entry itself. */
static inline bool lx__entry_is_inline(const lx__entry *entry)
{
    return entry->chunk == LX__CHUNK_INLINE;
}

static inline bool lx__entry_is_compressed(const lx__entry *entry)
{
    return entry->physical < entry->logical;
}

/** Reads an entry from its two rows. */
static inline lx__entry lx__entry_load(const uint8_t offset_row[LX__OFFSET_ROW],
                                       const uint8_t check_row[LX__CHECK_ROW])
{
    return (lx__entry){.chunk = lx__load_le32(offset_row),
                       .physical = lx__load_le32(offset_row + 4),
                       .offset = lx__load_le64(offset_row + 8),
                       .logical = lx__load_le32(check_row),
                       .crc = lx__load_le32(check_row + 4)};
}

/** Writes an entry to its two rows. */
static inline void lx__entry_store(const lx__entry *entry, uint8_t offset_row[LX__OFFSET_ROW],
                                   uint8_t check_row[LX__CHECK_ROW])
{
    lx__store_le32(offset_row, entry->chunk);
    lx__store_le32(offset_row + 4, entry->physical);
    lx__store_le64(offset_row + 8, entry->offset);
    lx__store_le32(check_row, entry->logical);
    lx__store_le32(check_row + 4, entry->crc);
}

/** Checks an entry by all rules except those about its chunk, for which there is lx__range_fits(). */
lx_status lx__entry_check(const lx__entry *entry, const lx__entry_rules *rules, lx_error *error);

/** What the CRC of an entry begins with, before the stored bytes. */
uint32_t lx__entry_crc_start(const lx__entry *entry, const lx__entry_rules *rules);

/** The CRC of an entry with these stored bytes, before the index is worked in. */
uint32_t lx__entry_crc(const lx__entry *entry, const lx__entry_rules *rules, const void *stored);

/** What the index adds to the CRC: entry.crc is lx__entry_crc() ^ lx__index_crc(). */
uint32_t lx__index_crc(uint64_t index);

/** Sets the CRC of an inline entry, before the index is worked in. */
void lx__entry_seal_inline(lx__entry *entry, const lx__entry_rules *rules);

#endif
