/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Failures of the command, reported like those of the library: one error, the first.
 */
#ifndef LX_TOOLS_FAILURE_H
#define LX_TOOLS_FAILURE_H

#include <stdint.h>

#include <loaderx/status.h>

/** Exit statuses; 128 + number after a signal. */
enum { EXIT_DONE = 0, EXIT_DATA = 1, EXIT_CALL = 2 };

/** Records exhausted memory; @p purpose names its use. */
lx_status fail_memory(lx_error *error, const char *purpose);

/** Adds advice if the failure has this status. */
void advise(lx_error *error, lx_status status, const char *advice);

/**
 * The exit status of a failure: #EXIT_CALL if other arguments, or the same at another time, can
 * succeed; otherwise #EXIT_DATA, also if a system call failed during the work.
 */
int failure_exit_status(const lx_error *error);

/** Prints warnings of the library to standard error from now on. */
void warnings_print(void);

/** Prints one line to standard error. @p name is the subcommand, or NULL. */
void failure_print(const lx_error *error, const char *name);

#endif
