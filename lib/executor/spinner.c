/* SPDX-License-Identifier: MIT */
#include "executor/spinner.h"

#include "executor/clock.h"

/* About what a wake-up costs the two threads together, so that spinning at most doubles the cost of
 * a wait. */
#define SPIN_NS 30000
/* Number of checks between two reads of the clock. */
#define LOOKS 32
/* Limits the number of skips to 2^MOST_MISSES - 1. */
#define MOST_MISSES 6

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

bool lx__spinner_try(lx__spinner *spinner)
{
    if (spinner->skips == 0)
        return true;
    spinner->skips--;
    return false;
}

bool lx__spinner_watch(const atomic_uint *watched, unsigned seen)
{
    uint64_t end = lx__clock_after(SPIN_NS);
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(watched, memory_order_relaxed) != seen)
                return true;
            relax();
        }
    } while (lx__clock_now() < end);
    return false;
}

void lx__spinner_learn(lx__spinner *spinner, bool found)
{
    if (found)
        spinner->misses = 0;
    else if (spinner->misses < MOST_MISSES)
        spinner->misses++;
    spinner->skips = (1u << spinner->misses) - 1;
}
