/* SPDX-License-Identifier: MIT */
#include "remote/http/credential-sources.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "remote/http/aws-profile.h"
#include "remote/http/utc-time.h"
#include "remote/http/wipe.h"

/** The most bytes of an answer: a token, and some more. */
#define ANSWER_BYTES ((size_t)16 << 10)
#define SERVICE_TIMEOUT_MS 5000
/* Outside of EC2, nothing answers. */
#define METADATA_TIMEOUT_MS 1000
#define METADATA_URL "http://169.254.169.254"
#define CONTAINER_URL "http://169.254.170.2"

/** Where sources look. */
struct search {
    const lx__aws_environment *environment;
    lx__http_client *client;
    char text[ANSWER_BYTES]; /**< Of an answer or a file; secret. */
};

/** A source returns LX_ERR_NOT_FOUND, without an error, if it is not configured. */
typedef lx_status (*ask_source)(struct search *search, lx_credentials *credentials,
                                lx_error *error);

static lx_status copy(char *to, size_t capacity, const char *from, const char *what,
                      lx_error *error)
{
    size_t size = strlen(from);
    if (size >= capacity)
        return lx_fail(error, LX_ERR_LIMIT, "%s has more than %zu bytes", what, capacity - 1);
    memcpy(to, from, size + 1);
    return LX_OK;
}

static lx_status get_member(const json_t *object, const char *key, char *to, size_t capacity,
                            lx_error *error)
{
    const char *text;
    lx_status status = lx__json_get_text(object, key, &text, error);
    return status == LX_OK ? copy(to, capacity, text, key, error) : status;
}

static lx_status get_members(const json_t *object, lx_credentials *credentials, lx_error *error)
{
    const char *token = json_object_get(object, "Token") != NULL ? "Token" : "SessionToken";
    lx_status status = get_member(object, "AccessKeyId", credentials->access_key,
                                  sizeof credentials->access_key, error);
    if (status == LX_OK)
        status = get_member(object, "SecretAccessKey", credentials->secret_key,
                            sizeof credentials->secret_key, error);
    if (status == LX_OK && json_object_get(object, token) != NULL)
        status = get_member(object, token, credentials->token, sizeof credentials->token, error);
    const char *expires = NULL;
    if (status == LX_OK && json_object_get(object, "Expiration") != NULL)
        status = lx__json_get_text(object, "Expiration", &expires, error);
    if (status == LX_OK && expires != NULL && !lx__utc_time_parse(expires, &credentials->expires))
        status = lx_fail(error, LX_ERR_CORRUPT, "Expiration '%s' is not a time in UTC", expires);
    return status;
}

lx_status lx__credentials_parse(const char *text, size_t size, const char *source,
                                lx_credentials *credentials, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    json_t *object = NULL;
    lx_status status = lx__json_parse(text, size, &object, &failure);
    if (status == LX_OK)
        status = get_members(object, credentials, &failure);
    json_decref(object);
    if (status != LX_OK)
        return lx_fail(error, status, "the credentials of %s are not valid: %s", source,
                       failure.message);
    return LX_OK;
}

static lx_status ask_environment(struct search *search, lx_credentials *credentials,
                                 lx_error *error)
{
    char *const *value = search->environment->value;
    const char *key = value[LX__AWS_ACCESS_KEY_ID], *secret = value[LX__AWS_SECRET_ACCESS_KEY];
    const char *token = value[LX__AWS_SESSION_TOKEN];
    if (key == NULL || secret == NULL)
        return LX_ERR_NOT_FOUND;
    lx_status status = copy(credentials->access_key, sizeof credentials->access_key, key,
                            "AWS_ACCESS_KEY_ID", error);
    if (status == LX_OK)
        status = copy(credentials->secret_key, sizeof credentials->secret_key, secret,
                      "AWS_SECRET_ACCESS_KEY", error);
    if (status == LX_OK && token != NULL)
        status = copy(credentials->token, sizeof credentials->token, token, "AWS_SESSION_TOKEN",
                      error);
    return status;
}

