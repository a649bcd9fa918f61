/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Signals that ask a long job to stop: it undoes what it did, then ends.
 */
#ifndef LX_TOOLS_INTERRUPT_H
#define LX_TOOLS_INTERRUPT_H

#include <loaderx/status.h>

/** From now on SIGINT, SIGTERM and SIGHUP are noted, each once: a second one ends the process. */
void interrupt_catch(void);

/** The number of the signal that came; 0 while none has. From any thread. */
int interrupted(void);

/** #LX_ERR_CANCELED if a signal came. */
lx_status interrupt_check(lx_error *error);

#endif
