/* SPDX-License-Identifier: MIT */
#include "remote/http/transport-http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "remote/http/aws-profile.h"
#include "remote/http/http-request.h"

#define STALL_SECONDS 10
#define DEFAULT_REGION "us-east-1"
#define CONNECTIONS 64

static void http_close(lx__transport *base)
{
    lx__transport_http *self = (lx__transport_http *)base;
    lx__credentials_close(&self->credentials);
    lx__etags_close(&self->etags);
    lx__tier_close(&self->tier);
    lx__aws_environment_clear(&self->environment);
    lx__http_location_clear(&self->location);
    pthread_mutex_destroy(&self->lock);
    lx__free(self->ca_bundle);
    lx__free(self);
}

/** Compares the ETag of the response with that of the first one; many servers ignore If-Match. */
static lx_status check_etag(lx__http_request *self, const char *name, lx_error *error)
{
    const char *etag = self->exchange.headers.etag;
    if (etag[0] == '\0' || lx__etags_check(&self->transport->etags, name, etag))
        return LX_OK;
    return lx_fail(error, LX_ERR_STATE,
                   "the file was replaced while it was in use (its ETag is %s "
                   "now); open the dataset again",
                   etag);
}

/** Begins the way of a read through the tier. */
static void choose_node(lx__http_request *self, const char *name)
{
    lx__transport_http *transport = self->transport;
    uint64_t key = lx__tier_get_key(transport->location.base, name, self->exchange.offset);
    lx__tier_route_begin(&self->route, &transport->tier, key);
}

/** Learns the version of the dataset from the beginning of meta.json. A node of a tier must not take
 * a file for another one that was at its URL before the dataset was replaced. */
static void learn_version(lx__http_request *self)
{
    const lx__http_exchange *exchange = &self->exchange;
    const char *etag = exchange->headers.etag;
    uint32_t none = 0, crc = lx__crc32c(0, exchange->data, exchange->got);
    atomic_compare_exchange_strong(&self->transport->version, &none,
                                   lx__crc32c(crc, etag, strlen(etag)));
}

/** Reads a range of a file that has the same ETag as before. */
static lx_status read_range(lx__http_request *self, const char *name, lx__answer *answer,
                            lx_error *error)
{
    char etag[LX__HTTP_TEXT_SIZE] = "";
    bool constant = !lx__transport_may_replace(name);
    if (constant) {
        lx__etags_get(&self->transport->etags, name, etag, sizeof etag);
        if (strncmp(etag, "W/", 2) == 0)
            etag[0] = '\0'; /* If-Match is never true for a weak one */
    }
    self->exchange.etag = etag;
    if (constant && self->transport->tier.count != 0 && !self->connection->base.past_tier)
        choose_node(self, name);
    lx_status status = lx__http_request_send(
        self, lx__http_location_file(&self->transport->location, name), answer, error);
    if (status == LX_OK && constant)
        status = check_etag(self, name, error);
    else if (status == LX_OK && self->exchange.offset == 0 && strcmp(name, "meta.json") == 0)
        learn_version(self);
    self->exchange.etag = NULL;
    return status;
}

static lx_status http_read(lx__connection *base, const char *name, uint64_t offset, size_t size,
                           uint8_t *data, lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = LX_ERR_NOMEM;
    *answer = (lx__answer){.total = LX_NONE};
    if (size == 0 || !lx__range_fits(offset, size, INT64_MAX))
        return lx_fail(error, LX_ERR_ARGUMENT, "the range is empty, or ends beyond 2^63");
    lx__http_request *request = lx__http_request_new(base, answer, &failure);
    if (request != NULL) {
        request->exchange =
            (lx__http_exchange){.method = "GET", .offset = offset, .size = size, .data = data};
        status = read_range(request, name, answer, &failure);
    }
    lx__http_request_free(request);
    if (status != LX_OK) {
        char *path = lx__path_join(base->transport->url, name);
        lx_error_locate(&failure, path, NULL, LX_NONE, offset);
        lx__free(path);
        lx__error_propagate(error, &failure);
    }
    return status;
}

#define CLASS(scheme, functions)                                                                   \
    {                                                                                              \
        .network = (scheme), .writing = (functions), .connections = CONNECTIONS,                   \
        .connect = lx__http_connect, .disconnect = lx__http_disconnect, .read = http_read,         \
        .interrupt = lx__http_interrupt, .close = http_close                                       \
    }

/* Plain servers cannot list files, and few have conditions: they can only be read. */
static const lx__transport_class http_class = CLASS("http", NULL);
static const lx__transport_class s3_class = CLASS("s3", &lx__s3_writing);

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

/** Returns where this system has its certificates, if libcurl was built for any system, as for the
 * Python wheels; otherwise, libcurl knows. */
static const char *find_system_bundle(void)
{
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL */
        "/etc/ssl/ca-bundle.pem",             /* openSUSE */
        "/etc/ssl/cert.pem",
    };
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    if (curl->cainfo == NULL && curl->capath == NULL)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (access(places[i], R_OK) == 0)
                return places[i];
    return NULL;
}

/** Finds the file with the certificates of private servers, as the command curl does. */
static lx_status find_ca_bundle(lx__transport_http *self, lx_error *error)
{
    const char *path = self->environment.value[LX__AWS_CA_BUNDLE];
    if (path == NULL)
        path = getenv("CURL_CA_BUNDLE");
    if (path == NULL || *path == '\0')
        path = getenv("SSL_CERT_FILE");
    if (path == NULL || *path == '\0')
        path = find_system_bundle();
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
    lx__http_connections_open(self);
    lx__etags_open(&self->etags);
    lx__credentials_open(&self->credentials, options, needs_keys ? &self->environment : NULL);
    lx_status status = s3 ? locate_s3(self, url, options, error)
                          : lx__http_location_parse(url, NULL, NULL, &self->location, error);
    if (status == LX_OK)
        status = find_ca_bundle(self, error);
    if (status == LX_OK)
        status = lx__tier_copy(&self->tier, &options->tier, error);
    if (status != LX_OK) {
        http_close(&self->base);
        return status;
    }
    self->base.class = s3 ? &s3_class : &http_class;
    self->base.url = self->location.shown;
    self->base.segment = self->tier.count != 0 ? LX__TIER_SEGMENT : 0;
    *transport = &self->base;
    return LX_OK;
}
