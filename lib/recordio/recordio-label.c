/* SPDX-License-Identifier: MIT */
/* MXNet's header: the number of labels, or 0, as a uint32; the only label as a float; and two ids as
 * uint64.
 *
 * Source: src/io/image_recordio.h and python/mxnet/recordio.py of MXNet. */
#include <loaderx/recordio.h>

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

/* Bytes of a label. */
#define LABEL 4

static float load_float(const uint8_t *from)
{
    uint32_t bits = lx__load_le32(from);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void store_float(uint8_t *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    lx__store_le32(to, bits);
}

lx_status lx_recordio_label_read(const void *record, size_t size, lx_recordio_label *label,
                                 lx_error *error)
{
    const uint8_t *from = record;
    if (record == NULL || label == NULL)
        return lx__fail_null(error, record == NULL ? "record" : "label");
    if (size < LX_RECORDIO_LABEL_BYTES)
        return lx_fail(error, LX_ERR_CORRUPT, "the record has %zu bytes, but MXNet's header has %d",
                       size, LX_RECORDIO_LABEL_BYTES);
    uint32_t count = lx__load_le32(from);
    if (count > (size - LX_RECORDIO_LABEL_BYTES) / LABEL)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "MXNet's header says that %" PRIu32
                       " labels follow, but the record has only %zu bytes: the record is damaged, "
                       "or has no such header",
                       count, size);
    size_t head = LX_RECORDIO_LABEL_BYTES + (size_t)count * LABEL;
    *label = (lx_recordio_label){.label = load_float(from + 4),
                                 .id = lx__load_le64(from + 8),
                                 .id2 = lx__load_le64(from + 16),
                                 .count = count,
                                 .labels = from + LX_RECORDIO_LABEL_BYTES,
                                 .data = from + head,
                                 .size = size - head};
    return LX_OK;
}

float lx_recordio_label_get(const lx_recordio_label *label, uint32_t position)
{
    return label->count == 0
               ? label->label
               : load_float((const uint8_t *)label->labels + (size_t)position * LABEL);
}

void lx_recordio_label_write(const lx_recordio_label *label, void *out)
{
    uint8_t *to = out;
    lx__store_le32(to, label->count);
    store_float(to + 4, label->label);
    lx__store_le64(to + 8, label->id);
    lx__store_le64(to + 16, label->id2);
    if (label->count != 0)
        memcpy(to + LX_RECORDIO_LABEL_BYTES, label->labels, (size_t)label->count * LABEL);
}
