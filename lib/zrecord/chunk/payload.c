/* SPDX-License-Identifier: MIT */
#include "zrecord/chunk/payload.h"

#include "base/error.h"

static lx_status check_range(const lx__entry *entry, const lx__chunk_item *chunk, lx_error *error)
{
    if (chunk == NULL)
        return lx_fail(error, LX_ERR_CORRUPT, "chunk %u not found", entry->chunk);
    if (!lx__range_fits(entry->offset, entry->physical, chunk->bytes))
        return lx_fail(
            error, LX_ERR_CORRUPT, "%u bytes at offset %llu extend past the %llu committed bytes",
            entry->physical, (unsigned long long)entry->offset, (unsigned long long)chunk->bytes);
    return LX_OK;
}

lx_status lx__payload_locate(const lx__entry *entry, const lx__entry_rules *rules,
                             const lx__chunk_item *chunk, lx__extent *extent, lx_error *error)
{
    extent->chunk = NULL;
    lx_status status = lx__entry_check(entry, rules, error);
    if (status != LX_OK || !lx__payload_is_stored(entry))
        return status;
    status = check_range(entry, chunk, error);
    if (status == LX_OK)
        *extent = (lx__extent){.chunk = chunk, .offset = entry->offset, .size = entry->physical};
    return status;
}

/** Fails, reporting that @p crc differs from the entry's CRC. */
static lx_status fail_crc(const lx__entry *entry, uint32_t crc, lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT, "checksum mismatch: expected %08x, computed %08x",
                   entry->crc, crc);
}

lx_status lx__payload_check(const lx__entry *entry, const lx__entry_rules *rules, uint64_t index,
                            const void *stored, lx_error *error)
{
    uint32_t crc = lx__entry_crc(entry, rules, stored) ^ lx__index_crc(index);
    return crc == entry->crc ? LX_OK : fail_crc(entry, crc, error);
}

lx_status lx__payload_check_codec(const lx__entry *entry, const lx__entry_rules *rules,
                                  lx_error *error)
{
    if (!lx__entry_is_compressed(entry) || rules->codec->inflate != NULL)
        return LX_OK;
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "cannot decompress the record: this library lacks the %s codec",
                   rules->codec->name);
}

/** Fails, reporting that the bytes are not a stream of the entry's lengths. */
static lx_status fail_stream(const lx__entry *entry, const lx__entry_rules *rules,
                             const lx__dictionary *dictionary, const void *stored, lx_error *error)
{
    if (dictionary == NULL && lx__codec_needs_dictionary(rules->codec, stored, entry->physical))
        return lx_fail(error, LX_ERR_CORRUPT,
                       "cannot decompress the record: it was compressed with a dictionary, but the "
                       "field has none");
    return lx_fail(error, LX_ERR_CORRUPT,
                   "cannot decompress the record: the %u stored bytes are not a %s stream that "
                   "expands to %u bytes",
                   entry->physical, rules->codec->name, entry->logical);
}

lx_status lx__payload_decode(const lx__entry *entry, const lx__entry_rules *rules,
                             const lx__dictionary *dictionary, const void *stored,
                             lx__inflater **inflater, void *value, lx_error *error)
{
    if (!lx__entry_is_compressed(entry)) {
        lx__payload_copy_raw(entry, stored, value);
        return LX_OK;
    }
    lx_status status = lx__payload_check_codec(entry, rules, error);
    if (status != LX_OK)
        return status;
    if (*inflater != NULL && (*inflater)->codec != rules->codec) {
        lx__inflater_free(*inflater);
        *inflater = NULL;
    }
    if (*inflater == NULL)
        *inflater = lx__inflater_new(rules->codec);
    if (*inflater == NULL)
        return lx__fail_memory(error, "decompression");
    (*inflater)->dictionary = dictionary;
    if (lx__inflate(*inflater, stored, entry->physical, value, entry->logical))
        return LX_OK;
    return fail_stream(entry, rules, dictionary, stored, error);
}
