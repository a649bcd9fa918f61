/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The allocator and the log hook of a process.
 */
#ifndef LOADERX_HOOKS_H
#define LOADERX_HOOKS_H

#include <stddef.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_hooks Set the allocator and the log hook
 *
 * These are the only process-wide settings of libloaderx. Set them before any other call.
 * @see lx_error, loaderx(7)
 * @{
 */

/**
 * Allocates small memory for the library. Batches and mappings come from mmap(2) and do not use it.
 *
 * Each function receives @c user. Any thread may call them, several threads at a time.
 */
typedef struct lx_allocator {
    void *(*alloc)(size_t size, void *user);                /**< As malloc(3); @c size is not 0. */
    void *(*resize)(void *memory, size_t size, void *user); /**< As realloc(3); @c size is not 0. */
    void (*release)(void *memory, void *user); /**< As free(3); @c memory may be NULL. */
    void *user;                                /**< Passed to each of the functions. */
} lx_allocator;

/**
 * Allocates memory by @p allocator from now on; NULL restores malloc(3), realloc(3) and free(3).
 *
 * @par Thread safety
 * None. No object of the library may exist: memory of one allocator must not be released by
 * another.
 *
 * @retval LX_OK            The allocator is in use.
 * @retval LX_ERR_ARGUMENT  One of the three functions is NULL; nothing changed.
 */
LX_API lx_status lx_set_allocator(const lx_allocator *allocator, lx_error *error);

/** The importance of a log message. */
typedef enum lx_log_level {
    LX_LOG_INFO = 0,   /**< A choice that the library made, of a codec for instance. */
    LX_LOG_WARNING = 1 /**< A slower or safer path replaces the requested one. */
} lx_log_level;

/**
 * Receives the messages in which the library reports its own choices and fallbacks.
 *
 * Any thread may call the hook, and may hold locks of the library: the hook must not call the
 * library.
 *
 * @param level    The importance of the message.
 * @param message  The message; valid during the call.
 * @param user     As given to lx_set_log_hook().
 */
typedef void (*lx_log_function)(lx_log_level level, const char *message, void *user);

/**
 * Sends log messages to @p hook from now on; NULL, the default, drops them. The library never
 * prints.
 *
 * @par Thread safety
 * Full. Messages that other threads are just sending may still reach the previous hook.
 */
LX_API void lx_set_log_hook(lx_log_function hook, void *user);

/** @} */

LX_END_DECLS

#endif
