/* SPDX-License-Identifier: MIT */
/* The test vectors are those of doc/zrecord-format.md, 5.7; the rules those of 5.4. */
#include "zrecord/format/entry.h"

#include <string.h>

#include "../../unit.h"

#define UUID                                                                                       \
    {                                                                                              \
        0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,  \
            0xff                                                                                   \
    }
static const lx__entry_rules image = {UUID, 0, 4, 12, NULL, 12};
static const lx__entry_rules label = {UUID, 1, 8, 8, NULL, 8};
static const lx__entry_rules caption = {UUID, 2, 8, LX_NONE, &lx__flate, 1};
static const lx__entry_rules zstd = {UUID, 3, 8, LX_NONE, &lx__zstd, 1};
static const lx__entry_rules nothing = {UUID, 4, 8, 0, NULL, 0};
static const lx__entry_rules boxes = {UUID, 5, 8, LX_NONE, NULL, 16};

/** A value of the document: its entry, its check, its stored bytes, its index. */
struct vector {
    const lx__entry_rules *rules;
    lx__entry entry;
    const char *stored;
    uint64_t index;
    uint8_t rows[LX__ENTRY_BYTES];
};

static const struct vector vectors[] = {
    {&image,
     {0, 12, 0, 12, 0x2e290c2f},
     "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b",
     0,
     {0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0x2f, 0x0c, 0x29, 0x2e}},
    {&caption,
     {0, 8, 16, 15, 0xc4ee203c},
     "\x4b\xcf\xd7\x51\x40\x60\x45\x00",
     0,
     {0, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0x3c, 0x20, 0xee, 0xc4}},
    {&label,
     {0xffffffff, 8, 300, 8, 0xa96d279b},
     "\x2c\x01\x00\x00\x00\x00\x00\x00",
     2,
     {0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0, 0x2c, 1,    0,    0,
      0,    0,    0,    0,    8, 0, 0, 0, 0x9b, 0x27, 0x6d, 0xa9}},
    {&caption,
     {0xffffffff, 2, 0x6968, 2, 0x163082c6},
     "hi",
     1ull << 32,
     {0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 'h',  'i',  0,    0,
      0,    0,    0,    0,    2, 0, 0, 0, 0xc6, 0x82, 0x30, 0x16}},
    {&caption, {0xffffffff, 0, 0, 0, 0xcd38bcfd}, "", 2, {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
                                                          0,    0,    0,    0,    0, 0, 0, 0, 0, 0,
                                                          0xfd, 0xbc, 0x38, 0xcd}},
};
#define VECTORS (sizeof vectors / sizeof *vectors)

START_TEST(entries_match_the_document)
{
    for (size_t i = 0; i < VECTORS; i++) {
        const struct vector *v = &vectors[i];
        uint8_t rows[LX__ENTRY_BYTES];
        lx__entry_store(&v->entry, rows, rows + LX__OFFSET_ROW);
        ck_assert_mem_eq(rows, v->rows, sizeof rows);
        lx__entry back = lx__entry_load(v->rows, v->rows + LX__OFFSET_ROW);
        ck_assert_uint_eq(back.chunk, v->entry.chunk);
        ck_assert_uint_eq(back.physical, v->entry.physical);
        ck_assert_uint_eq(back.offset, v->entry.offset);
        ck_assert_uint_eq(back.logical, v->entry.logical);
        ck_assert_uint_eq(back.crc, v->entry.crc);
    }
}
END_TEST

START_TEST(checksums_match_the_document)
{
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < VECTORS; i++) {
        const struct vector *v = &vectors[i];
        uint32_t crc = lx__entry_crc(&v->entry, v->rules, v->stored) ^ lx__index_crc(v->index);
        ck_assert_uint_eq(crc, v->entry.crc);
        unit_ok(lx__entry_check(&v->entry, v->rules, &error));
        if (lx__entry_is_inline(&v->entry)) {
            lx__entry sealed = v->entry;
            sealed.crc = 0;
            lx__entry_complete_inline(&sealed, v->rules);
            ck_assert_uint_eq(sealed.crc ^ lx__index_crc(v->index), v->entry.crc);
        }
    }
    ck_assert_uint_eq(lx__index_crc(0), 0x8c28b28a);
    ck_assert_uint_eq(lx__index_crc(1ull << 32), 0x516d1832);
}
END_TEST

