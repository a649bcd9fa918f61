/* SPDX-License-Identifier: MIT */
#include "remote/http/http-options.h"

#include "remote/remote-options.h"

#include "../../unit.h"

static lx_status get(void *user, lx_credentials *credentials, lx_error *error)
{
    (void)user, (void)credentials, (void)error;
    return LX_OK;
}

START_TEST(sets_and_restores)
{
    lx_error error = LX_ERROR_INIT;
    lx_remote_options options = {.http = {.endpoint = NULL}};
    unit_ok(lx_remote_options_set_endpoint(&options, "https://a", &error));
    unit_ok(lx_remote_options_set_endpoint(&options, "http://b:1", &error));
    unit_ok(lx_remote_options_set_region(&options, "eu-west-1", &error));
    unit_ok(lx_remote_options_set_anonymous(&options, true, &error));
    unit_ok(lx_remote_options_set_credentials(&options, get, &error, &error));
    ck_assert_str_eq(options.http.endpoint, "http://b:1");
    ck_assert_str_eq(options.http.region, "eu-west-1");
    ck_assert(options.http.anonymous);
    ck_assert(options.http.get_credentials == get && options.http.user == &error);
    unit_ok(lx_remote_options_set_endpoint(&options, NULL, &error));
    unit_ok(lx_remote_options_set_region(&options, NULL, &error));
    ck_assert_ptr_null(options.http.endpoint);
    ck_assert_ptr_null(options.http.region);
    unit_ok(lx_remote_options_set_endpoint(&options, "https://a", &error));
    lx__http_options_clear(&options.http);
    ck_assert_ptr_null(options.http.endpoint);
}
END_TEST

START_TEST(sets_the_nodes_of_a_tier)
{
    static const char *const urls[] = {"http://a", "http://b:8080", "https://c", NULL};
    lx_error error = LX_ERROR_INIT;
    lx_remote_options options = {.http = {.endpoint = NULL}};
    unit_ok(lx_remote_options_set_tier(&options, urls, 2, &error));
    ck_assert_uint_eq(options.http.tier.count, 2);
    unit_fails(lx_remote_options_set_tier(&options, urls, 3, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_remote_options_set_tier(&options, urls, LX_MAX_TIER_NODES + 1, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_remote_options_set_tier(&options, urls + 3, 1, &error), "urls");
    unit_refuses_null(lx_remote_options_set_tier(&options, NULL, 1, &error), "urls");
    unit_refuses_null(lx_remote_options_set_tier(NULL, urls, 1, &error), "options");
    ck_assert_str_eq(options.http.tier.nodes[1].target, "::b:8080");
    unit_ok(lx_remote_options_set_tier(&options, NULL, 0, &error));
    ck_assert_uint_eq(options.http.tier.count, 0);
    unit_ok(lx_remote_options_set_tier(&options, urls, 1, &error));
    lx__http_options_clear(&options.http);
}
END_TEST

START_TEST(refuses_invalid_values)
{
    lx_error error = LX_ERROR_INIT;
    lx_remote_options options = {.http = {.endpoint = NULL}};
    unit_fails(lx_remote_options_set_endpoint(&options, "host:9000", &error), LX_ERR_ARGUMENT);
    unit_fails(lx_remote_options_set_endpoint(&options, "", &error), LX_ERR_ARGUMENT);
    unit_fails(lx_remote_options_set_region(&options, "", &error), LX_ERR_ARGUMENT);
    unit_fails(lx_remote_options_set_region(&options, "evil.com/", &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_remote_options_set_endpoint(NULL, "https://a", &error), "options");
    unit_refuses_null(lx_remote_options_set_region(NULL, "a", &error), "options");
    unit_refuses_null(lx_remote_options_set_anonymous(NULL, true, &error), "options");
    unit_refuses_null(lx_remote_options_set_credentials(NULL, get, NULL, &error), "options");
}
END_TEST

UNIT_MAIN("remote/http/http-options", sets_and_restores, sets_the_nodes_of_a_tier,
          refuses_invalid_values)
