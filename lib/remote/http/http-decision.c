/* SPDX-License-Identifier: MIT */
#include "remote/http/http-decision.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/** Copies the code of an error of S3: the text in <Code> of @p body; "" if there is none. */
static void get_code(const char *body, char code[64])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.";
    const char *begin = body != NULL ? strstr(body, "<Code>") : NULL;
    size_t size = begin != NULL ? strspn(begin + 6, letters) : 0;
    *code = '\0';
    if (size > 0 && size < 64 && strncmp(begin + 6 + size, "</Code>", 7) == 0)
        snprintf(code, 64, "%.*s", (int)size, begin + 6);
}

bool lx__http_is_refused(const lx__http_exchange *self)
{
    char code[64];
    get_code(self->text, code);
    return self->status == 401 || self->status == 403 || strcmp(code, "ExpiredToken") == 0 ||
           strcmp(code, "TokenRefreshRequired") == 0;
}

/** Whether the text of a good response is an error. */
static bool has_error(const lx__http_exchange *self)
{
    return self->data == NULL && self->text != NULL && lx__http_exchange_is_good(self) &&
           strstr(self->text, "<Error>") != NULL;
}

/** Returns the status, or the one that belongs to an error in the text. */
static long get_status(const lx__http_exchange *self)
{
    char code[64];
    get_code(self->text, code);
    if (!has_error(self))
        return self->status;
    if (strcmp(code, "SlowDown") == 0 || strcmp(code, "ServiceUnavailable") == 0)
        return 503;
    return strcmp(code, "NoSuchUpload") == 0 ? 404 : strcmp(code, "InternalError") == 0 ? 500 : 400;
}

/** Names the request. */
static void describe(const lx__http_exchange *self, char text[96])
{
    if (self->data != NULL)
        snprintf(text, 96, "GET of bytes %" PRIu64 " to %" PRIu64, self->offset,
                 self->offset + self->size - 1);
    else if (self->body_size != 0)
        snprintf(text, 96, "%s of %zu bytes", self->method, self->body_size);
    else
        snprintf(text, 96, "%s", self->method);
}

/** Fails with a message that begins with the request, and what the server said about it. */
static lx_status fail(const lx__http_exchange *self, lx_status status, const char *why,
                      lx_error *error)
{
    char code[64], request[96], said[192] = "", id[LX__HTTP_TEXT_SIZE + 16] = "";
    describe(self, request);
    get_code(self->text, code);
    if (self->status != 0)
        snprintf(said, sizeof said, ", HTTP status %ld%s%s", self->status, *code ? " " : "", code);
    if (self->headers.request_id[0] != '\0')
        snprintf(id, sizeof id, ", request id %s", self->headers.request_id);
    return lx_fail(error, status, "%s%s%s: %s", request, said, id, why);
}

static lx_status decide_flaw(const lx__http_exchange *self, lx__answer *answer, lx_error *error)
{
    answer->retry = LX__RETRY_LATER;
    switch (self->flaw) {
    case LX__HTTP_NO_RANGE:
        answer->retry = LX__RETRY_NEVER;
        return fail(self, LX_ERR_UNSUPPORTED, "the server ignores ranges; use one that has them",
                    error);
    case LX__HTTP_ENCODED:
        answer->retry = LX__RETRY_NEVER;
        return fail(self, LX_ERR_UNSUPPORTED,
                    "the server sends the file compressed (Content-Encoding)", error);
    case LX__HTTP_WRONG_RANGE:
        return fail(self, LX_ERR_IO, "the server sends another range", error);
    case LX__HTTP_TOO_LONG:
        return fail(self, LX_ERR_IO,
                    self->data != NULL ? "the server sends more than the range"
                                       : "the server sends more than expected",
                    error);
    case LX__HTTP_HEADERS_TOO_LONG:
    case LX__HTTP_FLAWLESS:
        break;
    }
    return fail(self, LX_ERR_IO, "the header of the response is too long", error);
}

/** Decides about a transfer that libcurl could not complete. */
static lx_status decide_result(const lx__http_exchange *self, const lx__http_client *client,
                               lx__answer *answer, lx_error *error)
{
    bool lasting = self->result == CURLE_PEER_FAILED_VERIFICATION ||
                   self->result == CURLE_SSL_CACERT_BADFILE || self->result == CURLE_URL_MALFORMAT;
    answer->retry = lasting ? LX__RETRY_NEVER : LX__RETRY_LATER;
    return fail(self, LX_ERR_IO, client->text, error);
}

