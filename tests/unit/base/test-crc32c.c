/* SPDX-License-Identifier: MIT */
#include "base/cpu.h"
#include "base/crc32c-sse42.h"
#include "base/crc32c.h"

#include <string.h>

#include "../unit.h"

typedef uint32_t crc_function(uint32_t, const void *, size_t);

/** Every kernel this processor can run, NULL at the end. */
static crc_function **kernels(void)
{
    static crc_function *list[4];
    size_t count = 0;
    list[count++] = lx__crc32c;
    list[count++] = lx__crc32c_tables;
#if defined(__x86_64__)
    if (lx__cpu_has(LX__CPU_SSE42))
        list[count++] = lx__crc32c_sse42;
#endif
    list[count] = NULL;
    return list;
}

START_TEST(matches_known_values)
{
    /* RFC 3720, B.4: 32 bytes of zeros, of ones, ascending; and the usual check value. */
    uint8_t zeros[32] = {0}, ones[32], ascending[32];
    memset(ones, 0xff, sizeof ones);
    for (int i = 0; i < 32; i++)
        ascending[i] = (uint8_t)i;
    for (crc_function **crc = kernels(); *crc != NULL; crc++) {
        ck_assert_uint_eq((*crc)(0, "123456789", 9), 0xe3069283);
        ck_assert_uint_eq((*crc)(0, zeros, 32), 0x8a9136aa);
        ck_assert_uint_eq((*crc)(0, ones, 32), 0x62a8ab43);
        ck_assert_uint_eq((*crc)(0, ascending, 32), 0x46dd794e);
        ck_assert_uint_eq((*crc)(0, NULL, 0), 0);
    }
}
END_TEST

/** One bit at a time, independent of the tested code. */
static uint32_t crc_by_bits(const uint8_t *data, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

START_TEST(kernels_agree_on_all_lengths_and_alignments)
{
    static uint8_t data[20000];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
    /* Around each length at which the kernels change their stride. */
    static const size_t around[] = {0, 8, 16, 504, 1008, 4080, 4096, 4584, 8160, 12345, 16384};
    for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
        for (size_t size = around[k] < 9 ? 0 : around[k] - 9; size <= around[k] + 9; size++) {
            for (size_t start = 0; start < 3; start++) {
                uint32_t expected = crc_by_bits(data + start, size);
                for (crc_function **crc = kernels(); *crc != NULL; crc++)
                    ck_assert_uint_eq((*crc)(0, data + start, size), expected);
            }
        }
    }
}
END_TEST

START_TEST(combines_the_crcs_of_parts)
{
    uint8_t data[5000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    for (crc_function **crc = kernels(); *crc != NULL; crc++)
        for (size_t cut = 0; cut <= sizeof data; cut += 611)
            ck_assert_uint_eq((*crc)((*crc)(0, data, cut), data + cut, sizeof data - cut),
                              (*crc)(0, data, sizeof data));
}
END_TEST

START_TEST(shifts_a_change_past_data)
{
    static uint8_t data[200000];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 + i / 251);
    for (uint32_t size = 0; size <= sizeof data; size += size < 600 ? 1 : 9973) {
        uint32_t crc = state = state * 1664525u + 1013904223u,
                 change = state = state * 1664525u + 1;
        uint32_t expected = lx__crc32c(crc, data, size) ^ lx__crc32c(crc ^ change, data, size);
        ck_assert_uint_eq(lx__crc32c_shift(change, size), expected);
        ck_assert_uint_eq(lx__crc32c_shift_in_software(change, size), expected);
    }
    /* Sizes too large for memory: a shift past the sum is a shift past both. */
    for (uint32_t size = 1; size < 1u << 31; size *= 3) {
        uint32_t rest = ~size;
        uint32_t both = lx__crc32c_shift(lx__crc32c_shift(0x12345678, size), rest);
        ck_assert_uint_eq(lx__crc32c_shift(0x12345678, UINT32_MAX), both);
        ck_assert_uint_eq(lx__crc32c_shift_in_software(0x12345678, UINT32_MAX), both);
    }
}
END_TEST

UNIT_MAIN("base/crc32c", matches_known_values, kernels_agree_on_all_lengths_and_alignments,
          combines_the_crcs_of_parts, shifts_a_change_past_data)
