/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Adaptive spinning before a thread sleeps.
 *
 * Waking a sleeping thread costs the waker a system call, and the sleeper the time until it runs
 * again: about 20 us for both. Spinning saves that if the event comes soon, and is harmful if it
 * does not: on a busy machine, a thread may spin on the CPU that the awaited thread needs. A thread
 * that waits repeatedly therefore keeps a spinner, which learns: after spinning in vain, the thread
 * sleeps at once for the next wait; if it then spins in vain again, for the next 3 waits, then 7,
 * and so on up to 63, until spinning pays off again.
 *
 * @par Thread safety
 * None: a spinner belongs to one thread, or its owner's lock protects it.
 */
#ifndef LX_EXECUTOR_SPINNER_H
#define LX_EXECUTOR_SPINNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>

/** Initialize with zeros. */
typedef struct lx__spinner {
    uint32_t misses; /**< Consecutive times that spinning was in vain, up to a limit. */
    uint32_t skips;  /**< Number of upcoming waits that begin without spinning. */
} lx__spinner;

/** Whether the wait that begins now should start with lx__spinner_watch(). */
bool lx__spinner_try(lx__spinner *spinner);

/** Watches @p watched for about 30 us. Returns true once it is no longer @p seen. */
bool lx__spinner_watch(const atomic_uint *watched, unsigned seen);

/** Records whether watching was successful. */
void lx__spinner_learn(lx__spinner *spinner, bool found);

#endif
