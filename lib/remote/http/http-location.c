/* SPDX-License-Identifier: MIT */
#include "remote/http/http-location.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/http/http-format.h"
#include "remote/http/wipe.h"

/** Copies @p text with every byte percent-encoded that signatures encode, except for those of @p
 * kept; NULL if out of memory. */
static char *encode(const char *text, const char *kept)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    size_t size = strlen(text);
    char *made = size > SIZE_MAX / 3 - 1 ? NULL : lx__alloc(size * 3 + 1), *to = made;
    if (made == NULL)
        return NULL;
    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL || strchr(kept, *text) != NULL)
            *to++ = *text;
        else
            to += snprintf(to, 4, "%%%02X", (unsigned char)*text);
    }
    *to = '\0';
    return made;
}

/** Cuts slashes off the end. */
static void cut_slashes(char *text)
{
    for (size_t size = strlen(text); size > 0 && text[size - 1] == '/'; size--)
        text[size - 1] = '\0';
}

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

/** Gets a part as memory of ours; NULL if out of memory. */
static char *get_part(CURLU *url, CURLUPart part)
{
    char *text = NULL, *copy = NULL;
    if (curl_url_get(url, part, &text, 0) == CURLUE_OK)
        copy = lx__strdup(text);
    curl_free(text);
    return copy;
}

/** Splits a URL of HTTP into what precedes the query, without a final slash, and the query with its
 * "?". The error does not repeat the URL, which may contain a password. */
static lx_status split(CURLU *parsed, const char *what, const char *url, char **base, char **query,
                       lx_error *error)
{
    CURLUcode failure = curl_url_set(parsed, CURLUPART_URL, url, CURLU_URLENCODE);
    if (failure != CURLUE_OK)
        return lx_fail(error, LX_ERR_ARGUMENT, "the %s is not valid: %s", what,
                       curl_url_strerror(failure));
    if (has_part(parsed, CURLUPART_USER) || has_part(parsed, CURLUPART_PASSWORD))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the %s contains a user or a password; remove them, and set credentials",
                       what);
    char *text = get_part(parsed, CURLUPART_QUERY);
    *query = lx__http_format("%s%s", text != NULL ? "?" : "", text != NULL ? text : "");
    lx__free(text);
    curl_url_set(parsed, CURLUPART_QUERY, NULL, 0);
    curl_url_set(parsed, CURLUPART_FRAGMENT, NULL, 0);
    *base = get_part(parsed, CURLUPART_URL);
    if (*base == NULL || *query == NULL)
        return lx__fail_memory(error, "a URL");
    cut_slashes(*base);
    return LX_OK;
}

static lx_status split_url(const char *what, const char *url, char **base, char **query,
                           lx_error *error)
{
    CURLU *parsed = curl_url();
    if (parsed == NULL)
        return lx__fail_memory(error, "a URL");
    lx_status status = split(parsed, what, url, base, query, error);
    curl_url_cleanup(parsed);
    return status;
}

/** Makes the URL of a bucket. */
static lx_status locate_bucket(const char *bucket, const char *endpoint, const char *region,
                               char **base, char **query, lx_error *error)
{
    const char *china = strncmp(region, "cn-", 3) == 0 ? ".cn" : "";
    if (endpoint != NULL) {
        char *server = NULL;
        lx_status status = split_url("endpoint", endpoint, &server, query, error);
        if (status == LX_OK && **query != '\0')
            status = lx_fail(error, LX_ERR_ARGUMENT, "the endpoint has a query; remove it");
        *base = status == LX_OK ? lx__http_format("%s/%s", server, bucket) : NULL;
        lx__free(server);
        if (status != LX_OK)
            return status;
    } else {
        /* The certificate of AWS has no names of buckets that contain a dot. */
        *base = strchr(bucket, '.') == NULL
                    ? lx__http_format("https://%s.s3.%s.amazonaws.com%s", bucket, region, china)
                    : lx__http_format("https://s3.%s.amazonaws.com%s/%s", region, china, bucket);
        *query = lx__strdup("");
    }
    return *base != NULL && *query != NULL ? LX_OK : lx__fail_memory(error, "a URL");
}

/** Makes the prefix of keys of the path after a bucket: "/a/b/" becomes "a/b/". */
static char *make_prefix(const char *path)
{
    size_t size = strlen(path);
    while (size > 0 && path[size - 1] == '/')
        size--;
    return size == 0 ? lx__strdup("") : lx__http_format("%.*s/", (int)size - 1, path + 1);
}

