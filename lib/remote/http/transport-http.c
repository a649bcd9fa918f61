/* SPDX-License-Identifier: MIT */
#include "remote/http/transport-http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "remote/http/aws-profile.h"
#include "remote/http/credentials.h"
#include "remote/http/etags.h"
#include "remote/http/http-client.h"
#include "remote/http/http-decision.h"
#include "remote/http/http-location.h"
#include "remote/http/wipe.h"

#define MOST_REDIRECTS 5
#define STALL_SECONDS 10
#define DEFAULT_REGION "us-east-1"
#define CONNECTIONS 64

/** A connection, in the list of its transport. */
struct http_connection {
    lx__connection base;
    lx__http_client client;
    bool fresh; /**< The last attempt failed: the next one uses a new connection. */
    struct http_connection *before, *after;
};

typedef struct lx__transport_http {
    lx__transport base;
    lx__aws_environment environment; /**< Empty unless the URL is of S3. */
    lx__http_location location;
    lx__credentials credentials;
    lx__etags etags;
    char signing[96]; /**< For CURLOPT_AWS_SIGV4. */
    char *ca_bundle;  /**< May be NULL. */
    unsigned stall_seconds;
    atomic_bool stop;
    lx__process process;

    pthread_mutex_t lock;                /**< For the list of connections. */
    struct http_connection *connections; /**< Those to wake. */
} lx__transport_http;

/** In a child of fork(): threads of the parent may have held the locks, and changed what they are
 * for. The connections are the parent's; ETags and credentials are asked for again. */
static void take_over(lx__transport_http *self)
{
    if (!lx__process_take_over(&self->process))
        return;
    pthread_mutex_init(&self->lock, NULL);
    self->connections = NULL;
    lx__etags_open(&self->etags);
    lx__credentials_take_over(&self->credentials);
    lx__process_adopt(&self->process);
}

static lx_status http_connect(lx__transport *base, lx__connection **made, lx_error *error)
{
    lx__transport_http *self = (lx__transport_http *)base;
    struct http_connection *connection = lx__alloc_array(1, sizeof *connection);
    *made = NULL;
    take_over(self);
    if (connection == NULL)
        return lx__fail_memory(error, "a connection");
    lx_status status = lx__http_client_open(&connection->client, &self->stop, error);
    if (status != LX_OK) {
        lx__free(connection);
        return status;
    }
    connection->base.transport = base;
    pthread_mutex_lock(&self->lock);
    connection->after = self->connections;
    if (connection->after != NULL)
        connection->after->before = connection;
    self->connections = connection;
    pthread_mutex_unlock(&self->lock);
    *made = &connection->base;
    return LX_OK;
}

static void http_disconnect(lx__connection *base)
{
    struct http_connection *connection = (struct http_connection *)base;
    lx__transport_http *self = (lx__transport_http *)base->transport;
    pthread_mutex_lock(&self->lock);
    if (connection->before != NULL)
        connection->before->after = connection->after;
    else
        self->connections = connection->after;
    if (connection->after != NULL)
        connection->after->before = connection->before;
    pthread_mutex_unlock(&self->lock);
    lx__http_client_close(&connection->client);
    lx__free(connection);
}

static void http_interrupt(lx__transport *base)
{
    lx__transport_http *self = (lx__transport_http *)base;
    take_over(self);
    atomic_store(&self->stop, true);
    pthread_mutex_lock(&self->lock);
    for (const struct http_connection *at = self->connections; at != NULL; at = at->after)
        lx__http_client_wake(&at->client);
    pthread_mutex_unlock(&self->lock);
}

static void http_close(lx__transport *base)
{
    lx__transport_http *self = (lx__transport_http *)base;
    lx__credentials_close(&self->credentials);
    lx__etags_close(&self->etags);
    lx__aws_environment_clear(&self->environment);
    lx__http_location_clear(&self->location);
    pthread_mutex_destroy(&self->lock);
    lx__free(self->ca_bundle);
    lx__free(self);
}

/** A read that is under way. */
struct reading {
    lx__transport_http *transport;
    struct http_connection *connection;
    lx__http_exchange exchange;
    lx_credentials credentials;
    uint64_t version; /**< Of the credentials; 0: none were asked for. */
    char *url;        /**< Of the file, or where the server redirects to. */
    bool foreign;     /**< It is on another server, which gets no credentials. */
    unsigned redirects;
    bool renewed;
};

/** Gets the credentials, or better ones than those that were refused. A service that cannot give
 * any is an outage like any other. */
static lx_status get_credentials(struct reading *self, lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__credentials_get(&self->transport->credentials, &self->connection->client,
                                           self->version, &self->credentials, &self->version,
                                           &failure);
    if (status == LX_ERR_TIMEOUT)
        answer->retry = LX__RETRY_LATER;
    if (status == LX_ERR_TIMEOUT || status == LX_ERR_NOT_FOUND)
        status = failure.status = LX_ERR_IO;
    if (status == LX_OK && !self->transport->location.s3 && self->credentials.access_key[0] != '\0')
        status = lx_fail(&failure, LX_ERR_ARGUMENT,
                         "access keys are only for s3://; return a token without a key");
    lx__error_propagate(error, &failure);
    return status;
}

