/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/redact.h"

/* The lock keeps the hook and its argument consistent; the flag spares processes without a hook,
 * the common case, from taking the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static lx_log_function current;
static void *current_user;
static atomic_bool hooked;
static pthread_once_t fork_handlers = PTHREAD_ONCE_INIT;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void release_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/** Makes fork() wait while another thread holds the lock, which would otherwise stay locked in the
 * child. */
static void register_fork_handlers(void)
{
    (void)pthread_atfork(take_lock, release_lock, release_lock);
}

void lx_set_log_hook(lx_log_function hook, void *user)
{
    pthread_once(&fork_handlers, register_fork_handlers);
    pthread_mutex_lock(&lock);
    current = hook;
    current_user = user;
    atomic_store_explicit(&hooked, hook != NULL, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

void lx__log(lx_log_level level, const char *format, ...)
{
    if (!atomic_load_explicit(&hooked, memory_order_relaxed))
        return;

    pthread_mutex_lock(&lock);
    lx_log_function hook = current;
    void *user = current_user;
    pthread_mutex_unlock(&lock);
    if (hook == NULL)
        return;

    char message[LX__WHOLE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    lx__redact(message);
    hook(level, message, user); /* outside the lock: the hook may be slow */
}
