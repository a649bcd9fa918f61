/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/inner-order.h"
#include "sampler/core/saved-state.h"

struct piece {
    lx__inner_order part;
    uint64_t begin, end; /* offsets in an epoch */
    uint64_t add;        /* added to the indices of the part */
};

struct concat {
    lx_order order;
    size_t count;
    struct piece *pieces;
};

/* The parts' scratch buffers, created when needed. */
struct concat_scratch {
    size_t count;
    lx__scratch **parts;
};

/** Returns the piece that contains an offset below the length: the first that ends after it. */
static size_t find(const struct concat *self, uint64_t offset)
{
    size_t low = 0, high = self->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->pieces[middle].end > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/** Reads the offsets of an epoch that lie in one piece, and sets @p here to the number read. */
static lx_status read_piece(const lx_order *order, void *memory, uint64_t epoch,
                            uint64_t *positions, size_t count, size_t *here, lx_error *error)
{
    const struct concat *self = (const struct concat *)order;
    const struct concat_scratch *scratch = memory;
    size_t which = find(self, positions[0]), n = 0;
    const struct piece *piece = &self->pieces[which];
    uint64_t start = lx__inner_order_place(&piece->part, epoch, 0);
    for (; n < count && positions[n] >= piece->begin && positions[n] < piece->end; n++)
        positions[n] = positions[n] - piece->begin + start;
    lx_status status = lx__inner_order_map(&piece->part, &scratch->parts[which], positions, n,
                                           error);
    for (size_t i = 0; i < n; i++)
        positions[i] += piece->add;
    *here = n;
    return status;
}

static lx_status concat_read(const lx_order *order, void *memory, uint64_t *positions, size_t count,
                             lx_error *error)
{
    const struct concat *self = (const struct concat *)order;
    struct concat_scratch *scratch = memory;
    if (scratch->parts == NULL)
        scratch->parts = lx__alloc_array(self->count, sizeof *scratch->parts);
    if (scratch->parts == NULL)
        return lx__fail_memory(error, "reading an order");
    scratch->count = self->count;
    return lx__order_read_pieces(order, scratch, positions, count, read_piece, error);
}

static void concat_clear(void *memory)
{
    struct concat_scratch *scratch = memory;
    for (size_t i = 0; i < scratch->count; i++)
        lx__scratch_free(scratch->parts[i]);
    lx__free(scratch->parts);
}

static int concat_describe(const lx_order *order, json_t *object)
{
    const struct concat *self = (const struct concat *)order;
    lx__inner_order *parts = lx__alloc_array(self->count, sizeof *parts);
    json_t *offsets = json_array();
    int failed = parts == NULL;
    for (size_t i = 0; failed == 0 && i < self->count; i++) {
        parts[i] = self->pieces[i].part;
        failed = json_array_append_new(offsets, lx__state_number(self->pieces[i].add));
    }
    if (failed == 0)
        failed = json_object_set_new(object, "parts",
                                     lx__inner_orders_to_json(parts, self->count)) |
                 json_object_set_new(object, "offsets", lx__state_shorten(json_incref(offsets)));
    json_decref(offsets);
    lx__free(parts);
    return failed;
}

static void concat_dispose(lx_order *order)
{
    struct concat *self = (struct concat *)order;
    for (size_t i = 0; i < self->count; i++)
        lx__inner_order_clear(&self->pieces[i].part);
    lx__free(self->pieces);
}

static const lx__order_class concat_class = {.kind = "concat",
                                             .formula = 1,
                                             .scratch_size = sizeof(struct concat_scratch),
                                             .clear_scratch = concat_clear,
                                             .read = concat_read,
                                             .describe = concat_describe,
                                             .dispose = concat_dispose};

/** Sums the lengths, and finds the largest bound. */
static lx_status measure(lx_order *const *parts, const uint64_t *offsets, size_t count,
                         uint64_t *length, uint64_t *bound, lx_error *error)
{
    size_t size = 0;
    *length = *bound = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t highest;
        if (parts[i] == NULL)
            return lx_fail(error, LX_ERR_ARGUMENT, "part %zu is NULL", i);
        size += parts[i]->size;
        lx_status status = lx__inner_order_check_size(parts[i], size, error);
        if (status != LX_OK)
            return status;
        if (!lx__add_fits(*length, parts[i]->length, length))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the parts have more than 2^64 - 1 positions in total");
        if (!lx__add_fits(parts[i]->bound, offsets != NULL ? offsets[i] : 0, &highest))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the indices of part %zu plus the offset %" PRIu64
                           " exceed 2^64 - 1: use a smaller offset",
                           i, offsets[i]);
        *bound = highest > *bound ? highest : *bound;
    }
    return LX_OK;
}

lx_status lx_order_new_concat(lx_order *const *parts, const uint64_t *offsets, size_t count,
                              lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    uint64_t length, bound, end = 0;
    if (order == NULL)
        return lx__fail_null(error, "order");
    if (parts == NULL)
        return lx__fail_null(error, "parts");
    if (count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "count must be at least 1: a concatenation needs at least one order");
    lx_status status = measure(parts, offsets, count, &length, &bound, error);
    if (status != LX_OK)
        return status;
    struct piece *pieces = lx__alloc_array(count, sizeof *pieces);
    if (pieces == NULL)
        return lx__fail_memory(error, "an order");
    status = lx__order_new(&concat_class, sizeof(struct concat), length, bound, order, error);
    if (status != LX_OK) {
        lx__free(pieces);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        lx__inner_order_init(&pieces[i].part, parts[i], *order);
        pieces[i].begin = end;
        pieces[i].end = end += parts[i]->length;
        pieces[i].add = offsets != NULL ? offsets[i] : 0;
    }
    ((struct concat *)*order)->pieces = pieces;
    ((struct concat *)*order)->count = count;
    return LX_OK;
}
