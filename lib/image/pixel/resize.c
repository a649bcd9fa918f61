/* SPDX-License-Identifier: MIT */
#include <loaderx/image/resize.h>

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "image/pixel/image-check.h"
#include "image/pixel/resize-filter.h"
#include "image/pixel/resize-passes.h"

/* Rows pass through the object: the horizontal pass makes some rows, as the vertical pass needs
 * them, and these replace rows that it no longer needs. Row y of the image is in slot
 * y % slots. */
struct lx_image_resizer {
    const lx__passes *passes;
    lx__axis horizontal, vertical;
    uint8_t *memory; /* of the slots, then of copies of the last rows of the image */
    size_t capacity;
    const uint8_t **window; /* the rows for one row of the result */
    size_t window_capacity;
    uint8_t *copies; /* in memory */
    size_t slots;
    size_t slot_size;
};

lx_image_resizer *lx_image_resizer_new(void)
{
    lx_image_resizer *resizer = lx__alloc_array(1, sizeof *resizer);
    if (resizer != NULL)
        resizer->passes = lx__passes_find();
    return resizer;
}

void lx_image_resizer_free(lx_image_resizer *resizer)
{
    if (resizer == NULL)
        return;
    lx__axis_release(&resizer->horizontal);
    lx__axis_release(&resizer->vertical);
    lx__free(resizer->memory);
    lx__free(resizer->window);
    lx__free(resizer);
}

/** Makes the key of an axis of an image. */
static lx_status make_key(const char *axis, uint32_t in, uint32_t out, const double *edges,
                          lx__axis_key *key, lx_error *error)
{
    double low = edges != NULL ? edges[0] : 0, high = edges != NULL ? edges[2] : in;
    /* Also false if one of them is NaN. */
    if (!(low >= 0 && high <= in && (float)low < (float)high))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the box is from %g to %g %s: it must have an extent, within an image of %u "
                       "pixels",
                       low, high, axis, in);
    key->in_size = in;
    key->out_size = out;
    key->low = (float)low;
    key->high = (float)high;
    return LX_OK;
}

static lx_status check_filter(lx_image_filter filter, bool antialias, lx_error *error)
{
    if (filter != LX_IMAGE_NEAREST && lx__filter_reach(filter) == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "%d is no filter: see lx_image_filter", (int)filter);
    if (!antialias && filter != LX_IMAGE_NEAREST && filter != LX_IMAGE_BILINEAR &&
        filter != LX_IMAGE_BICUBIC)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "without antialiasing, a filter is nearest, bilinear or bicubic");
    return LX_OK;
}

static lx_status check_sides(const lx_image *in, const lx_image *out, lx_error *error)
{
    const uint32_t sides[] = {in->width, in->height, out->width, out->height};
    for (size_t i = 0; i < 4; i++)
        if (sides[i] > LX_IMAGE_SIDE_MAX)
            return lx_fail(error, LX_ERR_LIMIT,
                           "a side of %u pixels is too long: images of at most %u pixels in each "
                           "direction can be resized",
                           sides[i], LX_IMAGE_SIDE_MAX);
    return LX_OK;
}

/** Reserves the memory for rows. */
static lx_status reserve_rows(lx_image_resizer *resizer, const lx_image *in, const lx_image *out,
                              lx_error *error)
{
    size_t count = resizer->vertical.count, row = (size_t)in->width * in->channels;
    uint64_t bytes;
    /* Passes make LX__PASS_ROWS rows, of which the last may be beyond those needed. */
    resizer->slots = count + LX__PASS_ROWS - 1;
    resizer->slot_size = (size_t)out->width * out->channels + LX__PASS_WRITES;
    if (!lx__multiply_fits(resizer->slots, resizer->slot_size, &bytes) ||
        !lx__add_fits(bytes, LX__PASS_ROWS * (row + LX__PASS_READS), &bytes) || bytes > SIZE_MAX ||
        !lx__reserve(&resizer->memory, &resizer->capacity, (size_t)bytes))
        return lx__fail_memory(error, "the rows of a resized image");
    resizer->copies = resizer->memory + resizer->slots * resizer->slot_size;
    if (count + 1 > resizer->window_capacity) {
        const uint8_t **window = lx__resize_array(resizer->window, count + 1, sizeof *window);
        if (window == NULL)
            return lx__fail_memory(error, "the rows of a resized image");
        resizer->window = window;
        resizer->window_capacity = count + 1;
    }
    return LX_OK;
}

