/* SPDX-License-Identifier: MIT */
/* Writes objects of S3, whole or in parts, and lists and removes them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "remote/http/http-format.h"
#include "remote/http/http-request.h"
#include "remote/http/s3-answers.h"

#define MIB ((size_t)1 << 20)
#define PART_SIZE (8 * MIB)
#define MOST_PARTS 10000
/* The most bytes of a listing: 1000 keys of 1024 bytes, all of which are encoded. */
#define LISTING_BYTES (8 * MIB)
#define ANSWER_BYTES (MIB / 16)
/* The most answers of one listing, with 1000 keys each. */
#define MOST_ANSWERS 10000
/* A server is silent until it has stored a part, and for minutes while it puts parts together. */
#define PUT_PATIENCE 3
#define COMPLETE_PATIENCE 30

/* ---- attempts */

/** Begins an attempt; NULL if out of memory. */
static lx__http_request *start(lx__connection *connection, const char *method, lx__answer *answer,
                               lx_error *error)
{
    lx__http_request *request = lx__http_request_new(connection, answer, error);
    if (request != NULL) {
        request->exchange.method = method;
        request->exchange.text_limit = ANSWER_BYTES;
    }
    return request;
}

/** Sends a request for the file @p name with a query, which may be "". */
static lx_status send_for(lx__http_request *self, const char *name, const char *query,
                          lx__answer *answer, lx_error *error)
{
    char *file = lx__http_location_file(&self->transport->location, name);
    char *url = file == NULL ? NULL
                             : lx__http_format("%s%s%s", file, *query != '\0' ? "?" : "", query);
    lx__free(file);
    return lx__http_request_send(self, url, answer, error);
}

static lx_status fail_answer(lx__answer *answer, const char *why, lx_error *error)
{
    answer->retry = LX__RETRY_LATER;
    answer->got = 0;
    return lx_fail(error, LX_ERR_IO, "%s", why);
}

/** Ends an attempt for the file @p name. */
static lx_status conclude(lx__http_request *request, const lx__connection *connection,
                          const char *name, lx_error *failure, lx_error *error)
{
    lx__http_request_free(request);
    if (failure->status == LX_OK)
        return LX_OK;
    char *path = lx__path_join(connection->transport->url, name);
    lx_error_locate(failure, path, NULL, LX_NONE, LX_NONE);
    lx__free(path);
    lx__error_propagate(error, failure);
    return failure->status;
}

/* ---- whole files */

static lx_status s3_stat(lx__connection *connection, const char *name, lx__remote_info *info,
                         lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__http_request *request = start(connection, "HEAD", answer, &failure);
    if (request != NULL && send_for(request, name, "", answer, &failure) == LX_OK) {
        const lx__http_exchange *exchange = &request->exchange;
        *info = (lx__remote_info){.bytes = exchange->length, .modified = exchange->modified};
        snprintf(info->etag, sizeof info->etag, "%s", exchange->headers.etag);
        if (info->bytes == LX_NONE)
            fail_answer(answer, "the server does not tell the length of the file", &failure);
    }
    return conclude(request, connection, name, &failure, error);
}

/** Writes a checksum as S3 does: in Base64, the highest byte first. */
static void write_checksum(uint32_t crc, char text[9])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 5; i++)
        text[i] = digits[crc >> (26 - 6 * i) & 63];
    text[5] = digits[crc << 4 & 63];
    memcpy(text + 6, "==", 3);
}

/** Describes a body. The server compares it with the checksum in @p header, which must stay. */
static uint32_t set_body(lx__http_request *request, const uint8_t *data, size_t size,
                         char header[64])
{
    char text[9];
    uint32_t crc = lx__crc32c(0, data, size);
    write_checksum(crc, text);
    snprintf(header, 64, "x-amz-checksum-crc32c: %s", text);
    request->exchange.body = data;
    request->exchange.body_size = size;
    request->exchange.own[0] = header;
    request->patience = PUT_PATIENCE;
    return crc;
}

/** Adds a precondition to a request, as the header of its own with the number @p at or as the ETag
 * that the file must have. */
static lx_status set_precondition(lx__http_request *request, int at, lx__precondition precondition,
                                  const char *etag, lx_error *error)
{
    if (precondition == LX__WRITE_IF_ABSENT)
        request->exchange.own[at] = "If-None-Match: *";
    if (precondition != LX__WRITE_IF_MATCH)
        return LX_OK;
    request->exchange.etag = etag;
    if (*etag == '\0')
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the server has no ETags, so nobody can know whether the file was replaced");
    if (strncmp(etag, "W/", 2) == 0) /* no condition is ever true for it */
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the server sends the weak ETag %.80s, so nobody can know whether the file "
                       "was replaced: ask the store itself, or configure the proxy before it not "
                       "to change what it sends, for example not to compress",
                       etag);
    return LX_OK;
}

