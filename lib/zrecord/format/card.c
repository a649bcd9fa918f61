/* SPDX-License-Identifier: MIT */
#include "zrecord/format/card.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "zrecord/format/schema.h"

struct lx_card {
    size_t count;
    lx_card_entry entries[]; /**< Followed by the keys and texts. */
};

/* ---- in meta.json */

static lx_status check_key(const char *key, lx_error *error)
{
    return lx__field_name_valid(key)
               ? LX_OK
               : lx_fail(error, LX_ERR_ARGUMENT,
                         "the key '%.80s' of the card is invalid: use 1 to %d of the characters "
                         "A-Z a-z 0-9 _ - .",
                         key, LX_MAX_FIELD_NAME);
}

static lx_status check_total(const json_t *card, uint64_t bytes, lx_error *error)
{
    if (json_object_size(card) > LX_MAX_CARD_ENTRIES)
        return lx_fail(error, LX_ERR_ARGUMENT, "the card has %zu entries, but at most %d fit",
                       json_object_size(card), LX_MAX_CARD_ENTRIES);
    if (bytes > LX_MAX_CARD_BYTES)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the card has %llu bytes, but at most %d fit: shorten a text, or name a "
                       "file or an address that contains it",
                       (unsigned long long)bytes, LX_MAX_CARD_BYTES);
    return LX_OK;
}

lx_status lx__card_check(const json_t *card, lx_error *error)
{
    const char *key;
    json_t *text;
    uint64_t bytes = 0;
    json_object_foreach((json_t *)card, key, text)
    {
        lx_status status = check_key(key, error);
        if (status == LX_OK && !json_is_string(text))
            status = lx_fail(error, LX_ERR_ARGUMENT, "the entry '%s' of the card is not a string",
                             key);
        if (status != LX_OK)
            return status;
        bytes += strlen(key) + json_string_length(text);
    }
    return check_total(card, bytes, error);
}

static lx_status set(json_t *card, const lx_card_entry *entry, lx_error *error)
{
    if (entry->key == NULL)
        return lx__fail_null(error, "key");
    lx_status status = check_key(entry->key, error);
    if (status == LX_OK && entry->text != NULL && !lx__utf8_valid(entry->text))
        status = lx_fail(error, LX_ERR_ARGUMENT, "the entry '%s' of the card is not valid UTF-8",
                         entry->key);
    if (status != LX_OK)
        return status;
    if (entry->text == NULL)
        (void)json_object_del(card, entry->key); /* fails only if there is no such entry */
    else if (json_object_set_new(card, entry->key, json_string(entry->text)) != 0)
        return lx__fail_memory(error, "a card");
    return LX_OK;
}

lx_status lx__card_change(json_t *card, const lx_card_entry *entries, size_t count, lx_error *error)
{
    if (entries == NULL && count != 0)
        return lx__fail_null(error, "entries");
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = set(card, &entries[i], error);
    return status == LX_OK ? lx__card_check(card, error) : status;
}

/* ---- the public copy */

/** Returns the size of a copy. */
static size_t size_of(const json_t *card)
{
    const char *key;
    json_t *text;
    size_t size = sizeof(lx_card) + json_object_size(card) * sizeof(lx_card_entry);
    json_object_foreach((json_t *)card, key, text)
    {
        size += strlen(key) + 1 + json_string_length(text) + 1;
    }
    return size;
}

/** Appends a text; returns where it begins. */
static const char *put(char **end, const char *text)
{
    char *start = *end;
    size_t size = strlen(text) + 1;
    memcpy(start, text, size);
    *end += size;
    return start;
}

lx_status lx__card_copy(const json_t *card, lx_card **copy, lx_error *error)
{
    const char *key;
    json_t *text;
    lx_card *made = lx__alloc(size_of(card));
    if (made == NULL)
        return lx__fail_memory(error, "a card");
    char *end = (char *)&made->entries[json_object_size(card)];
    made->count = 0;
    json_object_foreach((json_t *)card, key, text)
    {
        lx_card_entry *entry = &made->entries[made->count++];
        entry->key = put(&end, key);
        entry->text = put(&end, json_string_value(text));
    }
    *copy = made;
    return LX_OK;
}

void lx_card_free(lx_card *card)
{
    lx__free(card);
}

size_t lx_card_get_count(const lx_card *card)
{
    return card->count;
}

const lx_card_entry *lx_card_get_entry(const lx_card *card, size_t position)
{
    return position < card->count ? &card->entries[position] : NULL;
}

const char *lx_card_get_text(const lx_card *card, const char *key)
{
    for (size_t i = 0; i < card->count; i++)
        if (strcmp(card->entries[i].key, key) == 0)
            return card->entries[i].text;
    return NULL;
}
