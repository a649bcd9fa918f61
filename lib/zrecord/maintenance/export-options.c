/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/export-options.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

lx_export_options *lx_export_options_new(void)
{
    lx_export_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_export_options){0};
    return options;
}

void lx_export_options_free(lx_export_options *options)
{
    lx__free(options);
}

lx_status lx_export_options_set_indices(lx_export_options *options, const uint64_t *indices,
                                        uint64_t count, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->indices = indices;
    options->count = count;
    return LX_OK;
}

lx_status lx_export_options_set_suffix(lx_export_options *options, const char *suffix,
                                       lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    size_t length = suffix != NULL ? strlen(suffix) : 0;
    if (length > LX_MAX_SUFFIX || (length != 0 && strchr(suffix, '/') != NULL))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the suffix contains a '/' or has more than %d characters", LX_MAX_SUFFIX);
    memcpy(options->suffix, length != 0 ? suffix : "", length + 1);
    return LX_OK;
}

lx_status lx_export_options_set_progress(lx_export_options *options, lx_progress_function progress,
                                         void *user, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->progress = progress;
    options->user = user;
    return LX_OK;
}
