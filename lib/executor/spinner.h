/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Looking for something a while before sleeping, as long as that pays.
 *
 * A sleeper costs who wakes it a system call, and itself the time until it runs again: some 20 us
 * both. Spinning saves that where what is waited for comes soon, and is worse than useless where it
 * does not: on a machine that is busy otherwise a thread may be spinning on the very CPU that the
 * one it waits for needs. So whoever waits again and again keeps a spinner, which learns: after
 * looking in vain it sleeps at once the next time, then 3, 7 .. 63 times, until a look pays again.
 *
 * @par Thread safety
 * None: a spinner belongs to one thread, or to who holds a lock.
 */
#ifndef LX_EXECUTOR_SPINNER_H
#define LX_EXECUTOR_SPINNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>

/** Starts zeroed. */
typedef struct lx__spinner {
    uint32_t misses; /**< Times in a row that looking was in vain, up to a limit; */
    uint32_t skips;  /**< and how many pauses will begin with sleep for that. */
} lx__spinner;

/** Whether the pause that begins now is to begin with lx__spinner_watch(). */
bool lx__spinner_try(lx__spinner *spinner);

/** Looks for some 30 us whether @p watched is still @p seen. True: it is not. */
bool lx__spinner_watch(const atomic_uint *watched, unsigned seen);

/** Tells the spinner whether watching was worth it. */
void lx__spinner_learn(lx__spinner *spinner, bool found);

#endif
