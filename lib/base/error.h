/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Internal functions that fill in an lx_error. Only the first failure is kept.
 */
#ifndef LX_BASE_ERROR_H
#define LX_BASE_ERROR_H

#include <loaderx/status.h>

/** Reports that the library ran out of memory; the message says what the memory was for. Returns
 * LX_ERR_NOMEM. */
LX_API lx_status lx__fail_memory(lx_error *error, const char *purpose);

/** Reports that an argument is NULL but must not be; the message names the argument. Returns
 * LX_ERR_ARGUMENT. */
LX_API lx_status lx__fail_null(lx_error *error, const char *argument);

/** Appends text, such as advice, to the message of a failure; does nothing if @p error is NULL. */
LX_API void lx__error_append(lx_error *error, const char *format, ...) LX_PRINTF(2, 3);

/** Propagates a failure from another lx_error, unless @p error is NULL or already contains a
 * failure. */
LX_API void lx__error_propagate(lx_error *error, const lx_error *failure);

/** Sets the pointer at @p out to NULL, unless @p out is NULL. As <loaderx/status.h> promises, every
 * function that returns an object through a pointer starts with this macro. */
#define LX__CLEAR(out) ((out) != NULL ? (void)(*(out) = NULL) : (void)0)

/** Propagates the result of a callback named @p callback, such as "progress". A status other than
 * LX_OK ends the operation and is recorded, unless the callback has already filled in @p error. A
 * positive status, which is not a failure, becomes LX_ERR_CALLBACK. */
LX_API lx_status lx__error_return(lx_error *error, lx_status status, const char *callback);

/** Copies @p text to the array @p to. If the text is too long, only its end is copied, preceded by
 * "...". */
LX_API void lx__copy_tail(char *to, size_t size, const char *text);

#endif