/** Parses "bucket/prefix". The prefix is a plain text: nothing in it is encoded, or is a query. */
static lx_status parse_s3(const char *place, const char *endpoint, const char *region,
                          lx__http_location *location, lx_error *error)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
    char bucket[256];
    size_t size = strcspn(place, "/");
    if (size == 0 || size >= sizeof bucket || strspn(place, allowed) < size)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "'s3://%s' has no valid name of a bucket; write s3://bucket/prefix", place);
    snprintf(bucket, sizeof bucket, "%.*s", (int)size, place);
    location->s3 = true;
    lx_status status = locate_bucket(bucket, endpoint, region, &location->bucket, &location->query,
                                     error);
    char *path = status == LX_OK ? encode(place + size, "/") : NULL;
    if (path != NULL) {
        location->base = lx__http_format("%s%s", location->bucket, path);
        location->shown = lx__http_format("s3://%s", place);
        location->prefix = make_prefix(place + size);
    }
    lx__free(path);
    if (status == LX_OK &&
        (location->base == NULL || location->shown == NULL || location->prefix == NULL))
        return lx__fail_memory(error, "a URL");
    return status;
}

static bool begins_with(const char *url, const char *scheme)
{
    return strncasecmp(url, scheme, strlen(scheme)) == 0;
}

lx_status lx__http_location_parse(const char *url, const char *endpoint, const char *region,
                                  lx__http_location *location, lx_error *error)
{
    lx_status status;
    *location = (lx__http_location){0};
    if (begins_with(url, "s3://"))
        status = parse_s3(url + 5, endpoint, region, location, error);
    else if (begins_with(url, "https://") || begins_with(url, "http://"))
        status = split_url("URL", url, &location->base, &location->query, error);
    else
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "'%s' does not begin with https://, http:// or s3://", url);
    if (status == LX_OK && !location->s3 && (location->shown = lx__strdup(location->base)) == NULL)
        status = lx__fail_memory(error, "a URL");
    if (status != LX_OK) {
        lx__http_location_clear(location);
        return status;
    }
    cut_slashes(location->base);
    cut_slashes(location->shown);
    location->secure = begins_with(location->base, "https://");
    return LX_OK;
}

void lx__http_location_clear(lx__http_location *location)
{
    if (location->query != NULL)
        lx__wipe(location->query, strlen(location->query));
    lx__free(location->shown);
    lx__free(location->base);
    lx__free(location->bucket);
    lx__free(location->prefix);
    lx__free(location->query);
    *location = (lx__http_location){0};
}

char *lx__http_location_file(const lx__http_location *location, const char *name)
{
    char *encoded = encode(name, "/");
    char *url = encoded != NULL
                    ? lx__http_format("%s/%s%s", location->base, encoded, location->query)
                    : NULL;
    lx__free(encoded);
    return url;
}

char *lx__http_location_bucket(const lx__http_location *location, const char *query)
{
    return lx__http_format("%s/?%s", location->bucket, query);
}

char *lx__http_url_encode(const char *text)
{
    return encode(text, "");
}

bool lx__http_url_is_signable(const char *url)
{
    const char *at = strstr(url, "://");
    for (at += strcspn(at + 3, "/?") + 3; *at == '/';) {
        size_t size = strcspn(++at, "/?");
        if ((size == 0 && *at == '/') || (size == 1 && *at == '.') ||
            (size == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += size;
    }
    return true;
}

/** Gets the scheme, host and port; NULL if @p url is invalid or out of memory. */
static char *get_origin(const char *url)
{
    char *scheme = NULL, *host = NULL, *port = NULL, *origin = NULL;
    CURLU *parsed = curl_url();
    if (parsed != NULL && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(parsed, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
        origin = lx__http_format("%s://%s:%s", scheme, host, port);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parsed);
    return origin;
}

bool lx__http_url_same_origin(const char *a, const char *b)
{
    char *origin_a = get_origin(a), *origin_b = get_origin(b);
    bool same = origin_a != NULL && origin_b != NULL && strcasecmp(origin_a, origin_b) == 0;
    lx__free(origin_a);
    lx__free(origin_b);
    return same;
}

bool lx__http_url_may_follow(const char *from, const char *to)
{
    return begins_with(to, "https://") ||
           (begins_with(to, "http://") && begins_with(from, "http://"));
}
