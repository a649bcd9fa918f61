/* SPDX-License-Identifier: MIT */
/* Packs documents into bins by best fit. The first bins each hold one full piece of a long
 * document; the later bins hold the remainders of these documents, and all other documents. */
#include <inttypes.h>

#include <loaderx/packing.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/tokens/best-fit.h"
#include "loader/tokens/packed-row.h"
#include "loader/tokens/token-options.h"
#include "sampler/core/saved-state.h"

/* Version of the formula in doc/packing.md. A formula never changes; a different way of packing
 * gets a new number. */
#define FORMULA 1

/** A document that fills at least one bin. */
typedef struct long_document {
    uint64_t first_bin, number;
} long_document;

typedef struct packed_source {
    lx_source source;
    lx__row_format format;
    int64_t pad;
    long_document *longs;
    size_t long_count, long_room;
    uint64_t full;            /* number of bins filled by long documents */
    lx__bins bins;            /* the bins of the remainders */
    uint64_t packed, padding; /* numbers of tokens */
    uint32_t lengths_crc;
} packed_source;

/* ---- reading */

/** Finds the remainder of a document. */
static lx_status find_remainder(const packed_source *self, uint32_t document, uint64_t *first,
                                uint64_t *length, lx_error *error)
{
    lx_status status = lx_tokens_get_document(self->format.tokens, document, first, length, error);
    if (status != LX_OK)
        return status;
    uint64_t remainder = *length % self->format.length;
    *first += *length - remainder;
    *length = remainder;
    return LX_OK;
}

/** Finds the tokens of a full bin. */
static lx_status find_full(const packed_source *self, uint64_t bin, uint64_t *first,
                           lx_error *error)
{
    size_t low = 0, high = self->long_count;
    uint64_t length;
    while (high - low > 1) { /* finds the last document that starts at or before the bin */
        size_t middle = low + (high - low) / 2;
        if (self->longs[middle].first_bin <= bin)
            low = middle;
        else
            high = middle;
    }
    const long_document *document = &self->longs[low];
    lx_status status = lx_tokens_get_document(self->format.tokens, document->number, first, &length,
                                              error);
    if (status == LX_OK)
        *first += (bin - document->first_bin) * self->format.length;
    return status;
}

static lx_status add_remainders(const packed_source *self, uint64_t bin, lx__row *row,
                                lx_error *error)
{
    const lx__bins *bins = &self->bins;
    lx_status status = LX_OK;
    for (uint32_t i = bins->starts[bin]; status == LX_OK && i < bins->starts[bin + 1]; i++) {
        uint64_t first, length, from = row->filled;
        status = find_remainder(self, bins->pieces[i], &first, &length, error);
        if (status == LX_OK)
            status = lx__row_add_tokens(&self->format, row, first, length, error);
        if (status == LX_OK)
            lx__row_end_piece(row, from);
    }
    return status;
}

static lx_status fill_row(const packed_source *self, uint64_t bin, lx__row *row, lx_error *error)
{
    uint64_t first;
    if (bin >= self->full) {
        lx_status status = add_remainders(self, bin - self->full, row, error);
        if (status == LX_OK)
            lx__row_pad(&self->format, row, self->pad);
        return status;
    }
    lx_status status = find_full(self, bin, &first, error);
    if (status == LX_OK)
        status = lx__row_add_tokens(&self->format, row, first, self->format.length, error);
    if (status == LX_OK)
        lx__row_end_piece(row, 0);
    return status;
}

/** Prefetches the tokens of a bin. */
static void prefetch(const packed_source *self, uint64_t bin)
{
    uint64_t first, length;
    if (bin < self->full) {
        if (find_full(self, bin, &first, NULL) == LX_OK)
            lx__tokens_prefetch(self->format.tokens, first, self->format.length);
        return;
    }
    const uint32_t *starts = self->bins.starts + (bin - self->full);
    for (uint32_t i = starts[0]; i < starts[1]; i++)
        if (find_remainder(self, self->bins.pieces[i], &first, &length, NULL) == LX_OK)
            lx__tokens_prefetch(self->format.tokens, first, length);
}

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    const packed_source *self = (const packed_source *)source;
    for (size_t i = 0; i < count; i++) {
        lx__row row = lx__row_begin(&self->format, targets, i);
        if (i + 1 < count && row.tokens != NULL)
            prefetch(self, indices[i + 1]);
        lx_status status = fill_row(self, indices[i], &row, error);
        if (status != LX_OK) {
            lx_error_locate(error, NULL, NULL, indices[i], LX_NONE);
            return status;
        }
    }
    return LX_OK;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const packed_source *self = (const packed_source *)source;
    for (size_t i = 0; wanted[0] && i < count; i++) {
        lx__row row = {.ahead = true};
        (void)fill_row(self, indices[i], &row, NULL); /* fill() will report the error */
    }
    return wanted[0];
}

static int describe(const lx_source *source, json_t *object)
{
    const packed_source *self = (const packed_source *)source;
    int failed = json_object_set_new(object, "formula", json_integer(FORMULA));
    failed |= lx__row_format_describe(&self->format, self->packed, self->lengths_crc, object);
    failed |= json_object_set_new(object, "capacity", lx__state_number(self->format.length));
    return failed != 0 ? -1 : 0;
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    (void)wanted;
    return lx__tokens_visit_datasets(((const packed_source *)source)->format.tokens, visit, user,
                                     error);
}

