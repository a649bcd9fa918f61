/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tells a process from its children: what has threads and locks does not survive fork.
 */
#ifndef LX_EXECUTOR_PROCESS_H
#define LX_EXECUTOR_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <loaderx/export.h>

/** The process that made it. */
typedef struct lx__process {
    atomic_uint *mark; /**< In a page that reads as zero in a child; NULL where there is none. */
    _Atomic pid_t id;
} lx__process;

/** Notes the calling process. */
LX_API void lx__process_note(lx__process *process);

/** Frees the note. */
LX_API void lx__process_forget(lx__process *process);

/** Whether this is the process noted and not a child of it. A load where the kernel wipes pages at
 * fork (Linux 4.14 and later), else a system call. Where it is true, the caller sees all that was
 * written before lx__process_adopt(). */
LX_API bool lx__process_is_this(const lx__process *process);

/** In a child: notes the calling process in place of its parent. */
LX_API void lx__process_adopt(lx__process *process);

#endif
