/* SPDX-License-Identifier: MIT */
#include "parity/eod-columns.h"

#include "../unit.h"
#include "base/bytes.h"

#define LENGTH 7

/* 9 ends a document, and -1 is padding. */
static const int64_t tokens[LENGTH] = {9, 1, 2, 9, 3, -1, -1};

static lx__eod_sample make(uint8_t *text, size_t wide, uint64_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint8_t number[8];
        lx__store_le64(number, (uint64_t)tokens[i]);
        memcpy(text + wide * i, number, wide);
    }
    return (lx__eod_sample){text, length, wide, 9};
}

static void expect_numbers(const uint8_t *numbers, const uint32_t *expected)
{
    for (size_t i = 0; i < LENGTH; i++)
        ck_assert_uint_eq(lx__load_le32(numbers + 4 * i), expected[i]);
}

START_TEST(pieces_end_with_a_mark)
{
    static const uint32_t segments[] = {1, 2, 2, 2, 3, 3, 3}, positions[] = {0, 0, 1, 2, 0, 1, 2};
    for (size_t wide = 4; wide <= 8; wide += 4) {
        uint8_t text[8 * LENGTH], first[4 * LENGTH], second[4 * LENGTH];
        lx__eod_sample marked = make(text, wide, LENGTH);
        lx__eod_sample_split(&marked, first, second);
        expect_numbers(first, segments);
        expect_numbers(second, positions);
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        lx__eod_sample_split(&marked, first, NULL);
        lx__eod_sample_split(&marked, NULL, second);
        expect_numbers(first, segments);
        expect_numbers(second, positions);
    }
}
END_TEST

/** The number of inputs equals the number of tokens, or is one less. */
static void expect_mask(size_t wide, uint64_t inputs, bool ends, const float *expected)
{
    uint8_t text[8 * LENGTH], mask[4 * LENGTH];
    lx__eod_sample marked = make(text, wide, LENGTH);
    lx__eod_sample_mask(&marked, ends, -1, inputs, mask);
    for (size_t i = 0; i < inputs; i++) {
        uint32_t bits = lx__load_le32(mask + 4 * i);
        float value;
        memcpy(&value, &bits, sizeof value);
        ck_assert_float_eq(value, expected[i]);
    }
}

START_TEST(the_loss_mask_covers_labels)
{
    static const float all[] = {1, 1, 1, 1, 0, 0, 0}, ends[] = {0, 1, 1, 0, 0, 0, 0};
    for (size_t wide = 4; wide <= 8; wide += 4)
        for (uint64_t inputs = LENGTH - 1; inputs <= LENGTH; inputs++) {
            expect_mask(wide, inputs, false, all);
            expect_mask(wide, inputs, true, ends);
        }
}
END_TEST

UNIT_MAIN("parity/eod-columns", pieces_end_with_a_mark, the_loss_mask_covers_labels)
