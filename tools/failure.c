/* SPDX-License-Identifier: MIT */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <loaderx/hooks.h>

static void note(lx_error *error, lx_status status, int errnum, const char *format, va_list args)
    LX_PRINTF(4, 0);

static void note(lx_error *error, lx_status status, int errnum, const char *format, va_list args)
{
    *error = (lx_error)LX_ERROR_INIT;
    error->status = status;
    error->errnum = errnum;
    vsnprintf(error->message, sizeof error->message, format, args);
}

lx_status fail(lx_error *error, lx_status status, const char *format, ...)
{
    if (error->status < 0)
        return status;
    va_list args;
    va_start(args, format);
    note(error, status, 0, format, args);
    va_end(args);
    return status;
}

lx_status fail_errno(lx_error *error, int errnum, const char *path, const char *format, ...)
{
    lx_status status = errnum == ENOMEM ? LX_ERR_NOMEM : LX_ERR_IO;
    if (error->status < 0)
        return status;
    va_list args;
    va_start(args, format);
    note(error, status, errnum, format, args);
    va_end(args);
    locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status fail_memory(lx_error *error, const char *purpose)
{
    return fail(error, LX_ERR_NOMEM, "no memory for %s", purpose);
}

/** Keeps the end of @p text if it does not fit: the end of a path is more informative. */
static void copy_tail(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length < size)
        memcpy(to, text, length + 1);
    else
        snprintf(to, size, "...%s", text + length - (size - 4));
}

void locate(lx_error *error, const char *path, const char *field, uint64_t record, uint64_t offset)
{
    if (error->status >= 0)
        return;
    if (path != NULL && error->path[0] == '\0')
        copy_tail(error->path, sizeof error->path, path);
    if (field != NULL && error->field[0] == '\0')
        copy_tail(error->field, sizeof error->field, field);
    if (error->record == LX_NONE)
        error->record = record;
    if (error->offset == LX_NONE)
        error->offset = offset;
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
