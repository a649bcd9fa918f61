/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The statuses that calls return, and the error that describes a failure.
 */
#ifndef LOADERX_STATUS_H
#define LOADERX_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_error Statuses and errors
 *
 * A function that can fail returns an ::lx_status and takes an ::lx_error as its last argument. The
 * caller owns the error, and may pass NULL if it needs only the status. The library never prints,
 * never exits, and keeps no hidden "last error".
 *
 * A function that returns an object through a pointer first sets the pointer to NULL, so the
 * pointer is NULL after a failure. All other output arguments are undefined after a failure, unless
 * the description of the function says otherwise.
 *
 * A function that returns a status returns #LX_ERR_ARGUMENT for a NULL pointer, unless its
 * description allows NULL. Any function that allocates memory can return #LX_ERR_NOMEM. Functions
 * that do not return a status do not check their arguments.
 *
 * If a callback returns a failure, the call that runs the callback ends and returns the same
 * status. If a callback returns a positive status, the call returns #LX_ERR_CALLBACK, unless the
 * description of the callback says otherwise.
 *
 * @code
 * lx_error error = LX_ERROR_INIT;
 * if (lx_source_open("fashion", NULL, &source, &error) != LX_OK) {
 *     char line[2048];
 *     lx_error_describe(&error, line, sizeof line);
 *     fprintf(stderr, "train: %s\n", line);
 *     return 1;
 * }
 * @endcode
 * @see loaderx(7), lx_hooks
 * @{
 */

/**
 * Lists every failure: its constant, its value, and its text for lx_status_get_message().
 *
 * The values are part of the ABI: new values are added at the end, and no value is ever reused.
 */
#define LX_STATUS_MAP(X)                                                                           \
    X(LX_ERR_NOMEM, -1, "out of memory")                                                           \
    X(LX_ERR_ARGUMENT, -2, "invalid argument")                                                     \
    X(LX_ERR_RANGE, -3, "index out of range")                                                      \
    X(LX_ERR_IO, -4, "a system call failed")                                                       \
    X(LX_ERR_NOT_FOUND, -5, "not found")                                                           \
    X(LX_ERR_EXISTS, -6, "already exists")                                                         \
    X(LX_ERR_CORRUPT, -7, "stored data is damaged")                                                \
    X(LX_ERR_UNSUPPORTED, -8, "not supported by this version or build")                            \
    X(LX_ERR_BUSY, -9, "in use by another writer")                                                 \
    X(LX_ERR_STATE, -10, "not allowed in this state")                                              \
    X(LX_ERR_POISONED, -11, "an earlier failure ended this writer")                                \
    X(LX_ERR_CANCELED, -12, "canceled")                                                            \
    X(LX_ERR_TIMEOUT, -13, "timed out")                                                            \
    X(LX_ERR_CALLBACK, -14, "a callback failed")                                                   \
    X(LX_ERR_MISMATCH, -15, "does not match the object that it is used with")                      \
    X(LX_ERR_FORKED, -16, "this handle belongs to the parent process")                             \
    X(LX_ERR_LIMIT, -17, "a limit would be exceeded")

/** The result of a call: #LX_OK or #LX_END on success, a negative value on failure. */
typedef enum lx_status {
    LX_OK = 0,  /**< The call succeeded. */
    LX_END = 1, /**< The call succeeded, but there is nothing, or nothing more, to return. This is
                     not an error. */
#define LX_STATUS_CONSTANT(name, value, text) name = value,
    LX_STATUS_MAP(LX_STATUS_CONSTANT)
#undef LX_STATUS_CONSTANT
} lx_status;

/** The value of an index, offset, size or count that is unknown or does not apply. */
#define LX_NONE UINT64_MAX

/**
 * Describes a failure. Initialize it with #LX_ERROR_INIT.
 *
 * An error keeps the **first** failure: if it already describes a failure, later calls leave it
 * unchanged. You can therefore pass one error to several calls and check it once. To reuse an
 * error, reset it with lx_error_clear().
 *
 * @par Thread safety
 * Use a separate error in each thread.
 */
typedef struct lx_error {
    lx_status status;     /**< The status of the failed call; #LX_OK if nothing failed. */
    int32_t errnum;       /**< The errno that caused the failure, or 0. */
    uint64_t record;      /**< The index of the affected record, or #LX_NONE. */
    uint64_t offset;      /**< The byte offset in the file @c path, or #LX_NONE. */
    uint64_t reserved[4]; /**< Reserved; zero. */
    char field[72];       /**< The name of the affected field, or "". */
    char path[512];       /**< The affected file or directory, or "". If the path is too long, only
                               its end is kept. */
    char message[512];    /**< One sentence that says what failed, why, and, if known, what to
                               do. */
} lx_error;

/** The initial value of an ::lx_error: no failure. */
#define LX_ERROR_INIT                                                                              \
    {                                                                                              \
        LX_OK, 0, LX_NONE, LX_NONE, {0, 0, 0, 0}, "", "", ""                                       \
    }

/** Resets @p error to #LX_ERROR_INIT, so that it can record the next failure. NULL is allowed. */
LX_API void lx_error_clear(lx_error *error);

/**
 * Formats an error as one line, which contains the path, field, record and offset as far as they
 * are known, the message, and the system's text for the errno. This text comes before advice in the
 * message, which begins with "; ".
 *
 * @param[in]  error   The error; if it describes no failure, the line is "no error".
 * @param[out] text    Receives the line, truncated to @p size bytes and always NUL-terminated; may
 *                     be NULL if @p size is 0.
 * @param[in]  size    The size of @p text in bytes.
 * @return The length of the whole line, excluding the NUL, even if it was truncated (like
 *         snprintf(3)).
 */
LX_API size_t lx_error_describe(const lx_error *error, char *text, size_t size);

/**
 * Describes a failure in @p error. Use it in callbacks, and in programs that report their own
 * failures in the same way as the library. The call does nothing if @p error is NULL or already
 * describes a failure.
 *
 * @param error   The error.
 * @param status  The status of the failure; it must be negative.
 * @param format  The format of the message, as for printf(3). Control characters in the message are
 *                replaced by "?".
 * @return @p status, so that you can write `return lx_fail(error, LX_ERR_RANGE, ...)`.
 */
LX_API lx_status lx_fail(lx_error *error, lx_status status, const char *format, ...)
    LX_PRINTF(3, 4);

/**
 * Describes a failed system call as lx_fail() does.
 *
 * @param error   The error.
 * @param errnum  The errno of the system call.
 * @param path    The file or directory concerned; may be NULL.
 * @param format  The format of the message, as for printf(3).
 * @return #LX_ERR_NOMEM if @p errnum is ENOMEM; otherwise #LX_ERR_IO.
 */
LX_API lx_status lx_fail_errno(lx_error *error, int errnum, const char *path, const char *format,
                               ...) LX_PRINTF(4, 5);

/**
 * Adds context to the failure in @p error. Context that is already set is kept, because the
 * innermost caller knows best. The call does nothing if @p error is NULL or describes no failure.
 *
 * @param error   The error.
 * @param path    The file or directory concerned; NULL leaves it unset.
 * @param field   The name of the field; NULL leaves it unset.
 * @param record  The index of the record; #LX_NONE leaves it unset.
 * @param offset  The offset in the file in bytes; #LX_NONE leaves it unset.
 */
LX_API void lx_error_locate(lx_error *error, const char *path, const char *field, uint64_t record,
                            uint64_t offset);

/**
 * Removes from a URL what must not be shown: the user, the password, the query, which may contain a
 * signature, and the fragment. In URLs of `s3://` and `file://`, a query is a part of the name, and
 * stays. A text that is no URL, such as a path, stays as it is. The library does this to each URL in
 * an error or a log message.
 *
 * @param url  The URL, which is changed in its place; the bytes that this frees become 0.
 */
LX_API void lx_url_redact(char *url);

/**
 * Returns the name of a status, for example "LX_ERR_RANGE"; "LX_ERR_UNKNOWN" if the value is
 * invalid.
 */
LX_API const char *lx_status_get_name(lx_status status);

/** Returns a short English description of a status, without a final period. */
LX_API const char *lx_status_get_message(lx_status status);

/** @} */

LX_END_DECLS

#endif
