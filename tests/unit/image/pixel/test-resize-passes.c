/* SPDX-License-Identifier: MIT */
/* The passes for this processor give the bytes of the plain passes. */
#include "image/pixel/resize-passes.h"

#include "image/pixel/resize-plain.h"
#include "pixels.h"

/** Returns rows of noise; only the bytes that a pass may read follow them. */
static void make_rows(uint8_t *rows[], size_t count, size_t size, uint32_t *state)
{
    for (size_t i = 0; i < count; i++) {
        rows[i] = malloc(size);
        for (size_t k = 0; k < size; k++)
            rows[i][k] = (uint8_t)(pixels_random(state) % 3 == 0 ? 255 : pixels_random(state));
    }
}

static void free_rows(uint8_t *rows[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i]);
}

/** Sizes that are small, usual, or very different. */
static lx__axis_key random_key(uint32_t *state)
{
    static const uint32_t most[] = {6, 300, 3000};
    lx__axis_key key = {.in_size = pixels_between(state, 1, most[pixels_random(state) % 3]),
                        .out_size = pixels_between(state, 1, 200),
                        .filter = (lx_image_filter)pixels_between(state, 0, 5),
                        .antialias = true};
    key.high = (float)key.in_size;
    key.low = (float)pixels_between(state, 0, 99) * key.high / 100;
    return key;
}

START_TEST(horizontal_passes_are_equal)
{
    uint8_t *in[LX__PASS_ROWS], *plain[LX__PASS_ROWS], *fast[LX__PASS_ROWS];
    lx__axis axis = {0};
    uint32_t state = 5;
    for (int n = 0; n < 600; n++) {
        size_t channels = n % 2 != 0 ? 3 : 1;
        lx__axis_key key = random_key(&state);
        key.whole_groups = true;
        ck_assert(lx__axis_prepare(&axis, &key));
        if (axis.shifts) /* no pass */
            continue;
        size_t size = key.out_size * channels;
        make_rows(in, LX__PASS_ROWS, key.in_size * channels + LX__PASS_READS, &state);
        make_rows(plain, LX__PASS_ROWS, size + LX__PASS_WRITES, &state);
        make_rows(fast, LX__PASS_ROWS, size + LX__PASS_WRITES, &state);
        lx__passes_plain.horizontal[channels == 3](&axis, (const uint8_t *const *)in, plain);
        lx__passes_find()->horizontal[channels == 3](&axis, (const uint8_t *const *)in, fast);
        for (size_t i = 0; i < LX__PASS_ROWS; i++)
            ck_assert_mem_eq(plain[i], fast[i], size);
        free_rows(in, LX__PASS_ROWS);
        free_rows(plain, LX__PASS_ROWS);
        free_rows(fast, LX__PASS_ROWS);
    }
    lx__axis_release(&axis);
}
END_TEST

START_TEST(vertical_passes_are_equal)
{
    uint8_t *in[201], *out[2];
    lx__axis axis = {0};
    uint32_t state = 6;
    for (int n = 0; n < 300; n++) {
        size_t size = pixels_between(&state, 1, n % 2 != 0 ? 40 : 700);
        lx__axis_key key = random_key(&state);
        key.in_size = key.in_size > 200 ? 200 : key.in_size;
        key.low = 0;
        key.high = (float)key.in_size;
        ck_assert(lx__axis_prepare(&axis, &key));
        make_rows(in, key.in_size, size, &state);
        in[key.in_size] = in[0];
        make_rows(out, 2, size, &state);
        for (size_t y = 0; y < key.out_size; y += 7) {
            const int16_t *weights = lx__axis_weights(&axis, y);
            const uint8_t *const *rows = (const uint8_t *const *)in + axis.starts[y];
            lx__passes_plain.vertical(weights, axis.counts[y], rows, size, out[0]);
            lx__passes_find()->vertical(weights, axis.counts[y], rows, size, out[1]);
            ck_assert_mem_eq(out[0], out[1], size);
        }
        free_rows(in, key.in_size);
        free_rows(out, 2);
    }
    lx__axis_release(&axis);
}
END_TEST

UNIT_MAIN("image/pixel/resize-passes", horizontal_passes_are_equal, vertical_passes_are_equal)
