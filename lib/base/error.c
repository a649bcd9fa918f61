/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/redact.h"

void lx_error_clear(lx_error *error)
{
    if (error != NULL)
        *error = (lx_error)LX_ERROR_INIT;
}

void lx__copy_tail(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length < size) {
        memcpy(to, text, length + 1);
        return;
    }
    memcpy(to, "...", 3);
    memcpy(to + 3, text + length - (size - 4), size - 3);
}

/** Copies a path or URL. The end of a URL that is too long is left out: it may be secret. */
static void copy_path(char *to, size_t size, const char *path)
{
    char url[LX__WHOLE_TEXT];
    if (strstr(path, "://") != NULL) {
        snprintf(url, sizeof url, "%s", path);
        lx_url_redact(url);
        path = url;
    }
    lx__copy_tail(to, size, path);
}

/** Replaces control characters with '?': text from a file may reach a terminal. */
static void replace_control_characters(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        if (*at < ' ' || *at == 0x7f)
            *at = '?';
        else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) /* U+0080 to U+009F */
            at[0] = at[1] = '?';
    }
}

static int has_failure(const lx_error *error)
{
    return error == NULL || error->status < 0;
}

static void print(char *to, size_t size, const char *format, va_list args) LX_PRINTF(3, 0);

static void print(char *to, size_t size, const char *format, va_list args)
{
    char whole[LX__WHOLE_TEXT];
    vsnprintf(whole, sizeof whole, format, args);
    replace_control_characters(whole);
    lx__redact(whole);
    snprintf(to, size, "%s", whole);
}

static void record(lx_error *error, lx_status status, int errnum, const char *format, va_list args)
    LX_PRINTF(4, 0);

static void record(lx_error *error, lx_status status, int errnum, const char *format, va_list args)
{
    *error = (lx_error)LX_ERROR_INIT;
    error->status = status;
    error->errnum = errnum;
    print(error->message, sizeof error->message, format, args);
}

lx_status lx_fail(lx_error *error, lx_status status, const char *format, ...)
{
    if (!has_failure(error)) {
        va_list args;
        va_start(args, format);
        record(error, status, 0, format, args);
        va_end(args);
    }
    return status;
}

lx_status lx_fail_errno(lx_error *error, int errnum, const char *path, const char *format, ...)
{
    lx_status status = errnum == ENOMEM ? LX_ERR_NOMEM : LX_ERR_IO;
    if (!has_failure(error)) {
        va_list args;
        va_start(args, format);
        record(error, status, errnum, format, args);
        va_end(args);
        lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    }
    return status;
}

lx_status lx__fail_memory(lx_error *error, const char *purpose)
{
    return lx_fail(error, LX_ERR_NOMEM, "not enough memory for %s", purpose);
}

lx_status lx__fail_null(lx_error *error, const char *argument)
{
    return lx_fail(error, LX_ERR_ARGUMENT, "%s is NULL", argument);
}

void lx__error_append(lx_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    va_list args;
    size_t used = strlen(error->message);
    va_start(args, format);
    print(error->message + used, sizeof error->message - used, format, args);
    va_end(args);
}

void lx__error_propagate(lx_error *error, const lx_error *failure)
{
    if (!has_failure(error))
        *error = *failure;
}

lx_status lx__error_return(lx_error *error, lx_status status, const char *callback)
{
    if (status == LX_OK)
        return LX_OK;
    return lx_fail(error, status < 0 ? status : LX_ERR_CALLBACK,
                   "the %s callback failed without a message", callback);
}

void lx_error_locate(lx_error *error, const char *path, const char *field, uint64_t record,
                     uint64_t offset)
{
    if (error == NULL || error->status >= 0)
        return;
    if (path != NULL && error->path[0] == '\0')
        copy_path(error->path, sizeof error->path, path);
    if (field != NULL && error->field[0] == '\0') {
        lx__copy_tail(error->field, sizeof error->field, field);
        replace_control_characters(error->field);
    }
    if (error->record == LX_NONE)
        error->record = record;
    if (error->offset == LX_NONE)
        error->offset = offset;
}

/** Writes where the failure occurred, followed by ": "; writes nothing if the place is unknown. */
static int describe_place(const lx_error *error, char *text, size_t size)
{
    char field[96] = "", place[48] = "", offset[48] = "";
    if (error->field[0] != '\0')
        snprintf(field, sizeof field, "field '%s', ", error->field);
    if (error->record != LX_NONE)
        snprintf(place, sizeof place, "record %" PRIu64 ", ", error->record);
    if (error->offset != LX_NONE)
        snprintf(offset, sizeof offset, "offset %" PRIu64 ", ", error->offset);

    int length = snprintf(text, size, "%s%s%s%s%s", error->path, error->path[0] ? ", " : "", field,
                          place, offset);
    if (length >= 2)
        memcpy(text + length - 2, ": ", 2); /* the last ", " */
    return length;
}

size_t lx_error_describe(const lx_error *error, char *text, size_t size)
{
    char place[sizeof error->path + 256];
    if (error == NULL || error->status >= 0)
        return (size_t)snprintf(text, size, "no error");
    describe_place(error, place, sizeof place);
    const char *message = error->message[0] ? error->message : lx_status_get_message(error->status);
    if (error->errnum == 0)
        return (size_t)snprintf(text, size, "%s%s", place, message);
    const char *advice = strstr(message, "; ");
    int length = (int)(advice != NULL ? (size_t)(advice - message) : strlen(message));
    return (size_t)snprintf(text, size, "%s%.*s: %s%s", place, length, message,
                            strerror(error->errnum), message + length);
}
