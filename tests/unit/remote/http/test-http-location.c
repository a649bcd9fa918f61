/* SPDX-License-Identifier: MIT */
#include "remote/http/http-location.h"

#include "base/alloc.h"

#include "../../unit.h"

static void check(const char *url, const char *endpoint, const char *name, const char *file,
                  const char *shown)
{
    lx_error error = LX_ERROR_INIT;
    lx__http_location location;
    unit_ok(lx__http_location_parse(url, endpoint, "eu-west-1", &location, &error));
    char *made = lx__http_location_file(&location, name);
    ck_assert_str_eq(made, file);
    ck_assert_str_eq(location.shown, shown);
    ck_assert_int_eq(location.secure, strncmp(file, "https", 5) == 0);
    ck_assert_int_eq(location.s3, strncmp(url, "s3", 2) == 0);
    lx__free(made);
    lx__http_location_clear(&location);
}

START_TEST(makes_urls_of_files)
{
    check("http://host/a/", NULL, "b c", "http://host/a/b%20c", "http://host/a");
    check("https://host", NULL, "chunk/1.zr", "https://host/chunk/1.zr", "https://host");
    check("https://host:8/a%20b//?sig=%2F&x#y", NULL, "n", "https://host:8/a%20b/n?sig=%2F&x",
          "https://host:8/a%20b");
    check("s3://bucket", NULL, "n", "https://bucket.s3.eu-west-1.amazonaws.com/n", "s3://bucket");
    check("s3://bucket/a b/c?d/", NULL, "n",
          "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c%3Fd/n", "s3://bucket/a b/c?d");
    check("s3://a.b/c", NULL, "n", "https://s3.eu-west-1.amazonaws.com/a.b/c/n", "s3://a.b/c");
    check("s3://bucket/p", "http://127.0.0.1:9000/", "n", "http://127.0.0.1:9000/bucket/p/n",
          "s3://bucket/p");
}
END_TEST

/** Checks the URL of the bucket and the prefix of keys. */
static void check_bucket(const char *url, const char *endpoint, const char *bucket,
                         const char *prefix)
{
    lx_error error = LX_ERROR_INIT;
    lx__http_location location;
    unit_ok(lx__http_location_parse(url, endpoint, "eu-west-1", &location, &error));
    char *made = lx__http_location_bucket(&location, "a=b&c=d");
    ck_assert_str_eq(made, bucket);
    ck_assert_str_eq(location.prefix, prefix);
    lx__free(made);
    lx__http_location_clear(&location);
}

START_TEST(makes_urls_of_buckets)
{
    check_bucket("s3://b", NULL, "https://b.s3.eu-west-1.amazonaws.com/?a=b&c=d", "");
    check_bucket("s3://b//", NULL, "https://b.s3.eu-west-1.amazonaws.com/?a=b&c=d", "");
    check_bucket("s3://b/x y/z//", "http://h:1/", "http://h:1/b/?a=b&c=d", "x y/z/");
    char *encoded = lx__http_url_encode("a/b c+%&=~");
    ck_assert_str_eq(encoded, "a%2Fb%20c%2B%25%26%3D~");
    lx__free(encoded);
}
END_TEST

START_TEST(uses_the_domain_of_china)
{
    lx_error error = LX_ERROR_INIT;
    lx__http_location location;
    unit_ok(lx__http_location_parse("s3://b/p", NULL, "cn-north-1", &location, &error));
    ck_assert_str_eq(location.base, "https://b.s3.cn-north-1.amazonaws.com.cn/p");
    lx__http_location_clear(&location);
}
END_TEST

START_TEST(encodes_all_but_unreserved_characters)
{
    char name[256], expected[1024] = "http://h/", *to = expected + 9;
    for (int byte = 1; byte < 256; byte++) {
        name[byte - 1] = (char)byte;
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || (byte != 0 && strchr("-_.~/", byte) != NULL);
        to += sprintf(to, plain ? "%c" : "%%%02X", byte);
    }
    name[255] = '\0';
    check("http://h", NULL, name, expected, "http://h");
}
END_TEST

