/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How the library fills an lx_error. The first failure wins.
 */
#ifndef LX_BASE_ERROR_H
#define LX_BASE_ERROR_H

#include <loaderx/status.h>

/**
 * Records @p status with its message, unless @p error is NULL or tells of a failure already.
 * Returns @p status, so that `return lx__fail(error, LX_ERR_RANGE, ...)` reads as it should.
 */
LX_API lx_status lx__fail(lx_error *error, lx_status status, const char *format, ...)
    LX_PRINTF(3, 4);

/**
 * As lx__fail() for a refused system call: the status follows from @p errnum (ENOMEM gives
 * LX_ERR_NOMEM, all others LX_ERR_IO) and path is noted. @p path may be NULL.
 */
LX_API lx_status lx__fail_errno(lx_error *error, int errnum, const char *path, const char *format,
                                ...) LX_PRINTF(4, 5);

/** Out of memory; the message names what the memory was for. Returns LX_ERR_NOMEM. */
LX_API lx_status lx__fail_memory(lx_error *error, const char *purpose);

/** A NULL where there must be something; the message names the argument. Returns
 * LX_ERR_ARGUMENT. */
LX_API lx_status lx__fail_null(lx_error *error, const char *argument);

/**
 * Adds where it happened to the failure that @p error tells of. What is known already stays: the
 * innermost caller knows best. NULL, or LX_NONE for the numbers, leaves a place open.
 */
LX_API void lx__error_locate(lx_error *error, const char *path, const char *field, uint64_t record,
                             uint64_t offset);

/** Passes on a failure that was kept apart, unless @p error is NULL or tells of one already. */
LX_API void lx__error_pass(lx_error *error, const lx_error *failure);

/** Passes on the answer of a function of the caller's that was told of something. One other than
 * LX_OK, which ends the job, is told, unless the function has filled in @p error itself. */
LX_API lx_status lx__error_answer(lx_error *error, lx_status answer);

/** Copies @p text to the array @p to; of a text that is too long the end is kept, after "...". */
LX_API void lx__copy_tail(char *to, size_t size, const char *text);

#endif
