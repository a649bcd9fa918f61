/* SPDX-License-Identifier: MIT */
/* The samples of Megatron's GPT dataset: tables give the start of each sample among the shuffled
 * documents, and the order of documents and samples. */
#include <loaderx/parity/megatron.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/tokens/packed-row.h"
#include "parity/megatron-options.h"
#include "parity/eod-columns.h"
#include "parity/megatron-index.h"
#include "sampler/core/saved-state.h"

/* Tokens, segments, positions and the mask of the loss. */
#define COLUMNS_MAX 4

typedef struct megatron_source {
    lx_source source;
    lx__row_format format;
    lx__gpt_plan plan;
    lx__index_table table;
    int64_t pad, eod;
    bool split_at_eod, mask_eod;
    size_t loss; /* its column number; 0: not selected */
} megatron_source;

/* ---- reading */

/** Reports an inconsistency that only a change after the checks can explain. */
static lx_status fail_changed(lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the document index or its table changed while it was open: reopen the source");
}

/** A place among the documents of all epochs: the tokens of its document, starting at @ref at. */
typedef struct spot {
    uint64_t place;
    uint64_t first, length; /* first token and number of tokens of the document */
    uint64_t at;
} spot;

static lx_status read_document(const megatron_source *self, spot *cursor, lx_error *error)
{
    uint64_t number = cursor->place;
    lx_status status = lx__index_table_map(&self->table, &number, 1, error);
    if (status != LX_OK)
        return status;
    if (number - self->plan.first >= self->plan.count)
        return lx__index_table_fail(&self->table, error);
    return lx_tokens_get_document(self->format.tokens, number, &cursor->first, &cursor->length,
                                  error);
}

/** Finds the start of sample @p index. */
static lx_status find(const megatron_source *self, uint64_t index, spot *cursor, lx_error *error)
{
    uint64_t sample = lx__gpt_shuffle_at(&self->plan, index), pair[2];
    lx_status status = lx__index_table_map(&self->table, &sample, 1, error);
    if (status == LX_OK && sample >= self->plan.samples)
        status = lx__index_table_fail(&self->table, error);
    if (status != LX_OK)
        return status;
    pair[0] = lx__gpt_sample_at(&self->plan, sample);
    pair[1] = pair[0] + 1;
    status = lx__index_table_map(&self->table, pair, 2, error);
    if (status == LX_OK && pair[0] >= lx__gpt_places(&self->plan))
        status = lx__index_table_fail(&self->table, error);
    if (status != LX_OK)
        return status;
    *cursor = (spot){.place = pair[0], .at = pair[1]};
    status = read_document(self, cursor, error);
    return status == LX_OK && cursor->at > cursor->length ? fail_changed(error) : status;
}

/** Pads a partial row, whose last two pieces begin at @p before and @p begin. Returns the start of
 * the piece that the padding continues: the last piece or, if that has only the extra token, the
 * piece before it, as in Megatron. */
static uint64_t pad_row(const megatron_source *self, lx__row *row, uint64_t before, uint64_t begin)
{
    bool merged = self->plan.extra && begin != 0 && row->filled - begin == 1;
    lx__row_add_number(&self->format, row, self->pad, self->format.length - row->filled);
    row->pieces -= merged;
    return merged ? before : begin;
}

/** Adds documents until the row is full or no document is left. */
static lx_status fill_row(const megatron_source *self, spot *cursor, lx__row *row, lx_error *error)
{
    const lx__row_format *format = &self->format;
    uint64_t places = lx__gpt_places(&self->plan), before = 0, begin = 0;
    lx_status status = LX_OK;
    for (;;) {
        uint64_t room = format->length - row->filled, left = cursor->length - cursor->at;
        if (left != 0) {
            lx__row_end_piece(row, begin);
            before = begin;
            begin = row->filled;
            status = lx__row_add_tokens(format, row, cursor->first + cursor->at,
                                        left < room ? left : room, error);
        }
        if (status != LX_OK || row->filled == format->length || ++cursor->place == places)
            break;
        cursor->at = 0;
        status = read_document(self, cursor, error);
        if (status != LX_OK)
            break;
    }
    if (status == LX_OK && row->filled < format->length && !self->plan.partial)
        return fail_changed(error);
    if (status == LX_OK && row->filled < format->length)
        begin = pad_row(self, row, before, begin);
    lx__row_end_piece(row, begin);
    return status;
}

