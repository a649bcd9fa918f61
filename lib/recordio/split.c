/* SPDX-License-Identifier: MIT */
#include "recordio/split.h"

#include <inttypes.h>

#include <loaderx/order.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "recordio/recordio-index.h"

#define WORD 4

/* ---- the files */

lx_status lx__split_init(lx__split *self, size_t files, lx_error *error)
{
    *self = (lx__split){.starts = lx__alloc_array(files + 1, sizeof *self->starts)};
    return self->starts != NULL ? LX_OK : lx__fail_memory(error, "a list of files");
}

void lx__split_clear(lx__split *self)
{
    lx_sampler_free(self->order);
    lx__free(self->records);
    lx__free(self->starts);
    *self = (lx__split){.files = 0};
}

lx_status lx__split_add_file(lx__split *self, uint64_t size, lx_error *error)
{
    uint64_t end;
    if (!lx__add_fits(self->starts[self->files], size, &end) || end > INT64_MAX)
        return lx_fail(error, LX_ERR_LIMIT, "the files have 2^63 bytes or more in total");
    self->starts[++self->files] = end;
    return LX_OK;
}

lx_status lx__split_add_index(lx__split *self, const char *path, lx_error *error)
{
    uint64_t *offsets;
    size_t count;
    uint64_t start = self->starts[self->files - 1], size = self->starts[self->files] - start;
    lx_status status = lx__recordio_load_offsets(path, &offsets, &count, error);
    if (status != LX_OK)
        return status;
    lx__recordio_sort_offsets(offsets, count);
    if (count != 0 && offsets[count - 1] >= size) {
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "a record should begin at offset %" PRIu64 ", but the file has %" PRIu64
                         " bytes: make the index again",
                         offsets[count - 1], size);
        lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    }
    uint64_t *records = NULL;
    if (status == LX_OK) {
        size_t total = (size_t)self->record_count + count;
        records = lx__resize_array(self->records, total + 1, sizeof *records);
        status = records != NULL ? LX_OK : lx__fail_memory(error, "an index");
    }
    if (status == LX_OK) {
        self->records = records;
        for (size_t i = 0; i < count; i++)
            records[self->record_count++] = start + offsets[i];
    }
    lx__free(offsets);
    return status;
}

size_t lx__split_find_file(const lx__split *self, uint64_t offset)
{
    size_t low = 0, high = self->files - 1; /* the first file that ends after the offset */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->starts[middle + 1] > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- the part */

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/** Returns where part @p part of @p total begins. */
static uint64_t boundary(uint64_t total, uint64_t step, uint64_t part)
{
    return step != 0 && part <= total / step ? step * part : total;
}

/** Returns the length of pieces of which @p count make up @p length. */
static uint64_t step_of(const lx__split *self, uint64_t length, uint64_t count)
{
    uint64_t step = divide_up(length, count);
    return self->records != NULL ? step : lx__align_up(step, WORD);
}

void lx__split_choose(lx__split *self, uint64_t part, uint64_t parts)
{
    uint64_t total = self->records != NULL ? self->record_count : self->starts[self->files];
    uint64_t step = step_of(self, total, parts);
    self->part = part;
    self->parts = parts;
    self->begin = boundary(total, step, part);
    self->end = boundary(total, step, part + 1);
    self->chunk = self->end - self->begin;
    self->count = self->chunk != 0;
}

/** Makes the order of the chunks. In the order of the library, an epoch of this reader is an epoch
 * for each part, so that parts do not share a permutation. */
static lx_status make_order(const lx__split *self, uint64_t count, uint64_t seed, uint64_t epoch,
                            lx_sampler **sampler, lx_error *error)
{
    lx_order *order;
    uint64_t position;
    if (!lx__multiply_fits(epoch, self->parts, &position) ||
        !lx__add_fits(position, self->part + 1, &position) ||
        !lx__multiply_fits(position, count, &position))
        return lx_fail(error, LX_ERR_LIMIT,
                       "epoch %" PRIu64 " with %" PRIu64 " parts of %" PRIu64
                       " chunks is too high: their product must be less than 2^64",
                       epoch, self->parts, count);
    lx_status status = lx_order_new_shuffle(count, seed, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, 0, 1, sampler, error);
    if (status == LX_OK)
        (void)lx_sampler_seek(*sampler, position - count, NULL);
    lx_order_unref(order);
    return status;
}

lx_status lx__split_shuffle(lx__split *self, uint64_t chunks, uint64_t seed, uint64_t epoch,
                            lx_error *error)
{
    lx_sampler *order = NULL;
    uint64_t length = self->end - self->begin;
    uint64_t chunk = step_of(self, length, chunks),
             count = chunk != 0 ? divide_up(length, chunk) : 0;
    lx_status status = count > 1 ? make_order(self, count, seed, epoch, &order, error) : LX_OK;
    if (status != LX_OK)
        return status;
    lx_sampler_free(self->order);
    self->order = order;
    self->chunk = chunk;
    self->count = count;
    self->next = self->at = self->limit = 0;
    return LX_OK;
}

static lx_status next_chunk(lx__split *self, lx_error *error)
{
    uint64_t number = self->next, taken;
    if (self->next == self->count)
        return LX_END;
    if (self->order != NULL) {
        lx_status status = lx_sampler_take(self->order, 1, &number, &taken, error);
        if (status != LX_OK)
            return status;
    }
    self->next++;
    self->at = self->begin + number * self->chunk;
    self->limit = self->end - self->at < self->chunk ? self->end : self->at + self->chunk;
    return LX_OK;
}

lx_status lx__split_next(lx__split *self, lx__split_range *range, lx_error *error)
{
    lx_status status = self->at == self->limit ? next_chunk(self, error) : LX_OK;
    if (status != LX_OK)
        return status;
    if (self->records == NULL) {
        *range = (lx__split_range){self->at, self->limit, self->limit - self->at};
        self->at = self->limit;
        return LX_OK;
    }
    uint64_t begin = self->records[self->at++];
    uint64_t end = self->limit < self->record_count ? self->records[self->limit]
                                                    : self->starts[self->files];
    *range = (lx__split_range){begin, begin + WORD, end - begin};
    return LX_OK;
}
