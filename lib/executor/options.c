/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor-private.h"

lx_executor_options *lx_executor_options_new(void)
{
    lx_executor_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = lx__executor_defaults;
    return options;
}

void lx_executor_options_free(lx_executor_options *options)
{
    lx__free(options);
}

static lx_status check(const lx_executor_options *options, uint32_t count, uint32_t least,
                       uint32_t most, const char *what, lx_error *error)
{
    if (options == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "options is NULL");
    if (count < least || count > most)
        return lx_fail(error, LX_ERR_ARGUMENT, "%s must be from %u to %u, not %u", what, least,
                       most, count);
    return LX_OK;
}

lx_status lx_executor_options_set_reader_count(lx_executor_options *options, uint32_t count,
                                               lx_error *error)
{
    lx_status status = check(options, count, 0, LX_MAX_READERS, "reader_count", error);
    if (status == LX_OK)
        options->readers = count;
    return status;
}

lx_status lx_executor_options_set_writer_count(lx_executor_options *options, uint32_t count,
                                               lx_error *error)
{
    lx_status status = check(options, count, 1, LX_MAX_WRITERS, "writer_count", error);
    if (status == LX_OK)
        options->writers = count;
    return status;
}