/** Writes the columns that depend on the row's tokens, which are in @p text. */
static void add_columns(const megatron_source *self, const lx__row *row, const uint8_t *text,
                        const lx_target *targets, size_t i)
{
    const lx__eod_sample marked = {text, self->format.length, self->format.wide, self->eod};
    if (self->split_at_eod && (row->segments != NULL || row->positions != NULL))
        lx__eod_sample_split(&marked, row->segments, row->positions);
    if (self->loss != 0 && targets[self->loss].data != NULL)
        lx__eod_sample_mask(&marked, self->mask_eod, self->pad, self->plan.sequence_length,
                            (uint8_t *)targets[self->loss].data + i * targets[self->loss].stride);
}

/** Whether a wanted column is that of the tokens, or depends on them. The number of a column that
 * the source does not have is 0, as that of the tokens. */
static bool needs_tokens(const megatron_source *self, const bool *wanted)
{
    const lx__row_format *format = &self->format;
    return wanted[0] || wanted[self->loss] ||
           (self->split_at_eod && (wanted[format->segments] || wanted[format->positions]));
}

static lx_status fill_rows(const megatron_source *self, const uint64_t *indices, size_t count,
                           const lx_target *targets, uint8_t *text, size_t *at, lx_error *error)
{
    spot now, next;
    lx_status status = count != 0 ? find(self, indices[0], &next, error) : LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        lx__row row = lx__row_begin(&self->format, targets, i);
        lx__row pieces = row; /* pieces at the boundaries of documents */
        if (self->split_at_eod)
            pieces.segments = pieces.positions = NULL;
        pieces.tokens = row.tokens == NULL ? text : row.tokens;
        now = next;
        *at = i + 1;
        if (*at < count) {
            status = find(self, indices[*at], &next, error);
            if (status == LX_OK && pieces.tokens != NULL && next.at < next.length)
                lx__tokens_prefetch(self->format.tokens, next.first + next.at, self->format.length);
        }
        if (status != LX_OK)
            break;
        *at = i;
        status = fill_row(self, &now, &pieces, error);
        if (status == LX_OK && pieces.tokens != NULL)
            add_columns(self, &row, pieces.tokens, targets, i);
    }
    return status;
}

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    const megatron_source *self = (const megatron_source *)source;
    uint8_t *text = NULL;
    size_t at = 0;
    bool wanted[COLUMNS_MAX];
    for (size_t i = 0; i < source->column_count; i++)
        wanted[i] = targets[i].data != NULL;
    if (!wanted[0] && needs_tokens(self, wanted)) {
        text = lx__alloc_array((size_t)self->format.length, self->format.wide);
        if (text == NULL)
            return lx__fail_memory(error, "a sample");
    }
    lx_status status = fill_rows(self, indices, count, targets, text, &at, error);
    if (status != LX_OK)
        lx_error_locate(error, NULL, NULL, indices[at], LX_NONE);
    lx__free(text);
    return status;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const megatron_source *self = (const megatron_source *)source;
    spot next;
    bool needed = needs_tokens(self, wanted);
    for (size_t i = 0; needed && i < count; i++) {
        lx__row row = {.ahead = true};
        if (find(self, indices[i], &next, NULL) == LX_OK)
            (void)fill_row(self, &next, &row, NULL); /* fill() will report the error */
    }
    return needed;
}

