/* SPDX-License-Identifier: MIT */
/* Passes the library's log messages to Python's logging. */
#ifndef LXPY_LOG_H
#define LXPY_LOG_H

#include "lxpy.h"

/** Makes the library keep its messages until lxpy_log_pass_on(). */
void lxpy_log_init(void);

/** Passes the messages kept so far to Python's logging. Call it at the end of a call that may have
 * caused messages, with the GIL and without locks: it may run any Python code. An exception that is
 * set stays set. */
void lxpy_log_pass_on(lxpy_state *state);

#endif
