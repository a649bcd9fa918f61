/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Table entries of a dataset of records.h, each with one invalid number.
 */
#ifndef LX_TESTS_HARM_H
#define LX_TESTS_HARM_H

#include "frames.h"
#include "records.h"
#include "zrecord/format/entry.h"
#include "zrecord/format/names.h"

/** A change of the entry of an image, which is a raw value of 12 bytes in chunk 0. */
struct harm {
    const char *name;
    uint32_t chunk, physical;
    uint64_t offset;
    uint32_t logical, crc;    /**< Added to the present number. */
    uint64_t place;           /**< The offset itself, if it is not 0. */
    bool seen_without_crc;    /**< Detected even without verification. */
    const char *said, *where; /**< Expected in the message, and in the path. */
};

static const struct harm harms[] = {
    {.name = "the next chunk",
     .chunk = 1,
     .seen_without_crc = true,
     .said = "chunk 1 not found",
     .where = "image.offset"},
    {.name = "a chunk far off",
     .chunk = 0xfffffffe,
     .seen_without_crc = true,
     .said = "chunk 4294967294 not found",
     .where = "image.offset"},
    {.name = "inline",
     .chunk = 0xffffffff,
     .seen_without_crc = true,
     .said = "inline",
     .where = "image.offset"},
    {.name = "not aligned",
     .offset = 1,
     .seen_without_crc = true,
     .said = "not a multiple",
     .where = "chunk/0.zr"},
    {.name = "the next value", .offset = 64, .said = "checksum", .where = "chunk/0.zr"},
    {.name = "beyond the committed bytes",
     .offset = 1 << 20,
     .seen_without_crc = true,
     .said = "extend past the",
     .where = "chunk/0.zr"},
    {.name = "beyond any file",
     .offset = 1ull << 63,
     .seen_without_crc = true,
     .said = "extend past the",
     .where = "chunk/0.zr"},
    {.name = "an end that wraps",
     .place = UINT64_MAX - 7,
     .seen_without_crc = true,
     .said = "extend past the",
     .where = "chunk/0.zr"},
    {.name = "stored longer",
     .physical = 1,
     .seen_without_crc = true,
     .said = "which is too many",
     .where = "chunk/0.zr"},
    {.name = "stored shorter",
     .physical = 0 - 1u,
     .seen_without_crc = true,
     .said = "is not compressed",
     .where = "chunk/0.zr"},
    {.name = "stored nowhere",
     .physical = 0 - 12u,
     .seen_without_crc = true,
     .said = "no bytes",
     .where = "chunk/0.zr"},
    {.name = "stored in gigabytes",
     .physical = 0 - 13u,
     .seen_without_crc = true,
     .said = "which is too many",
     .where = "chunk/0.zr"},
    {.name = "both longer",
     .physical = 4,
     .logical = 4,
     .seen_without_crc = true,
     .said = "a value has 16 bytes, but the field has 12",
     .where = "chunk/0.zr"},
    {.name = "longer", .logical = 1, .said = "is not compressed", .where = "chunk/0.zr"},
    {.name = "shorter", .logical = 0 - 1u, .said = "which is too many", .where = "chunk/0.zr"},
    {.name = "another checksum", .crc = 1, .said = "checksum", .where = "chunk/0.zr"},
};

static inline lx__entry entry_of(const char *path, const char *field, uint64_t index)
{
    uint8_t rows[2][LX__OFFSET_ROW];
    static const char *const kinds[] = {"offset", "check"};
    for (int i = 0; i < 2; i++) {
        char name[512];
        size_t row = i == 0 ? LX__OFFSET_ROW : LX__CHECK_ROW, size;
        snprintf(name, sizeof name, "%s/%s.%s", path, field, kinds[i]);
        uint8_t *bytes = file_bytes(name, &size);
        ck_assert_uint_ge(size, (index + 1) * row);
        memcpy(rows[i], bytes + index * row, row);
        free(bytes);
    }
    return lx__entry_load(rows[0], rows[1]);
}

static inline void entry_put(const char *path, const char *field, uint64_t index,
                             const lx__entry *entry)
{
    uint8_t offset[LX__OFFSET_ROW], check[LX__CHECK_ROW];
    char name[512];
    lx__entry_store(entry, offset, check);
    snprintf(name, sizeof name, "%s/%s.offset", path, field);
    file_patch(name, index * LX__OFFSET_ROW, offset, LX__OFFSET_ROW);
    snprintf(name, sizeof name, "%s/%s.check", path, field);
    file_patch(name, index * LX__CHECK_ROW, check, LX__CHECK_ROW);
}

static inline void harm_entry(const char *path, const char *field, uint64_t index,
                              const struct harm *harm)
{
    lx__entry entry = entry_of(path, field, index);
    entry.chunk += harm->chunk;
    entry.physical += harm->physical;
    entry.offset = harm->place != 0 ? harm->place : entry.offset + harm->offset;
    entry.logical += harm->logical;
    entry.crc += harm->crc;
    entry_put(path, field, index, &entry);
}

/** Gives the entry the checksum of the bytes that are stored now in chunk 0. */
static inline void entry_reseal(const char *path, const char *field, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_identity identity;
    size_t position, size;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_NEVER, false, &dataset, &error));
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    unit_ok(lx_schema_find_field(schema, field, &position, &error));
    lx_dataset_get_identity(dataset, &identity);
    const lx_field *shown = lx_schema_get_field(schema, position);
    lx__wal_identity log = identity_of(identity.uuid);
    lx__entry_rules rules = {.field = shown->id, .size = shown->size, .align = shown->align};
    memcpy(rules.uuid, log.uuid, sizeof rules.uuid);
    lx_dataset_close(dataset);
    uint8_t *chunk = file_bytes(in(path, "chunk/0.zr"), &size);
    lx__entry entry = entry_of(path, field, index);
    entry.crc = lx__entry_crc(&entry, &rules, chunk + entry.offset) ^ lx__index_crc(index);
    entry_put(path, field, index, &entry);
    free(chunk);
}

#endif
