/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Detects fork(): threads and locks of the parent process do not exist in a child.
 */
#ifndef LX_BASE_PROCESS_H
#define LX_BASE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <loaderx/export.h>

/** A number of the calling process that none of its ancestors has. A load where the kernel wipes
 * pages at fork (Linux 4.14 and later), else the process id. */
uint64_t lx__process_id(void);

/** The process that an object belongs to. */
typedef struct lx__process {
    _Atomic uint64_t id;
    _Atomic uint64_t heir; /**< The child whose thread is taking the object over, or has done so. */
} lx__process;

/** Notes the calling process. */
LX_API void lx__process_note(lx__process *process);

/** Whether the calling process is the noted one, and not a child of it. Where it is, the caller
 * sees all that was written before lx__process_adopt(). */
LX_API bool lx__process_is_this(const lx__process *process);

/**
 * Takes an object over, in a child of its process. One thread of the child gets true: it makes the
 * object usable and calls lx__process_adopt(). The others wait for that and get false, as does
 * every thread of the process that the object belongs to.
 */
LX_API bool lx__process_take_over(lx__process *process);

/** Ends lx__process_take_over(): the object belongs to the calling process. */
LX_API void lx__process_adopt(lx__process *process);

#endif
