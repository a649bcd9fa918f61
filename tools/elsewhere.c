/* SPDX-License-Identifier: MIT */
#include "elsewhere.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "failure.h"
#include "number.h"

/* The options that were taken, which apply to all datasets of the command line. */
static const char *cache, *endpoint, *region;
static bool anonymous;
static uint64_t limit = LX_NONE;
static const char *tier[LX_MAX_TIER_NODES];
static size_t tier_count;

/* The arguments that were redacted, and what they were. They stay until the process ends. */
static struct redacted {
    const char *argument;
    char *url;
} * redacted;
static size_t redacted_count;

bool elsewhere_is(const char *path)
{
    return strstr(path, "://") != NULL;
}

lx_status elsewhere_redact(char *argument, lx_error *error)
{
    if (!elsewhere_is(argument))
        return LX_OK;
    struct redacted *more = realloc(redacted, (redacted_count + 1) * sizeof *redacted);
    if (more != NULL)
        redacted = more;
    char *url = more != NULL ? strdup(argument) : NULL;
    if (url == NULL)
        return fail_memory(error, "a URL");
    redacted[redacted_count++] = (struct redacted){argument, url};
    lx_url_redact(argument);
    return LX_OK;
}

const char *elsewhere_get_url(const char *path)
{
    for (size_t i = 0; i < redacted_count; i++)
        if (redacted[i].argument == path)
            return redacted[i].url;
    return path;
}

static lx_status add_node(const char *url, lx_error *error)
{
    if (tier_count == LX_MAX_TIER_NODES)
        return lx_fail(error, LX_ERR_ARGUMENT, "--tier can be given %d times", LX_MAX_TIER_NODES);
    tier[tier_count++] = url;
    return LX_OK;
}

lx_status elsewhere_take(int id, char *value, lx_error *error)
{
    switch (id) {
    case OPTION_LIMIT:
        return number_parse_size("--limit", value, &limit, error);
    case OPTION_TIER:
        return add_node(value, error);
    case OPTION_ENDPOINT:
        endpoint = value;
        return LX_OK;
    case OPTION_REGION:
        region = value;
        return LX_OK;
    case OPTION_ANONYMOUS:
        anonymous = true;
        return LX_OK;
    default:
        cache = value;
        return LX_OK;
    }
}

bool elsewhere_has_cache(void)
{
    return cache != NULL;
}

lx_status elsewhere_check(lx_error *error)
{
    if (limit == LX_NONE || cache != NULL)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "--limit requires --cache");
}

lx_status elsewhere_check_target(const char *url, lx_error *error)
{
    if (!elsewhere_is(url) || strncmp(url, "s3://", 5) == 0 || strncmp(url, "file://", 7) == 0)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "%.300s can only be read, if at all: use a URL of s3:// or file://, or a path",
                   url);
}

lx_status elsewhere_make_options(lx_remote_options **options, lx_error *error)
{
    lx_remote_options *made = lx_remote_options_new();
    *options = made;
    if (made == NULL)
        return fail_memory(error, "options");
    lx_status status = LX_OK;
    if (cache != NULL)
        status = lx_remote_options_set_cache(made, cache, limit, error);
    if (status == LX_OK)
        status = lx_remote_options_set_tier(made, tier, tier_count, error);
    if (status == LX_OK)
        status = lx_remote_options_set_endpoint(made, endpoint, error);
    if (status == LX_OK)
        status = lx_remote_options_set_region(made, region, error);
    if (status == LX_OK)
        status = lx_remote_options_set_anonymous(made, anonymous, error);
    if (status != LX_OK)
        lx_remote_options_free(made);
    return status;
}

lx_status elsewhere_open(const char *url, const lx_dataset_options *options, lx_dataset **dataset,
                         lx_error *error)
{
    lx_remote_options *made;
    lx_status status = elsewhere_make_options(&made, error);
    if (status != LX_OK)
        return status;
    status = lx_remote_open(elsewhere_get_url(url), made, options, dataset, error);
    lx_remote_options_free(made);
    return status;
}
