/* SPDX-License-Identifier: MIT */
#include "image/pixel/tensor-plain.h"

#include <string.h>

#include "image/pixel/element.h"

/** Looks one channel of a row up; the sizes are constants. */
static inline void look_up(const uint8_t *values, size_t size, const uint8_t *bytes,
                           size_t channels, size_t width, bool mirror, uint8_t *out, size_t step)
{
    for (size_t x = 0; x < width; x++) {
        size_t byte = bytes[(mirror ? width - 1 - x : x) * channels];
        memcpy(out + x * step, values + byte * size, size);
    }
}

/** Computes one channel of a row. */
static void compute(const lx__tensor_kind *kind, size_t channel, const uint8_t *bytes, size_t width,
                    bool mirror, const float *means, uint8_t *out, size_t step)
{
    size_t first = kind->planar ? LX__LANES * channel : channel;
    for (size_t x = 0; x < width; x++) {
        float byte = bytes[(mirror ? width - 1 - x : x) * kind->channels];
        float mean = means != NULL ? means[x * step] : kind->means[first];
        float value = (byte - mean) * kind->scales[first] + kind->offsets[first];
        (void)lx__element_store(kind->dtype, value, out + x * step * kind->size);
    }
}

void lx__tensor_row_plain(const lx__tensor_kind *kind, const uint8_t *row, size_t width,
                          bool mirror, const float *means, uint8_t *out, size_t plane)
{
    size_t step = kind->planar ? 1 : kind->channels, next = kind->planar ? plane : 1;
    for (size_t channel = 0; channel < kind->channels; channel++) {
        const uint8_t *values = kind->values[channel], *bytes = row + channel;
        uint8_t *to = out + channel * next * kind->size;
        if (kind->is_varied)
            compute(kind, channel, bytes, width, mirror,
                    means != NULL ? means + channel * next : NULL, to, step);
        else if (kind->size == 4)
            look_up(values, 4, bytes, kind->channels, width, mirror, to, 4 * step);
        else if (kind->size == 2)
            look_up(values, 2, bytes, kind->channels, width, mirror, to, 2 * step);
        else
            look_up(values, 1, bytes, kind->channels, width, mirror, to, step);
    }
}
