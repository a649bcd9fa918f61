/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Signals that ask a long operation to stop: the operation rolls back its changes, then the
 * process ends.
 */
#ifndef LX_TOOLS_INTERRUPT_H
#define LX_TOOLS_INTERRUPT_H

#include <loaderx/status.h>

/** After this call, SIGINT, SIGTERM and SIGHUP are recorded, each only once: if the same signal is
 * received again, it ends the process. */
void interrupt_catch(void);

/** Returns the number of the received signal, or 0. May be called from any thread. */
int interrupted(void);

/** Returns #LX_ERR_CANCELED if a signal was received. */
lx_status interrupt_check(lx_error *error);

#endif
