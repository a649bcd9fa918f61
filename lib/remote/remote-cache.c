/* SPDX-License-Identifier: MIT */
/* The public functions for a cache as a whole. */
#include <loaderx/remote.h>

#include "base/error.h"
#include "remote/cache/cache.h"

/** Opens a cache that exists. */
static lx_status open_cache(const char *path, lx__cache **cache, lx_error *error)
{
    lx__file directory;
    if (path == NULL)
        return lx__fail_null(error, "path");
    lx_status status = lx__directory_open(&directory, LX__CWD, path, error);
    if (status != LX_OK)
        return status;
    lx__file_close(&directory);
    return lx__cache_open(path, LX_NONE, cache, error);
}

/** The caller's callback. */
typedef struct listing {
    lx_cache_visit visit;
    void *user;
} listing;

static lx_status pass_on(void *user, const lx__cache_dataset *dataset, lx_error *error)
{
    const listing *self = user;
    const lx_cache_dataset shown = {.uuid = dataset->uuid,
                                    .url = dataset->url,
                                    .bytes = dataset->bytes,
                                    .last_use = dataset->last_use,
                                    .in_use = dataset->in_use};
    return lx__error_return(error, self->visit(&shown, self->user, error), "visit");
}

lx_status lx_cache_list(const char *path, lx_cache_visit visit, void *user, lx_error *error)
{
    lx__cache *cache;
    if (visit == NULL)
        return lx__fail_null(error, "visit");
    lx_status status = open_cache(path, &cache, error);
    if (status != LX_OK)
        return status;
    status = lx__cache_each(cache, pass_on, &(listing){visit, user}, error);
    lx__cache_close(cache);
    return status;
}

lx_status lx_cache_remove(const char *path, const char *uuid, lx_error *error)
{
    lx__cache *cache;
    if (uuid == NULL)
        return lx__fail_null(error, "uuid");
    lx_status status = open_cache(path, &cache, error);
    if (status != LX_OK)
        return status;
    status = lx__cache_remove(cache, uuid, error);
    lx__cache_close(cache);
    return status;
}

lx_status lx_cache_trim(const char *path, uint64_t bytes, lx_error *error)
{
    lx__cache *cache;
    lx_status status = open_cache(path, &cache, error);
    if (status != LX_OK)
        return status;
    status = lx__cache_trim(cache, bytes, error);
    lx__cache_close(cache);
    return status;
}
