/* SPDX-License-Identifier: MIT */
#include "remote/http/http-exchange.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/http/wipe.h"

#define LOW_SPEED_BYTES 4096L
#define DNS_CACHE_SECONDS 60L
/* A node of a tier is near. */
#define NODE_CONNECT_TIMEOUT_MS 2000L
/* What libcurl sends at a time, instead of 64 KiB. */
#define UPLOAD_BUFFER_BYTES (512L << 10)
/* Longer waits are the caller's business. */
#define RETRY_AFTER_MAX 300
/* The SHA-256 of no bytes: R2 requires this header, and libcurl 7.88 does not send it. */
#define UNSIGNED "UNSIGNED-PAYLOAD"
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static size_t take_header(char *line, size_t unit, size_t count, void *user)
{
    lx__http_exchange *self = user;
    (void)unit; /* is 1 */
    /* What follows a body (a trailer) cannot change what it is. */
    lx__http_headers trailer = {.bytes = self->headers.bytes};
    lx__http_headers *headers = self->judged ? &trailer : &self->headers;
    bool fits = lx__http_headers_add(headers, line, count);
    self->headers.bytes = headers->bytes;
    if (fits)
        return count;
    self->judged = true;
    self->flaw = LX__HTTP_HEADERS_TOO_LONG;
    return 0;
}

bool lx__http_exchange_is_good(const lx__http_exchange *self)
{
    return self->data != NULL ? self->status == 200 || self->status == 206
                              : self->status >= 200 && self->status < 300;
}

static lx__http_flaw judge(const lx__http_exchange *self)
{
    const lx__http_headers *headers = &self->headers;
    if (!lx__http_exchange_is_good(self))
        return LX__HTTP_FLAWLESS;
    if (headers->encoded && strcmp(self->method, "HEAD") != 0)
        return LX__HTTP_ENCODED;
    if (self->data == NULL)
        return LX__HTTP_FLAWLESS;
    if (self->status == 200 && !headers->has_range && !headers->bad_range)
        return self->empty ? LX__HTTP_FLAWLESS : LX__HTTP_NO_RANGE;
    if (!headers->has_range || headers->unsatisfied || headers->first != self->offset ||
        headers->last - headers->first >= self->size)
        return LX__HTTP_WRONG_RANGE;
    return LX__HTTP_FLAWLESS;
}

/** Judges the headers of the last response, which are complete. */
static void judge_once(lx__http_exchange *self, CURL *easy)
{
    curl_off_t length = -1;
    if (self->judged)
        return;
    self->judged = true;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &self->status);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    /* Servers have no range to answer with if a file is empty. */
    self->empty = self->status == 200 && length == 0;
    self->flaw = judge(self);
}

/** The exchange and its handle, for callbacks. */
struct transfer {
    lx__http_exchange *exchange;
    CURL *easy;
};

/** Makes room for @p more bytes of a text and a NUL; false if out of memory. */
static bool reserve_text(lx__http_exchange *self, size_t more)
{
    uint8_t *text = (uint8_t *)self->text;
    size_t needed = self->text_size + more + 1;
    if (needed > self->text_room && needed < 2 * self->text_room)
        needed = 2 * self->text_room;
    self->out_of_memory = !lx__reserve(&text, &self->text_room, needed);
    self->text = (char *)text;
    return !self->out_of_memory;
}

/** Keeps a text, or the beginning of that of an error: the rest is not worth a download. */
static size_t take_text(lx__http_exchange *self, const char *bytes, size_t count)
{
    bool good = lx__http_exchange_is_good(self);
    size_t room = (good ? self->text_limit : LX__HTTP_ERROR_BYTES) - self->text_size;
    size_t kept = count < room ? count : room;
    if (good && count > room) {
        self->flaw = LX__HTTP_TOO_LONG;
        return 0;
    }
    if (!reserve_text(self, kept))
        return 0;
    memcpy(self->text + self->text_size, bytes, kept);
    self->text_size += kept;
    self->text[self->text_size] = '\0';
    return kept;
}

static size_t take_body(char *bytes, size_t unit, size_t count, void *user)
{
    struct transfer *transfer = user;
    lx__http_exchange *self = transfer->exchange;
    (void)unit; /* is 1 */
    judge_once(self, transfer->easy);
    if (self->flaw != LX__HTTP_FLAWLESS)
        return 0;
    if (self->data == NULL || !lx__http_exchange_is_good(self))
        return take_text(self, bytes, count);
    size_t length = self->empty ? 0 : (size_t)(self->headers.last - self->headers.first) + 1;
    if (count > length - self->got) {
        self->flaw = LX__HTTP_TOO_LONG;
        return 0;
    }
    memcpy(self->data + self->got, bytes, count);
    self->got += count;
    return count;
}

/** Adds a header; false if out of memory. */
static bool add_header(struct curl_slist **headers, const char *name, const char *value)
{
    char line[LX_CREDENTIALS_TOKEN_SIZE + 64];
    snprintf(line, sizeof line, "%s%s", name, value);
    struct curl_slist *longer = curl_slist_append(*headers, line);
    lx__wipe(line, sizeof line);
    if (longer != NULL)
        *headers = longer;
    return longer != NULL;
}

static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *at = headers; at != NULL; at = at->next)
        lx__wipe(at->data, strlen(at->data));
    curl_slist_free_all(headers);
}

