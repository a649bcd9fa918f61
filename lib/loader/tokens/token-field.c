/* SPDX-License-Identifier: MIT */
/* Mapped raw records are read in place. All other records are first gathered in blocks of whole
 * documents, because a part of a compressed value cannot be read alone. */
#include "loader/tokens/token-field.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/mapping.h"
#include "loader/tokens/prefetch-pages.h"
#include "sampler/core/saved-state.h"
#include "zrecord/read/dataset.h"
#include "zrecord/read/residency.h"
#include "zrecord/read/show.h"

/* Documents per gather: they share one lock and one check for fork(). */
#define BLOCK 256
/* Documents whose lengths are requested at once if the dataset is elsewhere: rows of 1.5 MiB. */
#define ASKED ((uint64_t)256 * BLOCK)
/* Documents per guide entry: the guide takes half a byte per document. */
#define GUIDED 16
/* Maximum number of documents of the next sample that are prefetched. */
#define FORESEEN 32
/* Bytes gathered at once on the stack; a larger document uses heap memory. */
#define SCRATCH 16384
/* Dense records up to this size are gathered even if they could be read in place: the reader's fast
 * path for many records is faster than looking up the records one by one, and nearly all of the
 * gathered bytes are used. */
#define SHORT 512

/* ---- lengths */

static lx_status add_context(const lx__token_field *self, uint64_t record, lx_error *error,
                             lx_status status)
{
    lx_error_locate(error, lx_dataset_get_path(self->dataset), self->field->name, record, LX_NONE);
    return status;
}

static lx_status add_length(lx__token_field *self, uint64_t record, uint64_t bytes, lx_error *error)
{
    uint64_t length = bytes / self->width;
    if (bytes % self->width != 0)
        return add_context(self, record, error,
                           lx_fail(error, LX_ERR_CORRUPT,
                                   "a record of %" PRIu64
                                   " bytes does not contain a whole number of %s tokens",
                                   bytes, lx_dtype_get_name(self->dtype)));
    if (!lx__add_fits(self->length, length, &self->length))
        return add_context(
            self, record, error,
            lx_fail(error, LX_ERR_LIMIT, "the documents have 2^64 tokens or more in total"));
    if (self->ends != NULL)
        self->ends[record] = self->length;
    self->lengths_crc = lx__state_add(self->lengths_crc, length);
    return LX_OK;
}

/** A missing value is a document without tokens, even in a dense field. */
static lx_status read_lengths(lx__token_field *self, lx_error *error)
{
    uint64_t records[BLOCK], offsets[BLOCK + 1];
    uint8_t present[BLOCK];
    lx_status status = LX_OK;
    self->length = 0;
    self->lengths_crc = 0;
    for (uint64_t done = 0; status == LX_OK && done < self->documents; done += BLOCK) {
        uint64_t left = self->documents - done;
        size_t count = left < BLOCK ? (size_t)left : BLOCK;
        if (done % ASKED == 0)
            lx__dataset_ask_rows(self->dataset, self->position, done, ASKED);
        for (size_t i = 0; i < count; i++)
            records[i] = done + i;
        status = lx_dataset_get_sizes(self->dataset, self->position, records, count, offsets,
                                      present, error);
        for (size_t i = 0; status == LX_OK && i < count; i++)
            status = add_length(self, records[i], present[i] != 0 ? offsets[i + 1] - offsets[i] : 0,
                                error);
    }
    return status;
}

/** Stores the document of every 2^shift-th token, about one per GUIDED documents. */
static lx_status make_guide(lx__token_field *self, lx_error *error)
{
    uint64_t noted = 0;
    while (self->length >> self->shift > self->documents / GUIDED)
        self->shift++;
    size_t count = (size_t)(self->length >> self->shift) + 2;
    self->guide = lx__alloc_array(count, sizeof *self->guide);
    if (self->guide == NULL)
        return lx__fail_memory(error, "document ends");
    for (uint64_t i = 0; i < self->documents; i++)
        while (self->ends[i] != 0 && noted <= (self->ends[i] - 1) >> self->shift)
            self->guide[noted++] = i;
    while (noted < count) /* the entries after the last token */
        self->guide[noted++] = self->documents - 1;
    return LX_OK;
}

