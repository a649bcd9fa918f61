/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Failures of the command, reported like those of the library: only the first error is kept.
 */
#ifndef LX_TOOLS_FAILURE_H
#define LX_TOOLS_FAILURE_H

#include <stdint.h>

#include <loaderx/status.h>

/** Exit statuses; after a signal, the exit status is 128 plus the signal's number. */
enum { EXIT_DONE = 0, EXIT_DATA = 1, EXIT_CALL = 2, EXIT_FOUND = 3 };

/** Reports that memory ran out; @p purpose says what the memory was for. */
lx_status fail_memory(lx_error *error, const char *purpose);

/** Adds @p advice to the error if it has this status. */
void advise(lx_error *error, lx_status status, const char *advice);

/**
 * Returns the exit status for a failure: #EXIT_CALL if the command can succeed with different
 * arguments, or with the same arguments at a different time; otherwise #EXIT_DATA, including when a
 * system call failed during the work.
 */
int failure_exit_status(const lx_error *error);

/** After this call, warnings of the library are printed to standard error. */
void warnings_print(void);

/** Prints one line to standard error. @p name is the subcommand, or NULL. */
void failure_print(const lx_error *error, const char *name);

#endif