/** Adds the credentials, and the headers that are signed. */
static bool add_credentials(const lx__http_exchange *self, CURL *easy, struct curl_slist **headers)
{
    const lx_credentials *credentials = self->credentials;
    if (credentials == NULL)
        return true;
    if (credentials->access_key[0] == '\0')
        return credentials->token[0] == '\0' ||
               add_header(headers, "Authorization: Bearer ", credentials->token);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 0L); /* with it, libcurl 8.14 signs nothing */
    curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, self->signing);
    curl_easy_setopt(easy, CURLOPT_USERNAME, credentials->access_key);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, credentials->secret_key);
    return add_header(headers,
                      "x-amz-content-sha256: ", self->body_size != 0 ? UNSIGNED : EMPTY_SHA256) &&
           (credentials->token[0] == '\0' ||
            add_header(headers, "x-amz-security-token: ", credentials->token));
}

/** Whether the request has a body, which may be empty. */
static bool has_body(const lx__http_exchange *self)
{
    return strcmp(self->method, "PUT") == 0 || strcmp(self->method, "POST") == 0;
}

/** Describes what is sent; false if out of memory. */
static bool describe_method(const lx__http_exchange *self, CURL *easy)
{
    char range[64];
    if (self->data != NULL) {
        snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, self->offset,
                 self->offset + self->size - 1);
        return curl_easy_setopt(easy, CURLOPT_RANGE, range) == CURLE_OK;
    }
    if (strcmp(self->method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        curl_easy_setopt(easy, CURLOPT_FILETIME, 1L);
        return true;
    }
    if (has_body(self)) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                         self->body != NULL ? (const char *)self->body : "");
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)self->body_size);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER_BYTES);
    }
    return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, self->method) == CURLE_OK;
}

/** Adds the headers that are not about credentials; false if out of memory. */
static bool add_own_headers(const lx__http_exchange *self, struct curl_slist **headers)
{
    for (size_t i = 0; i < LX__HTTP_OWN_HEADERS; i++)
        if (self->own[i] != NULL && !add_header(headers, self->own[i], ""))
            return false;
    if (self->etag != NULL && self->etag[0] != '\0' &&
        !add_header(headers, "If-Match: ", self->etag))
        return false;
    /* libcurl's default says that a form is sent, and S3 keeps what it is told. */
    return !has_body(self) || add_header(headers, "Content-Type: ", "application/octet-stream");
}

/** Sends the request to a node of a tier: it is the same, with the server's name in it, except that
 * it is not encrypted. Returns false if out of memory. */
static bool direct_to_node(const lx__http_exchange *self, CURL *easy, struct curl_slist **headers,
                           struct curl_slist **nodes)
{
    static const char secure[] = "https:", plain[] = "http:";
    char version[16], *url = lx__strdup(self->url);
    if (url == NULL)
        return false;
    if (strncasecmp(url, secure, sizeof secure - 1) == 0) {
        const char *rest = self->url + sizeof secure - 1;
        snprintf(url, strlen(url) + 1, "%s%s", plain, rest);
    }
    snprintf(version, sizeof version, "%08" PRIx32, self->version);
    *nodes = curl_slist_append(NULL, self->node);
    bool done = *nodes != NULL && add_header(headers, "x-loaderx-version: ", version) &&
                curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK;
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, *nodes);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, NODE_CONNECT_TIMEOUT_MS);
    lx__wipe(url, strlen(url));
    lx__free(url);
    return done;
}

/** Describes the request to libcurl; false if out of memory. */
static bool describe(struct transfer *transfer, struct curl_slist **headers,
                     struct curl_slist **nodes)
{
    lx__http_exchange *self = transfer->exchange;
    CURL *easy = transfer->easy;
    if (!add_credentials(self, easy, headers) || !add_own_headers(self, headers) ||
        curl_easy_setopt(easy, CURLOPT_URL, self->url) != CURLE_OK ||
        (self->node != NULL && !direct_to_node(self, easy, headers, nodes)) ||
        !describe_method(self, easy))
        return false;
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "identity"); /* unlike a header, not signed */
    curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, LOW_SPEED_BYTES);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)self->stall_seconds);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, (long)self->fresh);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, self->fresh ? 0L : DNS_CACHE_SECONDS);
    if (self->ca_bundle != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, self->ca_bundle);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, self);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    return true;
}

/** Takes what libcurl knows about the response; false if out of memory. */
static bool conclude(lx__http_exchange *self, CURL *easy)
{
    char *url = NULL;
    curl_off_t seconds = 0, length = -1, modified = -1;
    if (self->result == CURLE_OK)
        judge_once(self, easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &self->status);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
    if (seconds > RETRY_AFTER_MAX)
        seconds = RETRY_AFTER_MAX;
    if (seconds > 0)
        self->retry_after_ns = (uint64_t)seconds * 1000000000;
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &url);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    curl_easy_getinfo(easy, CURLINFO_FILETIME_T, &modified);
    self->length = length >= 0 ? (uint64_t)length : LX_NONE;
    self->modified = modified > 0 ? (uint64_t)modified : 0;
    return url == NULL || (self->redirect = lx__strdup(url)) != NULL;
}

lx_status lx__http_exchange_run(lx__http_exchange *self, lx__http_client *client, lx_error *error)
{
    struct transfer transfer = {self, client->easy};
    struct curl_slist *headers = NULL, *nodes = NULL;
    lx__http_client_reset(client);
    bool done = describe(&transfer, &headers, &nodes);
    if (done) {
        self->result = lx__http_client_perform(client);
        done = self->result != CURLE_OUT_OF_MEMORY && !self->out_of_memory &&
               conclude(self, client->easy);
    }
    lx__http_client_reset(client);
    free_headers(headers);
    curl_slist_free_all(nodes);
    return done ? LX_OK : lx__fail_memory(error, "a request");
}

void lx__http_exchange_clear(lx__http_exchange *self)
{
    size_t kept = offsetof(lx__http_exchange, result);
    lx__free(self->redirect);
    lx__free(self->text);
    memset((char *)self + kept, 0, sizeof *self - kept);
}