/** Sends the request once. */
static lx_status attempt(struct reading *self, lx_error *error)
{
    lx__transport_http *transport = self->transport;
    lx__http_exchange *exchange = &self->exchange;
    lx__http_exchange_clear(exchange);
    *exchange = (lx__http_exchange){.url = self->url,
                                    .offset = exchange->offset,
                                    .size = exchange->size,
                                    .data = exchange->data,
                                    .etag = exchange->etag,
                                    .credentials = self->foreign ? NULL : &self->credentials,
                                    .signing = transport->location.s3 ? transport->signing : NULL,
                                    .ca_bundle = transport->ca_bundle,
                                    .stall_seconds = transport->stall_seconds,
                                    .fresh = self->connection->fresh};
    return lx__http_exchange_run(exchange, &self->connection->client, error);
}

/** Follows a redirection; false if there is none, or it is not allowed. */
static bool redirect(struct reading *self)
{
    char *to = self->exchange.redirect;
    if (to == NULL || self->redirects == MOST_REDIRECTS || !lx__http_url_may_follow(self->url, to))
        return false;
    if (!lx__http_url_same_origin(self->url, to))
        self->foreign = true;
    lx__free(self->url);
    self->url = to;
    self->exchange.redirect = NULL;
    self->redirects++;
    return true;
}

/** Renews credentials that the server has refused. Returns whether to try again with others, or, as
 * @p status tells, to give up. */
static bool renew(struct reading *self, lx__answer *answer, lx_status *status, lx_error *error)
{
    if (self->renewed || self->foreign || !lx__http_is_refused(&self->exchange))
        return false;
    uint64_t version = self->version;
    self->renewed = true;
    *status = get_credentials(self, answer, error);
    return *status != LX_OK || self->version != version;
}

/** Sends requests until one is neither redirected nor refused for old credentials. */
static lx_status communicate(struct reading *self, lx__answer *answer, lx_error *error)
{
    lx_status status = get_credentials(self, answer, error);
    do {
        if (status == LX_OK)
            status = attempt(self, error);
    } while (status == LX_OK && (redirect(self) || renew(self, answer, &status, error)));
    if (status != LX_OK)
        return status;
    status = lx__http_decide(&self->exchange, &self->connection->client, answer, error);
    self->connection->fresh = status != LX_OK && answer->retry != LX__RETRY_NEVER;
    if (status != LX_OK && self->redirects > 0) {
        char *shown = lx__http_url_show(self->url);
        lx__error_append(error, " (redirected to %s)", shown != NULL ? shown : "another place");
        lx__free(shown);
    }
    return status;
}

/** Compares the ETag of the response with that of the first one; many servers ignore If-Match. */
static lx_status check_etag(struct reading *self, const char *name, lx_error *error)
{
    const char *etag = self->exchange.headers.etag;
    if (etag[0] == '\0' || lx__etags_check(&self->transport->etags, name, etag))
        return LX_OK;
    return lx_fail(error, LX_ERR_STATE,
                   "the file was replaced while it was in use (its ETag is %s "
                   "now); open the dataset again",
                   etag);
}

/** Reads a range of a file whose ETag must be @p etag; "": it may have any. */
static lx_status read_range(struct reading *self, const char *name, lx__answer *answer,
                            lx_error *error)
{
    char etag[LX__HTTP_TEXT_SIZE] = "";
    bool constant = strcmp(name, "meta.json") != 0; /* the only file that is ever replaced */
    if (constant)
        lx__etags_get(&self->transport->etags, name, etag, sizeof etag);
    if (strncmp(etag, "W/", 2) == 0)
        etag[0] = '\0'; /* If-Match is never true for a weak one */
    self->exchange.etag = etag;
    self->url = lx__http_location_file(&self->transport->location, name);
    if (self->url == NULL)
        return lx__fail_memory(error, "a URL");
    lx_status status = communicate(self, answer, error);
    if (status == LX_OK && constant)
        status = check_etag(self, name, error);
    self->exchange.etag = NULL;
    return status;
}

static lx_status http_read(lx__connection *base, const char *name, uint64_t offset, size_t size,
                           uint8_t *data, lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status;
    *answer = (lx__answer){.total = LX_NONE};
    if (size == 0 || !lx__range_fits(offset, size, INT64_MAX))
        return lx_fail(error, LX_ERR_ARGUMENT, "the range is empty, or ends beyond 2^63");
    struct reading *reading = lx__alloc_array(1, sizeof *reading);
    if (reading == NULL) {
        status = lx__fail_memory(&failure, "a request");
    } else {
        reading->transport = (lx__transport_http *)base->transport;
        reading->connection = (struct http_connection *)base;
        reading->exchange = (lx__http_exchange){.offset = offset, .size = size, .data = data};
        status = read_range(reading, name, answer, &failure);
        lx__http_exchange_clear(&reading->exchange);
        if (reading->url != NULL)
            lx__wipe(reading->url, strlen(reading->url));
        lx__free(reading->url);
        lx__wipe(&reading->credentials, sizeof reading->credentials);
        lx__free(reading);
    }
    if (status != LX_OK) {
        char *path = lx__path_join(base->transport->url, name);
        lx_error_locate(&failure, path, NULL, LX_NONE, offset);
        lx__free(path);
        lx__error_propagate(error, &failure);
    }
    return status;
}

