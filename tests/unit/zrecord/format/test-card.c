/* SPDX-License-Identifier: MIT */
/* The card in meta.json: doc/zrecord-format.md, 4.2. */
#include "zrecord/format/card.h"

#include "../meta-text.h"

#define CARD(card) "\"length\": 0", "\"length\": 0, \"card\": " card

static const struct edit edits[] = {
    {"an empty card", CARD("{}"), LX_OK, ""},
    {"a card", CARD("{\"source\": \"here\", \"license\": \"\"}"), LX_OK, ""},
    {"a text that is not ASCII", CARD("{\"source\": \"\xc3\xa4\"}"), LX_OK, ""},
    {"a key of 64", CARD("{\"" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "\": \"\"}"), LX_OK, ""},
    {"a key of 65", CARD("{\"" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "x\": \"\"}"), BAD, "key"},
    {"a key of nothing", CARD("{\"\": \"x\"}"), BAD, "key"},
    {"a key with a space", CARD("{\"a b\": \"x\"}"), BAD, "'a b'"},
    {"a key twice", CARD("{\"a\": \"x\", \"a\": \"x\"}"), BAD, "duplicate"},
    {"a number", CARD("{\"a\": 1}"), BAD, "'a'"},
    {"null", CARD("{\"a\": null}"), BAD, "'a'"},
    {"an array for the card", CARD("[]"), BAD, "card"},
    {"null for the card", CARD("null"), BAD, "card"},
    {"bytes that are not UTF-8", CARD("{\"a\": \"\xff\"}"), BAD, "0xff"},
    {"the character U+0000", CARD("{\"a\": \"\\u0000\"}"), BAD, ""},
};

START_TEST(meta_json_is_checked)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const struct edit *edit = &edits[i];
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        char *text = edited(edit);
        lx_status status = parse(&meta, text, strlen(text), &error);
        ck_assert_msg(status == edit->status, "%s: %s", edit->name, error.message);
        ck_assert_msg(strstr(error.message, edit->said) != NULL, "%s: %s", edit->name,
                      error.message);
        lx__meta_free(&meta);
        free(text);
    }
}
END_TEST

START_TEST(a_change_sets_and_removes)
{
    lx_error error = LX_ERROR_INIT;
    lx_card *copy;
    json_t *card = json_object();
    const lx_card_entry set[] = {{"b", "1"}, {"a", ""}, {"c", "3"}},
                        change[] = {{"b", NULL}, {"absent", NULL}, {"c", "\xc3\xa4"}};
    unit_ok(lx__card_change(card, set, 3, &error));
    unit_ok(lx__card_change(card, change, 3, &error));
    unit_ok(lx__card_change(card, NULL, 0, &error));
    unit_ok(lx__card_copy(card, &copy, &error));
    json_decref(card);
    ck_assert_uint_eq(lx_card_get_count(copy), 2);
    ck_assert_str_eq(lx_card_get_entry(copy, 0)->key, "a");
    ck_assert_str_eq(lx_card_get_entry(copy, 0)->text, "");
    ck_assert_str_eq(lx_card_get_entry(copy, 1)->key, "c");
    ck_assert_ptr_null(lx_card_get_entry(copy, 2));
    ck_assert_str_eq(lx_card_get_text(copy, "c"), "\xc3\xa4");
    ck_assert_ptr_null(lx_card_get_text(copy, "b"));
    lx_card_free(copy);
    lx_card_free(NULL);
    unit_ok(lx__card_copy(NULL, &copy, &error));
    ck_assert_uint_eq(lx_card_get_count(copy), 0);
    lx_card_free(copy);
}
END_TEST

START_TEST(limits)
{
    lx_error error = LX_ERROR_INIT;
    json_t *card = json_object();
    char keys[LX_MAX_CARD_ENTRIES + 1][4];
    lx_card_entry entries[LX_MAX_CARD_ENTRIES + 1];
    for (int i = 0; i <= LX_MAX_CARD_ENTRIES; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", i);
        entries[i] = (lx_card_entry){keys[i], "x"};
    }
    unit_ok(lx__card_change(card, entries, LX_MAX_CARD_ENTRIES, &error));
    unit_fails(lx__card_change(card, &entries[LX_MAX_CARD_ENTRIES], 1, &error), LX_ERR_ARGUMENT);
    json_object_clear(card);
    char *text = calloc(1, LX_MAX_CARD_BYTES + 1);
    memset(text, 'x', LX_MAX_CARD_BYTES - 1);
    unit_ok(lx__card_change(card, &(lx_card_entry){"k", text}, 1, &error));
    unit_fails(lx__card_change(card, &(lx_card_entry){"l", ""}, 1, &error), LX_ERR_ARGUMENT);
    free(text);
    unit_fails(lx__card_change(card, &(lx_card_entry){"a=b", "x"}, 1, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__card_change(card, &(lx_card_entry){"a", "\xff"}, 1, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx__card_change(card, &(lx_card_entry){NULL, "x"}, 1, &error), "key");
    unit_refuses_null(lx__card_change(card, NULL, 1, &error), "entries");
    json_decref(card);
}
END_TEST

UNIT_MAIN("zrecord/card", meta_json_is_checked, a_change_sets_and_removes, limits)
