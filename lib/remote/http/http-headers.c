/* SPDX-License-Identifier: MIT */
#include "remote/http/http-headers.h"

#include <string.h>
#include <strings.h>

#include <loaderx/status.h>

#include "remote/http/span.h"

static bool is_word(lx__span span, const char *word)
{
    return span.size == strlen(word) && strncasecmp(span.at, word, span.size) == 0;
}

/** Passes @p byte. */
static bool pass(lx__span *span, char byte)
{
    if (span->size == 0 || *span->at != byte)
        return false;
    span->at++;
    span->size--;
    return true;
}

/** Passes a decimal number below 2^63. */
static bool pass_number(lx__span *span, uint64_t *number)
{
    size_t before = span->size;
    *number = 0;
    for (; span->size > 0 && *span->at >= '0' && *span->at <= '9'; span->at++, span->size--) {
        unsigned digit = (unsigned)(*span->at - '0');
        if (*number > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return span->size < before;
}

/** Parses "bytes 0-9/100", "bytes 0-9/ *" or "bytes * /100" (without these spaces). */
static bool parse_range(lx__span span, lx__http_headers *headers)
{
    if (span.size < 6 || !is_word((lx__span){span.at, 5}, "bytes") || span.at[5] != ' ')
        return false;
    span = (lx__span){span.at + 6, span.size - 6};
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
    return span.size == 0 && (headers->unsatisfied || headers->total > headers->last);
}

/** Copies a text of printable ASCII characters that fits. */
static void copy_text(char *to, lx__span span)
{
    *to = '\0';
    if (span.size >= LX__HTTP_TEXT_SIZE)
        return;
    for (size_t i = 0; i < span.size; i++)
        if (span.at[i] < ' ' || span.at[i] > '~')
            return;
    memcpy(to, span.at, span.size);
    to[span.size] = '\0';
}

static void add_field(lx__http_headers *headers, lx__span name, lx__span value)
{
    if (is_word(name, "content-range")) {
        bool again = headers->has_range || headers->bad_range;
        headers->has_range = parse_range(value, headers) && !again;
        headers->bad_range = !headers->has_range;
    } else if (is_word(name, "content-encoding")) {
        headers->encoded = value.size > 0 && !is_word(value, "identity");
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
    if (colon != NULL) {
        size_t name = (size_t)(colon - line);
        add_field(headers, (lx__span){line, name},
                  lx__span_trim((lx__span){colon + 1, size - name - 1}));
    }
    return true;
}
