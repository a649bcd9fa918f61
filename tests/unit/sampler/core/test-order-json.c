/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "../orders.h"
#include "sampler/core/order-json.h"

/** The order's JSON must be this text. */
static void expect_json(lx_order *order, const char *expected)
{
    json_t *json = lx__order_to_json(order);
    char *text = lx__json_text(json, JSON_COMPACT);
    ck_assert_str_eq(text, expected);
    lx__free(text);
    json_decref(json);
    lx_order_unref(order);
}

START_TEST(descriptions_contain_all_that_determines_indices)
{
    expect_json(make_order("sequential", 10, 0, 0),
                "{\"kind\":\"sequential\",\"formula\":1,\"length\":10,\"window\":1,\"stride\":1}");
    expect_json(make_order("sequential", 10, 4, 2),
                "{\"kind\":\"sequential\",\"formula\":1,\"length\":20,\"window\":4,\"stride\":2,"
                "\"indices\":10}");
    expect_json(make_order("random", 10, 42, 0),
                "{\"kind\":\"random\",\"formula\":1,\"length\":10,\"seed\":42}");
    expect_json(make_order("shuffle", UINT64_MAX, 1ull << 63, 0),
                "{\"kind\":\"shuffle\",\"formula\":1,\"length\":\"18446744073709551615\","
                "\"seed\":\"9223372036854775808\"}");
}
END_TEST

/** Matching @p text must fail, with @p part in the message; NULL: must succeed. */
static void expect_difference(const char *text, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("shuffle", 60000, 42, 0);
    json_t *json;
    unit_ok(lx__json_parse(text, strlen(text), &json, &error));
    lx_status status = lx__order_match_json(order, json, &error);
    ck_assert_int_eq(status, part != NULL ? LX_ERR_MISMATCH : LX_OK);
    if (part != NULL)
        ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    json_decref(json);
    lx_order_unref(order);
}

START_TEST(names_the_first_difference)
{
    expect_difference("{\"kind\":\"shuffle\",\"formula\":1,\"length\":60000,\"seed\":42}", NULL);
    expect_difference("{\"seed\":42,\"length\":60000,\"formula\":1,\"kind\":\"shuffle\"}", NULL);
    expect_difference("{\"kind\":\"random\",\"formula\":1,\"length\":5,\"seed\":1}",
                      "\"order.kind\" is \"random\" in the state, but \"shuffle\" here");
    expect_difference("{\"kind\":\"shuffle\",\"formula\":2,\"length\":5,\"seed\":1}",
                      "\"order.formula\" is 2 in the state, but 1 here");
    expect_difference("{\"kind\":\"shuffle\",\"formula\":1,\"length\":50000,\"seed\":42}",
                      "\"order.length\" is 50000 in the state, but 60000 here");
    expect_difference("{\"kind\":\"shuffle\",\"formula\":1,\"length\":60000,\"seed\":43}",
                      "\"order.seed\" is 43 in the state, but 42 here");
    expect_difference("{\"kind\":\"shuffle\",\"formula\":1,\"length\":60000}",
                      "\"order.seed\" is missing in the state, but 42 here");
    expect_difference("{\"kind\":\"shuffle\",\"formula\":1,\"length\":60000,\"seed\":42,\"x\":[1]}",
                      "\"order.x\" is [1] in the state, but unknown here");
    expect_difference("{\"kind\":\"shuffle\",\"formula\":1,\"length\":60000,\"seed\":42.0}",
                      "\"order.seed\" is 42.0 in the state");
    expect_difference("{\"kind\":\"shuffle\",\"formula\":1,\"length\":60000,\"seed\":\"42\"}",
                      "\"order.seed\" is \"42\" in the state");
}
END_TEST

START_TEST(truncates_long_values)
{
    char text[2000], kind[1500];
    memset(kind, 'k', sizeof kind);
    kind[sizeof kind - 1] = '\0';
    snprintf(text, sizeof text, "{\"kind\":\"%s\"}", kind);
    expect_difference(text, "kkk... in the state, but \"shuffle\" here");
}
END_TEST

UNIT_MAIN("sampler/order-json", descriptions_contain_all_that_determines_indices,
          names_the_first_difference, truncates_long_values)