/** Builds the list of ends, which dense documents need only if a value is missing. */
static lx_status make_index(lx__token_field *self, lx_error *error)
{
    uint64_t all;
    if (self->field->size != LX_NONE) {
        self->each = self->field->size / self->width;
        lx_status status = read_lengths(self, error);
        if (status != LX_OK ||
            (lx__multiply_fits(self->documents, self->each, &all) && all == self->length))
            return status;
    }
    self->ends = self->documents <= SIZE_MAX
                     ? lx__alloc_array((size_t)self->documents, sizeof *self->ends)
                     : NULL;
    if (self->ends == NULL)
        return lx__fail_memory(error, "document ends");
    lx_status status = read_lengths(self, error);
    return status == LX_OK ? make_guide(self, error) : status;
}

void lx__token_field_document(const lx__token_field *self, uint64_t number, uint64_t *first,
                              uint64_t *length)
{
    if (self->ends == NULL) {
        *first = number * self->each;
        *length = self->each;
        return;
    }
    *first = number == 0 ? 0 : self->ends[number - 1];
    *length = self->ends[number] - *first;
}

/** Returns the document that contains token @p at, which is below the length. */
static uint64_t find(const lx__token_field *self, uint64_t at)
{
    if (self->ends == NULL)
        return at / self->each;
    const uint64_t *noted = self->guide + (at >> self->shift), *from = self->ends + noted[0];
    /* Finds the first document that ends after the token. */
    for (uint64_t count = noted[1] - noted[0] + 1; count > 1;) {
        uint64_t half = count / 2;
        from = from[half - 1] <= at ? from + half : from;
        count -= half;
    }
    return (uint64_t)(from - self->ends);
}

/* ---- reading */

/** A copy of tokens to rows, in progress. */
typedef struct copying {
    const lx__token_field *self;
    uint64_t at, end; /**< The tokens left to read. */
    lx__widen *widen;
    uint64_t limit;
    size_t wide;
    uint8_t *out;
} copying;

/** Nonempty documents that are gathered together. */
typedef struct block {
    size_t count;
    uint64_t records[BLOCK];
    uint64_t offsets[BLOCK + 1]; /**< In bytes, as lx_dataset_get_sizes() returns them. */
    uint64_t first;              /**< Index of their first token within the field. */
} block;

/** Finds the next documents to read: at most @p most bytes, but at least one document. */
static void find_block(const copying *c, uint64_t most, block *b)
{
    const lx__token_field *self = c->self;
    uint64_t number = find(self, c->at), first, length, bytes = 0;
    lx__token_field_document(self, number, &b->first, &length);
    for (b->count = 0; b->count < BLOCK; number++) {
        lx__token_field_document(self, number, &first, &length);
        if (first >= c->end || (b->count != 0 && length * self->width > most - bytes))
            break;
        if (length == 0)
            continue;
        b->records[b->count] = number;
        b->offsets[b->count++] = bytes;
        bytes += length * self->width;
        if (first + length >= c->end || bytes >= most)
            break;
    }
    b->offsets[b->count] = bytes;
}

static lx_status fail_token(const copying *c, const uint8_t *from, uint64_t count, lx_error *error)
{
    uint64_t token, first, length;
    uint64_t at = c->at +
                  lx__widen_find_bad(c->widen, from, count, c->self->width, c->limit, &token);
    uint64_t record = find(c->self, at);
    lx__token_field_document(c->self, record, &first, &length);
    return add_context(c->self, record, error,
                       lx_fail(error, LX_ERR_CORRUPT,
                               "token %" PRIu64 " of the record is 0x%" PRIx64
                               ", but must be less than %" PRIu64,
                               at - first, token, c->limit));
}

/** Adds the selected tokens up to @p end; the next one is at @p from. */
static lx_status add_tokens(copying *c, const uint8_t *from, uint64_t end, lx_error *error)
{
    uint64_t count = (end < c->end ? end : c->end) - c->at;
    if (!c->widen(from, (size_t)count, c->limit, c->out))
        return fail_token(c, from, count, error);
    c->at += count;
    c->out += count * c->wide;
    return LX_OK;
}

