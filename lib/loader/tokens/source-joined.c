/* SPDX-License-Identifier: MIT */
/* Joins documents, each followed by a separator, and cuts the sequence into samples. A *place* is
 * the position of a token or separator in the sequence. */
#include <inttypes.h>

#include <loaderx/packing.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/tokens/packed-row.h"
#include "loader/tokens/token-options.h"
#include "sampler/core/saved-state.h"

/* Version of the formula in doc/packing.md. A formula never changes; a different way of cutting
 * gets a new number. */
#define FORMULA 1

/* Documents per stored start: the starts take one byte per document. */
#define STRIDE 8

typedef struct joined_source {
    lx_source source;
    lx__row_format format;
    int64_t separator;
    bool separated;
    uint64_t sequence_length;
    uint64_t places;  /* number of tokens and separators */
    uint64_t *starts; /* place of every STRIDEth document */
    uint64_t documents;
    uint32_t lengths_crc;
} joined_source;

/* ---- reading */

/** A place and its document. */
typedef struct spot {
    uint64_t document;
    uint64_t first, length; /* first token and number of tokens of the document */
    uint64_t at;            /* offset of the place in the document; the separator is at offset
                               length */
} spot;

static uint64_t places_of(const joined_source *self, uint64_t length)
{
    return length + self->separated;
}

/** Finds the document of a valid place. */
static lx_status find(const joined_source *self, uint64_t place, spot *cursor, lx_error *error)
{
    uint64_t low = 0, high = (self->documents - 1) / STRIDE + 1;
    while (high - low > 1) { /* finds the last start at or before the place */
        uint64_t middle = low + (high - low) / 2;
        if (self->starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    cursor->at = place - self->starts[low];
    for (cursor->document = low * STRIDE;; cursor->document++) {
        lx_status status = lx_tokens_get_document(self->format.tokens, cursor->document,
                                                  &cursor->first, &cursor->length, error);
        if (status != LX_OK || cursor->at < places_of(self, cursor->length))
            return status;
        cursor->at -= places_of(self, cursor->length);
    }
}

/** Adds as much of the document as fits in the row, and moves to the next document. */
static lx_status add_piece(const joined_source *self, spot *cursor, lx__row *row, lx_error *error)
{
    uint64_t from = row->filled, room = self->format.length - from;
    uint64_t left = cursor->length - cursor->at;
    lx_status status = LX_OK;
    if (left != 0)
        status = lx__row_add_tokens(&self->format, row, cursor->first + cursor->at,
                                    left < room ? left : room, error);
    if (status == LX_OK && self->separated && left < room)
        lx__row_add_number(&self->format, row, self->separator, 1);
    lx__row_end_piece(row, from);
    if (status != LX_OK || row->filled == self->format.length)
        return status;
    cursor->at = 0;
    cursor->document++;
    return lx_tokens_get_document(self->format.tokens, cursor->document, &cursor->first,
                                  &cursor->length, error);
}

static lx_status fill_row(const joined_source *self, spot *cursor, lx__row *row, lx_error *error)
{
    lx_status status = LX_OK;
    while (status == LX_OK && row->filled < self->format.length)
        status = add_piece(self, cursor, row, error);
    return status;
}

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    const joined_source *self = (const joined_source *)source;
    spot now, next;
    size_t at = 0;
    lx_status status = count != 0 ? find(self, indices[0] * self->sequence_length, &next, error)
                                  : LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        lx__row row = lx__row_begin(&self->format, targets, i);
        now = next;
        at = i + 1;
        if (at < count) {
            status = find(self, indices[at] * self->sequence_length, &next, error);
            if (status == LX_OK && row.tokens != NULL && next.at < next.length)
                lx__tokens_prefetch(self->format.tokens, next.first + next.at, self->format.length);
        }
        if (status == LX_OK) {
            at = i;
            status = fill_row(self, &now, &row, error);
        }
    }
    if (status != LX_OK)
        lx_error_locate(error, NULL, NULL, indices[at], LX_NONE);
    return status;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const joined_source *self = (const joined_source *)source;
    spot next;
    for (size_t i = 0; wanted[0] && i < count; i++) {
        lx__row row = {.ahead = true};
        if (find(self, indices[i] * self->sequence_length, &next, NULL) == LX_OK)
            (void)fill_row(self, &next, &row, NULL); /* fill() will report the error */
    }
    return wanted[0];
}

