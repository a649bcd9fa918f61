/* SPDX-License-Identifier: MIT */
/* One value: its entry is checked by all rules, its bytes by the CRC, and decoded. */
#include "zrecord/chunk/payload.h"

#include <string.h>

#include "../../unit.h"

static const lx__chunk_item chunk = {.id = 3, .records = 1, .bytes = 100};
static const lx__entry_rules raw = {.align = 2, .size = LX_NONE};
static const lx__entry_rules flate = {.align = 8, .size = LX_NONE, .codec = &lx__flate};
/* What a codec is to a library that was built without it. */
static const lx__codec lacking = {.name = "zstd", .ratio_max = LX__ZSTD_RATIO_MAX};
static const lx__entry_rules zstd = {.align = 8, .size = LX_NONE, .codec = &lacking};

/* "go, go, go, go!", and its 8 bytes by the fixed codes of Deflate. */
static const char go[] = "go, go, go, go!";
static const uint8_t go_packed[] = {0x4b, 0xcf, 0xd7, 0x51, 0x40, 0x60, 0x45, 0x00};

static lx__entry stored(uint64_t offset, uint32_t physical, uint32_t logical)
{
    return (lx__entry){.chunk = 3, .offset = offset, .physical = physical, .logical = logical};
}

START_TEST(stored_bytes_are_within_the_committed_bytes_of_their_chunk)
{
    lx_error error = LX_ERROR_INIT;
    lx__extent extent;
    lx__entry entry = stored(90, 10, 10);
    unit_ok(lx__payload_locate(&entry, &raw, &chunk, &extent, &error));
    ck_assert_ptr_eq(extent.chunk, &chunk);
    ck_assert(extent.offset == 90 && extent.size == 10 && extent.into == NULL);
    ck_assert_int_eq(lx__payload_locate(&entry, &raw, NULL, &extent, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.message, "chunk 3 not found");
    ck_assert_ptr_null(extent.chunk);
    lx_error_clear(&error);
    static const uint64_t beyond[] = {92, UINT64_MAX - 5, UINT64_MAX - 9};
    for (size_t i = 0; i < 3; i++) {
        entry.offset = beyond[i];
        ck_assert_int_eq(lx__payload_locate(&entry, &raw, &chunk, &extent, &error), LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, "extend past the 100 committed"));
        ck_assert_ptr_null(extent.chunk);
        lx_error_clear(&error);
    }
    entry.offset = 91; /* breaks the alignment */
    unit_fails(lx__payload_locate(&entry, &raw, &chunk, &extent, &error), LX_ERR_CORRUPT);
}
END_TEST

START_TEST(values_in_the_entry_and_missing_ones_have_no_extent)
{
    lx_error error = LX_ERROR_INIT;
    lx__extent extent;
    const lx__entry missing = {0},
                    inlined = {.chunk = LX__CHUNK_INLINE, .offset = 7, .physical = 1, .logical = 1},
                    wrong = {.chunk = LX__CHUNK_INLINE, .offset = 700, .physical = 1, .logical = 1};
    unit_ok(lx__payload_locate(&missing, &raw, NULL, &extent, &error));
    ck_assert(extent.chunk == NULL && !lx__payload_is_stored(&missing));
    unit_ok(lx__payload_locate(&inlined, &raw, NULL, &extent, &error));
    ck_assert(extent.chunk == NULL && !lx__payload_is_stored(&inlined));
    ck_assert(lx__payload_fits_inline(1, 7) && !lx__payload_fits_inline(1, 700) &&
              !lx__payload_fits_inline(9, 0));
    unit_fails(lx__payload_locate(&wrong, &raw, NULL, &extent, &error), LX_ERR_CORRUPT);
}
END_TEST

START_TEST(the_checksum_covers_each_bit)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t bytes[] = "sixteen bytes...";
    lx__entry entry = stored(16, 16, 16);
    entry.crc = lx__entry_crc(&entry, &raw, bytes) ^ lx__index_crc(5);
    unit_ok(lx__payload_check(&entry, &raw, 5, bytes, &error));
    ck_assert(lx__payload_is_intact_raw(&entry, &raw, 5, bytes));
    unit_fails(lx__payload_check(&entry, &raw, 6, bytes, &error), LX_ERR_CORRUPT);
    for (size_t bit = 0; bit < 8 * 16; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        unit_fails(lx__payload_check(&entry, &raw, 5, bytes, &error), LX_ERR_CORRUPT);
        ck_assert(!lx__payload_is_intact_raw(&entry, &raw, 5, bytes));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    entry.logical = 17;
    entry.crc = lx__entry_crc(&entry, &raw, bytes) ^ lx__index_crc(5);
    ck_assert(!lx__payload_is_intact_raw(&entry, &raw, 5, bytes));
}
END_TEST

START_TEST(decodes_streams_and_reports_wrong_ones_as_damage)
{
    lx_error error = LX_ERROR_INIT;
    lx__inflater *inflater = NULL;
    uint8_t value[sizeof go] = {0};
    lx__entry entry = stored(0, sizeof go_packed, (uint32_t)strlen(go));
    unit_ok(lx__payload_decode(&entry, &flate, NULL, go_packed, &inflater, value, &error));
    ck_assert_str_eq((char *)value, go);
    lx__inflater *same = inflater;
    entry.logical++;
    ck_assert_int_eq(lx__payload_decode(&entry, &flate, NULL, go_packed, &inflater, value, &error),
                     LX_ERR_CORRUPT);
    ck_assert_str_eq(error.message, "cannot decompress the record: the 8 stored bytes are not a "
                                    "flate stream that expands to 16 bytes");
    lx_error_clear(&error);
    ck_assert_ptr_eq(inflater, same);
    entry = stored(0, 8, 8); /* raw in a field that is compressed */
    unit_ok(lx__payload_decode(&entry, &flate, NULL, go_packed, &inflater, value, &error));
    ck_assert_mem_eq(value, go_packed, 8);
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(names_a_codec_without_functions)
{
    lx_error error = LX_ERROR_INIT;
    lx__inflater *inflater = NULL;
    uint8_t value[8];
    lx__entry entry = stored(0, 8, 8 * LX__ZSTD_RATIO_MAX);
    lx__extent extent;
    unit_ok(lx__payload_locate(&entry, &zstd, &chunk, &extent, &error));
    ck_assert_int_eq(lx__payload_decode(&entry, &zstd, NULL, go_packed, &inflater, value, &error),
                     LX_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.message,
                     "cannot decompress the record: this library lacks the zstd codec");
    lx_error_clear(&error);
    unit_fails(lx__payload_check_codec(&entry, &zstd, &error), LX_ERR_UNSUPPORTED);
    entry = stored(0, 8, 8);
    unit_ok(lx__payload_check_codec(&entry, &zstd, &error));
    unit_ok(lx__payload_decode(&entry, &zstd, NULL, go_packed, &inflater, value, &error));
    ck_assert_mem_eq(value, go_packed, 8);
}
END_TEST

UNIT_MAIN("zrecord/payload", stored_bytes_are_within_the_committed_bytes_of_their_chunk,
          values_in_the_entry_and_missing_ones_have_no_extent, the_checksum_covers_each_bit,
          decodes_streams_and_reports_wrong_ones_as_damage, names_a_codec_without_functions)
