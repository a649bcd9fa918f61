/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of token sources, as their constructors read them.
 */
#ifndef LX_LOADER_TOKEN_OPTIONS_H
#define LX_LOADER_TOKEN_OPTIONS_H

#include <loaderx/tokens.h>

/** One bit for each option that only some sources accept. */
enum lx__token_option { LX__TOKEN_PAD = 1, LX__TOKEN_SEPARATOR = 2, LX__TOKEN_COLUMNS = 4 };

struct lx_token_options {
    unsigned given; /**< The options that were set, as bits of ::lx__token_option. */
    lx_dtype dtype;
    uint64_t vocabulary;
    int64_t pad;
    int64_t separator;
    unsigned columns;
};

/** The options of a source if no option was set. */
#define LX__TOKEN_DEFAULTS                                                                         \
    {                                                                                              \
        .dtype = LX_INT32, .separator = LX_SEPARATOR_NONE                                          \
    }

/**
 * Reads the options of a new source. Setting an option that has no effect on the source is an
 * error.
 *
 * @param[in]  options  As given by the caller; may be NULL.
 * @param[in]  allowed  The options that have an effect on the source, as bits of
 *                      ::lx__token_option.
 * @param[out] taken    Receives the options, with the defaults for those that were not set.
 * @retval LX_ERR_ARGUMENT  An option that is not in @p allowed was set; the message names it.
 */
lx_status lx__token_options_take(const lx_token_options *options, unsigned allowed,
                                 lx_token_options *taken, lx_error *error);

#endif
