/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How long to wait before an attempt is repeated: a random time, whose limit doubles with
 * each attempt ("full jitter"), so that many clients do not come back together.
 */
#ifndef LX_REMOTE_BACKOFF_H
#define LX_REMOTE_BACKOFF_H

#include <stdint.h>

#include <loaderx/status.h>

/** The longest pause, in nanoseconds. */
#define LX__LONGEST_PAUSE ((uint64_t)20000000000)

/** Returns a pause of at most 0.1 s after the first attempt, 0.2 s after the second, and so on up
 * to #LX__LONGEST_PAUSE.
 *
 * @param[in,out] random  The state of a random generator: any number at first.
 * @param attempts        Number of attempts that have failed, at least 1. */
uint64_t lx__backoff_get_pause(uint64_t *random, unsigned attempts);

/** Appends to the error of a request how often and how long it was tried; nothing if it was
 * once. */
void lx__backoff_append_effort(lx_error *error, unsigned attempts, uint64_t nanoseconds);

#endif
