/* SPDX-License-Identifier: MIT */
/* The orientation in Exif data. */
#include "../../unit.h"

#include "image/codec/exif.h"

/* Data with one entry, in both orders of bytes; the orientation is 6. */
#define ENTRY_AT 10
static const char little[] = "II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0";
static const char big[] = "MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0";
#define SIZE (sizeof big)
#define NEEDED (ENTRY_AT + 12)

/** Reads a copy of exactly this size, so that a sanitizer finds reads beyond it. */
static uint32_t read_copy(const char *bytes, size_t size)
{
    uint8_t *copy = malloc(size + (size == 0));
    memcpy(copy, bytes, size);
    uint32_t orientation = lx__exif_get_orientation(copy, size);
    free(copy);
    return orientation;
}

/** Reads the big-endian data after one byte was changed. */
static uint32_t read_changed(size_t at, int byte)
{
    char changed[SIZE];
    memcpy(changed, big, SIZE);
    changed[at] = (char)byte;
    return read_copy(changed, SIZE);
}

START_TEST(reads_both_orders_of_bytes)
{
    char prefixed[6 + SIZE] = "Exif\0";
    memcpy(prefixed + 6, big, SIZE);
    ck_assert_uint_eq(read_copy(little, sizeof little), 6);
    ck_assert_uint_eq(read_copy(big, SIZE), 6);
    ck_assert_uint_eq(read_copy(prefixed, sizeof prefixed), 6);
}
END_TEST

START_TEST(data_cut_anywhere_has_no_orientation)
{
    for (size_t size = 0; size < NEEDED; size++) {
        ck_assert_uint_eq(read_copy(little, size), 1);
        ck_assert_uint_eq(read_copy(big, size), 1);
    }
    ck_assert_uint_eq(read_copy(big, NEEDED), 6);
}
END_TEST

START_TEST(invalid_data_has_no_orientation)
{
    ck_assert_uint_eq(read_changed(3, '+'), 1);          /* the signature */
    ck_assert_uint_eq(read_changed(4, 0xff), 1);         /* the directory is far away */
    ck_assert_uint_eq(read_changed(7, SIZE - 1), 1);     /* or cut */
    ck_assert_uint_eq(read_changed(9, 0), 1);            /* no entry */
    ck_assert_uint_eq(read_changed(8, 0xff), 6);         /* entries are missing after it */
    ck_assert_uint_eq(read_changed(ENTRY_AT + 1, 0), 1); /* another tag */
    ck_assert_uint_eq(read_changed(ENTRY_AT + 3, 4), 1); /* another type */
    ck_assert_uint_eq(read_changed(ENTRY_AT + 9, 0), 1); /* values that do not exist */
    ck_assert_uint_eq(read_changed(ENTRY_AT + 9, 9), 1);
    ck_assert_uint_eq(read_changed(ENTRY_AT + 8, 1), 1);
}
END_TEST

UNIT_MAIN("image/codec/exif", reads_both_orders_of_bytes, data_cut_anywhere_has_no_orientation,
          invalid_data_has_no_orientation)
