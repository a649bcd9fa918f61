/* SPDX-License-Identifier: MIT */
#include "remote/http/http-headers.h"

#include <string.h>
#include <strings.h>

#include <loaderx/status.h>

/** A part of a line. */
struct span {
    const char *at, *end;
};

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static struct span trim(struct span span)
{
    while (span.at < span.end && is_space(*span.at))
        span.at++;
    while (span.at < span.end && is_space(span.end[-1]))
        span.end--;
    return span;
}

static bool is_word(struct span span, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(span.end - span.at) == size && strncasecmp(span.at, word, size) == 0;
}

/** Passes @p byte. */
static bool pass(struct span *span, char byte)
{
    if (span->at == span->end || *span->at != byte)
        return false;
    span->at++;
    return true;
}

/** Passes a decimal number below 2^63. */
static bool pass_number(struct span *span, uint64_t *number)
{
    const char *begin = span->at;
    *number = 0;
    for (; span->at < span->end && *span->at >= '0' && *span->at <= '9'; span->at++) {
        unsigned digit = (unsigned)(*span->at - '0');
        if (*number > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return span->at > begin;
}

/** Parses "bytes 0-9/100", "bytes 0-9/ *" or "bytes * /100" (without these spaces). */
static bool parse_range(struct span span, lx__http_headers *headers)
{
    if (span.end - span.at < 6 || !is_word((struct span){span.at, span.at + 5}, "bytes"))
        return false;
    span.at += 5;
    if (!pass(&span, ' '))
        return false;
    headers->unsatisfied = pass(&span, '*');
    if (!headers->unsatisfied &&
        (!pass_number(&span, &headers->first) || !pass(&span, '-') ||
         !pass_number(&span, &headers->last) || headers->last < headers->first))
        return false;
    if (!pass(&span, '/'))
        return false;
    headers->total = LX_NONE;
    if (!pass(&span, '*') && !pass_number(&span, &headers->total))
        return false;
    return span.at == span.end && (headers->unsatisfied || headers->total > headers->last);
}

/** Copies a text of printable ASCII characters that fits. */
static void copy_text(char *to, struct span span)
{
    size_t size = (size_t)(span.end - span.at);
    *to = '\0';
    if (size >= LX__HTTP_TEXT_SIZE)
        return;
    for (size_t i = 0; i < size; i++)
        if (span.at[i] < ' ' || span.at[i] > '~')
            return;
    memcpy(to, span.at, size);
    to[size] = '\0';
}

static void add_field(lx__http_headers *headers, struct span name, struct span value)
{
    if (is_word(name, "content-range")) {
        bool again = headers->has_range || headers->bad_range;
        headers->has_range = parse_range(value, headers) && !again;
        headers->bad_range = !headers->has_range;
    } else if (is_word(name, "content-encoding")) {
        headers->encoded = value.at < value.end && !is_word(value, "identity");
    } else if (is_word(name, "etag")) {
        copy_text(headers->etag, value);
    } else if (is_word(name, "x-amz-request-id") || is_word(name, "x-ms-request-id") ||
               is_word(name, "x-guploader-uploadid") || is_word(name, "x-request-id")) {
        copy_text(headers->request_id, value);
    } else if (is_word(name, "x-amz-bucket-region")) {
        copy_text(headers->bucket_region, value);
    }
}

bool lx__http_headers_add(lx__http_headers *headers, const char *line, size_t size)
{
    size_t bytes = headers->bytes + size;
    if (size > LX__HTTP_HEADERS_BYTES || bytes > LX__HTTP_HEADERS_BYTES)
        return false;
    if (size >= 5 && memcmp(line, "HTTP/", 5) == 0)
        *headers = (lx__http_headers){0};
    headers->bytes = bytes;
    const char *colon = memchr(line, ':', size);
    if (colon != NULL)
        add_field(headers, (struct span){line, colon}, trim((struct span){colon + 1, line + size}));
    return true;
}
