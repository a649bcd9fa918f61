/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The weights with which one axis of an image is resized.
 */
#ifndef LX_IMAGE_RESIZE_AXIS_H
#define LX_IMAGE_RESIZE_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/image/resize.h>

/** The bits after the binary point of a weight; as in Pillow, so that sums round as in Pillow. Sums
 * of products with bytes need 8 bits more, and weights may be negative or exceed 1. */
#define LX__WEIGHT_BITS 22

/** A weight is stored as two numbers of 16 bits, for the multiplications of vector units:
 * high * 2^11 + low, where low is not negative. */
#define LX__WEIGHT_LOW_BITS 11

/** Weights are stored in groups of this many: first their high numbers, then their low numbers. */
#define LX__WEIGHT_GROUP 4

/** What determines the weights. */
typedef struct lx__axis_key {
    uint32_t in_size, out_size;
    float low, high; /**< The edges of the box. */
    lx_image_filter filter;
    bool antialias;
    bool whole_groups; /**< Whether the pass reads as many pixels as a group has weights: groups at
                            the end then begin earlier, so that they end within the image unless it
                            is smaller than they are. */
} lx__axis_key;

/** The weights of an axis. A zeroed one is valid and empty. */
typedef struct lx__axis {
    lx__axis_key key; /**< The weights are those of this key, unless out_size is 0. */
    uint32_t count;   /**< The largest number of weights of a pixel of the result. */
    uint32_t groups;  /**< The number of groups of each pixel of the result; the last ones are
                           filled up with zeros. */
    bool shifts;      /**< Whether each pixel of the result is one of the image, the first of them
                           that at @ref starts[0]. */
    uint32_t *starts; /**< For each pixel of the result: the first pixel that has a weight. */
    uint32_t *counts; /**< For each pixel of the result: the number of its weights, at least 1. */
    int16_t *weights; /**< For each pixel of the result: its groups. */
    uint8_t *memory;  /**< Of these arrays. */
    size_t capacity;  /**< Of the memory, in bytes. */
} lx__axis;

/**
 * Computes the weights for @p key, unless @p axis has them. The key must be valid.
 *
 * @return Whether there was enough memory; otherwise @p axis is empty.
 */
bool lx__axis_prepare(lx__axis *axis, const lx__axis_key *key);

/** Releases the memory in @p axis. */
void lx__axis_release(lx__axis *axis);

/** Returns the groups of the pixel @p at of the result. */
static inline const int16_t *lx__axis_weights(const lx__axis *axis, size_t at)
{
    return axis->weights + at * axis->groups * 2 * LX__WEIGHT_GROUP;
}

/** Returns the weight @p k of those that begin at @p weights. */
static inline int32_t lx__weight(const int16_t *weights, size_t k)
{
    weights += k / LX__WEIGHT_GROUP * 2 * LX__WEIGHT_GROUP + k % LX__WEIGHT_GROUP;
    return weights[0] * (1 << LX__WEIGHT_LOW_BITS) + weights[LX__WEIGHT_GROUP];
}

#endif
