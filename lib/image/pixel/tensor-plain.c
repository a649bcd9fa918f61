/* SPDX-License-Identifier: MIT */
#include "image/pixel/tensor-plain.h"

#include <string.h>

/** Converts one channel of a row; the sizes are constants. */
static inline void convert(const uint8_t *values, size_t size, const uint8_t *bytes,
                           size_t channels, size_t width, bool mirror, uint8_t *out, size_t step)
{
    for (size_t x = 0; x < width; x++) {
        size_t byte = bytes[(mirror ? width - 1 - x : x) * channels];
        memcpy(out + x * step, values + byte * size, size);
    }
}

void lx__tensor_row_plain(const lx__tensor_kind *kind, const uint8_t *row, size_t width,
                          bool mirror, uint8_t *out, size_t plane)
{
    size_t step = kind->planar ? kind->size : kind->size * kind->channels;
    for (size_t channel = 0; channel < kind->channels; channel++) {
        const uint8_t *values = kind->values[channel];
        if (kind->size == 4)
            convert(values, 4, row + channel, kind->channels, width, mirror, out, step);
        else if (kind->size == 2)
            convert(values, 2, row + channel, kind->channels, width, mirror, out, step);
        else
            convert(values, 1, row + channel, kind->channels, width, mirror, out, step);
        out += kind->planar ? plane : kind->size;
    }
}