/** Runs a command of the profile, and reads its output. */
static lx_status run_process(struct search *search, const char *command,
                             lx_credentials *credentials, lx_error *error)
{
    FILE *output = popen(command, "re");
    if (output == NULL)
        return lx_fail(error, LX_ERR_IO, "credential_process cannot be run");
    setvbuf(output, NULL, _IONBF, 0); /* no secret in a buffer of stdio */
    size_t size = fread(search->text, 1, sizeof search->text, output);
    if (pclose(output) != 0)
        return lx_fail(error, LX_ERR_IO, "credential_process of the profile failed");
    return lx__credentials_parse(search->text, size, "credential_process", credentials, error);
}

static lx_status ask_profile(struct search *search, lx_credentials *credentials, lx_error *error)
{
    const lx__aws_environment *environment = search->environment;
    lx_status status = lx__aws_profile_get(environment, "aws_access_key_id",
                                           credentials->access_key, sizeof credentials->access_key,
                                           error);
    if (status == LX_OK)
        status = lx__aws_profile_get(environment, "aws_secret_access_key", credentials->secret_key,
                                     sizeof credentials->secret_key, error);
    if (status == LX_OK)
        status = lx__aws_profile_get(environment, "aws_session_token", credentials->token,
                                     sizeof credentials->token, error);
    if (status != LX_OK || credentials->access_key[0] != '\0')
        return status;
    char command[4096];
    status = lx__aws_profile_get(environment, "credential_process", command, sizeof command, error);
    if (status == LX_OK && command[0] == '\0')
        return LX_ERR_NOT_FOUND;
    return status == LX_OK ? run_process(search, command, credentials, error) : status;
}

/** Gets a text from a service. An answer other than 200 is a failure. */
static lx_status fetch(struct search *search, const lx__http_fetch *what, lx_error *error)
{
    long code;
    lx_status status = lx__http_client_fetch(search->client, what, search->text,
                                             sizeof search->text, &code, error);
    if (status != LX_OK || code == 200)
        return status;
    lx_fail(error, LX_ERR_TIMEOUT, "%s returns no credentials: ", what->url);
    if (code != 0)
        lx__error_append(error, "HTTP status %ld", code);
    else
        lx__error_append(error, "%s", search->client->text);
    return LX_ERR_TIMEOUT;
}

/** Makes the header with which the container authorizes itself; "" if it does not. The token may be
 * in a file, which is read each time, as it changes. */
static lx_status make_authorization(const struct search *search, char *header, size_t capacity,
                                    lx_error *error)
{
    const char *path = search->environment->value[LX__AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE];
    const char *token = search->environment->value[LX__AWS_CONTAINER_AUTHORIZATION_TOKEN];
    lx__file file = LX__FILE_CLOSED;
    lx_error failure = LX_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    lx_status status = LX_OK;
    *header = '\0';
    if (path != NULL) {
        status = lx__file_open(&file, LX__CWD, path, O_RDONLY, &failure);
        if (status == LX_OK)
            status = lx__file_read_all(&file, capacity / 2, &text, &size, &failure);
        lx__file_close(&file);
        if (status != LX_OK)
            return lx_fail(error, LX_ERR_IO, "the token of the container, %s, cannot be read: %s",
                           path, failure.message);
        text[strcspn(text, "\r\n")] = '\0';
        token = text;
    }
    if (token != NULL && (size_t)snprintf(header, capacity, "Authorization: %s", token) >= capacity)
        status = lx_fail(error, LX_ERR_LIMIT, "the token of the container is too long");
    if (text != NULL)
        lx__wipe(text, size);
    lx__free(text);
    return status;
}

