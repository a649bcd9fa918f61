/* SPDX-License-Identifier: MIT */
#include "remote/remote-options.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define MEMORY_MIN ((uint64_t)16 << 20)
#define MEMORY_DEFAULT ((uint64_t)1 << 30)
#define PATIENCE_DEFAULT ((uint64_t)30 * 60 * 1000000000)

lx_remote_options *lx_remote_options_new(void)
{
    lx_remote_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_remote_options){
            .limit = LX_NONE, .memory_bytes = MEMORY_DEFAULT, .patience_ns = PATIENCE_DEFAULT};
    return options;
}

void lx_remote_options_free(lx_remote_options *options)
{
    if (options == NULL)
        return;
    lx__free(options->cache);
    lx__http_options_clear(&options->http);
    lx__free(options);
}

lx_status lx_remote_options_set_cache(lx_remote_options *options, const char *path, uint64_t limit,
                                      lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (path != NULL && path[0] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "the path of the cache is empty");
    char *copy = path != NULL ? lx__strdup(path) : NULL;
    if (path != NULL && copy == NULL)
        return lx__fail_memory(error, "a path");
    lx__free(options->cache);
    options->cache = copy;
    options->limit = limit;
    return LX_OK;
}

lx_status lx_remote_options_set_memory(lx_remote_options *options, uint64_t bytes, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (bytes < MEMORY_MIN)
        return lx_fail(error, LX_ERR_ARGUMENT, "memory must be 16 MiB or more, not %llu bytes",
                       (unsigned long long)bytes);
    options->memory_bytes = bytes;
    return LX_OK;
}

lx_status lx_remote_options_set_connections(lx_remote_options *options, uint32_t count,
                                            lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (count == 0 || count > LX_MAX_CONNECTIONS)
        return lx_fail(error, LX_ERR_ARGUMENT, "the number of connections must be 1 to %d, not %u",
                       LX_MAX_CONNECTIONS, count);
    options->connections = count;
    return LX_OK;
}

lx_status lx_remote_options_set_patience(lx_remote_options *options, uint64_t nanoseconds,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->patience_ns = nanoseconds;
    return LX_OK;
}

/* ---- HTTP and S3 */

/** Replaces the text at @p to by a copy of @p text, which may be NULL. */
static lx_status replace(char **to, const char *text, lx_error *error)
{
    char *copy = NULL;
    if (text != NULL && (copy = lx__strdup(text)) == NULL)
        return lx__fail_memory(error, "an option");
    lx__free(*to);
    *to = copy;
    return LX_OK;
}

lx_status lx_remote_options_set_credentials(lx_remote_options *options, lx_get_credentials callback,
                                            void *user, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->http.get_credentials = callback;
    options->http.user = user;
    return LX_OK;
}

lx_status lx_remote_options_set_anonymous(lx_remote_options *options, bool anonymous,
                                          lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->http.anonymous = anonymous;
    return LX_OK;
}

lx_status lx_remote_options_set_endpoint(lx_remote_options *options, const char *endpoint,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (endpoint != NULL && strncmp(endpoint, "https://", 8) != 0 &&
        strncmp(endpoint, "http://", 7) != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the endpoint '%s' does not begin with https:// or http://", endpoint);
    return replace(&options->http.endpoint, endpoint, error);
}

lx_status lx_remote_options_set_region(lx_remote_options *options, const char *region,
                                       lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (region != NULL && !lx__http_is_region(region))
        return lx_fail(error, LX_ERR_ARGUMENT, "'%s' is not the name of a region", region);
    return replace(&options->http.region, region, error);
}

lx_status lx_remote_options_set_tier(lx_remote_options *options, const char *const *urls,
                                     size_t count, lx_error *error)
{
    lx__tier tier;
    if (options == NULL || (urls == NULL && count != 0))
        return lx__fail_null(error, options == NULL ? "options" : "urls");
    if (count > LX_MAX_TIER_NODES)
        return lx_fail(error, LX_ERR_ARGUMENT, "a tier has at most %d nodes, not %zu",
                       LX_MAX_TIER_NODES, count);
    for (size_t i = 0; i < count; i++)
        if (urls[i] == NULL)
            return lx__fail_null(error, "urls");
    lx_status status = lx__tier_open(&tier, urls, count, error);
    if (status != LX_OK)
        return status;
    lx__tier_close(&options->http.tier);
    options->http.tier = tier;
    return LX_OK;
}
