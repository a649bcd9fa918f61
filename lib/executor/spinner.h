/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Adaptive spinning before a thread sleeps.
 *
 * Waking a sleeping thread costs the waker a system call, and the sleeper the time until it runs
 * again: about 20 us in total. Spinning saves this time if the event comes soon, but is harmful
 * otherwise: on a busy machine, a thread may spin on the CPU that the awaited thread needs. A
 * thread that waits repeatedly keeps one spinner, which adapts. After spinning in vain, the
 * thread does not spin in the next wait. Each further time in vain, it skips more waits: 3, then 7,
 * and so on up to 63, until spinning succeeds.
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
    uint32_t misses; /**< Number of consecutive times that spinning was in vain, up to a limit. */
    uint32_t skips;  /**< Number of upcoming waits that begin without spinning. */
} lx__spinner;

/** Whether the wait that begins now should start with lx__spinner_watch(). */
bool lx__spinner_try(lx__spinner *spinner);

/** Watches @p watched for about 30 us. Returns true as soon as its value differs from @p seen. */
bool lx__spinner_watch(const atomic_uint *watched, unsigned seen);

/** Records whether watching succeeded. */
void lx__spinner_learn(lx__spinner *spinner, bool found);

#endif
