/* SPDX-License-Identifier: MIT */
#include "parity/eod-columns.h"

#include <string.h>

#include "base/bytes.h"

static inline int64_t token_at(const lx__eod_sample *marked, uint64_t i)
{
    return marked->wide == 8 ? (int64_t)lx__load_le64(marked->text + 8 * i)
                             : (int32_t)lx__load_le32(marked->text + 4 * i);
}

void lx__eod_sample_split(const lx__eod_sample *marked, uint8_t *segments, uint8_t *positions)
{
    uint32_t segment = 1, position = 0;
    for (uint64_t i = 0; i < marked->length; i++) {
        if (segments != NULL)
            lx__store_le32(segments + 4 * i, segment);
        if (positions != NULL)
            lx__store_le32(positions + 4 * i, position);
        bool ends = token_at(marked, i) == marked->end;
        segment += ends;
        position = ends ? 0 : position + 1;
    }
}

void lx__eod_sample_mask(const lx__eod_sample *marked, bool ends, int64_t pad, uint64_t inputs,
                         uint8_t *mask)
{
    uint32_t one;
    float value = 1;
    memcpy(&one, &value, sizeof one);
    for (uint64_t i = 0; i < inputs; i++) {
        bool padding = i + 1 >= marked->length || token_at(marked, i + 1) == pad;
        bool end = ends && token_at(marked, i) == marked->end;
        lx__store_le32(mask + 4 * i, padding || end ? 0 : one);
    }
}
