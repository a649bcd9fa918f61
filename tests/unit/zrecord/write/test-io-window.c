/* SPDX-License-Identifier: MIT */
#include "../records.h"
#include "zrecord/write/io-window.h"

static lx__io_window window;

static void add(uint32_t chunk, uint64_t offset, uint32_t size)
{
    lx__move move = {.index = window.count};
    ck_assert(lx__io_window_fits(&window, size));
    lx__io_window_add(&window, &move, (lx__source){.chunk = chunk, .offset = offset, .size = size});
}

/** The extents must cover each source once, and not exceed the size of one read. */
static size_t expect_pieces(void)
{
    lx__io_extent piece = {0};
    size_t pieces = 0, sources = 0;
    uint64_t bytes = 0;
    lx__io_window_sort(&window);
    while (lx__io_window_next(&window, &piece)) {
        ck_assert_uint_eq(piece.first, sources);
        for (size_t i = piece.first; i < piece.end; i++, sources++) {
            const lx__source *source = &window.sources[i];
            ck_assert_uint_eq(source->chunk, window.sources[piece.first].chunk);
            ck_assert_uint_ge(source->offset, piece.start);
            ck_assert_uint_le(source->offset + source->size, piece.start + piece.size);
        }
        ck_assert_uint_le(piece.size, 1 << 20);
        bytes += piece.size;
        pieces++;
    }
    ck_assert_uint_eq(sources, window.count);
    ck_assert_uint_le(bytes, LX__IO_WINDOW_INPUT);
    lx__io_window_clear(&window);
    return pieces;
}

START_TEST(merges_adjacent_extents)
{
    ck_assert(lx__io_window_open(&window));
    ck_assert_uint_eq(expect_pieces(), 0);
    for (uint64_t i = 0; i < 1000; i++) /* in its own order, with small gaps */
        add(0, (i * 7 % 1000) * 1000, 900);
    ck_assert_uint_eq(expect_pieces(), 1);
    for (uint64_t i = 0; i < 3000; i++)
        add(0, i * 1000, 1000);
    ck_assert_uint_eq(expect_pieces(), 3);
    for (uint32_t i = 0; i < 10; i++)
        add(i % 2, i * 100, 100);
    ck_assert_uint_eq(expect_pieces(), 2);
    add(0, 0, 100);
    add(0, 50, 100); /* overlaps the one before: no writer makes such an entry */
    add(0, 0, 100);
    ck_assert_uint_eq(expect_pieces(), 3);
    add(0, 0, 100);
    add(0, 100 + 8193, 100);
    ck_assert_uint_eq(expect_pieces(), 2);
    lx__io_window_close(&window);
}
END_TEST

START_TEST(limits_its_size)
{
    ck_assert(lx__io_window_open(&window));
    for (uint64_t i = 0; lx__io_window_fits(&window, 500); i++)
        add(0, i * 8600, 500); /* gaps for more than the space */
    ck_assert_uint_ge(window.bytes, LX__IO_WINDOW_BYTES - 500);
    ck_assert_uint_gt(expect_pieces(), 1000);
    for (uint64_t i = 0; lx__io_window_fits(&window, 1); i++)
        add(0, mix(i) % ((uint64_t)1 << 60), 1);
    ck_assert_uint_eq(window.count, LX__IO_WINDOW_MOVES);
    ck_assert_uint_gt(expect_pieces(), 60000);
    for (uint64_t i = 0; lx__io_window_fits(&window, 1 << 20); i++)
        add(0, i << 20, 1 << 20);
    ck_assert_uint_eq(expect_pieces(), 16);
    lx__io_window_close(&window);
}
END_TEST

UNIT_MAIN("zrecord/io-window", merges_adjacent_extents, limits_its_size)
