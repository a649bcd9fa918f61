/* SPDX-License-Identifier: MIT */
/* The entry of the card from which an interrupted import continues. */
#include "importer/import-state.h"

#include "base/alloc.h"
#include "imports.h"

static const lx__import_state usual = {.digest = 4000000000,
                                       .classes = 7,
                                       .changes = INT64_MAX,
                                       .first = 5,
                                       .done = {100, 2, 60, 1},
                                       .next = {200, 3, 150, 2}};

START_TEST(a_state_is_kept)
{
    lx_error error = LX_ERROR_INIT;
    lx__import_state state;
    char *text = lx__import_state_print(&usual);
    unit_ok(lx__import_state_parse(&state, text, &error));
    ck_assert_int_eq(memcmp(&state, &usual, sizeof state), 0);
    lx__free(text);
}
END_TEST

static bool matches(lx__import_state state, uint64_t length, uint64_t changes, uint64_t inputs)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx__import_state_match(&state, length, changes, &error);
    if (status == LX_ERR_MISMATCH)
        ck_assert_ptr_nonnull(strstr(error.message, "remove"));
    else
        ck_assert(status == LX_OK && state.done.length == length && state.done.inputs == inputs &&
                  memcmp(&state.done, &state.next, sizeof state.done) == 0);
    return status == LX_OK;
}

START_TEST(only_the_states_before_and_after_the_commit_match)
{
    ck_assert(matches(usual, 100, INT64_MAX, 2));
    ck_assert(matches(usual, 200, INT64_MAX, 3));
    ck_assert(!matches(usual, 0, INT64_MAX, 0));
    ck_assert(!matches(usual, 99, INT64_MAX, 0));
    ck_assert(!matches(usual, 150, INT64_MAX, 0));
    ck_assert(!matches(usual, 201, INT64_MAX, 0));
    ck_assert(!matches(usual, 100, 0, 0));
    ck_assert(!matches(usual, 200, 5, 0));
    const lx__import_state new = {.digest = 1};
    ck_assert(matches(new, 0, 17, 0));
    ck_assert(!matches(new, 1, 17, 0));
}
END_TEST

#define TEXT(first, done, next)                                                                    \
    "{\"version\":1,\"digest\":1,\"classes\":0,\"changes\":3,\"first\":" first ",\"done\":" done   \
    ",\"next\":" next "}"

START_TEST(other_texts_are_refused)
{
    lx_error error = LX_ERROR_INIT;
    static const char *const texts[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"version\":1}",
        "{\"version\":\"1\"}",
        TEXT("5", "[5,0,5,0]", "[5,0,5,0]") "x",
        TEXT("-1", "[5,0,5,0]", "[5,0,5,0]"),
        TEXT("5.0", "[5,0,5,0]", "[5,0,5,0]"),
        TEXT("5", "[4,0,4,0]", "[5,0,5,0]"),
        TEXT("5", "[6,0,4,0]", "[6,0,5,0]"),
        TEXT("5", "[5,0,6,0]", "[6,0,6,0]"),
        TEXT("5", "[6,0,5,0]", "[5,0,5,0]"),
        TEXT("5", "[6,1,5,0]", "[6,0,5,0]"),
        TEXT("5", "[6,0,5,1]", "[6,0,5,0]"),
        TEXT("5", "[6,0,6,0]", "[6,0,5,0]"),
        TEXT("5", "[5,0,5]", "[5,0,5,0]"),
        TEXT("5", "[5,0,5,0,0]", "[5,0,5,0]"),
        TEXT("5", "[5,0,5,-1]", "[5,0,5,0]"),
        TEXT("5", "[5,0,5,\"0\"]", "[5,0,5,0]"),
        TEXT("5", "[5,0,5,0]", "{}"),
        TEXT("5", "[5,0,5,0]", "[5,0,5,9223372036854775808]"),
    };
    lx__import_state state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        error = (lx_error)LX_ERROR_INIT;
        ck_assert_int_eq(lx__import_state_parse(&state, texts[i], &error), LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, "remove the dataset"));
    }
    unit_ok(lx__import_state_parse(&state, TEXT("5", "[5,0,5,0]", "[6,0,5,0]"), &error));
    unit_fails(lx__import_state_parse(&state, "{\"version\":2}", &error), LX_ERR_UNSUPPORTED);
}
END_TEST

UNIT_MAIN("importer/import-state", a_state_is_kept,
          only_the_states_before_and_after_the_commit_match, other_texts_are_refused)
