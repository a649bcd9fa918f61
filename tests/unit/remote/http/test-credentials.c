/* SPDX-License-Identifier: MIT */
#include "remote/http/credentials.h"

#include <inttypes.h>
#include <time.h>

#include "remote/http/credential-sources.h"

#include "../../unit.h"

/** What a callback returns, and how often it was called. */
struct source {
    lx_credentials credentials;
    lx_status status;
    atomic_uint calls, at_a_time, most_at_a_time;
    unsigned sleep_us;
};

static lx_status get(void *user, lx_credentials *credentials, lx_error *error)
{
    struct source *source = user;
    unsigned now = atomic_fetch_add(&source->at_a_time, 1) + 1;
    if (now > atomic_load(&source->most_at_a_time))
        atomic_store(&source->most_at_a_time, now);
    ck_assert_str_eq(credentials->token, "");
    usleep(source->sleep_us);
    *credentials = source->credentials;
    atomic_fetch_add(&source->calls, 1);
    atomic_fetch_sub(&source->at_a_time, 1);
    return source->status == LX_OK ? LX_OK : lx_fail(error, source->status, "no");
}

static lx__credentials open_source(struct source *source)
{
    lx__credentials made;
    lx__http_options options = {.get_credentials = get, .user = source};
    lx__credentials_open(&made, &options, NULL);
    return made;
}

/** Gets the credentials; returns the token. */
static const char *ask(lx__credentials *credentials, uint64_t refused, uint64_t *version)
{
    static lx_credentials copy;
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__credentials_get(credentials, NULL, refused, &copy, version, &error));
    return copy.token;
}

START_TEST(asks_once)
{
    struct source source = {.credentials = {.token = "a"}};
    lx__credentials credentials = open_source(&source);
    uint64_t version = 0;
    for (int i = 0; i < 10; i++)
        ck_assert_str_eq(ask(&credentials, 0, &version), "a");
    source.credentials.expires = (uint64_t)time(NULL) + 1000;
    ck_assert_uint_eq(source.calls, 1);
    lx__credentials_close(&credentials);
}
END_TEST

START_TEST(asks_again_if_refused)
{
    struct source source = {.credentials = {.token = "a"}};
    lx__credentials credentials = open_source(&source);
    uint64_t first, version;
    ask(&credentials, 0, &first);
    ck_assert_str_eq(ask(&credentials, first, &version), "a");
    ck_assert_uint_eq(version, first); /* there are none that are better */
    strcpy(source.credentials.token, "b");
    ck_assert_str_eq(ask(&credentials, first, &version), "b");
    ck_assert_uint_ne(version, first);
    ck_assert_uint_eq(source.calls, 3);
    ck_assert_str_eq(ask(&credentials, first, &version), "b"); /* another thread has renewed */
    ck_assert_uint_eq(source.calls, 3);
    lx__credentials_close(&credentials);
}
END_TEST

START_TEST(renews_early)
{
    struct source source = {.credentials = {.token = "a"}};
    lx__credentials credentials = open_source(&source);
    uint64_t version, now = (uint64_t)time(NULL);
    source.credentials.expires = now + 1000;
    ask(&credentials, 0, &version);
    ck_assert_uint_ge(credentials.renew_at, now + 1000 - 300);
    ck_assert_uint_le(credentials.renew_at, now + 1000 - 300);

    credentials.renew_at = now; /* time has passed */
    source.status = LX_ERR_IO;
    ck_assert_str_eq(ask(&credentials, 0, &version), "a"); /* they are still valid */
    ck_assert_uint_eq(source.calls, 2);
    ask(&credentials, 0, &version);
    ck_assert_uint_eq(source.calls, 2); /* not at each request */

    credentials.current.expires = credentials.renew_at = now;
    lx_error error = LX_ERROR_INIT;
    lx_credentials copy;
    unit_fails(lx__credentials_get(&credentials, NULL, 0, &copy, &version, &error), LX_ERR_IO);
    lx__credentials_close(&credentials);
}
END_TEST

START_TEST(renews_short_ones_before_they_expire)
{
    static const unsigned lives[] = {0, 1, 2, 10, 59, 60, 61, 299, 300, 301, 330, 331, 400};
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
        struct source source = {.credentials = {.token = "a"}};
        lx__credentials credentials = open_source(&source);
        uint64_t version, now = (uint64_t)time(NULL);
        source.credentials.expires = now + lives[i];
        ask(&credentials, 0, &version);
        ck_assert_uint_gt(credentials.renew_at, now);
        if (lives[i] > 3)
            ck_assert_uint_lt(credentials.renew_at, now + lives[i]);
        lx__credentials_close(&credentials);
    }
}
END_TEST

