/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The process-wide allocator and log hook.
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
 * These are libloaderx's only process-wide settings. Set them before making any other call.
 * @see lx_error, loaderx(7)
 * @{
 */

/**
 * The functions with which the library allocates small blocks of memory. Batches and mappings use
 * mmap(2) instead.
 *
 * Each function receives @c user. Several threads may call the functions at the same time.
 */
typedef struct lx_allocator {
    void *(*alloc)(size_t size, void *user);                /**< Like malloc(3); @c size is never
                                                                 0. */
    void *(*resize)(void *memory, size_t size, void *user); /**< Like realloc(3); @c size is never
                                                                 0. */
    void (*release)(void *memory, void *user); /**< Like free(3); @c memory may be NULL. */
    void *user;                                /**< The pointer to pass to each function. */
} lx_allocator;

/**
 * Makes the library use @p allocator. NULL restores malloc(3), realloc(3) and free(3).
 *
 * @par Thread safety
 * Call it from a single thread, and only while no libloaderx object exists, because memory from one
 * allocator must not be released by another.
 *
 * @retval LX_OK            The allocator is in use.
 * @retval LX_ERR_ARGUMENT  One of the three functions is NULL; nothing changed.
 */
LX_API lx_status lx_set_allocator(const lx_allocator *allocator, lx_error *error);

/** The importance of a log message. */
typedef enum lx_log_level {
    LX_LOG_INFO = 0,   /**< A choice that the library made, for example which codec to use. */
    LX_LOG_WARNING = 1 /**< The library uses a slower or safer method than the requested one. */
} lx_log_level;

/**
 * Receives the messages that report the library's choices and fallbacks.
 *
 * Any thread may call the hook, possibly while holding locks of the library, so the hook must not
 * call the library.
 *
 * @param level    The importance of the message.
 * @param message  The message; valid only during the call.
 * @param user     The pointer that was passed to lx_set_log_hook().
 */
typedef void (*lx_log_function)(lx_log_level level, const char *message, void *user);

/**
 * Sets the function that receives log messages; NULL, the default, discards them. The library never
 * prints.
 *
 * @par Thread safety
 * Any thread may call it. Messages that other threads are sending during the call may still reach
 * the previous hook.
 */
LX_API void lx_set_log_hook(lx_log_function hook, void *user);

/** @} */

LX_END_DECLS

#endif
