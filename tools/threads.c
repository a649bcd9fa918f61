/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include "failure.h"
#include "number.h"

lx_status threads_parse(threads *wanted, const char *value, lx_error *error)
{
    wanted->given = true;
    return number_parse_within("--threads", value, 0, LX_MAX_READERS, &wanted->count, error);
}

lx_status threads_open(const threads *wanted, lx_executor **executor, lx_error *error)
{
    lx_executor_options *made = lx_executor_options_new();
    if (made == NULL)
        return fail_memory(error, "threads");
    lx_status status = LX_OK;
    if (wanted->given)
        status = lx_executor_options_set_reader_count(made, (uint32_t)wanted->count, error);
    if (status == LX_OK)
        status = lx_executor_open(made, executor, error);
    lx_executor_options_free(made);
    return status;
}
