/* SPDX-License-Identifier: MIT */
#include "importer/import-state.h"

#include <string.h>

#include <loaderx/card.h>

#include "base/error.h"
#include "base/json.h"

#define STATE_VERSION 1
#define KEEP "to keep the dataset as it is, remove the entry " LX_CARD_IMPORT " of its card"

static json_t *print_point(const lx__import_point *point)
{
    return json_pack("[I, I, I, I]", (json_int_t)point->length, (json_int_t)point->inputs,
                     (json_int_t)point->before, (json_int_t)point->bad);
}

char *lx__import_state_print(const lx__import_state *self)
{
    json_t *state = json_pack("{s:i, s:I, s:I, s:I, s:I, s:o, s:o}", "version", STATE_VERSION,
                              "digest", (json_int_t)self->digest, "classes",
                              (json_int_t)self->classes, "changes", (json_int_t)self->changes,
                              "first", (json_int_t)self->first, "done", print_point(&self->done),
                              "next", print_point(&self->next));
    char *text = state != NULL ? lx__json_text(state, JSON_COMPACT) : NULL;
    json_decref(state);
    return text;
}

/** Reads a point, which must not lie before @p from. */
static lx_status read_point(const json_t *state, const char *key, const lx__import_point *from,
                            lx__import_point *point, lx_error *error)
{
    json_t *list;
    uint64_t *const numbers[] = {&point->length, &point->inputs, &point->before, &point->bad};
    lx_status status = lx__json_get(state, key, JSON_ARRAY, &list, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < 4; i++) {
        const json_t *number = json_array_get(list, i);
        if (!lx__json_is_integer_in(number, 0, INT64_MAX))
            return lx_fail(error, LX_ERR_CORRUPT, "'%s' is not a list of four numbers", key);
        *numbers[i] = (uint64_t)json_integer_value(number);
    }
    if (json_array_size(list) != 4 || point->length < point->before ||
        point->length < from->length || point->inputs < from->inputs ||
        point->before < from->before || point->bad < from->bad)
        return lx_fail(error, LX_ERR_CORRUPT, "the numbers of '%s' contradict each other", key);
    return LX_OK;
}

static lx_status read_state(lx__import_state *self, const json_t *state, lx_error *error)
{
    lx_status status = lx__json_get_integer(state, "digest", 0, UINT32_MAX, &self->digest, error);
    if (status == LX_OK)
        status = lx__json_get_integer(state, "classes", 0, UINT32_MAX, &self->classes, error);
    if (status == LX_OK)
        status = lx__json_get_integer(state, "changes", 0, INT64_MAX, &self->changes, error);
    if (status == LX_OK)
        status = lx__json_get_integer(state, "first", 0, INT64_MAX, &self->first, error);
    const lx__import_point begin = {.length = self->first, .before = self->first};
    if (status == LX_OK)
        status = read_point(state, "done", &begin, &self->done, error);
    return status == LX_OK ? read_point(state, "next", &self->done, &self->next, error) : status;
}

lx_status lx__import_state_parse(lx__import_state *self, const char *text, lx_error *error)
{
    json_t *state = NULL;
    uint64_t version;
    lx_error why = LX_ERROR_INIT;
    *self = (lx__import_state){0};
    lx_status status = lx__json_parse(text, strlen(text), &state, &why);
    if (status == LX_OK)
        status = lx__json_get_integer(state, "version", 0, INT64_MAX, &version, &why);
    if (status == LX_OK && version != STATE_VERSION)
        status = lx_fail(&why, LX_ERR_UNSUPPORTED,
                         "a newer version of the library began this import: continue with it");
    if (status == LX_OK)
        status = read_state(self, state, &why);
    json_decref(state);
    if (status != LX_ERR_CORRUPT && status != LX_ERR_LIMIT) {
        lx__error_propagate(error, &why);
        return status;
    }
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the entry " LX_CARD_IMPORT " of the card, from which an interrupted import "
                   "continues, is damaged (%.200s): remove the dataset and import again; " KEEP,
                   why.message);
}

lx_status lx__import_state_match(lx__import_state *self, uint64_t length, uint64_t changes,
                                 lx_error *error)
{
    /* The entry of a new dataset does not have the number of changes yet, but an empty dataset has
     * no records that could have been replaced. */
    if ((changes != self->changes && self->next.length != 0) ||
        (length != self->done.length && length != self->next.length))
        return lx_fail(error, LX_ERR_MISMATCH,
                       "records were appended, replaced or deleted after an import into the "
                       "dataset was interrupted, so it cannot continue: remove the dataset and "
                       "import again; " KEEP);
    self->changes = changes;
    if (length == self->next.length)
        self->done = self->next;
    self->next = self->done;
    return LX_OK;
}
