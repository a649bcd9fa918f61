/* SPDX-License-Identifier: MIT */
#include "image/pixel/resize-axis.h"

#include <string.h>

#include "base/alloc.h"
#include "image/pixel/resize-filter.h"

/** The weights of a pixel of the result while they are computed. */
struct pixel {
    uint32_t start, count;
    double *weights; /* room for as many as any pixel has */
};

static uint32_t clamp(double position, uint32_t size)
{
    if (!(position > 0))
        return 0;
    return position < size ? (uint32_t)position : size - 1;
}

/** Returns the width of a pixel of the result, in pixels of the input. */
static double scale_of(const lx__axis_key *key)
{
    return (double)(key->high - key->low) / key->out_size;
}

/** As Pillow: a filter that was stretched reaches @p reach pixels, and what it would use beyond the
 * image is shared out among the other pixels. */
static void weigh_pillow(const lx__axis_key *key, double centre, double reach, double shrink,
                         struct pixel *pixel)
{
    double first = centre - reach + 0.5, end = centre + reach + 0.5, sum = 0;
    pixel->start = clamp(first, key->in_size);
    pixel->count = (end < key->in_size ? (uint32_t)end : key->in_size) - pixel->start;
    for (uint32_t i = 0; i < pixel->count; i++)
        pixel->weights[i] = ((double)(pixel->start + i) - centre + 0.5) * shrink;
    lx__filter_weigh(key->filter, LX__CUBIC_PILLOW, pixel->weights, pixel->count);
    for (uint32_t i = 0; i < pixel->count; i++)
        sum += pixel->weights[i];
    for (uint32_t i = 0; i < pixel->count && sum != 0; i++)
        pixel->weights[i] /= sum;
}

/** As torch: the pixels at the edge continue beyond it. */
static void weigh_torch(const lx__axis_key *key, double centre, struct pixel *pixel)
{
    double weights[4]; /* bicubic has the most */
    int reach = (int)lx__filter_reach(key->filter);
    int64_t first = (int64_t)(centre + 0.5) - reach;
    for (int i = 0; i < 2 * reach; i++)
        weights[i] = (double)(first + i) + 0.5 - centre;
    lx__filter_weigh(key->filter, LX__CUBIC_TORCH, weights, 2 * (size_t)reach);
    pixel->start = clamp((double)first, key->in_size);
    pixel->count = clamp((double)(first + 2 * reach - 1), key->in_size) - pixel->start + 1;
    memset(pixel->weights, 0, pixel->count * sizeof *pixel->weights);
    for (int i = 0; i < 2 * reach; i++)
        pixel->weights[clamp((double)(first + i), key->in_size) - pixel->start] += weights[i];
}

/** Converts weights to integers; drops zeros at the ends. Returns the number that remains. */
static uint32_t round_weights(struct pixel *pixel, int32_t *plain)
{
    uint32_t first = 0, end = pixel->count;
    for (uint32_t i = 0; i < pixel->count; i++) {
        double scaled = pixel->weights[i] * (1 << LX__WEIGHT_BITS);
        plain[i] = (int32_t)(scaled + (scaled < 0 ? -0.5 : 0.5));
    }
    while (end > 0 && plain[end - 1] == 0)
        end--;
    while (first < end && plain[first] == 0)
        first++;
    if (first == end) { /* all are zero */
        first = 0;
        end = 1;
        plain[0] = 1 << LX__WEIGHT_BITS;
    }
    for (uint32_t i = first; i < end && first > 0; i++)
        plain[i - first] = plain[i];
    pixel->start += first;
    return pixel->count = end - first;
}

/** Computes the weights of all pixels as integers, @p stride for each. */
static void weigh(lx__axis *axis, double *exact, int32_t *plain, size_t stride)
{
    const lx__axis_key *key = &axis->key;
    double scale = scale_of(key), stretch = scale < 1 ? 1 : scale;
    double reach = lx__filter_reach(key->filter) * stretch;
    double nearest = key->low + scale * 0.5; /* a sum, as in Pillow, which rounds otherwise */
    axis->count = 0;
    axis->shifts = true;
    for (uint32_t at = 0; at < key->out_size; at++, nearest += scale) {
        struct pixel pixel = {clamp(nearest, key->in_size), 1, exact};
        exact[0] = 1;
        double centre = key->low + (at + 0.5) * scale;
        if (key->filter != LX_IMAGE_NEAREST && key->antialias)
            weigh_pillow(key, centre, reach, 1 / stretch, &pixel);
        else if (key->filter != LX_IMAGE_NEAREST)
            weigh_torch(key, centre, &pixel);
        uint32_t count = round_weights(&pixel, plain + at * stride);
        axis->starts[at] = pixel.start;
        axis->counts[at] = count;
        axis->count = count > axis->count ? count : axis->count;
        axis->shifts = axis->shifts && count == 1 && pixel.start == axis->starts[0] + at;
    }
}