static const lx__transport_class http_class = {.network = "http",
                                               .connections = CONNECTIONS,
                                               .connect = http_connect,
                                               .disconnect = http_disconnect,
                                               .read = http_read,
                                               .interrupt = http_interrupt,
                                               .close = http_close};
static const lx__transport_class s3_class = {.network = "s3",
                                             .connections = CONNECTIONS,
                                             .connect = http_connect,
                                             .disconnect = http_disconnect,
                                             .read = http_read,
                                             .interrupt = http_interrupt,
                                             .close = http_close};

/** Finds a setting: in the options, in two variables, or in the profile; "" if it is nowhere. */
static lx_status find_setting(const lx__aws_environment *environment, const char *option, int first,
                              int second, const char *key, char *value, size_t capacity,
                              lx_error *error)
{
    const char *text = option;
    if (text == NULL)
        text = environment->value[first];
    if (text == NULL)
        text = environment->value[second];
    if (text == NULL)
        return lx__aws_profile_get(environment, key, value, capacity, error);
    if ((size_t)snprintf(value, capacity, "%s", text) >= capacity)
        return lx_fail(error, LX_ERR_LIMIT, "the %s of S3 is too long", key);
    return LX_OK;
}

/** Finds out where the server of s3:// is. */
static lx_status locate_s3(lx__transport_http *self, const char *url,
                           const lx__http_options *options, lx_error *error)
{
    char endpoint[1024], region[64];
    lx_status status = lx__aws_environment_read(&self->environment, error);
    if (status == LX_OK)
        status = find_setting(&self->environment, options->endpoint, LX__AWS_ENDPOINT_URL_S3,
                              LX__AWS_ENDPOINT_URL, "endpoint_url", endpoint, sizeof endpoint,
                              error);
    if (status == LX_OK)
        status = find_setting(&self->environment, options->region, LX__AWS_REGION,
                              LX__AWS_DEFAULT_REGION, "region", region, sizeof region, error);
    if (status != LX_OK)
        return status;
    if (region[0] == '\0')
        snprintf(region, sizeof region, "%s", DEFAULT_REGION);
    if (!lx__http_is_region(region))
        return lx_fail(error, LX_ERR_ARGUMENT, "'%s' is not the name of a region", region);
    snprintf(self->signing, sizeof self->signing, "aws:amz:%s:s3", region);
    return lx__http_location_parse(url, endpoint[0] != '\0' ? endpoint : NULL, region,
                                   &self->location, error);
}

/** Finds the file with the certificates of private servers, as the command curl does. */
static lx_status find_ca_bundle(lx__transport_http *self, lx_error *error)
{
    const char *path = self->environment.value[LX__AWS_CA_BUNDLE];
    if (path == NULL)
        path = getenv("CURL_CA_BUNDLE");
    if (path == NULL || *path == '\0')
        path = getenv("SSL_CERT_FILE");
    if (path != NULL && *path != '\0' && (self->ca_bundle = lx__strdup(path)) == NULL)
        return lx__fail_memory(error, "the name of a file");
    return LX_OK;
}

lx_status lx__transport_http_open(const char *url, const lx__http_options *options,
                                  lx__transport **transport, lx_error *error)
{
    static const lx__http_options defaults = {0};
    lx__transport_http *self = lx__alloc_array(1, sizeof *self);
    *transport = NULL;
    if (self == NULL)
        return lx__fail_memory(error, "a transport");
    if (options == NULL)
        options = &defaults;
    bool s3 = strncmp(url, "s3://", 5) == 0;
    bool needs_keys = s3 && !options->anonymous;
    self->stall_seconds = options->stall_seconds != 0 ? options->stall_seconds : STALL_SECONDS;
    atomic_init(&self->stop, false);
    pthread_mutex_init(&self->lock, NULL);
    lx__process_record(&self->process);
    lx__etags_open(&self->etags);
    lx__credentials_open(&self->credentials, options, needs_keys ? &self->environment : NULL);
    lx_status status = s3 ? locate_s3(self, url, options, error)
                          : lx__http_location_parse(url, NULL, NULL, &self->location, error);
    if (status == LX_OK)
        status = find_ca_bundle(self, error);
    if (status != LX_OK) {
        http_close(&self->base);
        return status;
    }
    self->base.class = s3 ? &s3_class : &http_class;
    self->base.url = self->location.shown;
    *transport = &self->base;
    return LX_OK;
}
