/* SPDX-License-Identifier: MIT */
#include "remote/queue/window.h"

/* How often to compute the window, in nanoseconds: several requests end in that time. */
#define ROUND ((uint64_t)200000000)
/* How many large requests the window has room for at least. If it were one, the link would be idle
 * after each, and the window would never grow. */
#define LEAST_REQUESTS 4

static uint64_t size_of(const lx__window *window)
{
    return window->bytes != 0 ? window->bytes : LX__WINDOW_MIN;
}

bool lx__window_is_full(lx__window *window, uint64_t size)
{
    uint64_t room = size_of(window);
    if (room < LEAST_REQUESTS * size)
        room = LEAST_REQUESTS * size;
    bool full = window->under_way != 0 && window->under_way + size > room;
    window->filled |= full;
    return full;
}

void lx__window_begin(lx__window *window, uint64_t size, uint64_t now)
{
    if (window->under_way == 0) { /* the link was idle */
        window->since = now;
        window->arrived = 0;
        window->filled = false;
    }
    window->under_way += size;
}

/** Starts the next round. Keeps the window if it did not limit the rate. */
static void compute(lx__window *window, uint64_t now)
{
    double seconds = (double)(now - window->since) / 1e9;
    double wanted = 3 * (double)window->arrived / seconds * (double)window->shortest / 1e9;
    if (window->filled)
        window->bytes = wanted > LX__WINDOW_MIN ? (uint64_t)wanted : LX__WINDOW_MIN;
    window->since = now;
    window->arrived = 0;
    window->filled = false;
}

void lx__window_end(lx__window *window, uint64_t size, uint64_t got, uint64_t began, uint64_t now)
{
    uint64_t latency = now > began ? now - began : 1;
    window->under_way -= size;
    window->arrived += got;
    if (got != 0 && (window->shortest == 0 || latency < window->shortest))
        window->shortest = latency;
    if (now - window->since >= ROUND)
        compute(window, now);
}
