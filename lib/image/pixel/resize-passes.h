/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The inner loops of resizing, for each instruction set. All give the same bytes.
 */
#ifndef LX_IMAGE_RESIZE_PASSES_H
#define LX_IMAGE_RESIZE_PASSES_H

#include "image/pixel/resize-axis.h"

/** The number of rows of one call of the horizontal pass. */
#define LX__PASS_ROWS 4

/** The horizontal pass reads up to this many bytes after the end of an input row. */
#define LX__PASS_READS 16

/** The horizontal pass writes up to this many bytes after the end of an output row. */
#define LX__PASS_WRITES 1

typedef struct lx__passes {
    /** Resizes #LX__PASS_ROWS rows of 1 channel (index 0) or 3 channels (index 1). */
    void (*horizontal[2])(const lx__axis *axis, const uint8_t *const *in, uint8_t *const *out);

    /** Computes a row of @p size bytes from @p count rows of as many bytes with these weights. If
     * @p count is odd, the pointer after the last row must be valid, too. */
    void (*vertical)(const int16_t *weights, size_t count, const uint8_t *const *rows, size_t size,
                     uint8_t *out);
} lx__passes;

/** Returns the fastest passes that this processor can run. */
const lx__passes *lx__passes_find(void);

#endif