START_TEST(refuses_what_cannot_be_sent)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t version;
    lx_credentials copy;
    static const lx_credentials bad[] = {{.token = "a\r\nX: b"},
                                         {.token = "a b"},
                                         {.token = "\xc3\xbc"},
                                         {.access_key = "a"},
                                         {.secret_key = "a"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct source source = {.credentials = bad[i]};
        lx__credentials credentials = open_source(&source);
        unit_fails(lx__credentials_get(&credentials, NULL, 0, &copy, &version, &error),
                   LX_ERR_ARGUMENT);
        lx__credentials_close(&credentials);
    }
    struct source source = {.status = LX_OK};
    memset(source.credentials.token, 'a', sizeof source.credentials.token); /* without a NUL */
    lx__credentials credentials = open_source(&source);
    unit_fails(lx__credentials_get(&credentials, NULL, 0, &copy, &version, &error),
               LX_ERR_ARGUMENT);
    lx__credentials_close(&credentials);
}
END_TEST

static void *get_often(void *user)
{
    lx_credentials copy;
    uint64_t version = 0;
    for (int i = 0; i < 100; i++)
        if (lx__credentials_get(user, NULL, i % 10 == 0 ? version : 0, &copy, &version, NULL) !=
                LX_OK ||
            strcmp(copy.token, "a") != 0)
            return user;
    return NULL;
}

START_TEST(one_thread_renews)
{
    struct source source = {.credentials = {.token = "a"}, .sleep_us = 1000};
    lx__credentials credentials = open_source(&source);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, get_often, &credentials), 0);
    for (int i = 0; i < 8; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(source.most_at_a_time, 1);
    lx__credentials_close(&credentials);
}
END_TEST

START_TEST(has_none_by_default)
{
    lx__credentials credentials;
    lx__http_options options = {.get_credentials = get, .anonymous = true};
    uint64_t version;
    lx__credentials_open(&credentials, &options, NULL);
    ck_assert_str_eq(ask(&credentials, 0, &version), "");
    lx__credentials_close(&credentials);
}
END_TEST

static lx_status parse(const char *text, lx_credentials *credentials, lx_error *error)
{
    *credentials = (lx_credentials){.expires = 0};
    return lx__credentials_parse(text, strlen(text), "it", credentials, error);
}

START_TEST(parses_answers_of_services)
{
    lx_error error = LX_ERROR_INIT;
    lx_credentials got;
    unit_ok(parse("{\"Code\": \"Success\", \"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", "
                  "\"Token\": \"t\", \"Expiration\": \"2001-09-09T01:46:40Z\"}",
                  &got, &error));
    ck_assert_str_eq(got.access_key, "k");
    ck_assert_str_eq(got.secret_key, "s");
    ck_assert_str_eq(got.token, "t");
    ck_assert_uint_eq(got.expires, 1000000000);
    unit_ok(parse("{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", \"SessionToken\": \"t\", "
                  "\"Expiration\": \"2001-09-09T01:46:40.123+00:00\", \"Version\": 1}",
                  &got, &error));
    ck_assert_str_eq(got.token, "t");
    ck_assert_uint_eq(got.expires, 1000000000);
    unit_ok(parse("{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\"}", &got, &error));
    ck_assert_str_eq(got.token, "");
    ck_assert_uint_eq(got.expires, 0);
}
END_TEST

START_TEST(refuses_hostile_answers)
{
    static const char *const ends[] = {
        "",
        "}",
        "{\"AccessKeyId\": 1, \"SecretAccessKey\": \"s\"}",
        "{\"AccessKeyId\": \"k\"}",
        "{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", \"Token\": 1}",
        "{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", \"Token\": null}",
        "<html>"};
    lx_error error = LX_ERROR_INIT;
    lx_credentials got;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        unit_fails(parse(ends[i], &got, &error), LX_ERR_CORRUPT);
    char text[16384];
    static const char *const times[] = {"soon",
                                        "",
                                        "1001-01-01T1",
                                        "2001-09-09T01:46:40",
                                        "2001-09-09T01:46:40+02:00",
                                        "2001-09-09T01:46:40Z ",
                                        "1001-09-09T01:46:40Z",
                                        "99999999999-01-01T00:00:00Z"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(text, sizeof text,
                 "{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", \"Expiration\": \"%s\"}",
                 times[i]);
        unit_fails(parse(text, &got, &error), LX_ERR_CORRUPT);
    }
    snprintf(text, sizeof text, "{\"AccessKeyId\": \"%0*d\", \"SecretAccessKey\": \"s\"}",
             LX_CREDENTIALS_KEY_SIZE, 1);
    unit_fails(parse(text, &got, &error), LX_ERR_LIMIT);
    snprintf(text, sizeof text,
             "{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", \"Token\": \"%0*d\"}",
             LX_CREDENTIALS_TOKEN_SIZE, 1);
    unit_fails(parse(text, &got, &error), LX_ERR_LIMIT);
}
END_TEST

UNIT_MAIN("remote/http/credentials", asks_once, asks_again_if_refused, renews_early,
          renews_short_ones_before_they_expire, refuses_what_cannot_be_sent, one_thread_renews,
          has_none_by_default, parses_answers_of_services, refuses_hostile_answers)
