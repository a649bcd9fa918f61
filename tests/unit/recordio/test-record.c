/* SPDX-License-Identifier: MIT */
/* The framing of records. */
#include "records.h"

static size_t join(const uint8_t *data, size_t size, uint8_t *out)
{
    lx__recordio_extent extent = {.complete = false};
    uint64_t wanted = lx__recordio_measure(data, size, &extent);
    ck_assert_ptr_null(extent.flaw);
    ck_assert_uint_eq(wanted, size);
    ck_assert(extent.complete);
    ck_assert_uint_eq(extent.stored, size);
    lx__recordio_join(data, &extent, out);
    return (size_t)extent.size;
}

/* These bytes were written by dmlc-core. */
START_TEST(reads_golden_records)
{
    uint8_t out[16];
    ck_assert_uint_eq(join((const uint8_t *)"\x0a\x23\xd7\xce\3\0\0\0abc\0", 12, out), 3);
    ck_assert_mem_eq(out, "abc", 3);
    ck_assert_uint_eq(join((const uint8_t *)"\x0a\x23\xd7\xce\0\0\0\0", 8, out), 0);
    static const uint8_t parts[] = "\x0a\x23\xd7\xce\4\0\0\x20"
                                   "AAAA"
                                   "\x0a\x23\xd7\xce\2\0\0\x60"
                                   "BB\0";
    ck_assert_uint_eq(join(parts, 24, out), 10);
    ck_assert_mem_eq(out,
                     "AAAA\x0a\x23\xd7\xce"
                     "BB",
                     10);
}
END_TEST

START_TEST(measures_records_as_they_arrive)
{
    for (unsigned i = 0; i < 60; i++) {
        uint8_t record[RECORD_MAX], out[RECORD_MAX];
        struct bytes bytes = {NULL, 0};
        size_t size = record_make(i, record);
        bytes_add_record(&bytes, record, size);
        lx__recordio_extent extent = {.complete = false};
        uint64_t wanted = 0;
        for (size_t have = 0; have <= bytes.size; have += i % 5 + 1) {
            if (have < wanted)
                continue;
            wanted = lx__recordio_measure(bytes.data, have, &extent);
            ck_assert_ptr_null(extent.flaw);
            ck_assert_uint_le(wanted, bytes.size);
        }
        ck_assert_uint_eq(lx__recordio_measure(bytes.data, bytes.size, &extent), bytes.size);
        ck_assert(extent.complete && extent.size == size);
        lx__recordio_join(bytes.data, &extent, out);
        ck_assert(size == 0 || memcmp(out, record, size) == 0);
        free(bytes.data);
    }
}
END_TEST

START_TEST(finds_magic_numbers)
{
    uint8_t data[400] = {0};
    for (size_t size = 0; size < sizeof data; size++) {
        ck_assert_uint_eq(lx__recordio_find_magic(data, size), size);
        for (size_t at = 0; at + 4 <= size; at += 3) {
            lx__store_le32(data + at, LX__RECORDIO_MAGIC);
            ck_assert_uint_eq(lx__recordio_find_magic(data, size), at % 4 == 0 ? at : size);
            memset(data + at, 0, 4);
        }
    }
}
END_TEST

START_TEST(reports_damage)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *flaw;
    } cases[] = {
        {"abcd\0\0\0\0", 8, "no magic number is where it should begin"},
        {"\x0a\x23\xd7\xce\0\0\0\x80", 8, "the kind of a part is invalid"},
        {"\x0a\x23\xd7\xce\0\0\0\x40", 8, "its first part is missing"},
        {"\x0a\x23\xd7\xce\0\0\0\x20\x0a\x23\xd7\xce\0\0\0\0", 16, "its last part is missing"},
        {"\x0a\x23\xd7\xce\0\0\0\x20xxxxxxxx", 16,
         "no magic number is where its next part should begin"},
        {"\x0a\x23\xd7\xce\6\0\0\0zzzz\x0a\x23\xd7\xce", 16,
         "another part begins within one of its parts, whose length is wrong"},
        {"\x0a\x23\xd7\xce\x8\0\0\0\x0a\x23\xd7\xce\0\0\0\0", 16,
         "another part begins within one of its parts, whose length is wrong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx__recordio_extent extent = {.complete = false};
        lx__recordio_measure((const uint8_t *)cases[i].bytes, cases[i].size, &extent);
        ck_assert_ptr_nonnull(extent.flaw);
        ck_assert_str_eq(extent.flaw, cases[i].flaw);
    }
}
END_TEST

UNIT_MAIN("recordio/record", reads_golden_records, measures_records_as_they_arrive,
          finds_magic_numbers, reports_damage)
