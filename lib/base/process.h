/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Detects fork(): a child has none of its parent's threads, and its copies of the parent's
 * locks are unusable.
 */
#ifndef LX_BASE_PROCESS_H
#define LX_BASE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>

/** Returns a number that distinguishes the calling process from its ancestors. If the kernel can
 * wipe pages at fork (Linux 4.14 and later), the call costs one load; otherwise, it returns the
 * process id. */
uint64_t lx__process_id(void);

/** Returns how many page faults of the calling process have waited for a disk; 0 if unknown. */
LX_API uint64_t lx__process_major_faults(void);

/** The process that owns an object. */
typedef struct lx__process {
    _Atomic uint64_t id;
    _Atomic uint64_t
        successor; /**< The child in which a thread is taking over the object, or has done so. */
} lx__process;

/** Records the calling process. */
LX_API void lx__process_record(lx__process *process);

/** Whether the calling process is the recorded one rather than a child of it. If so, the caller
 * sees all writes that precede lx__process_adopt(). */
LX_API bool lx__process_is_this(const lx__process *process);

/**
 * Takes over an object in a child of its process. Returns true to one thread of the child, which
 * must make the object usable and then call lx__process_adopt(). Returns false to the other threads
 * of the child, after they have waited for that call, and to every thread of the process that owns
 * the object.
 */
LX_API bool lx__process_take_over(lx__process *process);

/** Completes lx__process_take_over(): the calling process now owns the object. */
LX_API void lx__process_adopt(lx__process *process);

#endif
