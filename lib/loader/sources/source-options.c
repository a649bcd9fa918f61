/* SPDX-License-Identifier: MIT */
#include "loader/sources/source-options.h"

#include "base/alloc.h"
#include "base/error.h"

lx_source_options *lx_source_options_new(void)
{
    return lx__alloc_array(1, sizeof(lx_source_options));
}

void lx_source_options_free(lx_source_options *options)
{
    if (options == NULL)
        return;
    lx__free((char *)options->identity);
    lx__free(options);
}

lx_status lx_source_options_set_fill(lx_source_options *options, lx_fill_function fill, void *user,
                                     lx_error *error)
{
    if (options == NULL || fill == NULL)
        return lx__fail_null(error, options == NULL ? "options" : "fill");
    options->fill = fill;
    options->user = user;
    return LX_OK;
}

lx_status lx_source_options_set_map(lx_source_options *options, lx_map_function map, void *user,
                                    lx_error *error)
{
    if (options == NULL || map == NULL)
        return lx__fail_null(error, options == NULL ? "options" : "map");
    options->map = map;
    options->user = user;
    return LX_OK;
}

lx_status lx_source_options_set_worker(lx_source_options *options,
                                       lx_new_worker_function new_worker,
                                       lx_free_worker_function free_worker, lx_error *error)
{
    if (options == NULL || new_worker == NULL || free_worker == NULL)
        return lx__fail_null(error, options == NULL      ? "options"
                                    : new_worker == NULL ? "new_worker"
                                                         : "free_worker");
    options->new_worker = new_worker;
    options->free_worker = free_worker;
    return LX_OK;
}

lx_status lx_source_options_set_release(lx_source_options *options, lx_release_function release,
                                        lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->release = release;
    return LX_OK;
}

lx_status lx_source_options_set_varying(lx_source_options *options, lx_sizes_function sizes,
                                        lx_fill_bytes_function fill_bytes, lx_error *error)
{
    if (options == NULL || sizes == NULL || fill_bytes == NULL)
        return lx__fail_null(error, options == NULL ? "options"
                                    : sizes == NULL ? "sizes"
                                                    : "fill_bytes");
    options->sizes = sizes;
    options->fill_bytes = fill_bytes;
    return LX_OK;
}

lx_status lx_source_options_set_identity(lx_source_options *options, const char *identity,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    char *copy = identity != NULL ? lx__strdup(identity) : NULL;
    if (identity != NULL && copy == NULL)
        return lx__fail_memory(error, "options");
    lx__free((char *)options->identity);
    options->identity = copy;
    return LX_OK;
}
