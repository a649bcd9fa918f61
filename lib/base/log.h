/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Lines for the caller's log hook.
 */
#ifndef LX_BASE_LOG_H
#define LX_BASE_LOG_H

#include <loaderx/hooks.h>

/** Tells the hook, if there is one. Costs one load where there is none. */
LX_API void lx__log(lx_log_level level, const char *format, ...) LX_PRINTF(2, 3);

#endif
