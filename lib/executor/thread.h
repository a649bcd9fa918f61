/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Starts threads of the library.
 */
#ifndef LX_EXECUTOR_THREAD_H
#define LX_EXECUTOR_THREAD_H

#include <pthread.h>

#include <loaderx/export.h>

/**
 * Starts a thread that handles no signals except those raised by a fault in the thread itself: the
 * program's own threads handle the others.
 *
 * @return 0, or the errno of pthread_create().
 */
LX_API int lx__thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
