/* SPDX-License-Identifier: MIT */
/* Widening of tokens of all widths: lib/loader/tokens/widen.c. */
#include "loader/tokens/widen.h"

#include "base/cpu.h"

#include "token-files.h"

#define MOST 200

static const lx_dtype narrow[] = {LX_INT8,  LX_INT16,  LX_INT32,  LX_INT64,
                                  LX_UINT8, LX_UINT16, LX_UINT32, LX_UINT64};
#define NARROW (sizeof narrow / sizeof *narrow)

START_TEST(widens_each_width_and_count)
{
    uint8_t from[MOST * 8 + 16], to[MOST * 8 + 8];
    for (size_t d = 0; d < NARROW; d++) {
        size_t width = lx_dtype_get_size(narrow[d]);
        for (size_t count = 0; count <= MOST; count += 1 + count / 9) {
            uint8_t *start = from + 1 + count % 7; /* unaligned */
            for (size_t i = 0; i < count; i++)
                lx__store_le64(start + i * width, i * 5 % 127);
            for (int wide = 4; wide <= 8; wide += 4) {
                lx_dtype dtype = wide == 4 ? LX_INT32 : LX_INT64;
                memset(to, 0xee, sizeof to);
                ck_assert(lx__widen_find(narrow[d], dtype)(start, count, 127, to));
                for (size_t i = 0; i < count; i++)
                    ck_assert_uint_eq(wide == 4 ? lx__load_le32(to + 4 * i)
                                                : lx__load_le64(to + 8 * i),
                                      i * 5 % 127);
                for (size_t i = count * (size_t)wide; i < sizeof to; i++)
                    ck_assert_uint_eq(to[i], 0xee);
            }
        }
    }
}
END_TEST

START_TEST(reports_one_token_above_the_limit_anywhere)
{
    uint8_t from[MOST * 8 + 8] = {0}, to[MOST * 8];
    for (size_t d = 0; d < NARROW; d++) {
        size_t width = lx_dtype_get_size(narrow[d]);
        lx__widen *widen = lx__widen_find(narrow[d], LX_INT64);
        for (size_t at = 0; at < 140; at++) {
            memset(from, 0, sizeof from);
            from[at * width] = 100;
            ck_assert(widen(from, 140, 101, to));
            ck_assert(!widen(from, 140, 100, to));
            ck_assert(widen(from, at, 100, to)); /* bytes after the end are not read */
            uint64_t token = 0;
            ck_assert_uint_eq(lx__widen_find_bad(widen, from, 140, width, 100, &token), at);
            ck_assert_uint_eq(token, 100);
        }
    }
}
END_TEST

START_TEST(vector_code_matches_plain_loops)
{
#if defined(__x86_64__)
    uint8_t from[MOST * 8 + 8], vectors[MOST * 8], plain[MOST * 8];
    uint64_t state = 1;
    if (!lx__cpu_has(LX__CPU_AVX2))
        return;
    for (int round = 0; round < 2000; round++) {
        lx_dtype dtype = narrow[(size_t)round % NARROW];
        size_t count = (size_t)round * 7 % MOST;
        for (size_t i = 0; i < sizeof from; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            from[i] = (uint8_t)(state >> 56);
        }
        for (size_t wide = 0; wide < 2; wide++) {
            uint64_t limit = lx__widen_limit(dtype, wide ? LX_INT64 : LX_INT32,
                                             round % 3 == 0 ? 0 : state >> (round % 64));
            bool fits = lx__widen_plain[dtype][wide](from + round % 8, count, limit, plain);
            ck_assert(lx__widen_avx2[dtype][wide](from + round % 8, count, limit, vectors) == fits);
            ck_assert(memcmp(vectors, plain, count * (wide ? 8 : 4)) == 0);
        }
    }
#endif
}
END_TEST

START_TEST(returns_the_limit_of_each_pair)
{
    const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t to[8];
    for (size_t d = 0; d < NARROW; d++) {
        for (int wide = 4; wide <= 8; wide += 4) {
            lx_dtype dtype = wide == 4 ? LX_INT32 : LX_INT64;
            uint64_t limit = lx__widen_limit(narrow[d], dtype, 0);
            size_t width = lx_dtype_get_size(narrow[d]);
            bool is_signed = d < 4;
            /* All bits set is -1, or too large, except for narrow unsigned types. */
            bool fits = !is_signed && (int)width < wide;
            ck_assert(lx__widen_find(narrow[d], dtype)(ones, 1, limit, to) == fits);
            ck_assert_uint_eq(lx__widen_limit(narrow[d], dtype, 100), 100);
            ck_assert_uint_eq(lx__widen_limit(narrow[d], dtype, UINT64_MAX), limit);
        }
    }
}
END_TEST

START_TEST(rejects_dtypes_that_hold_no_tokens)
{
    ck_assert(lx__widen_find(LX_BYTES, LX_INT32) == NULL);
    ck_assert(lx__widen_find(LX_BOOL, LX_INT32) == NULL);
    ck_assert(lx__widen_find(LX_FLOAT32, LX_INT32) == NULL);
    ck_assert(lx__widen_find(LX_COMPLEX128, LX_INT32) == NULL);
    ck_assert(lx__widen_find((lx_dtype)99, LX_INT32) == NULL);
    ck_assert(lx__widen_find(LX_UINT16, LX_UINT16) == NULL);
    ck_assert(lx__widen_find(LX_UINT16, LX_FLOAT32) == NULL);
}
END_TEST

UNIT_MAIN("loader/widen", widens_each_width_and_count, reports_one_token_above_the_limit_anywhere,
          vector_code_matches_plain_loops, returns_the_limit_of_each_pair,
          rejects_dtypes_that_hold_no_tokens)