START_TEST(a_moved_row_changes_its_checksum_alone)
{
    uint32_t crc = 0x8eaa1539; /* image of record 2, moved to row 0 */
    ck_assert_uint_eq(crc ^ lx__index_crc(2) ^ lx__index_crc(0), 0x1cd2ef77);
}
END_TEST

START_TEST(distinguishes_kinds_of_values)
{
    lx__entry missing = {0}, empty = vectors[4].entry, stored = vectors[0].entry;
    lx__entry compressed = vectors[1].entry;
    ck_assert(lx__entry_is_missing(&missing));
    ck_assert(!lx__entry_is_missing(&empty));
    ck_assert(!lx__entry_is_missing(&stored));
    ck_assert(lx__entry_is_inline(&empty));
    ck_assert(!lx__entry_is_inline(&missing));
    ck_assert(lx__entry_is_compressed(&compressed));
    ck_assert(!lx__entry_is_compressed(&stored));
    ck_assert(!lx__entry_is_compressed(&empty));
    /* With any single bit set, it is not missing. */
    for (unsigned bit = 0; bit < 8 * LX__ENTRY_BYTES; bit++) {
        uint8_t rows[LX__ENTRY_BYTES] = {0};
        rows[bit / 8] = (uint8_t)(1u << bit % 8);
        lx__entry entry = lx__entry_load(rows, rows + LX__OFFSET_ROW);
        ck_assert(!lx__entry_is_missing(&entry));
    }
}
END_TEST

/** An entry that breaks a rule, or barely satisfies it. */
struct fault {
    const char *name;
    const lx__entry_rules *rules;
    lx__entry entry;
    lx_status status;
};

static const struct fault faults[] = {
    {"missing in a dense field", &image, {0}, LX_OK},
    {"missing in a field of bytes", &caption, {0}, LX_OK},
    {"zeros with a check that is not", &image, {0, 0, 0, 12, 1}, LX_ERR_CORRUPT},
    {"zeros with a crc", &caption, {0, 0, 0, 0, 1}, LX_ERR_CORRUPT},
    {"a dense value too short", &image, {0, 8, 0, 8, 1}, LX_ERR_CORRUPT},
    {"a dense value too long", &image, {0, 16, 0, 16, 1}, LX_ERR_CORRUPT},
    {"empty in a dense field", &image, {0xffffffff, 0, 0, 0, 1}, LX_ERR_CORRUPT},
    {"empty in a dense field of no bytes", &nothing, {0xffffffff, 0, 0, 0, 1}, LX_OK},
    {"a byte in a dense field of no bytes", &nothing, {0xffffffff, 1, 7, 1, 1}, LX_ERR_CORRUPT},
    {"inline of the wrong dense size", &label, {0xffffffff, 4, 7, 4, 1}, LX_ERR_CORRUPT},
    {"inline of 9 bytes", &caption, {0xffffffff, 9, 7, 9, 1}, LX_ERR_CORRUPT},
    {"inline of 4 GiB", &caption, {0xffffffff, 0xffffffff, 7, 0xffffffff, 1}, LX_ERR_CORRUPT},
    {"inline with another length", &caption, {0xffffffff, 2, 7, 3, 1}, LX_ERR_CORRUPT},
    {"inline and compressed", &caption, {0xffffffff, 3, 7, 300, 1}, LX_ERR_CORRUPT},
    {"inline with a byte after it", &caption, {0xffffffff, 2, 0x10000, 2, 1}, LX_ERR_CORRUPT},
    {"inline with a last byte after it",
     &caption,
     {0xffffffff, 7, 1ull << 56, 7, 1},
     LX_ERR_CORRUPT},
    {"inline of 8 full bytes", &caption, {0xffffffff, 8, UINT64_MAX, 8, 1}, LX_OK},
    {"empty with bytes", &caption, {0xffffffff, 0, 1, 0, 1}, LX_ERR_CORRUPT},
    {"misaligned by 2 of 4", &image, {0, 12, 2, 12, 1}, LX_ERR_CORRUPT},
    {"misaligned by 4 of 8", &caption, {0, 12, 4, 12, 1}, LX_ERR_CORRUPT},
    {"aligned", &image, {0, 12, 4, 12, 1}, LX_OK},
    {"stored without bytes", &caption, {5, 0, 8, 0, 1}, LX_ERR_CORRUPT},
    {"compressed to nothing", &caption, {0, 0, 8, 15, 1}, LX_ERR_CORRUPT},
    {"stored longer than the value", &caption, {0, 16, 0, 15, 1}, LX_ERR_CORRUPT},
    {"a raw field with less stored", &image, {0, 8, 0, 12, 1}, LX_ERR_CORRUPT},
    {"a raw field with more stored", &image, {0, 16, 0, 12, 1}, LX_ERR_CORRUPT},
    {"1 to 8 bytes that are stored", &caption, {0, 2, 0, 2, 1}, LX_OK},
    {"kept raw in a flate field", &caption, {0, 20, 0, 20, 1}, LX_OK},
    {"a Deflate bomb", &caption, {0, 1000, 0, 0xffffffff, 1}, LX_ERR_CORRUPT},
    {"as much as Deflate can give", &caption, {0, 1000, 0, 1032000, 1}, LX_OK},
    {"one byte more than Deflate can give", &caption, {0, 1000, 0, 1032001, 1}, LX_ERR_CORRUPT},
    {"a zstd bomb", &zstd, {0, 1000, 0, 0xffffffff, 1}, LX_ERR_CORRUPT},
    {"as much as zstd can give", &zstd, {0, 1000, 0, 32768000, 1}, LX_OK},
    {"one byte more than zstd can give", &zstd, {0, 1000, 0, 32768001, 1}, LX_ERR_CORRUPT},
    {"three items", &boxes, {0, 48, 0, 48, 1}, LX_OK},
    {"no item", &boxes, {0xffffffff, 0, 0, 0, 1}, LX_OK},
    {"a missing list of items", &boxes, {0, 0, 0, 0, 0}, LX_OK},
    {"a part of an item", &boxes, {0, 40, 0, 40, 1}, LX_ERR_CORRUPT},
    {"a part of an item, inline", &boxes, {0xffffffff, 8, 7, 8, 1}, LX_ERR_CORRUPT},
};

