/* SPDX-License-Identifier: MIT */
#include "remote/http/http-options.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/remote-options.h"

void lx__http_options_clear(lx__http_options *options)
{
    lx__free(options->endpoint);
    lx__free(options->region);
    *options = (lx__http_options){0};
}

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

bool lx__http_is_region(const char *text)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
    size_t size = strlen(text);
    return size > 0 && size < 64 && strspn(text, allowed) == size;
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