static void dispose(lx_source *source)
{
    packed_source *self = (packed_source *)source;
    lx__free(self->longs);
    lx__bins_free(&self->bins);
    lx__row_format_dispose(&self->format);
}

static const lx__source_class class = {.kind = "packed",
                                       .fill = fill,
                                       .describe = describe,
                                       .visit_datasets = visit_datasets,
                                       .read_ahead = read_ahead,
                                       .dispose = dispose};

/* ---- construction */

static lx_status add_long(packed_source *self, uint64_t number, uint64_t bins, lx_error *error)
{
    long_document *longs = lx__grow_array(self->longs, self->long_count, &self->long_room,
                                          sizeof *self->longs);
    if (longs == NULL)
        return lx__fail_memory(error, "documents");
    self->longs = longs;
    longs[self->long_count++] = (long_document){.first_bin = self->full, .number = number};
    self->full += bins;
    return LX_OK;
}

/** Reads the lengths of all documents, and computes the remainder of each after its full pieces. */
static lx_status read_lengths(packed_source *self, uint32_t *remainders, uint32_t count,
                              lx_error *error)
{
    uint64_t capacity = self->format.length;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t first, length;
        lx_status status = lx_tokens_get_document(self->format.tokens, i, &first, &length, error);
        if (status == LX_OK && length >= capacity)
            status = add_long(self, i, length / capacity, error);
        if (status == LX_OK && !lx__add_fits(self->packed, length, &self->packed))
            status =
                lx_fail(error, LX_ERR_LIMIT,
                        "the documents have 2^64 tokens or more in total: pack fewer documents");
        if (status != LX_OK)
            return status;
        remainders[i] = (uint32_t)(length % capacity);
        self->lengths_crc = lx__state_add(self->lengths_crc, length);
    }
    return LX_OK;
}

static lx_status pack(packed_source *self, lx_error *error)
{
    uint64_t documents = lx_tokens_get_document_count(self->format.tokens);
    uint32_t capacity = (uint32_t)self->format.length;
    if (documents >= UINT32_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "%" PRIu64 " documents exceed the limit of 2^32 - 2: pack fewer documents",
                       documents);
    uint32_t count = (uint32_t)documents, *remainders = lx__alloc_array(count, sizeof *remainders);
    if (remainders == NULL)
        return lx__fail_memory(error, "document lengths");
    lx_status status = read_lengths(self, remainders, count, error);
    if (status == LX_OK)
        status = lx__best_fit(remainders, count, capacity, &self->bins, error);
    lx__free(remainders);
    if (status != LX_OK)
        return status;
    uint64_t in_remainders = self->packed - self->full * capacity;
    self->padding = (uint64_t)self->bins.count * capacity - in_remainders;
    self->source.length = self->full + self->bins.count;
    return LX_OK;
}

static lx_status check(const lx_tokens *tokens, uint64_t capacity, lx_dtype dtype, int64_t pad,
                       lx_source *const *source, lx_error *error)
{
    if (tokens == NULL || source == NULL)
        return lx__fail_null(error, tokens == NULL ? "tokens" : "source");
    if (capacity == 0 || capacity > LX__CAPACITY_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "capacity is %" PRIu64 ", but must be from 1 to %" PRIu32, capacity,
                       LX__CAPACITY_MAX);
    return lx__row_check_number("pad", pad, dtype, error);
}

lx_status lx_source_new_packed_tokens(lx_tokens *tokens, uint64_t capacity,
                                      const lx_token_options *options, lx_source **source,
                                      lx_error *error)
{
    LX__CLEAR(source);
    lx_source *made;
    lx__row_format format;
    lx_token_options how;
    lx_status status = lx__token_options_take(options, LX__TOKEN_PAD | LX__TOKEN_COLUMNS, &how,
                                              error);
    if (status == LX_OK)
        status = check(tokens, capacity, how.dtype, how.pad, source, error);
    if (status == LX_OK)
        status = lx__row_format_init(&format, tokens, capacity, how.dtype, how.vocabulary,
                                     how.columns, error);
    if (status != LX_OK)
        return status;
    status = lx__source_new(&class, sizeof(packed_source), 0, lx__row_format_columns(&format),
                            &made, error);
    if (status != LX_OK) {
        lx__row_format_dispose(&format);
        return status;
    }
    packed_source *self = (packed_source *)made;
    self->format = format;
    self->pad = how.pad;
    status = lx__row_format_set_columns(&format, made, error);
    if (status == LX_OK)
        status = pack(self, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}

lx_status lx_source_get_padding(const lx_source *source, uint64_t *padding, uint64_t *total,
                                lx_error *error)
{
    if (source == NULL || padding == NULL || total == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "source, padding or total is NULL");
    if (source->class != &class)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a source of kind '%s' has no padding: pass a "
                       "packed source",
                       source->class->kind);
    const packed_source *self = (const packed_source *)source;
    *padding = self->padding;
    *total = self->packed + self->padding;
    return LX_OK;
}
