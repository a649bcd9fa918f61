/* SPDX-License-Identifier: MIT */
#include "zrecord/format/entry.h"

#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"

static lx_status check_inline(const lx__entry *entry, lx_error *error)
{
    if (entry->physical > LX__INLINE_MAX)
        return lx_fail(error, LX_ERR_CORRUPT, "an inline value has %u bytes, but at most %u fit",
                       entry->physical, LX__INLINE_MAX);
    if (entry->physical != entry->logical)
        return lx_fail(error, LX_ERR_CORRUPT, "an inline value has %u bytes, but its length is %u",
                       entry->physical, entry->logical);
    if (entry->physical < LX__INLINE_MAX && entry->offset >> 8 * entry->physical != 0)
        return lx_fail(error, LX_ERR_CORRUPT, "the padding after an inline value is not zero");
    return LX_OK;
}

static lx_status check_stored(const lx__entry *entry, const lx__entry_rules *rules, lx_error *error)
{
    if (entry->physical == 0)
        return lx_fail(error, LX_ERR_CORRUPT, "a stored value has no bytes");
    if ((entry->offset & (rules->align - 1)) != 0)
        return lx_fail(error, LX_ERR_CORRUPT, "offset %llu is not a multiple of %u",
                       (unsigned long long)entry->offset, rules->align);
    if (entry->physical > entry->logical)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the value has %u bytes, but %u bytes are stored, which is too many",
                       entry->logical, entry->physical);
    if (entry->physical < entry->logical && rules->codec == NULL)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the value has %u bytes and is not compressed, but only %u bytes are stored",
                       entry->logical, entry->physical);
    /* Bound the length, so that a small payload cannot make a reader allocate gigabytes. */
    uint64_t ratio_max = rules->codec != NULL ? rules->codec->ratio_max : 0;
    if (ratio_max != 0 && entry->logical > ratio_max * entry->physical)
        return lx_fail(error, LX_ERR_CORRUPT, "%u stored bytes cannot decompress to %u bytes",
                       entry->physical, entry->logical);
    return LX_OK;
}

lx_status lx__entry_check(const lx__entry *entry, const lx__entry_rules *rules, lx_error *error)
{
    if (lx__entry_is_missing(entry))
        return LX_OK;
    lx_status status = lx__entry_is_inline(entry) ? check_inline(entry, error)
                                                  : check_stored(entry, rules, error);
    if (status != LX_OK)
        return status;
    if (rules->size != LX_NONE && entry->logical != rules->size)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "a value has %u bytes, but the field has %llu-byte values", entry->logical,
                       (unsigned long long)rules->size);
    if (rules->size == LX_NONE && rules->item > 1 && entry->logical % rules->item != 0)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "a value has %u bytes, which is not a multiple of the %u bytes of an item",
                       entry->logical, rules->item);
    return LX_OK;
}

lx_status lx__entry_fail_lost(lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the row is zero, but no value of the field is missing: the row was lost, or "
                   "\"complete\" in meta.json is wrong");
}

static uint32_t crc_start(const lx__entry *entry, const lx__entry_rules *rules)
{
    uint8_t seed[40];
    memcpy(seed, rules->uuid, LX__UUID_BYTES);
    lx__store_le32(seed + 16, rules->field);
    lx__store_le32(seed + 20, entry->chunk);
    lx__store_le64(seed + 24, lx__entry_is_inline(entry) ? 0 : entry->offset);
    lx__store_le32(seed + 32, entry->physical);
    lx__store_le32(seed + 36, entry->logical);
    return lx__crc32c(0, seed, sizeof seed);
}

uint32_t lx__entry_crc(const lx__entry *entry, const lx__entry_rules *rules, const void *stored)
{
    return lx__crc32c(crc_start(entry, rules), stored, entry->physical);
}

uint32_t lx__index_crc(uint64_t index)
{
    uint8_t bytes[8];
    lx__store_le64(bytes, index);
    return lx__crc32c(0, bytes, sizeof bytes);
}

void lx__entry_complete_inline(lx__entry *entry, const lx__entry_rules *rules)
{
    uint8_t slot[LX__INLINE_MAX];
    lx__store_le64(slot, entry->offset);
    entry->crc = lx__entry_crc(entry, rules, slot);
}
