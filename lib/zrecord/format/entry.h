/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Table entries: an entry is a row of a field's tables, with the location, length and
 * checksum of a value.
 */
#ifndef LX_ZRECORD_ENTRY_H
#define LX_ZRECORD_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "base/bytes.h"
#include "zrecord/format/codec.h"
#include "zrecord/format/uuid.h"

/* Row sizes of the two tables, in bytes. */
#define LX__OFFSET_ROW 16
#define LX__CHECK_ROW 8
#define LX__CHUNK_ID_MAX 0xfffffffeu
#define LX__CHUNK_INLINE 0xffffffffu /**< Chunk id of inline and empty values. */
#define LX__INLINE_MAX 8

/** A row of the offset table, together with the matching row of the check table. */
typedef struct lx__entry {
    uint32_t chunk;    /**< Chunk id, or LX__CHUNK_INLINE. */
    uint32_t physical; /**< Number of stored bytes. */
    uint64_t offset;   /**< Offset in the chunk; for an inline value, its bytes, little-endian. */
    uint32_t logical;  /**< Length of the value. */
    uint32_t crc;      /**< See lx__entry_crc(). */
} lx__entry;

/** Size of both rows together, as a row update stores them. */
#define LX__ENTRY_BYTES (LX__OFFSET_ROW + LX__CHECK_ROW)

/** The properties of a field that its entries are checked against. */
typedef struct lx__entry_rules {
    uint8_t uuid[LX__UUID_BYTES];
    uint32_t field;         /**< Field id. */
    uint32_t align;         /**< Payload alignment, a power of two. */
    uint64_t size;          /**< Size of each value; LX_NONE if sizes vary. */
    const lx__codec *codec; /**< The codec of entries with physical < logical; NULL if all values
                                 are raw. */
    uint32_t item; /**< If sizes vary, they are multiples of this number, unless it is 0. */
} lx__entry_rules;

static inline bool lx__entry_is_missing(const lx__entry *entry)
{
    return (entry->chunk | entry->physical | entry->logical | entry->crc) == 0 &&
           entry->offset == 0;
}

/** Whether the value, which may be empty, is stored in the entry itself. */
static inline bool lx__entry_is_inline(const lx__entry *entry)
{
    return entry->chunk == LX__CHUNK_INLINE;
}

static inline bool lx__entry_is_compressed(const lx__entry *entry)
{
    return entry->physical < entry->logical;
}

/** Decodes an entry from its two rows. */
static inline lx__entry lx__entry_load(const uint8_t offset_row[LX__OFFSET_ROW],
                                       const uint8_t check_row[LX__CHECK_ROW])
{
    return (lx__entry){.chunk = lx__load_le32(offset_row),
                       .physical = lx__load_le32(offset_row + 4),
                       .offset = lx__load_le64(offset_row + 8),
                       .logical = lx__load_le32(check_row),
                       .crc = lx__load_le32(check_row + 4)};
}

/** Encodes an entry into its two rows. */
static inline void lx__entry_store(const lx__entry *entry, uint8_t offset_row[LX__OFFSET_ROW],
                                   uint8_t check_row[LX__CHECK_ROW])
{
    lx__store_le32(offset_row, entry->chunk);
    lx__store_le32(offset_row + 4, entry->physical);
    lx__store_le64(offset_row + 8, entry->offset);
    lx__store_le32(check_row, entry->logical);
    lx__store_le32(check_row + 4, entry->crc);
}

/** Checks an entry against all rules except those about its chunk (see lx__payload_locate()). */
lx_status lx__entry_check(const lx__entry *entry, const lx__entry_rules *rules, lx_error *error);

/** Fails with #LX_ERR_CORRUPT because an entry is that of a missing value, but no value of the field
 * is missing. */
lx_status lx__entry_fail_lost(lx_error *error);

/** Returns the CRC of an entry and its stored bytes, without the index CRC. */
uint32_t lx__entry_crc(const lx__entry *entry, const lx__entry_rules *rules, const void *stored);

/** Returns the index CRC: the complete entry.crc is lx__entry_crc() ^ lx__index_crc(). */
uint32_t lx__index_crc(uint64_t index);

/** Sets the CRC of an inline entry, without the index CRC. */
void lx__entry_complete_inline(lx__entry *entry, const lx__entry_rules *rules);

#endif
