/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Times as services of AWS write them.
 */
#ifndef LX_REMOTE_UTC_TIME_H
#define LX_REMOTE_UTC_TIME_H

#include <stdbool.h>
#include <stdint.h>

/** Parses "2026-11-26T23:39:33Z", with or without a fraction of the second, or with "+00:00", into
 * seconds since 1970. Returns false if it is no such time. */
bool lx__utc_time_parse(const char *text, uint64_t *seconds);

#endif
