/* SPDX-License-Identifier: MIT */
/* The number of bytes under way follows the rate and the latency of a link. */
#include "../../unit.h"

#include "remote/queue/window.h"

#define MIB ((uint64_t)1 << 20)
#define MS ((uint64_t)1000000)

/** A link that serves requests of @p size bytes one after the other, after a latency. Returns its
 * rate, as a share of what it could have. */
static double run_link(lx__window *window, uint64_t size, uint64_t latency,
                       uint64_t bytes_per_second, unsigned requests)
{
    uint64_t began[1024], done[1024], now = 1, free_at = 0,
                                      each = size * 1000 * MS / bytes_per_second;
    unsigned first = 0, next = 0;
    while (first < requests) {
        while (next < requests && !lx__window_is_full(window, size)) {
            lx__window_begin(window, size, now);
            uint64_t ready = now + latency > free_at ? now + latency : free_at;
            began[next % 1024] = now;
            done[next++ % 1024] = free_at = ready + each;
        }
        now = done[first % 1024];
        lx__window_end(window, size, size, began[first++ % 1024], now);
    }
    return (double)requests * (double)each / (double)now;
}

START_TEST(fills_links_of_all_kinds)
{
    static const uint64_t latencies[] = {MS, 20 * MS, 100 * MS};
    static const uint64_t rates[] = {10 * MIB, 119 * MIB, 1200 * MIB};
    for (size_t l = 0; l < 3; l++)
        for (size_t r = 0; r < 3; r++) {
            lx__window window = {0};
            double share = run_link(&window, MIB, latencies[l], rates[r], 20000);
            ck_assert_msg(share > 0.9, "%d ms, %d MiB/s: %.2f", (int)(latencies[l] / MS),
                          (int)(rates[r] / MIB), share);
            /* What comes next waits for little more than the latency. */
            double product = (double)rates[r] *
                             (double)(latencies[l] + 1000 * MS * MIB / rates[r]) /
                             (double)(1000 * MS);
            ck_assert_uint_le(window.bytes, LX__WINDOW_MIN + (uint64_t)(3.5 * product));
        }
}
END_TEST

START_TEST(fills_links_with_large_parts)
{
    static const uint64_t latencies[] = {MS, 300 * MS};
    for (size_t l = 0; l < 2; l++) {
        lx__window window = {0};
        ck_assert(run_link(&window, 8 * MIB, latencies[l], 1200 * MIB, 2000) > 0.9);
    }
}
END_TEST

START_TEST(lets_one_request_of_any_size_begin)
{
    lx__window window = {0};
    ck_assert(!lx__window_is_full(&window, 100 * MIB));
    lx__window_begin(&window, 100 * MIB, 1);
    ck_assert(lx__window_is_full(&window, 1));
    lx__window_end(&window, 100 * MIB, 0, 1, 2);
    ck_assert(!lx__window_is_full(&window, 1));
}
END_TEST

START_TEST(stays_if_it_was_not_the_limit)
{
    lx__window window = {0};
    (void)run_link(&window, MIB, 100 * MS, 1200 * MIB, 5000);
    uint64_t bytes = window.bytes;
    ck_assert_uint_gt(bytes, LX__WINDOW_MIN);
    for (uint64_t now = 1000 * MS; now < 10000 * MS; now += 500 * MS) {
        lx__window_begin(&window, MIB, now);
        lx__window_end(&window, MIB, MIB, now, now + 400 * MS);
    }
    ck_assert_uint_eq(window.bytes, bytes);
}
END_TEST

UNIT_MAIN("remote/queue/window", fills_links_of_all_kinds, fills_links_with_large_parts,
          lets_one_request_of_any_size_begin, stays_if_it_was_not_the_limit)
