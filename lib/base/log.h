/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Log messages for the caller's log hook.
 */
#ifndef LX_BASE_LOG_H
#define LX_BASE_LOG_H

#include <loaderx/hooks.h>

/** Passes a message to the hook, if a hook is set. Without a hook, the call costs one load. */
LX_API void lx__log(lx_log_level level, const char *format, ...) LX_PRINTF(2, 3);

#endif
