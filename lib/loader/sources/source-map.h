/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The time that the functions of maps take.
 */
#ifndef LX_LOADER_SOURCE_MAP_H
#define LX_LOADER_SOURCE_MAP_H

#include <stdint.h>

/** Returns how long this thread has been in functions of maps so far, in nanoseconds. */
uint64_t lx__map_ns(void);

#endif