static lx_status s3_put(lx__connection *connection, const char *name, const uint8_t *data,
                        size_t size, lx__precondition precondition, const char *etag,
                        lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    char checksum[64];
    lx__http_request *request = start(connection, "PUT", answer, &failure);
    if (request != NULL) {
        set_body(request, data, size, checksum);
        if (set_precondition(request, 1, precondition, etag, &failure) == LX_OK &&
            send_for(request, name, "", answer, &failure) == LX_ERR_NOT_FOUND &&
            precondition == LX__WRITE_IF_MATCH)
            failure.status = LX_ERR_STATE; /* there is no file that could match */
    }
    return conclude(request, connection, name, &failure, error);
}

static lx_status s3_remove(lx__connection *connection, const char *name, lx__answer *answer,
                           lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__http_request *request = start(connection, "DELETE", answer, &failure);
    if (request != NULL && send_for(request, name, "", answer, &failure) == LX_ERR_NOT_FOUND)
        lx_error_clear(&failure);
    return conclude(request, connection, name, &failure, error);
}

/* ---- files in parts */

static size_t s3_get_part_size(const lx__transport *self, uint64_t bytes)
{
    uint64_t least = bytes / MOST_PARTS + 1;
    (void)self;
    return least <= PART_SIZE ? PART_SIZE : (size_t)((least + MIB - 1) / MIB * MIB);
}

/** Takes the name of an upload; false if there is none. */
static bool take_upload(const lx__http_exchange *exchange, char upload[LX__UPLOAD_SIZE])
{
    /* The second one is that of `rclone serve s3`. */
    static const char *const roots[] = {"InitiateMultipartUploadResult", "InitiateMultipartUpload"};
    for (size_t i = 0; i < 2; i++)
        if (lx__s3_find(exchange->text, exchange->text_size, roots[i], "UploadId", upload,
                        LX__UPLOAD_SIZE))
            return *upload != '\0';
    return false;
}

static lx_status s3_begin(lx__connection *connection, const char *name, uint64_t bytes,
                          char upload[LX__UPLOAD_SIZE], lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__http_request *request = start(connection, "POST", answer, &failure);
    (void)bytes;
    if (request != NULL) {
        request->exchange.own[0] = "x-amz-checksum-algorithm: CRC32C";
        if (send_for(request, name, "uploads=", answer, &failure) == LX_OK &&
            !take_upload(&request->exchange, upload))
            fail_answer(answer, "the server does not tell the name of the upload", &failure);
    }
    return conclude(request, connection, name, &failure, error);
}

/** Sends a request for an upload, with a query that begins with @p first. */
static lx_status send_upload(lx__http_request *self, const char *name, const char *first,
                             const char *upload, lx__answer *answer, lx_error *error)
{
    char *encoded = lx__http_url_encode(upload);
    char *query = encoded == NULL ? NULL : lx__http_format("%suploadId=%s", first, encoded);
    lx_status status = query != NULL ? send_for(self, name, query, answer, error)
                                     : lx__fail_memory(error, "a URL");
    lx__free(encoded);
    lx__free(query);
    return status;
}

static lx_status s3_put_part(lx__connection *connection, const char *name, const char *upload,
                             uint32_t number, uint64_t offset, const uint8_t *data, size_t size,
                             lx__uploaded_part *part, lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    char checksum[64], first[32];
    lx__http_request *request = start(connection, "PUT", answer, &failure);
    (void)offset;
    if (request != NULL) {
        part->crc = set_body(request, data, size, checksum);
        snprintf(first, sizeof first, "partNumber=%u&", (unsigned)number + 1);
        send_upload(request, name, first, upload, answer, &failure);
        snprintf(part->etag, sizeof part->etag, "%s", request->exchange.headers.etag);
        if (failure.status == LX_OK && part->etag[0] == '\0')
            fail_answer(answer, "the server sends no ETag of a part", &failure);
    }
    return conclude(request, connection, name, &failure, error);
}

