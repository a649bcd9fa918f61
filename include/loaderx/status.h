/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What every call of libloaderx answers: a status, and an error that tells the rest.
 *
 * A function that can fail returns an ::lx_status and takes an `lx_error *` as its last argument.
 * The error belongs to the caller; it may be NULL when the status alone is enough. The library
 * never prints, never exits and keeps no hidden last error.
 *
 * Such a function answers #LX_ERR_ARGUMENT to a NULL where nothing says that it may be one, be it
 * a handle, memory, or where a result goes. Functions that return no status do not look.
 */
#ifndef LOADERX_STATUS_H
#define LOADERX_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>

LX_BEGIN_DECLS

/** @defgroup lx_error Statuses and errors
 * @{ */

/**
 * Every failure: constant, value, and what lx_status_message() says of it.
 * Values are part of the ABI: new ones are added at the end, none is ever reused.
 */
#define LX_STATUS_MAP(X)                                                                           \
    X(LX_ERR_NOMEM, -1, "out of memory")                                                           \
    X(LX_ERR_ARGUMENT, -2, "an argument is not valid")                                             \
    X(LX_ERR_RANGE, -3, "an index is out of range")                                                \
    X(LX_ERR_IO, -4, "the system refused an operation")                                            \
    X(LX_ERR_NOT_FOUND, -5, "there is no such thing")                                              \
    X(LX_ERR_EXISTS, -6, "it exists already")                                                      \
    X(LX_ERR_CORRUPT, -7, "stored data is damaged")                                                \
    X(LX_ERR_UNSUPPORTED, -8, "this version or build cannot do that")                              \
    X(LX_ERR_BUSY, -9, "it is in use by another writer")                                           \
    X(LX_ERR_STATE, -10, "that is not allowed in this state")                                      \
    X(LX_ERR_POISONED, -11, "an earlier failure ended this writer")                                \
    X(LX_ERR_CANCELED, -12, "canceled")                                                            \
    X(LX_ERR_TIMEOUT, -13, "the time is up")                                                       \
    X(LX_ERR_CALLBACK, -14, "a callback of the caller failed")                                     \
    X(LX_ERR_MISMATCH, -15, "it does not fit what it is used with")                                \
    X(LX_ERR_FORKED, -16, "this handle belongs to the parent process")                             \
    X(LX_ERR_LIMIT, -17, "a limit would be exceeded")

/** The outcome of a call: 0 or 1 when it did what it says, negative when it failed. */
typedef enum lx_status {
    LX_OK = 0,  /**< Done. */
    LX_END = 1, /**< Done, and there is nothing (more) to give. Not an error. */
#define LX_STATUS_CONSTANT(name, value, text) name = value,
    LX_STATUS_MAP(LX_STATUS_CONSTANT)
#undef LX_STATUS_CONSTANT
} lx_status;

/** A record index or byte offset that is not known, or a number of rows that does not apply. */
#define LX_NONE UINT64_MAX

/**
 * Everything known about a failure. Set it to #LX_ERROR_INIT before its first use.
 *
 * The **first** failure is kept: a call given an lx_error that already tells of one leaves it as
 * it is. So one object can go through a run of calls and be looked at once; to use it again after
 * that, call lx_error_clear().
 *
 * @par Thread safety
 * None: one thread at a time. Calls in several threads take one object each.
 */
typedef struct lx_error {
    lx_status status;     /**< What failed; #LX_OK while nothing has. */
    int32_t errnum;       /**< The system's errno where it is the cause, else 0. */
    uint64_t record;      /**< Index of the record concerned, or #LX_NONE. */
    uint64_t offset;      /**< Byte in the file at @c path, or #LX_NONE. */
    uint64_t reserved[4]; /**< Zero. */
    char field[72];       /**< Name of the field concerned, or "". */
    char path[512];       /**< File or directory concerned (its end, if it is longer), or "". */
    char message[512];    /**< One sentence: what is wrong and, where known, what to do about it. */
} lx_error;

/** An error that tells of nothing yet. */
#define LX_ERROR_INIT                                                                              \
    {                                                                                              \
        LX_OK, 0, LX_NONE, LX_NONE, {0, 0, 0, 0}, "", "", ""                                       \
    }

/** Makes @p error tell of nothing, so that the next failure is kept. @p error may be NULL. */
LX_API void lx_error_clear(lx_error *error);

/**
 * Writes the whole error as one line: where (path, field, record, offset, as far as known), the
 * message, and the system's word for errno.
 *
 * @param[in]  error   An error; one that tells of nothing gives "no error".
 * @param[out] text    Where the line goes, always terminated; may be NULL if @p size is 0.
 * @param[in]  size    Bytes at @p text.
 * @return The length of the whole line, also when @p size was too small for it (as snprintf).
 */
LX_API size_t lx_error_describe(const lx_error *error, char *text, size_t size);

/** The constant's name, "LX_ERR_RANGE" for instance; "LX_ERR_UNKNOWN" for any other value. */
LX_API const char *lx_status_name(lx_status status);

/** A short English text for @p status, without a full stop. */
LX_API const char *lx_status_message(lx_status status);

/** @} */

LX_END_DECLS

#endif
