/* SPDX-License-Identifier: MIT */
/* MXNet's header. */
#include "records.h"

/* These bytes are struct.pack('<IfQQ', 0, 3.0, 7, 1) + b'image', as mxnet.recordio.pack() makes. */
static const uint8_t one[] = "\0\0\0\0\0\0\x40\x40\7\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0image";

START_TEST(reads_one_label)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_label label;
    unit_ok(lx_recordio_label_read(one, sizeof one - 1, &label, &error));
    ck_assert(label.id == 7 && label.id2 == 1 && label.label == 3.0f && label.count == 0);
    ck_assert(lx_recordio_label_get(&label, 0) == 3.0f);
    ck_assert_uint_eq(label.size, 5);
    ck_assert_mem_eq(label.data, "image", 5);
}
END_TEST

START_TEST(writes_what_it_reads)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t labels[] = "\0\0\x80\x3f\0\0\0\x40\0\0\0\xc0", record[100];
    for (uint32_t count = 0; count <= 3; count++) {
        lx_recordio_label label = {.id = UINT64_MAX - count, .count = count, .labels = labels}, got;
        size_t size = LX_RECORDIO_LABEL_BYTES + 4 * count;
        lx_recordio_label_write(&label, record);
        memcpy(record + size, "xyz", 3);
        unit_ok(lx_recordio_label_read(record, size + 3, &got, &error));
        ck_assert(got.id == UINT64_MAX - count && got.count == count && got.size == 3);
        static const float right[] = {1.0f, 2.0f, -2.0f};
        for (uint32_t i = 0; i < count; i++)
            ck_assert(lx_recordio_label_get(&got, i) == right[i]);
        ck_assert_mem_eq(got.data, "xyz", 3);
    }
}
END_TEST

START_TEST(rejects_short_records)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_label label = {.count = 3, .labels = "0123456789ab"};
    uint8_t record[36];
    lx_recordio_label_write(&label, record);
    for (size_t size = 0; size < sizeof record; size++)
        unit_fails(lx_recordio_label_read(record, size, &label, &error), LX_ERR_CORRUPT);
    unit_ok(lx_recordio_label_read(record, sizeof record, &label, &error));
    lx__store_le32(record, UINT32_MAX);
    unit_fails(lx_recordio_label_read(record, sizeof record, &label, &error), LX_ERR_CORRUPT);
    unit_fails(lx_recordio_label_read(NULL, 0, &label, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_label_read(record, 0, NULL, &error), LX_ERR_ARGUMENT);
}
END_TEST

UNIT_MAIN("recordio/recordio-label", reads_one_label, writes_what_it_reads, rejects_short_records)