static int describe(const lx_source *source, json_t *object)
{
    const megatron_source *self = (const megatron_source *)source;
    const lx_tokens *tokens = self->format.tokens;
    int failed = lx__gpt_plan_describe(&self->plan, object);
    failed |= json_object_set_new(object, "dtype", json_string(lx_dtype_get_name(tokens->dtype)));
    failed |= lx__tokens_describe(tokens, object);
    return failed != 0 ? -1 : 0;
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    (void)wanted;
    return lx__tokens_visit_datasets(((const megatron_source *)source)->format.tokens, visit, user,
                                     error);
}

static void dispose(lx_source *source)
{
    megatron_source *self = (megatron_source *)source;
    lx__index_table_free(&self->table);
    lx__row_format_dispose(&self->format);
}

static const lx__source_class class = {.kind = "megatron",
                                       .fill = fill,
                                       .describe = describe,
                                       .visit_datasets = visit_datasets,
                                       .read_ahead = read_ahead,
                                       .dispose = dispose};

lx_status lx_source_read_megatron_index(const lx_source *source, lx_megatron_index index,
                                        uint64_t first, uint64_t count, uint64_t *numbers,
                                        uint64_t *length, lx_error *error)
{
    if (source == NULL || (numbers == NULL && count != 0))
        return lx__fail_null(error, source == NULL ? "source" : "numbers");
    const megatron_source *self = (const megatron_source *)source;
    if (source->class != &class)
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "the source has no tables: pass a source created by lx_source_new_megatron()");
    const uint64_t begins[] = {0, lx__gpt_places(&self->plan), lx__gpt_shuffle_at(&self->plan, 0),
                               self->table.count};
    if ((unsigned)index > LX_MEGATRON_SHUFFLE)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "index must be one of Megatron's three tables, not %u", (unsigned)index);
    uint64_t all = begins[index + 1] - begins[index];
    if (length != NULL)
        *length = all;
    if (!lx__range_fits(first, count, all))
        return lx_fail(error, LX_ERR_RANGE,
                       "%" PRIu64 " numbers starting at number %" PRIu64
                       " exceed the table length of %" PRIu64,
                       count, first, all);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = begins[index] + first + i;
    return count != 0 ? lx__index_table_map(&self->table, numbers, (size_t)count, error) : LX_OK;
}

/* ---- construction */

static lx_status check_numbers(const lx_megatron_options *how, lx_error *error)
{
    if (how->sequence_length == 0 || how->sequence_length >= INT32_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "sequence_length must be from 1 to 2^31 - 2, not %" PRIu64,
                       how->sequence_length);
    if (how->seed > UINT32_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "seed %" PRIu64 " exceeds 2^32 - 1, the limit of RandomState", how->seed);
    if (how->eod < LX_SEPARATOR_NONE ||
        (how->vocabulary != 0 && how->eod >= 0 && (uint64_t)how->eod >= how->vocabulary))
        return lx_fail(error, LX_ERR_ARGUMENT, "eod is %" PRId64 ", which is not in the vocabulary",
                       how->eod);
    if (how->eod == LX_SEPARATOR_NONE && (how->split_at_eod || how->mask_eod))
        return lx_fail(error, LX_ERR_ARGUMENT, "%s is set, but eod is not: set both or neither",
                       how->split_at_eod ? "split_at_eod" : "mask_eod");
    lx_status status = lx__row_check_number("pad", how->pad, how->dtype, error);
    return status == LX_OK ? lx__row_check_number("eod", how->eod, how->dtype, error) : status;
}

static lx_status check(lx_tokens *tokens, const lx_megatron_options *how, lx_source *const *source,
                       lx_error *error)
{
    if (tokens == NULL || how == NULL || source == NULL)
        return lx__fail_null(error, tokens == NULL ? "tokens" : how == NULL ? "options" : "source");
    uint64_t there = tokens->documents, first = how->first_document;
    uint64_t count = how->document_count;
    if (first > there || (count != LX_NONE && count > there - first))
        return lx_fail(error, LX_ERR_RANGE,
                       "first_document is %" PRIu64 " and document_count is %" PRIu64
                       ", but there are only %" PRIu64 " documents",
                       first, count == LX_NONE ? 0 : count, there);
    if (there > INT32_MAX)
        return lx_fail(
            error, LX_ERR_LIMIT,
            "the token data contains %" PRIu64 " documents: Megatron's limit is 2^31 - 1", there);
    return check_numbers(how, error);
}

