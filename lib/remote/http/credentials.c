/* SPDX-License-Identifier: MIT */
#include "remote/http/credentials.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/log.h"
#include "remote/http/credential-sources.h"
#include "remote/http/wipe.h"

/** How long before they expire credentials are renewed, in seconds. */
#define RENEW_EARLY 300
/** How long the next attempt to renew valid credentials waits after one that failed. */
#define RENEW_PAUSE 30

void lx__credentials_open(lx__credentials *self, const lx__http_options *options,
                          const lx__aws_environment *environment)
{
    *self = (lx__credentials){.environment = environment,
                              .callback = options->anonymous ? NULL : options->get_credentials,
                              .user = options->user,
                              .lock = PTHREAD_MUTEX_INITIALIZER};
}

void lx__credentials_close(lx__credentials *self)
{
    lx__wipe(&self->current, sizeof self->current);
    pthread_mutex_destroy(&self->lock);
}

void lx__credentials_take_over(lx__credentials *self)
{
    pthread_mutex_init(&self->lock, NULL);
    self->version = 0;
}

/** Whether @p text is terminated, and can be sent in a header. */
static bool is_plain(const char *text, size_t capacity)
{
    size_t size = strnlen(text, capacity);
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return size < capacity;
}

static lx_status ask_callback(lx__credentials *self, lx_credentials *credentials, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__error_return(&failure, self->callback(self->user, credentials, &failure),
                                        "credentials");
    lx__error_propagate(error, &failure);
    return status;
}

/** Gets credentials from where they come. */
static lx_status ask(lx__credentials *self, lx__http_client *client, lx_credentials *credentials,
                     lx_error *error)
{
    lx_status status = LX_OK;
    if (self->callback != NULL)
        status = ask_callback(self, credentials, error);
    else if (self->environment != NULL)
        status = lx__credential_sources_ask(self->environment, client, credentials, error);
    if (status != LX_OK)
        return status;
    if (!is_plain(credentials->access_key, sizeof credentials->access_key) ||
        !is_plain(credentials->secret_key, sizeof credentials->secret_key) ||
        !is_plain(credentials->token, sizeof credentials->token))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the credentials contain a space, or a character that is not ASCII");
    if ((credentials->access_key[0] == '\0') != (credentials->secret_key[0] == '\0'))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the credentials have only one of the access key "
                       "and its secret");
    return LX_OK;
}

static bool differ(const lx_credentials *a, const lx_credentials *b)
{
    return strcmp(a->access_key, b->access_key) != 0 || strcmp(a->secret_key, b->secret_key) != 0 ||
           strcmp(a->token, b->token) != 0;
}

/** Returns when to renew credentials that were received at @p now, or to try that again. Those that
 * expire soon are renewed after a pause, not at each request. */
static uint64_t get_renewal(const lx_credentials *credentials, uint64_t now)
{
    if (credentials->expires == 0)
        return LX_NONE;
    uint64_t left = credentials->expires > now ? credentials->expires - now : 0;
    if (left > RENEW_EARLY + RENEW_PAUSE)
        return now + left - RENEW_EARLY;
    return now + (left / 2 > RENEW_PAUSE ? RENEW_PAUSE : left / 2 + 1);
}

/** Renews the credentials, unless that fails while the old ones are still valid. */
static lx_status renew(lx__credentials *self, lx__http_client *client, bool refused,
                       lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_credentials fresh = {.expires = 0};
    uint64_t now = (uint64_t)time(NULL);
    lx_status status = ask(self, client, &fresh, &failure);
    if (status == LX_OK) {
        if (self->version == 0 || differ(&fresh, &self->current))
            self->version++;
        self->current = fresh;
        self->renew_at = get_renewal(&fresh, now);
    } else if (status != LX_ERR_CANCELED && !refused && self->version > 0 &&
               now < self->current.expires) {
        lx__log(LX_LOG_WARNING, "the credentials cannot be renewed yet: %s", failure.message);
        self->renew_at = get_renewal(&self->current, now);
        status = LX_OK;
    }
    lx__wipe(&fresh, sizeof fresh);
    if (status != LX_OK)
        lx__error_propagate(error, &failure);
    return status;
}

lx_status lx__credentials_get(lx__credentials *self, lx__http_client *client, uint64_t refused,
                              lx_credentials *copy, uint64_t *version, lx_error *error)
{
    lx_status status = LX_OK;
    pthread_mutex_lock(&self->lock);
    bool is_refused = refused != 0 && refused == self->version;
    if (self->version == 0 || is_refused || (uint64_t)time(NULL) >= self->renew_at)
        status = renew(self, client, is_refused, error);
    *copy = self->current;
    *version = self->version;
    pthread_mutex_unlock(&self->lock);
    return status;
}
