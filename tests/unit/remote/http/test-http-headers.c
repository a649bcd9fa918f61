/* SPDX-License-Identifier: MIT */
#include "remote/http/http-headers.h"

#include <inttypes.h>

#include "../../unit.h"

static lx__http_headers parse(const char *line)
{
    lx__http_headers headers = {0};
    size_t size = strlen(line);
    char *copy = malloc(size + 1); /* so that sanitizers detect an over-read */
    memcpy(copy, line, size);
    ck_assert(lx__http_headers_add(&headers, copy, size));
    free(copy);
    return headers;
}

START_TEST(parses_ranges)
{
    lx__http_headers headers = parse("Content-Range: bytes 5-9/100\r\n");
    ck_assert(headers.has_range && !headers.bad_range && !headers.unsatisfied);
    ck_assert_uint_eq(headers.first, 5);
    ck_assert_uint_eq(headers.last, 9);
    ck_assert_uint_eq(headers.total, 100);

    headers = parse("content-range:bytes 0-0/*");
    ck_assert(headers.has_range);
    ck_assert_uint_eq(headers.total, LX_NONE);

    headers = parse("CONTENT-RANGE: \t Bytes */7 \r\n");
    ck_assert(headers.has_range && headers.unsatisfied);
    ck_assert_uint_eq(headers.total, 7);

    headers = parse("Content-Range: bytes 0-9223372036854775806/9223372036854775807");
    ck_assert(headers.has_range);
    ck_assert_uint_eq(headers.total, INT64_MAX);
}
END_TEST

START_TEST(rejects_invalid_ranges)
{
    static const char *const bad[] = {"",
                                      "bytes",
                                      "bytes ",
                                      "bytes 0-9",
                                      "bytes 0-9/",
                                      "bytes 0-9/9",
                                      "bytes 9-0/100",
                                      "bytes -9/100",
                                      "bytes -5--1/100",
                                      "bytes 0-/100",
                                      "bytes +0-9/100",
                                      "bytes 0 - 9/100",
                                      "bytes 0-9/100,200-300",
                                      "bytes 0-9/1e3",
                                      "bytes 0x0-9/100",
                                      "bytes=0-9/100",
                                      "bytes  0-9/100",
                                      "items 0-9/100",
                                      "bytes 0-9/9223372036854775808",
                                      "bytes 0-18446744073709551616/18446744073709551617",
                                      "bytes 99999999999999999999999999999999-9/100",
                                      "bytes 0-9/-1",
                                      "bytes */",
                                      "bytes *-9/100"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[256];
        snprintf(line, sizeof line, "Content-Range: %s", bad[i]);
        lx__http_headers headers = parse(line);
        ck_assert_msg(!headers.has_range && headers.bad_range, "%s", bad[i]);
    }
    lx__http_headers headers = {0};
    ck_assert(lx__http_headers_add(&headers, "Content-Range: bytes 0-9/100\0", 29));
    ck_assert(headers.bad_range);
}
END_TEST

START_TEST(rejects_two_ranges)
{
    lx__http_headers headers = parse("Content-Range: bytes 0-9/100");
    ck_assert(lx__http_headers_add(&headers, "Content-Range: bytes 0-9/100", 28));
    ck_assert(headers.bad_range && !headers.has_range);
    ck_assert(lx__http_headers_add(&headers, "Content-Range: bytes 0-9/100", 28));
    ck_assert(headers.bad_range && !headers.has_range);
}
END_TEST

START_TEST(forgets_an_interim_response)
{
    lx__http_headers headers = parse("ETag: \"a\"");
    ck_assert_str_eq(headers.etag, "\"a\"");
    ck_assert(lx__http_headers_add(&headers, "HTTP/1.1 200 OK\r\n", 17));
    ck_assert_str_eq(headers.etag, "");
    ck_assert_uint_eq(headers.bytes, 9 + 17);
}
END_TEST

START_TEST(keeps_texts_that_fit)
{
    char line[LX__HTTP_TEXT_SIZE + 64];
    ck_assert_str_eq(parse("etag:  W/\"x y\" \r\n").etag, "W/\"x y\"");
    ck_assert_str_eq(parse("x-amz-request-id: 7\r\n").request_id, "7");
    ck_assert_str_eq(parse("x-amz-bucket-region: eu-west-1\r\n").bucket_region, "eu-west-1");
    ck_assert_str_eq(parse("ETag: \"\x1b[1m\"").etag, "");
    ck_assert_str_eq(parse("ETag: \"\xc3\xbc\"").etag, "");
    ck_assert_str_eq(parse("ETag:").etag, "");
    snprintf(line, sizeof line, "ETag: %0*d", LX__HTTP_TEXT_SIZE - 1, 1);
    ck_assert_uint_eq(strlen(parse(line).etag), LX__HTTP_TEXT_SIZE - 1);
    snprintf(line, sizeof line, "ETag: %0*d", LX__HTTP_TEXT_SIZE, 1);
    ck_assert_str_eq(parse(line).etag, "");
}
END_TEST

START_TEST(notices_encodings)
{
    ck_assert(parse("Content-Encoding: gzip").encoded);
    ck_assert(parse("Content-Encoding: identity, gzip").encoded);
    ck_assert(!parse("Content-Encoding: Identity\r\n").encoded);
    ck_assert(!parse("Content-Encoding: \r\n").encoded);
    ck_assert(!parse("X-Content-Encoding: gzip").encoded);
}
END_TEST

START_TEST(limits_all_headers_together)
{
    char line[1024];
    memset(line, 'x', sizeof line);
    lx__http_headers headers = {0};
    for (size_t i = 0; i < LX__HTTP_HEADERS_BYTES / sizeof line; i++)
        ck_assert(lx__http_headers_add(&headers, line, sizeof line));
    ck_assert(!lx__http_headers_add(&headers, "HTTP/1.1 100 Continue\r\n", 23));
    headers = (lx__http_headers){0};
    ck_assert(!lx__http_headers_add(&headers, NULL, SIZE_MAX));
}
END_TEST

UNIT_MAIN("remote/http/http-headers", parses_ranges, rejects_invalid_ranges, rejects_two_ranges,
          forgets_an_interim_response, keeps_texts_that_fit, notices_encodings,
          limits_all_headers_together)
