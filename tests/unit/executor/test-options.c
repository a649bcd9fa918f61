/* SPDX-License-Identifier: MIT */
#include "../scarce.h"
#include "executor/cpus.h"
#include "workload.h"

START_TEST(an_executor_follows_its_options)
{
    lx_executor *executor = open_executor(7, 3);
    ck_assert_uint_eq(lx_executor_get_reader_count(executor), 7);
    ck_assert_uint_eq(lx_executor_get_writer_count(executor), 3);
    lx_executor_close(executor);
}
END_TEST

START_TEST(defaults_to_one_reader_per_cpu)
{
    lx_error error = LX_ERROR_INIT;
    uint32_t cpus = lx__cpus_available();
    lx_executor_options *options = lx_executor_options_new();
    for (int i = 0; i < 2; i++) {
        lx_executor *executor;
        unit_ok(lx_executor_open(i == 0 ? NULL : options, &executor, &error));
        ck_assert_uint_eq(lx_executor_get_reader_count(executor),
                          cpus < LX_MAX_READERS ? cpus : LX_MAX_READERS);
        ck_assert_uint_eq(lx_executor_get_writer_count(executor), 1);
        lx_executor_close(executor);
    }
    lx_executor_options_free(options);
    lx_executor_options_free(NULL);
}
END_TEST

START_TEST(rejects_counts_out_of_bounds)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_executor_options *options = lx_executor_options_new();
    unit_ok(lx_executor_options_set_reader_count(options, 0, &error));
    unit_ok(lx_executor_options_set_writer_count(options, LX_MAX_WRITERS, &error));
    unit_fails(lx_executor_options_set_reader_count(options, LX_MAX_READERS + 1, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_executor_options_set_reader_count(options, UINT32_MAX, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_executor_options_set_writer_count(options, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_executor_options_set_writer_count(options, LX_MAX_WRITERS + 1, &error),
               LX_ERR_ARGUMENT);
    ck_assert_int_eq(lx_executor_options_set_reader_count(NULL, 1, NULL), LX_ERR_ARGUMENT);

    unit_ok(lx_executor_open(options, &executor, &error));
    ck_assert_uint_eq(lx_executor_get_reader_count(executor), 0);
    ck_assert_uint_eq(lx_executor_get_writer_count(executor), LX_MAX_WRITERS);
    lx_executor_close(executor);
    lx_executor_options_free(options);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = (lx_executor *)&error;
    scarce_begin(0);
    ck_assert_ptr_null(lx_executor_options_new());
    unit_fails(lx_executor_open(NULL, &executor, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(executor);
    unit_ok(lx_set_allocator(NULL, &error));
}
END_TEST

UNIT_MAIN("executor/options", an_executor_follows_its_options, defaults_to_one_reader_per_cpu,
          rejects_counts_out_of_bounds, reports_failed_allocations)