static uint8_t *slot_of(const lx_image_resizer *resizer, size_t y)
{
    return resizer->memory + y % resizer->slots * resizer->slot_size;
}

/** Returns row @p y of an image, or a copy, after which there are bytes that the pass may read. */
static const uint8_t *readable_row(const lx_image *in, size_t y, uint8_t *copy)
{
    const uint8_t *row = in->pixels + y * in->stride;
    size_t size = (size_t)in->width * in->channels;
    if ((in->height - 1 - y) * in->stride >= LX__PASS_READS)
        return row;
    memset(copy + size, 0, LX__PASS_READS);
    return memcpy(copy, row, size);
}

/** Makes the rows from @p first on. */
static void make_rows(const lx_image_resizer *resizer, const lx_image *in, size_t first)
{
    const uint8_t *from[LX__PASS_ROWS];
    uint8_t *to[LX__PASS_ROWS];
    size_t size = (size_t)in->width * in->channels + LX__PASS_READS;
    for (size_t i = 0; i < LX__PASS_ROWS; i++) {
        size_t y = first + i;
        from[i] = y < in->height ? readable_row(in, y, resizer->copies + i * size) : from[i - 1];
        to[i] = slot_of(resizer, y);
    }
    resizer->passes->horizontal[in->channels == 3](&resizer->horizontal, from, to);
}

static void resize(lx_image_resizer *resizer, const lx_image *in, const lx_image *out)
{
    const lx__axis *horizontal = &resizer->horizontal, *vertical = &resizer->vertical;
    size_t size = (size_t)out->width * out->channels, made = 0;
    for (size_t y = 0; y < out->height; y++) {
        size_t first = vertical->starts[y], count = vertical->counts[y];
        if (made < first)
            made = first;
        for (; made < first + count && !horizontal->shifts; made += LX__PASS_ROWS)
            make_rows(resizer, in, made);
        for (size_t k = 0; k < count; k++)
            resizer->window[k] = horizontal->shifts
                                     ? in->pixels + (first + k) * in->stride +
                                           (size_t)horizontal->starts[0] * in->channels
                                     : slot_of(resizer, first + k);
        resizer->window[count] = resizer->window[count - 1];
        if (count == 1) /* its weight is 1 */
            memcpy(out->pixels + y * out->stride, resizer->window[0], size);
        else
            resizer->passes->vertical(lx__axis_weights(vertical, y), count, resizer->window, size,
                                      out->pixels + y * out->stride);
    }
}

lx_status lx_image_resizer_resize(lx_image_resizer *resizer, const lx_image *in,
                                  const double box[4], lx_image_filter filter, bool antialias,
                                  const lx_image *out, lx_error *error)
{
    if (resizer == NULL)
        return lx__fail_null(error, "resizer");
    lx__axis_key horizontal = {.filter = filter, .antialias = antialias, .whole_groups = true};
    lx__axis_key vertical = {.filter = filter, .antialias = antialias};
    lx_status status;
    if ((status = lx__image_check(in, "in", error)) != LX_OK ||
        (status = lx__image_check(out, "out", error)) != LX_OK ||
        (status = check_sides(in, out, error)) != LX_OK ||
        (status = check_filter(filter, antialias, error)) != LX_OK ||
        (status = make_key("across", in->width, out->width, box, &horizontal, error)) != LX_OK ||
        (status = make_key("down", in->height, out->height, box != NULL ? box + 1 : NULL, &vertical,
                           error)) != LX_OK)
        return status;
    if (in->channels != out->channels)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "in has %u channels and out has %u: resizing cannot change their number",
                       in->channels, out->channels);
    if (!lx__axis_prepare(&resizer->horizontal, &horizontal) ||
        !lx__axis_prepare(&resizer->vertical, &vertical))
        return lx__fail_memory(error, "the weights of a resized image");
    if ((status = reserve_rows(resizer, in, out, error)) == LX_OK)
        resize(resizer, in, out);
    return status;
}
