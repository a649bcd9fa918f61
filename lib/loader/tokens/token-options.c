/* SPDX-License-Identifier: MIT */
#include "loader/tokens/token-options.h"

#include "base/alloc.h"
#include "base/error.h"

lx_token_options *lx_token_options_new(void)
{
    lx_token_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_token_options)LX__TOKEN_DEFAULTS;
    return options;
}

void lx_token_options_free(lx_token_options *options)
{
    lx__free(options);
}

lx_status lx_token_options_set_dtype(lx_token_options *options, lx_dtype dtype, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->dtype = dtype;
    return LX_OK;
}

lx_status lx_token_options_set_vocabulary(lx_token_options *options, uint64_t vocabulary,
                                          lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->vocabulary = vocabulary;
    return LX_OK;
}

lx_status lx_token_options_set_pad(lx_token_options *options, int64_t pad, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->pad = pad;
    options->given |= LX__TOKEN_PAD;
    return LX_OK;
}

lx_status lx_token_options_set_separator(lx_token_options *options, int64_t separator,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->separator = separator;
    options->given |= LX__TOKEN_SEPARATOR;
    return LX_OK;
}

lx_status lx_token_options_set_columns(lx_token_options *options, unsigned columns, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->columns = columns;
    options->given |= LX__TOKEN_COLUMNS;
    return LX_OK;
}

lx_status lx__token_options_take(const lx_token_options *options, unsigned allowed,
                                 lx_token_options *taken, lx_error *error)
{
    static const char *const names[] = {"pad", "separator", "columns"};
    *taken = options != NULL ? *options : (lx_token_options)LX__TOKEN_DEFAULTS;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if ((taken->given & ~allowed & 1U << i) != 0)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "%s: this option has no effect on the source: leave it unset", names[i]);
    return LX_OK;
}