/** Adds zeros for a damaged record. */
static void add_zeros(copying *c, uint64_t end)
{
    uint64_t count = (end < c->end ? end : c->end) - c->at;
    memset(c->out, 0, (size_t)count * c->wide);
    c->at += count;
    c->out += count * c->wide;
}

static lx_status add_slice(copying *c, uint64_t record, const lx_slice *slice, lx_error *error)
{
    uint64_t first, length;
    lx__token_field_document(c->self, record, &first, &length);
    if (slice->data == NULL && c->self->zeros) {
        add_zeros(c, first + length);
        return LX_OK;
    }
    if (slice->size != length * c->self->width)
        return add_context(c->self, record, error,
                           lx_fail(error, LX_ERR_CORRUPT,
                                   "the length of the record changed while the dataset was open: "
                                   "another process wrote to its table"));
    const uint8_t *data = slice->data;
    return add_tokens(c, data + (c->at - first) * c->self->width, first + length, error);
}

/** Returns the location of the tokens in [at, end) that belong to document @p number; the slice has
 * no data if the location is not known yet. */
static lx_slice predict_slice(const lx__token_field *self, uint64_t number, uint64_t at,
                              uint64_t end)
{
    uint64_t first, length;
    lx_slice slice;
    lx__token_field_document(self, number, &first, &length);
    if (length == 0 || !lx__dataset_locate(self->dataset, self->position, number, &slice) ||
        slice.size != length * self->width)
        return (lx_slice){NULL, 0};
    uint64_t from = at > first ? (at - first) * self->width : 0;
    uint64_t to = end - first < length ? (end - first) * self->width : slice.size;
    return (lx_slice){(const uint8_t *)slice.data + from, to - from};
}

/** Whether documents of @p size bytes in total were written consecutively, with at most small
 * gaps. */
static bool are_adjacent(const lx_slice *first, const lx_slice *last, uint64_t size)
{
    uintptr_t from = (uintptr_t)first->data, to = (uintptr_t)last->data;
    return first->data != NULL && to > from && to - from <= 2 * size;
}

void lx__token_field_prefetch(const lx__token_field *self, uint64_t at, uint64_t count)
{
    uint64_t end = at + count, begin = 0, length = 0;
    if (!self->in_place || count == 0)
        return;
    uint64_t first = find(self, at), last = first, most = first + FORESEEN;
    for (; last < most; last++) {
        lx__token_field_document(self, last, &begin, &length);
        if (begin + length >= end)
            break;
    }
    lx_slice slice = predict_slice(self, first, at, end),
             last_slice = predict_slice(self, last, at, end);
    if (last != first && are_adjacent(&slice, &last_slice, count * self->width)) {
        const uint8_t *from = slice.data, *to = (const uint8_t *)last_slice.data + last_slice.size;
        lx__prefetch_pages(from, (uint64_t)(to - from));
        return;
    }
    for (uint64_t i = first; i <= last; i++) {
        slice = predict_slice(self, i, at, end);
        if (slice.data != NULL)
            lx__prefetch_pages(slice.data, slice.size);
    }
}

/** Reads whole documents ahead, from @p number to the one that contains token @p end - 1. */
static void read_ahead_gathered(const lx__token_field *self, uint64_t number, uint64_t end)
{
    uint64_t records[BLOCK], first = 0, length = 0;
    for (size_t count = 0; first + length < end; number++) {
        lx__token_field_document(self, number, &first, &length);
        if (length != 0)
            records[count++] = number;
        if (count == BLOCK || (count != 0 && first + length >= end)) {
            lx__dataset_read_ahead(self->dataset, self->position, records, count);
            count = 0;
        }
    }
}

void lx__token_field_read_ahead(const lx__token_field *self, uint64_t at, uint64_t count)
{
    uint64_t end = at + count, first = 0, length = 0;
    if (count == 0)
        return;
    if (!self->in_place) {
        read_ahead_gathered(self, find(self, at), end);
        return;
    }
    for (uint64_t number = find(self, at); first + length < end; number++) {
        lx_slice slice = predict_slice(self, number, at, end);
        lx__mapping_will_need(slice.data, slice.size);
        lx__token_field_document(self, number, &first, &length);
    }
}