static lx_status ask_container(struct search *search, lx_credentials *credentials, lx_error *error)
{
    const char *relative = search->environment->value[LX__AWS_CONTAINER_CREDENTIALS_RELATIVE_URI];
    const char *full = search->environment->value[LX__AWS_CONTAINER_CREDENTIALS_FULL_URI];
    char url[2048], header[ANSWER_BYTES];
    if (relative == NULL && full == NULL)
        return LX_ERR_NOT_FOUND;
    int size = relative != NULL ? snprintf(url, sizeof url, CONTAINER_URL "%s", relative)
                                : snprintf(url, sizeof url, "%s", full);
    if ((size_t)size >= sizeof url)
        return lx_fail(error, LX_ERR_LIMIT, "AWS_CONTAINER_CREDENTIALS_... is too long");
    lx_status status = make_authorization(search, header, sizeof header, error);
    lx__http_fetch get = {.method = "GET",
                          .url = url,
                          .header = *header != '\0' ? header : NULL,
                          .timeout_ms = SERVICE_TIMEOUT_MS};
    if (status == LX_OK)
        status = fetch(search, &get, error);
    lx__wipe(header, sizeof header);
    if (status != LX_OK)
        return status;
    return lx__credentials_parse(search->text, strlen(search->text), url, credentials, error);
}

/** Gets the token that other requests to the metadata service need (IMDSv2). */
static lx_status open_metadata(struct search *search, const char *server, char *header,
                               size_t capacity, lx_error *error)
{
    char url[1024];
    long code;
    snprintf(url, sizeof url, "%s/latest/api/token", server);
    lx__http_fetch put = {.method = "PUT",
                          .url = url,
                          .header = "X-aws-ec2-metadata-token-ttl-seconds: 300",
                          .timeout_ms = METADATA_TIMEOUT_MS};
    lx_status status = lx__http_client_fetch(search->client, &put, search->text,
                                             sizeof search->text, &code, error);
    if (status == LX_OK && code != 200)
        return LX_ERR_NOT_FOUND; /* not on EC2 */
    search->text[strcspn(search->text, "\r\n")] = '\0';
    if (status == LX_OK && (size_t)snprintf(header, capacity, "X-aws-ec2-metadata-token: %s",
                                            search->text) >= capacity)
        return lx_fail(error, LX_ERR_LIMIT, "the token of %s is too long", server);
    return status;
}

static lx_status ask_metadata(struct search *search, lx_credentials *credentials, lx_error *error)
{
    static const char path[] = "/latest/meta-data/iam/security-credentials/";
    char *const *value = search->environment->value;
    const char *server = value[LX__AWS_EC2_METADATA_SERVICE_ENDPOINT];
    const char *disabled = value[LX__AWS_EC2_METADATA_DISABLED];
    char url[1024], header[1024];
    if (disabled != NULL && strcasecmp(disabled, "true") == 0)
        return LX_ERR_NOT_FOUND;
    if (server == NULL)
        server = METADATA_URL;
    lx_status status = open_metadata(search, server, header, sizeof header, error);
    lx__http_fetch get = {
        .method = "GET", .url = url, .header = header, .timeout_ms = SERVICE_TIMEOUT_MS};
    snprintf(url, sizeof url, "%s%s", server, path);
    if (status == LX_OK)
        status = fetch(search, &get, error);
    if (status != LX_OK)
        return status;
    search->text[strcspn(search->text, "\r\n")] = '\0'; /* the first role */
    if ((size_t)snprintf(url, sizeof url, "%s%s%s", server, path, search->text) >= sizeof url)
        return lx_fail(error, LX_ERR_LIMIT, "the name of the role is too long");
    status = fetch(search, &get, error);
    if (status != LX_OK)
        return status;
    return lx__credentials_parse(search->text, strlen(search->text), url, credentials, error);
}

lx_status lx__credential_sources_ask(const lx__aws_environment *environment,
                                     lx__http_client *client, lx_credentials *credentials,
                                     lx_error *error)
{
    static const ask_source sources[] = {ask_environment, ask_profile, ask_container, ask_metadata};
    lx_status status = LX_ERR_NOT_FOUND;
    struct search *search = lx__alloc(sizeof *search);
    if (search == NULL)
        return lx__fail_memory(error, "credentials");
    search->environment = environment;
    search->client = client;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && status == LX_ERR_NOT_FOUND; i++)
        status = sources[i](search, credentials, error);
    lx__wipe(search, sizeof *search);
    lx__free(search);
    if (status == LX_ERR_NOT_FOUND)
        lx_fail(error, status,
                "no credentials for S3 were found; set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, a profile in ~/.aws, or credentials or anonymous access in "
                "the options");
    return status;
}
