/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Overwrites secrets before their memory is freed.
 */
#ifndef LX_REMOTE_WIPE_H
#define LX_REMOTE_WIPE_H

#include <string.h>

/** Overwrites memory with zeros, also if the compiler sees that nobody reads them. */
static inline void lx__wipe(void *memory, size_t size)
{
    memset(memory, 0, size);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

#endif
