/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads a stored value: every check and decode of a payload is here.
 *
 * Three steps. *Locate* checks an entry against the rules of its field and the item of its chunk
 * (doc/zrecord-format.md, section 5.4), and finds the extent of its bytes. *Fetch* (fetch.h) brings
 * the bytes of extents. *Check and decode* holds the bytes against the CRC, and decompresses them.
 * None of them needs a snapshot: readers, recovery, verification, repair and rebalance do the same.
 *
 * The fast paths of mapped reads use the predicates below. They accept raw values alone, and pass
 * all else on to the three steps.
 */
#ifndef LX_ZRECORD_PAYLOAD_H
#define LX_ZRECORD_PAYLOAD_H

#include <string.h>

#include "base/bytes.h"
#include "zrecord/format/entry.h"
#include "zrecord/wal/frame.h"

/** Stored bytes of one value in a chunk. */
typedef struct lx__extent {
    const lx__chunk_item *chunk; /**< NULL: the value is missing, or lies in the entry itself. */
    uint64_t offset;
    uint32_t size;
    uint8_t *into; /**< Where a fetch that copies puts the bytes; NULL: into memory of its own. */
} lx__extent;

/** Whether the value of an entry lies in a chunk: neither missing, nor in the entry itself. */
static inline bool lx__payload_is_stored(const lx__entry *entry)
{
    return !lx__entry_is_inline(entry) && !lx__entry_is_missing(entry);
}

/**
 * Checks an entry by all rules.
 *
 * @param[in]  chunk   The state's item of the chunk that the entry names; NULL: it has none. Ignored
 *                     unless lx__payload_is_stored().
 * @param[out] extent  Where the bytes lie, with @c into NULL.
 * @retval LX_ERR_CORRUPT  It breaks a rule.
 */
lx_status lx__payload_locate(const lx__entry *entry, const lx__entry_rules *rules,
                             const lx__chunk_item *chunk, lx__extent *extent, lx_error *error);

/** Fails for a CRC that is not the entry's. */
lx_status lx__payload_fail_crc(const lx__entry *entry, uint32_t crc, lx_error *error);

/**
 * Holds the stored bytes of a located value, which is not missing, against its CRC.
 * @retval LX_ERR_CORRUPT  They are not those that were written.
 */
lx_status lx__payload_check(const lx__entry *entry, const lx__entry_rules *rules, uint64_t index,
                            const void *stored, lx_error *error);

/**
 * Decodes stored bytes that were checked, to the entry->logical bytes at @p value.
 *
 * @param[in,out] inflater  Of the calling thread; made here where it is NULL, or of another codec.
 * @retval LX_ERR_CORRUPT      They are not a stream of so many bytes.
 * @retval LX_ERR_UNSUPPORTED  This library does not have the codec; the error names it.
 */
lx_status lx__payload_decode(const lx__entry *entry, const lx__entry_rules *rules,
                             const void *stored, lx__inflater **inflater, void *value,
                             lx_error *error);

/** #LX_ERR_UNSUPPORTED for a compressed value whose codec this library does not have: nothing
 * bounds the length that it claims. */
lx_status lx__payload_check_codec(const lx__entry *entry, const lx__entry_rules *rules,
                                  lx_error *error);

/** Decodes a raw value, which may be where it belongs already. */
static inline void lx__payload_copy_raw(const lx__entry *entry, const void *stored, void *value)
{
    if (value != stored && entry->logical != 0)
        memcpy(value, stored, entry->logical);
}

/** @name Predicates of the fast paths: raw values alone. */
/** @{ */

/** Whether a row's offset slot can be that of an inline value of @p size bytes. */
static inline __attribute__((always_inline)) bool lx__payload_fits_inline(uint32_t size,
                                                                          uint64_t slot)
{
    return size == LX__INLINE_MAX || (size < LX__INLINE_MAX && slot >> 8 * size == 0);
}

/** Whether stored bytes of a raw value keep the rules, and lie within their chunk. */
static inline __attribute__((always_inline)) bool
lx__payload_lies_in(uint64_t offset, uint32_t size, uint64_t align_mask, uint64_t chunk_bytes)
{
    return (offset & align_mask) == 0 && size != 0 && lx__range_fits(offset, size, chunk_bytes);
}

/** Whether an entry is that of a raw value with these stored bytes. */
static inline __attribute__((always_inline)) bool
lx__payload_is_intact_raw(const lx__entry *entry, const lx__entry_rules *rules, uint64_t index,
                          const uint8_t *stored)
{
    return entry->logical == entry->physical &&
           (lx__entry_crc(entry, rules, stored) ^ lx__index_crc(index)) == entry->crc;
}

/** @} */

#endif
