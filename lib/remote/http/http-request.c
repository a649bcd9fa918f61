/* SPDX-License-Identifier: MIT */
#include "remote/http/http-request.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/http/http-decision.h"
#include "remote/http/wipe.h"

#define MOST_REDIRECTS 5

lx__http_request *lx__http_request_new(lx__connection *connection, lx__answer *answer,
                                       lx_error *error)
{
    lx__http_request *self = lx__alloc_array(1, sizeof *self);
    *answer = (lx__answer){.total = LX_NONE};
    if (self == NULL) {
        lx__fail_memory(error, "a request");
        return NULL;
    }
    self->transport = (lx__transport_http *)connection->transport;
    self->connection = (lx__http_connection *)connection;
    return self;
}

void lx__http_request_free(lx__http_request *self)
{
    if (self == NULL)
        return;
    lx__http_exchange_clear(&self->exchange);
    if (self->url != NULL)
        lx__wipe(self->url, strlen(self->url));
    lx__free(self->url);
    lx__wipe(&self->credentials, sizeof self->credentials);
    lx__free(self);
}

/** Gets the credentials, or better ones than those that were refused. A service that cannot give
 * any is an outage like any other. */
static lx_status get_credentials(lx__http_request *self, lx__answer *answer, lx_error *error)
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

bool lx__http_request_signs_plus(void)
{
    unsigned version = curl_version_info(CURLVERSION_NOW)->version_num;
    return version < 0x080e00 || version >= 0x081300;
}

/** Refuses a request that libcurl would sign wrongly. */
static lx_status check_signature(const lx__http_request *self, lx_error *error)
{
    const char *query = strchr(self->url, '?');
    if (self->foreign || self->credentials.access_key[0] == '\0')
        return LX_OK;
    if (!lx__http_url_is_signable(self->url))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a request for a key with a component that is empty, '.' or '..' cannot be "
                       "signed; choose another key");
    if (query != NULL && strstr(query, "%2B") != NULL && !lx__http_request_signs_plus())
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "libcurl %s cannot sign a query with a '+', such as that of a listing; use "
                       "8.19 or newer",
                       curl_version_info(CURLVERSION_NOW)->version);
    return LX_OK;
}

/** Makes one exchange. */
static lx_status attempt(lx__http_request *self, lx_error *error)
{
    lx__transport_http *transport = self->transport;
    lx__http_exchange *exchange = &self->exchange;
    lx_status status = check_signature(self, error);
    if (status != LX_OK)
        return status;
    lx__http_exchange_clear(exchange);
    exchange->url = self->url;
    exchange->credentials = self->foreign ? NULL : &self->credentials;
    exchange->signing = transport->location.s3 ? transport->signing : NULL;
    exchange->ca_bundle = transport->ca_bundle;
    exchange->stall_seconds = transport->stall_seconds * (self->patience != 0 ? self->patience : 1);
    exchange->fresh = self->connection->fresh;
    exchange->node = self->route.node != NULL ? self->route.node->target : NULL;
    exchange->version = atomic_load(&transport->version);
    return lx__http_exchange_run(exchange, &self->connection->client, error);
}

/** Whether the redirection asks for the same request: 302 would turn a PUT into a GET. */
static bool keeps_method(const lx__http_exchange *exchange)
{
    return strcmp(exchange->method, "GET") == 0 || strcmp(exchange->method, "HEAD") == 0 ||
           exchange->status == 307 || exchange->status == 308;
}

/** Follows a redirection; false if there is none, or it is not allowed. */
static bool redirect(lx__http_request *self)
{
    char *to = self->exchange.redirect;
    if (to == NULL || self->redirects == MOST_REDIRECTS || !keeps_method(&self->exchange) ||
        !lx__http_url_may_follow(self->url, to))
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
static bool renew(lx__http_request *self, lx__answer *answer, lx_status *status, lx_error *error)
{
    if (self->renewed || self->foreign || !lx__http_is_refused(&self->exchange))
        return false;
    uint64_t version = self->version;
    self->renewed = true;
    *status = get_credentials(self, answer, error);
    return *status != LX_OK || self->version != version;
}

/** Whether to ask somebody else instead of a node of a tier. */
static bool pass_over(lx__http_request *self)
{
    return lx__tier_route_pass_over(&self->route, &self->exchange, &self->connection->client);
}

/** Sends requests until one is neither redirected nor refused for old credentials. */
lx_status lx__http_request_send(lx__http_request *self, char *url, lx__answer *answer,
                                lx_error *error)
{
    self->url = url;
    if (url == NULL)
        return lx__fail_memory(error, "a URL");
    lx_status status = get_credentials(self, answer, error);
    do {
        if (status == LX_OK)
            status = attempt(self, error);
    } while (status == LX_OK &&
             (pass_over(self) || redirect(self) || renew(self, answer, &status, error)));
    if (status != LX_OK)
        return status;
    status = lx__http_decide(&self->exchange, &self->connection->client, answer, error);
    answer->from_tier = self->route.node != NULL;
    if (status == LX_OK)
        lx__tier_route_end(&self->route, self->renewed);
    self->connection->fresh = status != LX_OK && answer->retry != LX__RETRY_NEVER;
    if (status != LX_OK && self->redirects > 0)
        lx__error_append(error, " (redirected to %s)", self->url);
    return status;
}
