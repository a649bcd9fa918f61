/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Where a dataset is: the URLs of its files, made from the URL that the user gave.
 */
#ifndef LX_REMOTE_HTTP_LOCATION_H
#define LX_REMOTE_HTTP_LOCATION_H

#include <stdbool.h>

#include <loaderx/status.h>

typedef struct lx__http_location {
    char *shown;  /**< The URL for messages: without the query, and without a final slash. */
    char *base;   /**< The URL to which "/" and the name of a file are appended. */
    char *bucket; /**< The URL of the bucket; NULL unless @ref s3. */
    char
        *prefix; /**< The part of all keys before the name of a file, "" or with a slash at its end;
                       NULL unless @ref s3. */
    char *query; /**< Appended to all of them: "", or "?" and the query, which may be secret. */
    bool s3;     /**< The URL began with s3://: requests are signed. */
    bool secure; /**< Requests are encrypted. */
} lx__http_location;

/**
 * Parses the URL of a dataset.
 *
 * @param url       `https://`, `http://` or `s3://bucket/prefix`.
 * @param endpoint  The server of s3://; NULL: AWS.
 * @param region    Of AWS.
 * @retval LX_ERR_ARGUMENT     @p url or @p endpoint is invalid, or contains a user or a password.
 * @retval LX_ERR_UNSUPPORTED  The scheme is another one.
 */
lx_status lx__http_location_parse(const char *url, const char *endpoint, const char *region,
                                  lx__http_location *location, lx_error *error);
void lx__http_location_clear(lx__http_location *location);

/** Makes the URL of the file @p name; NULL if out of memory. All characters that signatures of AWS
 * encode are encoded: libcurl 7.88 signs a path as it is. */
char *lx__http_location_file(const lx__http_location *location, const char *name);

/** Makes the URL of a request to the bucket with a query, which must be encoded and sorted: libcurl
 * 7.88 signs it as it is. NULL if out of memory. */
char *lx__http_location_bucket(const lx__http_location *location, const char *query);

/** Copies @p text with every byte percent-encoded that signatures encode in a query; NULL if out of
 * memory. */
char *lx__http_url_encode(const char *text);

/** Whether the path of @p url has no component `.` or `..`, and no empty one before its end: libcurl
 * would sign, and ask for, another path. */
bool lx__http_url_is_signable(const char *url);

/** Whether both URLs have the same scheme, host and port. */
bool lx__http_url_same_origin(const char *a, const char *b);

/** Whether a redirection from one URL to another may be followed: not from https to http. */
bool lx__http_url_may_follow(const char *from, const char *to);

#endif
