/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The command's own failures, told in the library's form: one error for all that goes wrong.
 */
#ifndef LX_TOOLS_FAILURE_H
#define LX_TOOLS_FAILURE_H

#include <stdint.h>

#include <loaderx/status.h>

/** What the command answers; 128 + number after a signal. */
enum { EXIT_DONE = 0, EXIT_DATA = 1, EXIT_CALL = 2 };

/** Notes a failure, unless one is noted already, and returns @p status. */
lx_status fail(lx_error *error, lx_status status, const char *format, ...) LX_PRINTF(3, 4);

/** Notes that the system refused something to do with @p path. */
lx_status fail_errno(lx_error *error, int errnum, const char *path, const char *format, ...)
    LX_PRINTF(4, 5);

/** Notes that there is no memory for @p purpose. */
lx_status fail_memory(lx_error *error, const char *purpose);

/** Adds where it was, as far as that is not told yet. @p path and @p field may be NULL. */
void locate(lx_error *error, const char *path, const char *field, uint64_t record,
            uint64_t offset);

/** Adds what to do next, if the failure is of that status. */
void advise(lx_error *error, lx_status status, const char *advice);

/**
 * Whose fault it is: #EXIT_CALL where other arguments, or the same at another time, would do;
 * else #EXIT_DATA, also for what the system refused in the middle of the work.
 */
int failure_exit_status(const lx_error *error);

/** Prints warnings of the library's log on standard error from now on. */
void warnings_print(void);

/** Prints one line on standard error. @p name is the subcommand's; NULL before there is one. */
void failure_print(const lx_error *error, const char *name);

#endif
