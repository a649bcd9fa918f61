/* SPDX-License-Identifier: MIT */
#include "sampler/core/saved-state.h"

#include <string.h>

#include "../../unit.h"
#include "base/alloc.h"

START_TEST(numbers_keep_all_their_bits)
{
    static const uint64_t numbers[] = {0, 42, (1ull << 53) + 1, INT64_MAX, 1ull << 63, UINT64_MAX};
    lx_error error = LX_ERROR_INIT;
    for (int i = 0; i < 6; i++) {
        json_t *object = json_pack("{s:o}", "n", lx__state_number(numbers[i]));
        ck_assert_int_eq(json_is_string(json_object_get(object, "n")), numbers[i] > INT64_MAX);
        uint64_t back;
        unit_ok(lx__state_get_number(object, "n", &back, &error));
        ck_assert_uint_eq(back, numbers[i]);
        json_decref(object);
    }
}
END_TEST

START_TEST(rejects_invalid_numbers)
{
    static const char *const bad[] = {"{}",
                                      "{\"n\": -1}",
                                      "{\"n\": 1.0}",
                                      "{\"n\": null}",
                                      "{\"n\": \"\"}",
                                      "{\"n\": \"42\"}",
                                      "{\"n\": \"x\"}",
                                      "{\"n\": \"18446744073709551616\"}",
                                      "{\"n\": \"99999999999999999999999\"}",
                                      "{\"n\": \"09223372036854775808\"}",
                                      "{\"n\": \"+9223372036854775808\"}",
                                      "{\"n\": \"9223372036854775808 \"}",
                                      "{\"n\": \"-9223372036854775808\"}"};
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *object;
        uint64_t value;
        unit_ok(lx__json_parse(bad[i], strlen(bad[i]), &object, &error));
        unit_fails(lx__state_get_number(object, "n", &value, &error), LX_ERR_CORRUPT);
        json_decref(object);
    }
}
END_TEST

/** The state {"n": 1, "inner": {"b": 1, "a": [2.5, "x"]}} of a thing, version 3, as written. */
static void write_state(char *text, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    json_t *state = lx__state_new("thing", 3);
    json_object_set_new(state, "n", json_integer(1));
    json_object_set_new(state, "inner", json_pack("{s:i, s:[f,s]}", "b", 1, "a", 2.5, "x"));
    unit_ok(lx__state_write(state, text, size, NULL, &error));
    json_decref(state);
}

static lx_status read_state(const char *text, lx_error *error)
{
    json_t *state;
    lx_status status = lx__state_parse(text, "thing", 3, &state, error);
    if (status != LX_OK)
        return status;
    status = lx__state_check(state, error);
    json_decref(state);
    return status;
}

START_TEST(reads_a_state_in_any_spelling)
{
    lx_error error = LX_ERROR_INIT;
    char text[500];
    write_state(text, sizeof text);
    unit_ok(read_state(text, &error));

    json_t *object;
    unit_ok(lx__json_parse(text, strlen(text), &object, &error));
    char *spelled = lx__json_text(object, JSON_INDENT(4) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    unit_ok(read_state(spelled, &error));
    lx__free(spelled);
    json_decref(object);
}
END_TEST

START_TEST(detects_any_change)
{
    lx_error error = LX_ERROR_INIT;
    char text[500], changed[500];
    write_state(text, sizeof text);
    for (size_t i = 0; i < strlen(text); i++) {
        for (const char *with = "0123456789aZ\" {}[],:"; *with != '\0'; with++) {
            if (text[i] == *with)
                continue;
            strcpy(changed, text);
            changed[i] = *with;
            lx_error_clear(&error);
            ck_assert_msg(read_state(changed, &error) < 0, "%s", changed);
            ck_assert_int_ne(error.message[0], '\0');
        }
        memcpy(changed, text, i);
        changed[i] = '\0';
        ck_assert_int_lt(read_state(changed, NULL), 0);
    }
}
END_TEST

START_TEST(distinguishes_states)
{
    lx_error error = LX_ERROR_INIT;
    unit_fails(read_state("{}", &error), LX_ERR_CORRUPT);
    unit_fails(read_state("{\"state\": 1}", &error), LX_ERR_CORRUPT);
    unit_fails(read_state("{\"state\": \"thing\"}", &error), LX_ERR_CORRUPT);
    unit_fails(read_state("{\"state\": \"thing\", \"version\": \"3\"}", &error), LX_ERR_CORRUPT);
    unit_fails(read_state("{\"state\": \"thing\", \"version\": 3}", &error), LX_ERR_CORRUPT);
    unit_fails(read_state("{\"state\": \"thing\", \"version\": 4}", &error), LX_ERR_UNSUPPORTED);
    unit_fails(read_state("{\"state\": \"other\", \"version\": 3}", &error), LX_ERR_MISMATCH);

    ck_assert_int_eq(read_state("{\"state\": \"thing\", \"version\": 2}", &error),
                     LX_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "version 2, but this library reads version 3"));
}
END_TEST

START_TEST(returns_the_length_as_snprintf_does)
{
    lx_error error = LX_ERROR_INIT;
    json_t *state = lx__state_new("thing", 1);
    char text[200];
    size_t length = 0;
    unit_ok(lx__state_write(state, NULL, 0, &length, &error));
    memset(text, 'x', sizeof text);
    unit_fails(lx__state_write(state, text, length, &length, &error), LX_ERR_LIMIT);
    ck_assert_int_eq(text[0], '\0');
    ck_assert_int_eq(text[length], 'x');
    unit_ok(lx__state_write(state, text, length + 1, &length, &error));
    ck_assert_uint_eq(strlen(text), length);
    json_decref(state);
}
END_TEST

START_TEST(shows_where_long_values_differ)
{
    char there[200], here[200], expected[200];
    for (int i = 0; i < 180; i++) {
        lx_error error = LX_ERROR_INIT;
        memset(there, 'k', sizeof there);
        there[180] = '\0';
        memcpy(here, there, sizeof here);
        here[i] = 'x';
        json_t *theirs = json_string(there), *ours = json_string(here);
        ck_assert_int_eq(lx__state_match("key", theirs, ours, &error), LX_ERR_MISMATCH);
        int shown = i < 12 ? i : 12; /* the characters before the difference */
        snprintf(expected, sizeof expected, "but %s%.*sx%s", i < 12 ? "\"" : "...", shown, there,
                 i < 179 ? "k" : "\" here");
        ck_assert_msg(strstr(error.message, expected) != NULL, "%s", error.message);
        json_decref(theirs);
        json_decref(ours);
    }
}
END_TEST

UNIT_MAIN("sampler/saved-state", numbers_keep_all_their_bits, rejects_invalid_numbers,
          reads_a_state_in_any_spelling, detects_any_change, distinguishes_states,
          returns_the_length_as_snprintf_does, shows_where_long_values_differ)