static int describe(const lx_source *source, json_t *object)
{
    const joined_source *self = (const joined_source *)source;
    int failed = json_object_set_new(object, "formula", json_integer(FORMULA));
    failed |= lx__row_format_describe(&self->format, self->places, self->lengths_crc, object);
    failed |= json_object_set_new(object, "sequence_length",
                                  lx__state_number(self->sequence_length));
    failed |= json_object_set_new(object, "separator", json_integer(self->separator));
    return failed != 0 ? -1 : 0;
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    (void)wanted;
    return lx__tokens_visit_datasets(((const joined_source *)source)->format.tokens, visit, user,
                                     error);
}

static void dispose(lx_source *source)
{
    joined_source *self = (joined_source *)source;
    lx__free(self->starts);
    lx__row_format_dispose(&self->format);
}

static const lx__source_class class = {.kind = "joined",
                                       .fill = fill,
                                       .describe = describe,
                                       .visit_datasets = visit_datasets,
                                       .read_ahead = read_ahead,
                                       .dispose = dispose};

/* ---- construction */

/** Reads the lengths of all documents. */
static lx_status read_lengths(joined_source *self, lx_error *error)
{
    for (uint64_t i = 0; i < self->documents; i++) {
        uint64_t first, length, places = 0;
        lx_status status = lx_tokens_get_document(self->format.tokens, i, &first, &length, error);
        if (status != LX_OK)
            return status;
        if (i % STRIDE == 0)
            self->starts[i / STRIDE] = self->places;
        if (!lx__add_fits(length, self->separated, &places) ||
            !lx__add_fits(self->places, places, &self->places))
            return lx_fail(error, LX_ERR_LIMIT,
                           "the documents have 2^64 tokens or more in total: join fewer documents");
        self->lengths_crc = lx__state_add(self->lengths_crc, length);
    }
    return LX_OK;
}

static lx_status join(joined_source *self, lx_error *error)
{
    self->documents = lx_tokens_get_document_count(self->format.tokens);
    uint64_t noted = self->documents / STRIDE + 1;
    self->starts = noted <= SIZE_MAX ? lx__alloc_array((size_t)noted, sizeof *self->starts) : NULL;
    if (self->starts == NULL)
        return lx__fail_memory(error, "document starts");
    lx_status status = read_lengths(self, error);
    self->source.length = self->places == 0 ? 0 : (self->places - 1) / self->sequence_length;
    return status;
}

static lx_status check(const lx_tokens *tokens, uint64_t sequence_length,
                       const lx_token_options *how, lx_source *const *source, lx_error *error)
{
    if (tokens == NULL || source == NULL)
        return lx__fail_null(error, tokens == NULL ? "tokens" : "source");
    if (sequence_length == 0 || sequence_length >= INT32_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "sequence_length must be from 1 to 2^31 - 2, not %" PRIu64, sequence_length);
    int64_t separator = how->separator;
    if (separator < LX_SEPARATOR_NONE ||
        (how->vocabulary != 0 && separator >= 0 && (uint64_t)separator >= how->vocabulary))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "separator is %" PRId64 ", which is not in the vocabulary", separator);
    return lx__row_check_number("separator", separator, how->dtype, error);
}

static lx_status make(const lx__row_format *format, uint64_t sequence_length, int64_t separator,
                      lx_source *made, lx_error *error)
{
    joined_source *self = (joined_source *)made;
    self->format = *format;
    self->separator = separator;
    self->separated = separator != LX_SEPARATOR_NONE;
    self->sequence_length = sequence_length;
    lx_status status = lx__row_format_set_columns(format, made, error);
    return status == LX_OK ? join(self, error) : status;
}

lx_status lx_source_new_joined_tokens(lx_tokens *tokens, uint64_t sequence_length,
                                      const lx_token_options *options, lx_source **source,
                                      lx_error *error)
{
    LX__CLEAR(source);
    lx_source *made;
    lx__row_format format;
    lx_token_options how;
    lx_status status = lx__token_options_take(options, LX__TOKEN_SEPARATOR | LX__TOKEN_COLUMNS,
                                              &how, error);
    if (status == LX_OK)
        status = check(tokens, sequence_length, &how, source, error);
    if (status == LX_OK)
        status = lx__row_format_init(&format, tokens, sequence_length + 1, how.dtype,
                                     how.vocabulary, how.columns, error);
    if (status != LX_OK)
        return status;
    status = lx__source_new(&class, sizeof(joined_source), 0, lx__row_format_columns(&format),
                            &made, error);
    if (status != LX_OK) {
        lx__row_format_dispose(&format);
        return status;
    }
    status = make(&format, sequence_length, how.separator, made, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}