/** Reads the lengths of the documents; free them with lx__free(). */
static lx_status read_lengths(megatron_source *self, uint32_t **lengths, lx_error *error)
{
    lx__gpt_plan *plan = &self->plan;
    *lengths = lx__alloc_array((size_t)plan->count + 1, sizeof **lengths);
    if (*lengths == NULL)
        return lx__fail_memory(error, "document lengths");
    for (uint64_t i = 0; i < plan->count; i++) {
        uint64_t first, length;
        lx_status status = lx_tokens_get_document(self->format.tokens, plan->first + i, &first,
                                                  &length, error);
        if (status != LX_OK)
            return status;
        if (length > INT32_MAX)
            return lx_fail(error, LX_ERR_LIMIT,
                           "document %" PRIu64 " has %" PRIu64
                           " tokens: Megatron's limit is 2^31 - 1",
                           plan->first + i, length);
        (*lengths)[i] = (uint32_t)length;
        plan->tokens += length;
        plan->lengths_crc = lx__state_add(plan->lengths_crc, length);
    }
    return LX_OK;
}

static lx_status set_columns(megatron_source *self, lx_error *error)
{
    const lx_column_info mask = {
        .dtype = LX_FLOAT32, .ndim = 1, .shape = &self->plan.sequence_length};
    lx_status status = lx__row_format_set_columns(&self->format, &self->source, error);
    return status == LX_OK && self->loss != 0
               ? lx__source_set_column(&self->source, self->loss, "loss_mask", &mask, error)
               : status;
}

static lx_status make(megatron_source *self, const lx_megatron_options *how, lx_error *error)
{
    uint32_t *lengths = NULL;
    uint64_t remaining = self->format.tokens->documents - how->first_document;
    self->plan = (lx__gpt_plan){.first = how->first_document,
                                .count = how->document_count == LX_NONE ? remaining
                                                                        : how->document_count,
                                .sequence_length = how->sequence_length,
                                .seed = (uint32_t)how->seed,
                                .extra = how->extra_token,
                                .partial = !how->drop_last_partial};
    self->pad = how->pad;
    self->eod = how->eod;
    self->split_at_eod = how->split_at_eod;
    self->mask_eod = how->mask_eod;
    lx_status status = set_columns(self, error);
    if (status == LX_OK)
        status = read_lengths(self, &lengths, error);
    if (status == LX_OK)
        status = lx__gpt_plan_make(&self->plan, how->num_samples, error);
    if (status == LX_OK)
        status = lx__gpt_index_open(&self->plan, lengths, how->tables, &self->table, error);
    self->source.length = self->plan.samples;
    lx__free(lengths);
    return status;
}

lx_status lx_source_new_megatron(lx_tokens *tokens, const lx_megatron_options *how,
                                 lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    lx_source *made;
    lx__row_format format;
    lx_status status = check(tokens, how, source, error);
    if (status == LX_OK)
        status = lx__row_format_init(&format, tokens, how->sequence_length + how->extra_token,
                                     how->dtype, how->vocabulary,
                                     how->columns & ~(unsigned)LX_MEGATRON_LOSS_MASK, error);
    if (status != LX_OK)
        return status;
    size_t columns = lx__row_format_columns(&format);
    bool loss = (how->columns & LX_MEGATRON_LOSS_MASK) != 0;
    status = lx__source_new(&class, sizeof(megatron_source), 0, columns + loss, &made, error);
    if (status != LX_OK) {
        lx__row_format_dispose(&format);
        return status;
    }
    megatron_source *self = (megatron_source *)made;
    self->format = format;
    self->loss = loss ? columns : 0;
    status = make(self, how, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}
