/* SPDX-License-Identifier: MIT */
/* Each setter of Megatron's options sets its member, and the defaults are Megatron's. */
#include "parity/megatron-options.h"

#include "../unit.h"

START_TEST(setters_set_their_option)
{
    lx_error error = LX_ERROR_INIT;
    lx_megatron_options *options = lx_megatron_options_new();
    ck_assert_ptr_nonnull(options);
    unit_ok(lx_megatron_options_set_documents(options, 1, 2, &error));
    unit_ok(lx_megatron_options_set_sequence_length(options, 3, &error));
    unit_ok(lx_megatron_options_set_num_samples(options, 4, &error));
    unit_ok(lx_megatron_options_set_seed(options, 5, &error));
    unit_ok(lx_megatron_options_set_extra_token(options, false, &error));
    unit_ok(lx_megatron_options_set_drop_last_partial(options, false, &error));
    unit_ok(lx_megatron_options_set_dtype(options, LX_INT64, &error));
    unit_ok(lx_megatron_options_set_vocabulary(options, 6, &error));
    unit_ok(lx_megatron_options_set_pad(options, 7, &error));
    unit_ok(lx_megatron_options_set_eod(options, 8, &error));
    unit_ok(lx_megatron_options_set_split_at_eod(options, true, &error));
    unit_ok(lx_megatron_options_set_mask_eod(options, true, &error));
    unit_ok(lx_megatron_options_set_columns(options, LX_MEGATRON_LOSS_MASK, &error));
    unit_ok(lx_megatron_options_set_tables(options, "tables", &error));
    ck_assert_uint_eq(options->first_document, 1);
    ck_assert_uint_eq(options->document_count, 2);
    ck_assert_uint_eq(options->sequence_length, 3);
    ck_assert_uint_eq(options->num_samples, 4);
    ck_assert_uint_eq(options->seed, 5);
    ck_assert(!options->extra_token && !options->drop_last_partial);
    ck_assert_int_eq(options->dtype, LX_INT64);
    ck_assert_uint_eq(options->vocabulary, 6);
    ck_assert_int_eq(options->pad, 7);
    ck_assert_int_eq(options->eod, 8);
    ck_assert(options->split_at_eod && options->mask_eod);
    ck_assert_uint_eq(options->columns, LX_MEGATRON_LOSS_MASK);
    ck_assert_str_eq(options->tables, "tables");
    lx_megatron_options_free(options);
    lx_megatron_options_free(NULL);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    unit_refuses_null(lx_megatron_options_set_documents(NULL, 1, 2, &error), "options");
    unit_refuses_null(lx_megatron_options_set_seed(NULL, 1, &error), "options");
    unit_refuses_null(lx_megatron_options_set_tables(NULL, "a", &error), "options");
}
END_TEST

UNIT_MAIN("parity/megatron-options", setters_set_their_option, rejects_null_by_name)
