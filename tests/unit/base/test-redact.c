/* SPDX-License-Identifier: MIT */
#include "base/redact.h"

#include "../unit.h"

/** A URL, and what is shown of it. */
static const struct url {
    const char *url, *shown;
} urls[] = {
    {"https://host/a/b", "https://host/a/b"},
    {"https://user:SECRET@host:8/a", "https://host:8/a"},
    {"https://SECRET@host", "https://host"},
    {"https://u@b:SECRET@host/a@b", "https://host/a@b"},
    {"https://user:SEC/RET@host/a@b", "https://b"}, /* no more than that is sure */
    {"https://user:SEC?RET#x@host/a", "https://host/a"},
    {"https://user:1SEC/RET@host/a", "https://host/a"},
    {"https://user:SECRET", "https://user:SECRET"}, /* no password: a port that is wrong */
    {"https://[::1]:8/@a", "https://[::1]:8/@a"},
    {"https://host/a?sig=SECRET", "https://host/a"},
    {"https://host/a?SECRET:/@#'\"", "https://host/a"},
    {"https://host/a#SECRET?b", "https://host/a"},
    {"https://host?SECRET", "https://host"},
    {"HTTP://user:SECRET@host/a?SECRET#SECRET", "HTTP://host/a"},
    {"https://proxy/http://user:SECRET@host/a?SECRET", "https://proxy/http://host/a"},
    {"az://user:SECRET@container/a?SECRET", "az://container/a"},
    {"s3://bucket/a?b#c@d", "s3://bucket/a?b#c@d"},
    {"s3://KEY:SEC/RET+@bucket/a?b", "s3://bucket/a?b"},
    {"file:///a@b:c/d?e#f", "file:///a@b:c/d?e#f"},
    {"://?SECRET", "://"},
    {"://", "://"},
    {"/a/b?c#d@e", "/a/b?c#d@e"},
    {"", ""},
};

START_TEST(removes_secrets_of_a_url)
{
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        char text[128] = "";
        snprintf(text, sizeof text, "%s", urls[i].url);
        lx_url_redact(text);
        ck_assert_str_eq(text, urls[i].shown);
        for (size_t at = strlen(text); at < sizeof text; at++)
            ck_assert_int_eq(text[at], 0);
        lx_url_redact(text);
        ck_assert_str_eq(text, urls[i].shown);
    }
}
END_TEST

START_TEST(removes_spaces_only_if_the_url_is_the_whole_text)
{
    char url[] = "https://host/a b?sig=SEC RET", text[] = "cannot read https://host/a?SECRET now";
    lx_url_redact(url);
    ck_assert_str_eq(url, "https://host/a b");
    lx__redact(text);
    ck_assert_str_eq(text, "cannot read https://host/a now");
}
END_TEST

/** Checks a text that has each of the URLs in the place of two "*". */
static void check_text(const char *pattern)
{
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        char text[512] = "", expected[512] = "";
        for (const char *at = pattern; *at != '\0'; at++) {
            size_t used = strlen(text), shown = strlen(expected);
            snprintf(text + used, sizeof text - used, "%.*s", *at == '*' ? 99 : 1,
                     *at == '*' ? urls[i].url : at);
            snprintf(expected + shown, sizeof expected - shown, "%.*s", *at == '*' ? 99 : 1,
                     *at == '*' ? urls[i].shown : at);
        }
        lx__redact(text);
        if (strpbrk(urls[i].url, "'\"") == NULL)
            ck_assert_str_eq(text, expected);
        if (strstr(urls[i].shown, "SECRET") == NULL)
            ck_assert_ptr_null(strstr(text, "SECRET"));
    }
}

START_TEST(removes_secrets_of_urls_in_a_text)
{
    check_text("*");
    check_text("*: cannot open *.");
    check_text("'*' is not inside '*': move it");
    check_text("a (redirected to *), offset 5: * (*)");
    check_text("['*', \"*\"]; {*}");
}
END_TEST

START_TEST(errors_and_logs_have_no_secrets)
{
    lx_error error = LX_ERROR_INIT;
    char path[2000], text[2000];
    memset(path, 'x', sizeof path);
    memcpy(path, "https://u:SECRET@host/a?", 24);
    snprintf(path + sizeof path - 10, 10, "SECRET");
    lx_fail(&error, LX_ERR_IO, "cannot open https://h/a?SECRET\n%s: why", "SECRET");
    lx__redact(error.message);
    lx_error_locate(&error, path, NULL, LX_NONE, 5);
    lx_error_describe(&error, text, sizeof text);
    ck_assert_str_eq(text, "https://host/a, offset 5: cannot open https://h/a: why");
}
END_TEST

START_TEST(a_secret_that_the_end_of_a_message_cuts_is_removed)
{
    lx_error error = LX_ERROR_INIT;
    char padding[sizeof error.message - 15] = "";
    memset(padding, 'x', sizeof padding - 1);
    lx_fail(&error, LX_ERR_IO, "%s https://u:SECRET@host/a?SECRET", padding);
    ck_assert_ptr_null(strstr(error.message, "SEC"));
    ck_assert_ptr_nonnull(strstr(error.message, " https://host"));
}
END_TEST

UNIT_MAIN("base/redact", removes_secrets_of_a_url, removes_spaces_only_if_the_url_is_the_whole_text,
          removes_secrets_of_urls_in_a_text, errors_and_logs_have_no_secrets,
          a_secret_that_the_end_of_a_message_cuts_is_removed)
