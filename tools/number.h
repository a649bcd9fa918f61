/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Numbers on the command line, read strictly: nothing before, behind or beyond them.
 */
#ifndef LX_TOOLS_NUMBER_H
#define LX_TOOLS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Reads all of @p text as decimal digits; @p what names it in the error. */
lx_status number_parse(const char *what, const char *text, uint64_t *number, lx_error *error);

/** As number_parse(), for what has to be from @p least to @p most. */
lx_status number_parse_within(const char *what, const char *text, uint64_t least, uint64_t most,
                              uint64_t *number, lx_error *error);

/** Reads a real number of 0 or more at @p *text, in decimal digits, and moves that behind it; false
 * if there is none. */
bool number_take_real(char **text, double *number);

/** A number of bytes, which may end in k, M, G or T: 2^10, 2^20, 2^30 or 2^40 of them. */
lx_status number_parse_size(const char *what, const char *text, uint64_t *bytes, lx_error *error);

/** Records that an argument names. Numbers below 0 count from the end, as in Python. */
typedef struct index_range {
    bool single;      /**< One index, not a range. */
    bool start_given; /**< Else from the beginning. */
    bool stop_given;  /**< Else to the end. */
    bool start_from_end, stop_from_end;
    uint64_t start, stop; /**< Magnitudes. */
} index_range;

/** Reads N, -N, A:B, A:, :B or : alone. */
lx_status index_range_parse(const char *text, index_range *range, lx_error *error);

/** As index_range_parse(), for an option that takes no single index. */
lx_status index_range_parse_option(const char *option, const char *text, index_range *range,
                                   lx_error *error);

/**
 * Puts a range into a dataset of @p length records: [@p first, @p end). A single index that is not
 * there is #LX_ERR_RANGE; ranges are cut at both ends, as in Python.
 */
lx_status index_range_resolve(const index_range *range, uint64_t length, uint64_t *first,
                              uint64_t *end, lx_error *error);

#endif