/** Decides about a response with the range, or a part of it. */
static lx_status decide_range(const lx__http_exchange *self, lx__answer *answer, lx_error *error)
{
    const lx__http_headers *headers = &self->headers;
    answer->got = self->got;
    answer->total = self->empty ? 0 : headers->total;
    if (self->empty)
        return LX_OK;
    uint64_t length = headers->last - headers->first + 1;
    if (self->got == length && (length == self->size || headers->last + 1 == headers->total))
        return LX_OK;
    answer->retry = LX__RETRY_LATER;
    return fail(self, LX_ERR_IO, "the server sends less than the range", error);
}

/** Decides about a range that begins at the end of the file, or beyond it. */
static lx_status decide_unsatisfied(const lx__http_exchange *self, lx__answer *answer,
                                    lx_error *error)
{
    const lx__http_headers *headers = &self->headers;
    if (!headers->has_range || !headers->unsatisfied || headers->total > self->offset)
        return fail(self, LX_ERR_IO,
                    "the server refuses the range, but does not tell the length of the file",
                    error);
    answer->total = headers->total;
    return LX_OK;
}

/** Whether the request had something that could permit it: credentials, or a signature in the
 * query. */
static bool has_credentials(const lx__http_exchange *self)
{
    return strchr(self->url, '?') != NULL ||
           (self->credentials != NULL &&
            (self->credentials->access_key[0] != '\0' || self->credentials->token[0] != '\0'));
}

static lx_status decide_refusal(const lx__http_exchange *self, lx_error *error)
{
    const char *region = self->headers.bucket_region;
    char advice[LX__HTTP_TEXT_SIZE + 64];
    const char *why = "the server refuses the request";
    if (self->status == 401 || self->status == 403)
        why = has_credentials(self)
                  ? "access denied; check the credentials, what they permit, and the clock"
                  : "access denied; no credentials were sent";
    else if (self->status >= 300 && self->status < 400)
        why = "the redirection is not followed";
    if (self->signing != NULL && region[0] != '\0' && strstr(self->signing, region) == NULL) {
        snprintf(advice, sizeof advice, "the bucket is in the region %s; set that region", region);
        why = advice;
    }
    return fail(self, LX_ERR_IO, why, error);
}

/** Whether the server may be able to answer later. */
static bool is_temporary(const lx__http_exchange *self, long status)
{
    /* The last two say that what arrived is not what was sent. */
    static const char *const temporary[] = {"RequestTimeout", "ConditionalRequestConflict",
                                            "OperationAborted", "BadDigest", "IncompleteBody"};
    char code[64];
    get_code(self->text, code);
    for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++)
        if (strcmp(code, temporary[i]) == 0)
            return true;
    return status == 408 || (status >= 500 && status != 501 && status != 505);
}

/** Decides about something that does not exist. */
static lx_status decide_missing(const lx__http_exchange *self, lx_error *error)
{
    char code[64];
    get_code(self->text, code);
    return fail(self, LX_ERR_NOT_FOUND,
                strcmp(code, "NoSuchBucket") == 0   ? "there is no such bucket"
                : strcmp(code, "NoSuchUpload") == 0 ? "there is no such upload"
                                                    : "there is no such file",
                error);
}

/** Decides about a condition that is not true. */
static lx_status decide_condition(const lx__http_exchange *self, lx_error *error)
{
    return fail(self, LX_ERR_STATE,
                self->data != NULL
                    ? "the file was replaced while it was in use; open the dataset again"
                    : "somebody else has written the file",
                error);
}

lx_status lx__http_decide(const lx__http_exchange *self, const lx__http_client *client,
                          lx__answer *answer, lx_error *error)
{
    long code = get_status(self);
    *answer = (lx__answer){.total = LX_NONE, .retry_after_ns = self->retry_after_ns};
    if (self->result == CURLE_ABORTED_BY_CALLBACK)
        return lx_fail(error, LX_ERR_CANCELED, "the request was interrupted");
    if (self->flaw != LX__HTTP_FLAWLESS)
        return decide_flaw(self, answer, error);
    bool good = lx__http_exchange_is_good(self) && !has_error(self);
    /* The text of an error may have been cut off. */
    if (self->result != CURLE_OK && (good || self->status == 0 || self->text_size == 0))
        return decide_result(self, client, answer, error);
    if (good && self->data != NULL)
        return decide_range(self, answer, error);
    answer->got = good ? self->body_size : 0;
    if (good)
        return LX_OK;
    if (code == 416 && self->data != NULL)
        return decide_unsatisfied(self, answer, error);
    if (code == 404 || code == 410)
        return decide_missing(self, error);
    if (code == 412)
        return decide_condition(self, error);
    if (code == 429 || code == 503) {
        answer->retry = LX__RETRY_SLOWER;
        return fail(self, LX_ERR_IO, "the server asks for fewer requests", error);
    }
    if (is_temporary(self, code)) {
        answer->retry = LX__RETRY_LATER;
        return fail(self, LX_ERR_IO, "the server cannot answer now", error);
    }
    return decide_refusal(self, error);
}
