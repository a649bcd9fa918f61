/* SPDX-License-Identifier: MIT */
#include "image/pixel/resize.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "image/pixel/image-check.h"
#include "image/pixel/resize-filter.h"
#include "image/pixel/resize-passes.h"

/* Rows pass through the object. Groups of LX__PASS_ROWS rows are collected; the horizontal pass
 * turns a group into rows of the result's width, which replace those that no row of the result
 * needs any more: row y is in slot y % slots. The vertical pass makes each row of the result as soon
 * as the rows for it are there. */
struct lx_image_resizer {
    const lx__passes *passes;
    lx__axis horizontal, vertical;
    uint8_t *memory; /* of the slots, then of a group */
    size_t capacity;
    const uint8_t **window; /* the rows for one row of the result */
    size_t window_capacity;
    size_t slots, slot_size;
    uint8_t *group;
    size_t row_size; /* of the image, in bytes */
    lx_image out;
    size_t height;      /* of the image */
    size_t taken, made; /* rows of the image, of the result */
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

static lx_status check_sides(uint32_t width, uint32_t height, const lx_image *out, lx_error *error)
{
    const uint32_t sides[] = {width, height, out->width, out->height};
    for (size_t i = 0; i < 4; i++)
        if (sides[i] > LX_IMAGE_SIDE_MAX)
            return lx_fail(error, LX_ERR_LIMIT,
                           "a side of %u pixels is too long: images of at most %u pixels in each "
                           "direction can be resized",
                           sides[i], LX_IMAGE_SIDE_MAX);
    return LX_OK;
}

/** Reserves the memory for rows. */
static lx_status reserve_rows(lx_image_resizer *resizer, uint32_t width, lx_error *error)
{
    const lx_image *out = &resizer->out;
    size_t count = resizer->vertical.count, spaced;
    uint64_t bytes;
    resizer->row_size = (size_t)width * out->channels;
    /* The last row of a group may be this far after the last row that is needed. */
    resizer->slots = count + LX__PASS_ROWS - 1;
    resizer->slot_size = (size_t)out->width * out->channels + LX__PASS_WRITES;
    spaced = resizer->row_size + LX__PASS_READS;
    if (!lx__multiply_fits(resizer->slots, resizer->slot_size, &bytes) ||
        !lx__add_fits(bytes, LX__PASS_ROWS * spaced, &bytes) || bytes > SIZE_MAX ||
        !lx__reserve(&resizer->memory, &resizer->capacity, (size_t)bytes))
        return lx__fail_memory(error, "the rows of a resized image");
    resizer->group = resizer->memory + resizer->slots * resizer->slot_size;
    memset(resizer->group, 0, LX__PASS_ROWS * spaced);
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

/** Resizes a group horizontally, of which @p count rows, from @p first on, are there. */
static void pass_group(const lx_image_resizer *resizer, size_t first, size_t count)
{
    const lx__axis *horizontal = &resizer->horizontal;
    const uint8_t *from[LX__PASS_ROWS];
    uint8_t *to[LX__PASS_ROWS];
    for (size_t i = 0; i < LX__PASS_ROWS; i++) {
        size_t row = i < count ? i : count - 1;
        from[i] = resizer->group + row * (resizer->row_size + LX__PASS_READS);
        to[i] = slot_of(resizer, first + i);
        if (horizontal->shifts)
            memcpy(to[i], from[i] + (size_t)horizontal->starts[0] * resizer->out.channels,
                   resizer->slot_size - LX__PASS_WRITES);
    }
    if (!horizontal->shifts)
        resizer->passes->horizontal[resizer->out.channels == 3](horizontal, from, to);
}

/** Makes the next row of the result. */
static void make_row(lx_image_resizer *resizer)
{
    const lx__axis *vertical = &resizer->vertical;
    size_t first = vertical->starts[resizer->made], count = vertical->counts[resizer->made];
    size_t size = resizer->slot_size - LX__PASS_WRITES;
    uint8_t *out = resizer->out.pixels + resizer->made * resizer->out.stride;
    for (size_t k = 0; k < count; k++)
        resizer->window[k] = slot_of(resizer, first + k);
    resizer->window[count] = resizer->window[count - 1];
    if (count == 1) /* its weight is 1 */
        memcpy(out, resizer->window[0], size);
    else
        resizer->passes->vertical(lx__axis_weights(vertical, resizer->made), count, resizer->window,
                                  size, out);
    resizer->made++;
}

void lx__resizer_put(lx_image_resizer *resizer, const uint8_t *row)
{
    const lx__axis *vertical = &resizer->vertical;
    size_t place = resizer->taken % LX__PASS_ROWS;
    if (resizer->made == resizer->out.height)
        return;
    memcpy(resizer->group + place * (resizer->row_size + LX__PASS_READS), row, resizer->row_size);
    resizer->taken++;
    bool last = place + 1 == LX__PASS_ROWS || resizer->taken == resizer->height;
    if (!last || resizer->taken <= vertical->starts[resizer->made])
        return;
    pass_group(resizer, resizer->taken - place - 1, place + 1);
    while (resizer->made < resizer->out.height &&
           vertical->starts[resizer->made] + vertical->counts[resizer->made] <= resizer->taken)
        make_row(resizer);
}

lx_status lx__resizer_begin(lx_image_resizer *resizer, uint32_t width, uint32_t height,
                            const double box[4], lx_image_filter filter, bool antialias,
                            const lx_image *out, lx_error *error)
{
    lx__axis_key horizontal = {.filter = filter, .antialias = antialias, .whole_groups = true};
    lx__axis_key vertical = {.filter = filter, .antialias = antialias};
    lx_status status;
    if ((status = check_sides(width, height, out, error)) != LX_OK ||
        (status = check_filter(filter, antialias, error)) != LX_OK ||
        (status = make_key("across", width, out->width, box, &horizontal, error)) != LX_OK ||
        (status = make_key("down", height, out->height, box != NULL ? box + 1 : NULL, &vertical,
                           error)) != LX_OK)
        return status;
    if (!lx__axis_prepare(&resizer->horizontal, &horizontal) ||
        !lx__axis_prepare(&resizer->vertical, &vertical))
        return lx__fail_memory(error, "the weights of a resized image");
    resizer->out = *out;
    resizer->height = height;
    resizer->taken = resizer->made = 0;
    return reserve_rows(resizer, width, error);
}

lx_status lx_image_resizer_resize(lx_image_resizer *resizer, const lx_image *in,
                                  const double box[4], lx_image_filter filter, bool antialias,
                                  const lx_image *out, lx_error *error)
{
    if (resizer == NULL)
        return lx__fail_null(error, "resizer");
    lx_status status = lx__image_check(in, "in", error);
    if (status == LX_OK)
        status = lx__image_check(out, "out", error);
    if (status == LX_OK && in->channels != out->channels)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "in has %u channels and out has %u: resizing cannot change their number",
                       in->channels, out->channels);
    if (status == LX_OK)
        status = lx__resizer_begin(resizer, in->width, in->height, box, filter, antialias, out,
                                   error);
    for (size_t y = 0; status == LX_OK && y < in->height; y++)
        lx__resizer_put(resizer, in->pixels + y * in->stride);
    return status;
}
