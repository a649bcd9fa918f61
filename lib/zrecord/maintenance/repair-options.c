/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/maintenance/repair.h"

lx_repair_options *lx_repair_options_new(void)
{
    lx_repair_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_repair_options){.policy = LX_REPAIR_MISSING};
    return options;
}

void lx_repair_options_free(lx_repair_options *options)
{
    lx__free(options);
}

lx_status lx_repair_options_set_policy(lx_repair_options *options, lx_repair_policy policy,
                                       lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (policy != LX_REPAIR_MISSING && policy != LX_REPAIR_DELETE)
        return lx_fail(error, LX_ERR_ARGUMENT, "repair policy %d is invalid: use missing or delete",
                       (int)policy);
    options->policy = policy;
    return LX_OK;
}

lx_status lx_repair_options_set_apply(lx_repair_options *options, bool apply, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->apply = apply;
    return LX_OK;
}

lx_status lx_repair_options_set_lose_unreadable(lx_repair_options *options, bool lose,
                                                lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->lose_unreadable = lose;
    return LX_OK;
}

lx_status lx_repair_options_set_found(lx_repair_options *options, lx_finding_function found,
                                      void *user, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->found = found;
    options->found_user = user;
    return LX_OK;
}

lx_status lx_repair_options_set_progress(lx_repair_options *options, lx_progress_function progress,
                                         void *user, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->progress = progress;
    options->progress_user = user;
    return LX_OK;
}
