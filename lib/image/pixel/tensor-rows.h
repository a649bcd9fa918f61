/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Converts rows of pixels to elements of a tensor, for each instruction set. All give the
 * same bytes.
 */
#ifndef LX_IMAGE_TENSOR_ROWS_H
#define LX_IMAGE_TENSOR_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>

/** The largest number of channels. */
#define LX__CHANNELS 3

/** Vector code converts blocks of this many bytes of a row, as three vectors of eight elements. */
#define LX__BLOCK 24
#define LX__LANES 8

typedef struct lx__tensor_kind {
    lx_dtype dtype;
    size_t size; /**< Of an element. */
    size_t channels;
    bool planar; /**< Whether channels are apart in the tensor, and there are several. */

    /** What each byte becomes: elements, for each channel. */
    uint8_t values[LX__CHANNELS][256 * sizeof(float)];
    bool is_varied; /**< What a byte becomes depends on its place or its image: by the formula. */
    bool is_copy;   /**< Whether the elements are the bytes. */

    /** The same as a formula. If the kind multiplies: (x - mean) * scale + offset. Otherwise:
     * (x * high + x * low - mean) / scale, where high + low is the reciprocal of the divisor, and
     * x * high is exact. @ref is_exact says whether it gives the same values. */
    bool multiplies, is_exact;
    float high, low;
    float means[LX__BLOCK], scales[LX__BLOCK], offsets[LX__BLOCK]; /**< Of the elements. */
    uint8_t sources[2][LX__BLOCK]; /**< The byte of a block for each element; [1]: mirrored. */
} lx__tensor_kind;

/**
 * Converts a row of @p width pixels.
 *
 * @param means  Replaces the means of the kind, which multiplies: a number for each element, in the
 *               layout of the tensor. NULL for those of the kind.
 * @param out    Receives the row, of the first channel if the kind is planar.
 * @param plane  The distance in elements from one channel to the next, if the kind is planar.
 */
typedef void lx__tensor_row(const lx__tensor_kind *kind, const uint8_t *row, size_t width,
                            bool mirror, const float *means, uint8_t *out, size_t plane);

/** Returns the fastest function for a kind that this processor can run. */
lx__tensor_row *lx__tensor_row_find(const lx__tensor_kind *kind);

#endif
