/* SPDX-License-Identifier: MIT */
#include "pack-header.h"

#include <endian.h>
#include <string.h>

#include <loaderx/recordio.h>

size_t pack_header_size(uint32_t labels)
{
    return LX_RECORDIO_LABEL_BYTES + (labels > 1 ? sizeof(float) * labels : 0);
}

void pack_header_write(uint8_t *record, uint64_t id, const float *labels, uint32_t count)
{
    lx_recordio_label label = {.id = id, .label = labels[0]};
    if (count > 1) {
        label.label = 0;
        label.count = count;
        label.labels = labels;
    }
    lx_recordio_label_write(&label, record);
    for (uint32_t i = 0; i < label.count; i++) { /* to little-endian order */
        uint8_t *at = record + LX_RECORDIO_LABEL_BYTES + sizeof(float) * i;
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        bits = htole32(bits);
        memcpy(at, &bits, sizeof bits);
    }
}
