/* SPDX-License-Identifier: MIT */
/* Options of token sources: setters set them, and sources reject those without effect. */
#include "loader/tokens/token-options.h"

#include "../../unit.h"

START_TEST(setters_set_their_option)
{
    lx_error error = LX_ERROR_INIT;
    lx_token_options *options = lx_token_options_new();
    ck_assert_ptr_nonnull(options);
    ck_assert_int_eq(options->dtype, LX_INT32);
    ck_assert_int_eq(options->separator, LX_SEPARATOR_NONE);
    unit_ok(lx_token_options_set_dtype(options, LX_INT64, &error));
    unit_ok(lx_token_options_set_vocabulary(options, 2, &error));
    unit_ok(lx_token_options_set_pad(options, -3, &error));
    unit_ok(lx_token_options_set_separator(options, 4, &error));
    unit_ok(lx_token_options_set_columns(options, LX_PACKED_POSITIONS, &error));
    ck_assert_int_eq(options->dtype, LX_INT64);
    ck_assert_uint_eq(options->vocabulary, 2);
    ck_assert_int_eq(options->pad, -3);
    ck_assert_int_eq(options->separator, 4);
    ck_assert_uint_eq(options->columns, LX_PACKED_POSITIONS);
    lx_token_options_free(options);
    lx_token_options_free(NULL);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    unit_refuses_null(lx_token_options_set_dtype(NULL, LX_INT64, &error), "options");
    unit_refuses_null(lx_token_options_set_vocabulary(NULL, 2, &error), "options");
    unit_refuses_null(lx_token_options_set_pad(NULL, 3, &error), "options");
    unit_refuses_null(lx_token_options_set_separator(NULL, 4, &error), "options");
    unit_refuses_null(lx_token_options_set_columns(NULL, 1, &error), "options");
}
END_TEST

START_TEST(an_option_without_effect_is_refused)
{
    lx_error error = LX_ERROR_INIT;
    lx_token_options taken;
    const lx_token_options pad = {.given = LX__TOKEN_PAD};
    unit_ok(lx__token_options_take(&pad, LX__TOKEN_PAD | LX__TOKEN_COLUMNS, &taken, &error));
    ck_assert_int_eq(lx__token_options_take(&pad, LX__TOKEN_SEPARATOR, &taken, &error),
                     LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "pad"));
}
END_TEST

UNIT_MAIN("loader/token-options", setters_set_their_option, rejects_null_by_name,
          an_option_without_effect_is_refused)
