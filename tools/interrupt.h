/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Signals that ask a long operation to stop: it rolls back its changes, then the process
 * ends.
 */
#ifndef LX_TOOLS_INTERRUPT_H
#define LX_TOOLS_INTERRUPT_H

#include <loaderx/status.h>

/** Records SIGINT, SIGTERM and SIGHUP from now on, each once: a second one ends the process. */
void interrupt_catch(void);

/** The number of the received signal, or 0. Callable from any thread. */
int interrupted(void);

/** #LX_ERR_CANCELED if a signal was received. */
lx_status interrupt_check(lx_error *error);

#endif
