/* SPDX-License-Identifier: MIT */
#include "failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <loaderx/hooks.h>

lx_status fail_memory(lx_error *error, const char *purpose)
{
    return lx_fail(error, LX_ERR_NOMEM, "not enough memory for %s", purpose);
}

void advise(lx_error *error, lx_status status, const char *advice)
{
    size_t used = strlen(error->message);
    if (error->status == status && status < 0)
        snprintf(error->message + used, sizeof error->message - used, "; %s", advice);
}

/** Errors caused by a path in the arguments or by missing permissions. */
static int errno_is_of_call(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENAMETOOLONG:
    case EEXIST:
    case ENOTEMPTY:
        return 1;
    default:
        return 0;
    }
}

int failure_exit_status(const lx_error *error)
{
    switch (error->status) {
    case LX_ERR_ARGUMENT:
    case LX_ERR_RANGE:
    case LX_ERR_NOT_FOUND:
    case LX_ERR_EXISTS:
    case LX_ERR_BUSY:
    case LX_ERR_STATE:
        return EXIT_CALL;
    case LX_ERR_IO:
        return errno_is_of_call(error->errnum) ? EXIT_CALL : EXIT_DATA;
    default:
        return EXIT_DATA;
    }
}

static void print_warning(lx_log_level level, const char *message, void *user)
{
    (void)user;
    if (level >= LX_LOG_WARNING)
        fprintf(stderr, "loaderx: warning: %s\n", message);
}

void warnings_print(void)
{
    lx_set_log_hook(print_warning, NULL);
}

void failure_print(const lx_error *error, const char *name)
{
    char line[sizeof error->path + sizeof error->message + 512];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "loaderx%s%s: %s\n", name != NULL ? " " : "", name != NULL ? name : "", line);
}