static lx_status copy_in_place(copying *c, lx_error *error)
{
    const lx__token_field *self = c->self;
    uint64_t number = find(self, c->at), first, length;
    lx_status status = LX_OK;
    for (; status == LX_OK && c->at < c->end; number++) {
        lx_slice slice;
        lx__token_field_document(self, number, &first, &length);
        if (length == 0)
            continue;
        status = lx__dataset_show(self->dataset, self->position, number, &slice, error);
        if (status == LX_OK)
            status = add_slice(c, number, &slice, error);
    }
    return status;
}

static lx_status gather(const lx__token_field *self, const block *b, uint8_t *out, lx_error *error)
{
    if (self->field->size != LX_NONE)
        return lx_dataset_gather(self->dataset, self->position, b->records, b->count, out,
                                 (size_t)self->field->size, error);
    return lx_dataset_gather_bytes(self->dataset, self->position, b->records, b->count, b->offsets,
                                   out, error);
}

static lx_status copy_gathered(copying *c, lx_error *error)
{
    const lx__token_field *self = c->self;
    uint8_t scratch[SCRATCH], *own = NULL;
    block b;
    find_block(c, sizeof scratch, &b);
    uint64_t bytes = b.offsets[b.count];
    if (bytes > sizeof scratch)
        own = lx__alloc((size_t)bytes); /* fits in size_t: a record is smaller than 2^32 bytes */
    if (bytes > sizeof scratch && own == NULL)
        return add_context(self, b.records[0], error, lx__fail_memory(error, "a document"));
    uint8_t *memory = own != NULL ? own : scratch;
    lx_status status = gather(self, &b, memory, error);
    if (status == LX_OK)
        status = add_tokens(c, memory + (c->at - b.first) * self->width,
                            b.first + bytes / self->width, error);
    lx__free(own);
    return status;
}

lx_status lx__token_field_copy(const lx__token_field *self, uint64_t at, uint64_t count,
                               lx__widen *widen, uint64_t limit, size_t wide, uint8_t *out,
                               lx_error *error)
{
    copying c = {self, at, at + count, widen, limit, wide, out};
    lx_status status = LX_OK;
    while (status == LX_OK && c.at < c.end)
        status = self->in_place ? copy_in_place(&c, error) : copy_gathered(&c, error);
    return status;
}

/* ---- saved states */

json_t *lx__token_field_describe(const lx__token_field *self, uint64_t first)
{
    lx_dataset_identity identity;
    lx_dataset_get_identity(self->dataset, &identity);
    return json_pack("{s:o, s:s, s:I, s:o}", "first", lx__state_number(first), "uuid",
                     identity.uuid, "field", (json_int_t)self->field->id, "lengths",
                     lx__state_crc(self->lengths_crc));
}

/* ---- construction */

static lx_status start(lx__token_field *self, lx_dataset *dataset, lx_error *error)
{
    lx_status status = lx_dataset_pin(dataset, &self->dataset, error);
    if (status != LX_OK)
        return status;
    self->field = lx_schema_get_field(lx_dataset_get_schema(self->dataset), self->position);
    self->documents = lx_dataset_get_length(self->dataset);
    self->zeros = self->dataset->options.damage == LX_DAMAGE_ZEROS;
    self->in_place = lx_dataset_get_access(self->dataset) == LX_ACCESS_MMAP &&
                     self->field->compression == LX_COMPRESSION_RAW && self->field->size > SHORT;
    return make_index(self, error);
}

lx_status lx__token_field_open(lx_dataset *dataset, size_t position, lx_dtype dtype,
                               lx__token_field **field, lx_error *error)
{
    lx__token_field *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a field of tokens");
    *made =
        (lx__token_field){.position = position, .dtype = dtype, .width = lx_dtype_get_size(dtype)};
    lx_status status = start(made, dataset, error);
    if (status == LX_OK)
        *field = made;
    else
        lx__token_field_free(made);
    return status;
}

void lx__token_field_free(lx__token_field *self)
{
    if (self == NULL)
        return;
    lx_dataset_close(self->dataset);
    lx__free(self->ends);
    lx__free(self->guide);
    lx__free(self);
}
