/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads stored values: all checking and decoding of payloads is done here.
 *
 * Reading takes three steps. *Locate* checks an entry against the rules of its field and the item
 * of its chunk (doc/zrecord-format.md, section 5.4), and computes the extent of its bytes. *Fetch*
 * (fetch.h) reads the bytes. *Check and decode* verifies the CRC of the bytes and decompresses
 * them. None of the steps requires a snapshot, so readers, recovery, verification, repair and
 * rebalance can share them.
 *
 * The fast paths of mapped reads use the predicates below, which accept only raw values; all other
 * values are left to the three steps.
 */
#ifndef LX_ZRECORD_PAYLOAD_H
#define LX_ZRECORD_PAYLOAD_H

#include <string.h>

#include "base/bytes.h"
#include "zrecord/format/entry.h"
#include "zrecord/wal/frame.h"

/** Where the stored bytes of a value are. */
typedef struct lx__extent {
    const lx__chunk_item *chunk; /**< NULL if the value is missing or inline. */
    uint64_t offset;
    uint32_t size;
    uint8_t *into; /**< Where a fetch copies the bytes to; NULL: the fetcher's own buffer. */
} lx__extent;

/** Whether the value of an entry is stored in a chunk, that is, is neither missing nor inline. */
static inline bool lx__payload_is_stored(const lx__entry *entry)
{
    return !lx__entry_is_inline(entry) && !lx__entry_is_missing(entry);
}

/**
 * Checks an entry against all rules and locates its bytes.
 *
 * @param[in]  chunk   The snapshot's item for the entry's chunk; NULL if the snapshot does not
 *                     contain that chunk. Ignored unless lx__payload_is_stored()
 *                     returns true.
 * @param[out] extent  Receives the location of the bytes, with @c into set to NULL.
 * @retval LX_ERR_CORRUPT  The entry violates a rule.
 */
lx_status lx__payload_locate(const lx__entry *entry, const lx__entry_rules *rules,
                             const lx__chunk_item *chunk, lx__extent *extent, lx_error *error);

/**
 * Checks the stored bytes of a located value against its CRC. The value must not be missing.
 * @retval LX_ERR_CORRUPT  The bytes differ from those that were written.
 */
lx_status lx__payload_check(const lx__entry *entry, const lx__entry_rules *rules, uint64_t index,
                            const void *stored, lx_error *error);

/**
 * Decodes stored bytes, which must have been checked, into the entry->logical bytes at @p value.
 *
 * @param dictionary        The dictionary of the field; NULL if it has none, or if
 *                          lx__codec_needs_dictionary() returned false.
 * @param[in,out] inflater  The calling thread's inflater; replaced if it is NULL or belongs to
 *                          another codec.
 * @retval LX_ERR_CORRUPT      The bytes do not decompress to a value of this length.
 * @retval LX_ERR_UNSUPPORTED  This library lacks the codec; the error names it.
 */
lx_status lx__payload_decode(const lx__entry *entry, const lx__entry_rules *rules,
                             const lx__dictionary *dictionary, const void *stored,
                             lx__inflater **inflater, void *value, lx_error *error);

/** Fails with #LX_ERR_UNSUPPORTED if the value is compressed and this library lacks the codec.
 * Without the codec, there is no bound on the length that the entry may claim. */
lx_status lx__payload_check_codec(const lx__entry *entry, const lx__entry_rules *rules,
                                  lx_error *error);

/** Copies a raw value, unless it was already fetched to @p value. */
static inline void lx__payload_copy_raw(const lx__entry *entry, const void *stored, void *value)
{
    if (value != stored && entry->logical != 0)
        memcpy(value, stored, entry->logical);
}

/** @name Predicates of the fast paths, for raw values only */
/** @{ */

/** Whether an offset slot is valid for an inline value of @p size bytes: the rest of the slot must
 * be zero. */
static inline __attribute__((always_inline)) bool lx__payload_fits_inline(uint32_t size,
                                                                          uint64_t slot)
{
    return size == LX__INLINE_MAX || (size < LX__INLINE_MAX && slot >> 8 * size == 0);
}

/** Whether the location of a raw value is valid: aligned, not empty and within its chunk. */
static inline __attribute__((always_inline)) bool
lx__payload_lies_in(uint64_t offset, uint32_t size, uint64_t align_mask, uint64_t chunk_bytes)
{
    return (offset & align_mask) == 0 && size != 0 && lx__range_fits(offset, size, chunk_bytes);
}

/** Whether the value of an entry is raw and its stored bytes match the CRC. */
static inline __attribute__((always_inline)) bool
lx__payload_is_intact_raw(const lx__entry *entry, const lx__entry_rules *rules, uint64_t index,
                          const uint8_t *stored)
{
    return entry->logical == entry->physical &&
           (lx__entry_crc(entry, rules, stored) ^ lx__index_crc(index)) == entry->crc;
}

/** @} */

#endif