/** Makes the groups of a pixel, with @p before zeros before its weights. */
static void split(const int32_t *plain, uint32_t count, uint32_t before, int16_t *groups)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = i + before;
        int16_t *to = groups + k / LX__WEIGHT_GROUP * 2 * LX__WEIGHT_GROUP + k % LX__WEIGHT_GROUP;
        to[LX__WEIGHT_GROUP] = (int16_t)(plain[i] & ((1 << LX__WEIGHT_LOW_BITS) - 1));
        to[0] = (int16_t)((plain[i] - to[LX__WEIGHT_GROUP]) / (1 << LX__WEIGHT_LOW_BITS));
    }
}

static void make_groups(lx__axis *axis, const int32_t *plain, size_t stride)
{
    const lx__axis_key *key = &axis->key;
    uint32_t reads = axis->groups * LX__WEIGHT_GROUP;
    uint32_t last = key->in_size > reads ? key->in_size - reads : 0;
    memset(axis->weights, 0,
           (size_t)key->out_size * axis->groups * 2 * LX__WEIGHT_GROUP * sizeof *axis->weights);
    for (uint32_t at = 0; at < key->out_size; at++) {
        uint32_t before = 0;
        if (key->whole_groups && !axis->shifts && axis->starts[at] > last)
            before = axis->starts[at] - last;
        split(plain + at * stride, axis->counts[at], before,
              axis->weights + (size_t)at * axis->groups * 2 * LX__WEIGHT_GROUP);
        axis->starts[at] -= before;
        axis->counts[at] += before;
    }
}

static bool is_same(const lx__axis_key *a, const lx__axis_key *b)
{
    return a->in_size == b->in_size && a->out_size == b->out_size && a->low == b->low &&
           a->high == b->high && a->filter == b->filter && a->antialias == b->antialias &&
           a->whole_groups == b->whole_groups;
}

/** Returns a number that no pixel's number of weights exceeds. */
static size_t most_weights(const lx__axis_key *key)
{
    double scale = key->antialias ? scale_of(key) : 1;
    double reach = lx__filter_reach(key->filter) * (scale < 1 ? 1 : scale);
    return 2 * ((size_t)reach + 1) + 1;
}

bool lx__axis_prepare(lx__axis *axis, const lx__axis_key *key)
{
    if (axis->key.out_size != 0 && is_same(&axis->key, key))
        return true;
    /* The sizes cannot overflow: the weights of all pixels together are some times as many as the
     * pixels before and after, which LX_IMAGE_SIDE_MAX limits. */
    size_t size = key->out_size, stride = most_weights(key);
    size_t groups = (stride + LX__WEIGHT_GROUP - 1) / LX__WEIGHT_GROUP;
    size_t plain_bytes = size * stride * sizeof(int32_t), exact_bytes = stride * sizeof(double);
    size_t each = 2 * sizeof *axis->starts + groups * 2 * LX__WEIGHT_GROUP * sizeof *axis->weights;
    axis->key.out_size = 0;
    if (!lx__reserve(&axis->memory, &axis->capacity, exact_bytes + plain_bytes + size * each))
        return false;
    double *exact = (double *)axis->memory;
    int32_t *plain = (int32_t *)(exact + stride);
    axis->starts = (uint32_t *)(plain + size * stride);
    axis->counts = axis->starts + size;
    axis->weights = (int16_t *)(axis->counts + size);
    axis->key = *key;
    weigh(axis, exact, plain, stride);
    axis->groups = (axis->count + LX__WEIGHT_GROUP - 1) / LX__WEIGHT_GROUP;
    make_groups(axis, plain, stride);
    return true;
}

void lx__axis_release(lx__axis *axis)
{
    lx__free(axis->memory);
    *axis = (lx__axis){0};
}
