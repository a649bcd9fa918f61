/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Strict parsing of numbers on the command line: no other characters, and no overflow.
 */
#ifndef LX_TOOLS_NUMBER_H
#define LX_TOOLS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Parses all of @p text as a decimal number; @p what names it in the error. */
lx_status number_parse(const char *what, const char *text, uint64_t *number, lx_error *error);

/** Like number_parse(), for a number from @p least to @p most. */
lx_status number_parse_within(const char *what, const char *text, uint64_t least, uint64_t most,
                              uint64_t *number, lx_error *error);

/** Parses a decimal real number of 0 or more at @p *text, and advances @p *text past the number;
 * returns false if there is no such number. */
bool number_take_real(char **text, double *number);

/** Parses a duration, such as 90s, 30m, 12h or 7d, into seconds. */
lx_status number_parse_age(const char *what, const char *text, uint64_t *seconds, lx_error *error);

/** Parses a size in bytes, with an optional suffix k, M, G or T, or KiB, MiB, GiB or TiB: 2^10, 2^20,
 * 2^30 or 2^40 bytes. */
lx_status number_parse_size(const char *what, const char *text, uint64_t *bytes, lx_error *error);

/** The records that an argument selects. Negative numbers count from the end, as in Python. */
typedef struct index_range {
    bool single;      /**< An index instead of a range. */
    bool start_given; /**< If false, the range starts at the beginning. */
    bool stop_given;  /**< If false, the range extends to the end. */
    bool start_from_end, stop_from_end;
    uint64_t start, stop; /**< Absolute values. */
} index_range;

/** Parses N, -N, A:B, A:, :B or a single colon. */
lx_status index_range_parse(const char *text, index_range *range, lx_error *error);

/** Like index_range_parse(), for an option that does not accept a single index. */
lx_status index_range_parse_option(const char *option, const char *text, index_range *range,
                                   lx_error *error);

/**
 * Finds the records [@p first, @p end) that a range selects from a dataset of @p length records. An
 * index out of range fails with #LX_ERR_RANGE; a range is clipped at both ends, as in Python.
 */
lx_status index_range_resolve(const index_range *range, uint64_t length, uint64_t *first,
                              uint64_t *end, lx_error *error);

#endif