/** Appends an ETag to XML. */
static size_t write_etag(char *to, const char *etag)
{
    char *begin = to;
    for (; *etag != '\0'; etag++) {
        if (strchr("<>&\"", *etag) != NULL)
            to += sprintf(to, "&#%d;", *etag);
        else
            *to++ = *etag;
    }
    return (size_t)(to - begin);
}

/** Makes the list of parts; NULL if out of memory. */
static char *make_list(const lx__uploaded_part *parts, uint32_t count, size_t *size)
{
    static const char root[] = "CompleteMultipartUpload";
    enum { MOST_BYTES = 5 * LX__ETAG_SIZE + 128 }; /* of a part */
    char *text = lx__alloc_array((size_t)count + 2, MOST_BYTES), *to = text;
    if (text == NULL)
        return NULL;
    to += sprintf(to, "<%s xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">", root);
    for (uint32_t i = 0; i < count; i++) {
        char checksum[9];
        write_checksum(parts[i].crc, checksum);
        to += sprintf(to, "<Part><PartNumber>%u</PartNumber><ETag>", (unsigned)i + 1);
        to += write_etag(to, parts[i].etag);
        to += sprintf(to, "</ETag><ChecksumCRC32C>%s</ChecksumCRC32C></Part>", checksum);
    }
    to += sprintf(to, "</%s>", root);
    *size = (size_t)(to - text);
    return text;
}

/** Whether an answer of status 200 says that an upload is complete: it may also be an error. */
static bool says_complete(const lx__http_exchange *exchange)
{
    /* The second name is that of some versions of moto. */
    static const char *const names[] = {"CompleteMultipartUploadResult",
                                        "CompleteMultipartUploadResponse"};
    return lx__s3_find(exchange->text, exchange->text_size, names[0], NULL, NULL, 0) ||
           lx__s3_find(exchange->text, exchange->text_size, names[1], NULL, NULL, 0);
}

static lx_status s3_complete(lx__connection *connection, const char *name, const char *upload,
                             const lx__uploaded_part *parts, uint32_t count,
                             lx__precondition precondition, const char *etag, lx__answer *answer,
                             lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    size_t size = 0;
    char *list = make_list(parts, count, &size);
    lx__http_request *request = start(connection, "POST", answer, &failure);
    if (list == NULL)
        lx__fail_memory(&failure, "a list of parts");
    if (request != NULL && list != NULL) {
        request->exchange.body = (const uint8_t *)list;
        request->exchange.body_size = size;
        request->patience = COMPLETE_PATIENCE;
        if (set_precondition(request, 0, precondition, etag, &failure) == LX_OK &&
            send_upload(request, name, "", upload, answer, &failure) == LX_OK &&
            !says_complete(&request->exchange))
            fail_answer(answer, "the server does not say that the upload is complete", &failure);
        answer->got = 0;
    }
    lx__free(list);
    return conclude(request, connection, name, &failure, error);
}

static lx_status abandon(lx__connection *connection, const char *name, const char *upload,
                         lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__http_request *request = start(connection, "DELETE", answer, &failure);
    if (request != NULL &&
        send_upload(request, name, "", upload, answer, &failure) == LX_ERR_NOT_FOUND)
        lx_error_clear(&failure);
    return conclude(request, connection, name, &failure, error);
}

/* ---- listings */

/** Whether a listing of objects continues after its last key, since libcurl cannot sign the token.
 * Without need, it does not: in a store that does not sort keys, files would be lost. */
static bool continues_after_key(const lx__s3_listing *listing)
{
    return strchr(listing->token, '+') != NULL && !lx__http_request_signs_plus() &&
           !listing->unsorted && listing->last[0] != '\0';
}

/** Makes the URL of a listing from where it is; NULL if out of memory. Parameters are sorted. */
static char *make_url(const lx__http_location *location, const lx__s3_listing *listing,
                      bool uploads)
{
    bool after = !uploads && continues_after_key(listing);
    char *token = lx__http_url_encode(after ? listing->last : listing->token);
    char *query = NULL, *url = NULL;
    char *prefix = lx__http_url_encode(listing->prefix);
    char *upload = lx__http_url_encode(listing->upload);
    const char *word = uploads ? "key-marker=" : "continuation-token=";
    if (token == NULL || prefix == NULL || upload == NULL)
        query = NULL;
    else if (uploads)
        query = *token != '\0' ? lx__http_format("encoding-type=url&%s%s&prefix=%s&"
                                                 "upload-id-marker=%s&uploads=",
                                                 word, token, prefix, upload)
                               : lx__http_format("encoding-type=url&prefix=%s&uploads=", prefix);
    else if (after)
        query = lx__http_format("encoding-type=url&list-type=2&prefix=%s&start-after=%s", prefix,
                                token);
    else
        query = lx__http_format("%s%s%sencoding-type=url&list-type=2&prefix=%s",
                                *token != '\0' ? word : "", token, *token != '\0' ? "&" : "",
                                prefix);
    if (query != NULL)
        url = lx__http_location_bucket(location, query);
    lx__free(token);
    lx__free(prefix);
    lx__free(upload);
    lx__free(query);
    return url;
}

/** Gets one answer. */
static lx_status list_once(lx__connection *connection, lx__s3_listing *listing, bool uploads,
                           lx__answer *answer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__http_request *request = start(connection, "GET", answer, &failure);
    if (request != NULL) {
        lx__http_exchange *exchange = &request->exchange;
        exchange->text_limit = LISTING_BYTES;
        char *url = make_url(&request->transport->location, listing, uploads);
        lx_status status = lx__http_request_send(request, url, answer, &failure);
        if (status == LX_OK)
            status = lx__s3_listing_parse(listing, exchange->text, exchange->text_size, answer,
                                          &failure);
        failure.status = status; /* a callback may have failed without an error */
    }
    return conclude(request, connection, "", &failure, error);
}

/** Visits all objects or uploads below a folder. */
static lx_status list_all(lx__connection *connection, const char *folder, bool uploads,
                          lx__s3_listing *listing, lx__answer *answer, lx_error *error)
{
    const lx__transport_http *transport = (const lx__transport_http *)connection->transport;
    const char *root = transport->location.prefix;
    char *prefix = lx__http_format("%s%s%s", root, folder, *folder != '\0' ? "/" : "");
    lx_status status = LX_OK;
    *answer = (lx__answer){.total = LX_NONE};
    if (prefix == NULL)
        return lx__fail_memory(error, "a prefix");
    listing->prefix = prefix;
    listing->root = strlen(root);
    for (unsigned answers = 0; status == LX_OK; answers++) {
        status = list_once(connection, listing, uploads, answer, error);
        if (listing->token[0] == '\0')
            break;
        if (status == LX_OK && answers == MOST_ANSWERS)
            status = fail_answer(answer, "the server sends a listing that does not end", error);
    }
    lx__free(prefix);
    return status;
}

/** Files to visit. */
struct files {
    lx__visit_remote *visit;
    void *user;
};

static lx_status visit_file(void *user, const char *key, const lx__remote_info *info,
                            const char *upload, lx_error *error)
{
    const struct files *files = user;
    (void)upload;
    return files->visit(files->user, key, info, error);
}

static lx_status s3_list(lx__connection *connection, const char *name, lx__visit_remote *visit,
                         void *user, lx__answer *answer, lx_error *error)
{
    struct files files = {visit, user};
    lx__s3_listing listing = {.visit = visit_file, .user = &files};
    return list_all(connection, name, false, &listing, answer, error);
}

/** Uploads to abandon. */
struct uploads {
    lx__connection *connection;
    uint64_t before;
    lx__is_ours *is_ours;
    const void *user;
    lx__answer answer; /* of the last one */
};

static lx_status visit_upload(void *user, const char *key, const lx__remote_info *info,
                              const char *upload, lx_error *error)
{
    struct uploads *uploads = user;
    bool is_young = uploads->before != LX_NONE &&
                    (info->modified == 0 || info->modified >= uploads->before);
    if (is_young || !uploads->is_ours(uploads->user, key))
        return LX_OK;
    return abandon(uploads->connection, key, upload, &uploads->answer, error);
}

static lx_status s3_abandon_all(lx__connection *connection, uint64_t before, lx__is_ours *is_ours,
                                const void *user, lx__answer *answer, lx_error *error)
{
    struct uploads uploads = {
        .connection = connection, .before = before, .is_ours = is_ours, .user = user};
    lx__s3_listing listing = {.visit = visit_upload, .user = &uploads};
    lx_status status = list_all(connection, "", true, &listing, answer, error);
    if (status != LX_OK && uploads.answer.retry != LX__RETRY_NEVER)
        *answer = uploads.answer;
    return status;
}

const lx__transport_writing lx__s3_writing = {
    .stat = s3_stat,
    .put = s3_put,
    .get_part_size = s3_get_part_size,
    .begin = s3_begin,
    .put_part = s3_put_part,
    .complete = s3_complete,
    .abandon_all = s3_abandon_all,
    .list = s3_list,
    .remove = s3_remove,
};