START_TEST(refuses_invalid_urls)
{
    static const struct {
        const char *url, *endpoint;
        lx_status status;
    } bad[] = {{"ftp://host", NULL, LX_ERR_UNSUPPORTED},
               {"/path", NULL, LX_ERR_UNSUPPORTED},
               {"http://", NULL, LX_ERR_ARGUMENT},
               {"http://a\nb/", NULL, LX_ERR_ARGUMENT},
               {"http://user@host/", NULL, LX_ERR_ARGUMENT},
               {"https://user:secret@host/", NULL, LX_ERR_ARGUMENT},
               {"https://host:99999/", NULL, LX_ERR_ARGUMENT},
               {"s3://", NULL, LX_ERR_ARGUMENT},
               {"s3:///x", NULL, LX_ERR_ARGUMENT},
               {"s3://user@bucket/x", NULL, LX_ERR_ARGUMENT},
               {"s3://bucket/x", "http://user:secret@host", LX_ERR_ARGUMENT},
               {"s3://bucket/x", "http://host/?query", LX_ERR_ARGUMENT}};
    lx_error error = LX_ERROR_INIT;
    lx__http_location location;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lx_status status = lx__http_location_parse(bad[i].url, bad[i].endpoint, "r", &location,
                                                   &error);
        ck_assert_msg(status == bad[i].status, "%s", bad[i].url);
        ck_assert_ptr_null(strstr(error.message, "secret"));
        lx_error_clear(&error);
    }
}
END_TEST

START_TEST(tells_which_paths_can_be_signed)
{
    static const char *const good[] = {"http://h",
                                       "http://h/",
                                       "http://h/b/?a=.&b=//&c=..",
                                       "https://h/a/b",
                                       "http://h/.a/b./.../%2E%2E..",
                                       "http://h?a/../b"},
                             *const bad[] = {"http://h/.",     "http://h/..", "http://h/../a",
                                             "http://h/a/./b", "http://h//a", "http://h/a//b?c",
                                             "http://h/a/..?b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(lx__http_url_is_signable(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!lx__http_url_is_signable(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(compares_origins)
{
    ck_assert(lx__http_url_same_origin("http://host/a", "HTTP://HOST:80/b?c"));
    ck_assert(lx__http_url_same_origin("https://host", "https://host:443/"));
    ck_assert(!lx__http_url_same_origin("http://host/", "https://host/"));
    ck_assert(!lx__http_url_same_origin("http://host/", "http://host:81/"));
    ck_assert(!lx__http_url_same_origin("http://host/", "http://host.evil/"));
    ck_assert(!lx__http_url_same_origin("http://host/", "http://host@evil/"));
    ck_assert(!lx__http_url_same_origin("http://host/", "http://host"
                                                        "\\@evil/"));
    ck_assert(!lx__http_url_same_origin("nonsense:", "nonsense:"));
}
END_TEST

START_TEST(follows_to_the_same_or_a_safer_scheme)
{
    ck_assert(lx__http_url_may_follow("http://a", "http://b"));
    ck_assert(lx__http_url_may_follow("http://a", "https://b"));
    ck_assert(lx__http_url_may_follow("https://a", "https://b"));
    ck_assert(!lx__http_url_may_follow("https://a", "http://b"));
    ck_assert(!lx__http_url_may_follow("http://a", "file:///etc/passwd"));
}
END_TEST

UNIT_MAIN("remote/http/http-location", makes_urls_of_files, makes_urls_of_buckets,
          uses_the_domain_of_china, encodes_all_but_unreserved_characters, refuses_invalid_urls,
          tells_which_paths_can_be_signed, compares_origins, follows_to_the_same_or_a_safer_scheme)