START_TEST(rejects_entries_that_break_a_rule)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        lx_error error = LX_ERROR_INIT;
        const struct fault *f = &faults[i];
        lx_status status = lx__entry_check(&f->entry, f->rules, &error);
        ck_assert_msg(status == f->status, "%s: %s", f->name, lx_status_get_name(status));
        ck_assert_int_eq(error.status, status);
        ck_assert_int_eq(lx__entry_check(&f->entry, f->rules, NULL), status);
    }
}
END_TEST

START_TEST(a_checksum_depends_on_field_and_index)
{
    /* The same bytes in another dataset, field, chunk, place or row have another checksum. */
    const struct vector *v = &vectors[0];
    uint32_t right = lx__entry_crc(&v->entry, v->rules, v->stored);
    lx__entry_rules rules = *v->rules;
    lx__entry entry = v->entry;
    rules.uuid[15] ^= 1;
    ck_assert_uint_ne(lx__entry_crc(&entry, &rules, v->stored), right);
    rules = *v->rules;
    rules.field = 1;
    ck_assert_uint_ne(lx__entry_crc(&entry, &rules, v->stored), right);
    entry.chunk = 1;
    ck_assert_uint_ne(lx__entry_crc(&entry, v->rules, v->stored), right);
    entry = v->entry;
    entry.offset = 4;
    ck_assert_uint_ne(lx__entry_crc(&entry, v->rules, v->stored), right);
    entry = v->entry;
    entry.logical = 13;
    ck_assert_uint_ne(lx__entry_crc(&entry, v->rules, v->stored), right);
    ck_assert_uint_ne(lx__index_crc(0), lx__index_crc(1));
}
END_TEST

UNIT_MAIN("zrecord/entry", entries_match_the_document, checksums_match_the_document,
          a_moved_row_changes_its_checksum_alone, distinguishes_kinds_of_values,
          rejects_entries_that_break_a_rule, a_checksum_depends_on_field_and_index)
