/* SPDX-License-Identifier: MIT */
/* What servers and files of ~/.aws make the transport for HTTP parse: a byte for the kind, and the
 * header of a response, a file of the configuration, credentials in JSON, or a listing in XML. */
#include "fuzz.h"

#include "remote/http/aws-profile.h"
#include "remote/http/credential-sources.h"
#include "remote/http/http-headers.h"
#include "remote/http/s3-answers.h"

static void parse_headers(const char *text, size_t size)
{
    lx__http_headers headers = {0};
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t line = end != NULL ? (size_t)(end + 1 - text) - at : size - at;
        if (!lx__http_headers_add(&headers, text + at, line))
            return;
        at += line;
        if (headers.has_range && headers.bad_range)
            fuzz_fail("a range is both good and bad");
        if (headers.has_range && !headers.unsatisfied &&
            (headers.first > headers.last || headers.last >= headers.total ||
             headers.last > INT64_MAX))
            fuzz_fail("a range that is impossible is good");
    }
}

static void parse_profile(const char *text, size_t size)
{
    char value[32] = "";
    if (lx__aws_profile_find(text, size, "a", "k", value, sizeof value) &&
        memchr(value, '\0', sizeof value) == NULL)
        fuzz_fail("a value is not terminated");
}

static void parse_credentials(const char *text, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_credentials credentials = {.expires = 0};
    lx_status status = lx__credentials_parse(text, size, "it", &credentials, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status == LX_OK && (credentials.access_key[sizeof credentials.access_key - 1] != '\0' ||
                            credentials.secret_key[sizeof credentials.secret_key - 1] != '\0' ||
                            credentials.token[sizeof credentials.token - 1] != '\0'))
        fuzz_fail("a text is not terminated");
}

/** No key leaves the folder that was asked for. */
static lx_status check_key(void *user, const char *key, const lx__remote_info *info,
                           const char *upload, lx_error *error)
{
    (void)user, (void)error;
    size_t size = strlen(key);
    if (key[0] == '/' || size == 0 || key[size - 1] == '/' || strstr(key, "//") != NULL ||
        strcmp(key, "..") == 0 || strncmp(key, "../", 3) == 0 || strstr(key, "/../") != NULL ||
        (size > 2 && strcmp(key + size - 3, "/..") == 0))
        fuzz_fail("a key is no path below the folder");
    if (info->bytes > INT64_MAX || memchr(info->etag, '\0', sizeof info->etag) == NULL ||
        strlen(upload) >= LX__UPLOAD_SIZE)
        fuzz_fail("what is known about a key is impossible");
    return LX_OK;
}

static void parse_listing(const char *text, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx__answer answer = {.total = LX_NONE};
    lx__s3_listing listing = {.prefix = "p/", .root = 2, .visit = check_key};
    lx_status status = lx__s3_listing_parse(&listing, text, size, &answer, &error);
    if (status != error.status || (status == LX_OK) != (answer.retry == LX__RETRY_NEVER))
        fuzz_fail("the answer is not that of the status");
    char value[16] = "";
    if (lx__s3_find(text, size, "a", "b", value, sizeof value) &&
        memchr(value, '\0', sizeof value) == NULL)
        fuzz_fail("a value is not terminated");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(const char *, size_t) = {parse_headers, parse_profile,
                                                          parse_credentials, parse_listing};
    if (size > 0)
        kinds[data[0] % 4]((const char *)data + 1, size - 1);
    return 0;
}
