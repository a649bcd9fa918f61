/* SPDX-License-Identifier: MIT */
#include "loader/tokens/packed-row.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/saved-state.h"

/* Elements written per loop: a constant, so that compilers vectorize the loop. */
#define STEP 16

lx_status lx__row_check_number(const char *what, int64_t number, lx_dtype dtype, lx_error *error)
{
    if (dtype == LX_INT64 || (number >= INT32_MIN && number <= INT32_MAX))
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "%s is %" PRId64 ", which does not fit in int32", what,
                   number);
}

lx_status lx__row_format_init(lx__row_format *format, lx_tokens *tokens, uint64_t length,
                              lx_dtype dtype, uint64_t vocabulary, unsigned columns,
                              lx_error *error)
{
    lx__widen *widen = lx__widen_find(tokens->dtype, dtype);
    if (widen == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the dtype of the samples must be int32 or int64");
    if ((columns & ~(unsigned)(LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS)) != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "columns contains unknown bits: 0x%x", columns);
    *format = (lx__row_format){.tokens = lx_tokens_ref(tokens),
                               .length = length,
                               .limit = lx__widen_limit(tokens->dtype, dtype, vocabulary),
                               .widen = widen,
                               .wide = lx_dtype_get_size(dtype)};
    size_t next = 1;
    if ((columns & LX_PACKED_SEGMENTS) != 0)
        format->segments = next++;
    if ((columns & LX_PACKED_POSITIONS) != 0)
        format->positions = next++;
    return LX_OK;
}

void lx__row_format_dispose(lx__row_format *format)
{
    lx_tokens_unref(format->tokens);
}

size_t lx__row_format_columns(const lx__row_format *format)
{
    return 1 + (format->segments != 0) + (format->positions != 0);
}

lx_status lx__row_format_set_columns(const lx__row_format *format, lx_source *source,
                                     lx_error *error)
{
    lx_column_info column = {
        .dtype = format->wide == 8 ? LX_INT64 : LX_INT32, .ndim = 1, .shape = &format->length};
    lx_status status = lx__source_set_column(source, 0, "tokens", &column, error);
    column.dtype = LX_INT32;
    if (status == LX_OK && format->segments != 0)
        status = lx__source_set_column(source, format->segments, "segments", &column, error);
    if (status == LX_OK && format->positions != 0)
        status = lx__source_set_column(source, format->positions, "positions", &column, error);
    return status;
}

int lx__row_format_describe(const lx__row_format *format, uint64_t tokens, uint32_t lengths_crc,
                            json_t *object)
{
    const lx_tokens *from = format->tokens;
    int failed = json_object_set_new(object, "tokens", lx__state_number(tokens));
    failed |= json_object_set_new(object, "dtype", json_string(lx_dtype_get_name(from->dtype)));
    failed |= json_object_set_new(object, "documents", lx__state_number(from->documents));
    failed |= json_object_set_new(object, "lengths", lx__state_crc(lengths_crc));
    failed |= lx__tokens_describe(from, object);
    return failed != 0 ? -1 : 0;
}

static uint8_t *row_of(const lx_target *targets, size_t column, size_t i)
{
    uint8_t *data = targets[column].data;
    return data == NULL ? NULL : data + i * targets[column].stride;
}

lx__row lx__row_begin(const lx__row_format *format, const lx_target *targets, size_t i)
{
    return (lx__row){
        .tokens = row_of(targets, 0, i),
        .segments = format->segments != 0 ? row_of(targets, format->segments, i) : NULL,
        .positions = format->positions != 0 ? row_of(targets, format->positions, i) : NULL};
}

lx_status lx__row_add_tokens(const lx__row_format *format, lx__row *row, uint64_t first,
                             uint64_t count, lx_error *error)
{
    lx_status status = LX_OK;
    if (count > format->length - row->filled ||
        !lx__range_fits(first, count, format->tokens->length))
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the document index changed while it was open: reopen the tokens");
    if (row->ahead)
        lx__tokens_read_ahead(format->tokens, first, count);
    else if (row->tokens != NULL && count != 0)
        status = lx__tokens_copy(format->tokens, first, count, format->widen, format->limit,
                                 format->wide, row->tokens + row->filled * format->wide, error);
    row->filled += count;
    return status;
}

/** Writes the first @p size bytes of a little-endian number, @p count times. */
static void repeat(uint8_t *to, size_t size, uint64_t number, uint64_t count)
{
    uint8_t bytes[8];
    lx__store_le64(bytes, number);
    if (count == 0)
        return;
    memcpy(to, bytes, size);
    for (uint64_t done = 1; done < count;) { /* doubles the length each time */
        uint64_t step = done < count - done ? done : count - done;
        memcpy(to + done * size, to, (size_t)step * size);
        done += step;
    }
}

/** Writes 0, 1, 2, and so on. */
static void number(uint8_t *to, uint64_t count)
{
    uint32_t block[STEP];
    for (uint64_t done = 0; done < count; done += STEP) {
        uint64_t step = count - done < STEP ? count - done : STEP;
        for (uint32_t i = 0; i < STEP; i++)
            block[i] = LX__LE32((uint32_t)done + i);
        if (step == STEP)
            memcpy(to + 4 * done, block, sizeof block);
        else
            memcpy(to + 4 * done, block, 4 * step);
    }
}

void lx__row_add_number(const lx__row_format *format, lx__row *row, int64_t number, uint64_t count)
{
    if (row->tokens != NULL)
        repeat(row->tokens + row->filled * format->wide, format->wide, (uint64_t)number, count);
    row->filled += count;
}

void lx__row_end_piece(lx__row *row, uint64_t from)
{
    if (row->filled == from)
        return;
    row->pieces++;
    if (row->segments != NULL)
        repeat(row->segments + 4 * from, 4, row->pieces, row->filled - from);
    if (row->positions != NULL)
        number(row->positions + 4 * from, row->filled - from);
}

void lx__row_pad(const lx__row_format *format, lx__row *row, int64_t pad)
{
    uint64_t from = row->filled, count = format->length - from;
    lx__row_add_number(format, row, pad, count);
    if (row->segments != NULL)
        memset(row->segments + 4 * from, 0, 4 * count);
    if (row->positions != NULL)
        memset(row->positions + 4 * from, 0, 4 * count);
}
