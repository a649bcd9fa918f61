/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The two things a process may put in place of the library's own: memory and the log.
 *
 * They are the only process-wide state of libloaderx. Set them before any other call.
 */
#ifndef LOADERX_HOOKS_H
#define LOADERX_HOOKS_H

#include <stddef.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_hooks Set the allocator and the log hook
 * @{ */

/**
 * Where small memory comes from. Batches and mappings come from mmap and do not pass here.
 *
 * Each function gets @c user. They are called from any thread, several at a time.
 */
typedef struct lx_allocator {
    void *(*alloc)(size_t size, void *user);              /**< As malloc; size is never 0. */
    void *(*resize)(void *memory, size_t size, void *user); /**< As realloc; size is never 0. */
    void (*release)(void *memory, void *user);            /**< As free; memory may be NULL. */
    void *user;                                           /**< Given back to each of the three. */
} lx_allocator;

/**
 * Uses @p allocator from now on; NULL goes back to malloc, realloc and free.
 *
 * @par Thread safety
 * None, and nothing of the library may be alive: memory taken from one allocator must not be
 * released by another.
 *
 * @retval LX_OK            It is in use.
 * @retval LX_ERR_ARGUMENT  One of its three functions is NULL; nothing was changed.
 */
LX_API lx_status lx_set_allocator(const lx_allocator *allocator, lx_error *error);

/** How much a line of the log matters. */
typedef enum lx_log_level {
    LX_LOG_INFO = 0,   /**< A choice made for the caller, for instance which codec is in use. */
    LX_LOG_WARNING = 1 /**< A slower or safer path was taken in place of the one asked for. */
} lx_log_level;

/**
 * Told of what the library does silently for the caller's good. @p message ends with the call.
 * It may be called from any thread, and must not call the library.
 */
typedef void (*lx_log_hook)(lx_log_level level, const char *message, void *user);

/**
 * Sends the log to @p hook from now on; NULL, as at the start, drops it.
 *
 * @par Thread safety
 * Safe at any time; lines under way in other threads may still reach the hook before.
 */
LX_API void lx_set_log_hook(lx_log_hook hook, void *user);

/** @} */

LX_END_DECLS

#endif
