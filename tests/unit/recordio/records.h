/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records for RecordIO files, some of which contain the magic number, and their bytes.
 */
#ifndef LX_TESTS_RECORDIO_RECORDS_H
#define LX_TESTS_RECORDIO_RECORDS_H

#include <loaderx/recordio.h>

#include "../scratch.h"
#include "../loader/npy-file.h"
#include "base/bytes.h"
#include "recordio/record.h"

#define RECORD_MAX 4000

/** Makes record @p i; returns its size. Every third has magic numbers, some of them at multiples of
 * 4 bytes, at the start, at the end, or one after the other. */
static inline size_t record_make(unsigned i, uint8_t record[RECORD_MAX])
{
    uint32_t state = i * 2654435761u + 1;
    size_t size = i % 7 == 0 ? i % 5 : (state >> 8) % (RECORD_MAX - 100);
    for (size_t k = 0; k < size; k++)
        record[k] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
    for (unsigned k = 0; i % 3 == 0 && k < 4 + i % 4; k++) {
        state = state * 1664525 + 1013904223;
        size_t at = k == 0 ? 0 : k == 1 ? 4 : (state >> 8) % (size + 1);
        if (k > 1 && k % 2 == 0)
            at = at / 4 * 4;
        if (size >= 4 && at <= size - 4)
            lx__store_le32(record + at, LX__RECORDIO_MAGIC);
    }
    return size;
}

/** Bytes that grow. */
struct bytes {
    uint8_t *data;
    size_t size;
};

static inline void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
    bytes->data = realloc(bytes->data, bytes->size + size + 1);
    ck_assert_ptr_nonnull(bytes->data);
    if (size != 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static inline void bytes_add_le32(struct bytes *bytes, uint32_t number)
{
    uint8_t stored[4];
    lx__store_le32(stored, number);
    bytes_add(bytes, stored, 4);
}

/** Adds a record as dmlc's RecordIOWriter::WriteRecord() writes it, word by word. */
static inline void bytes_add_record(struct bytes *bytes, const uint8_t *record, size_t size)
{
    size_t begin = 0;
    for (size_t i = 0; i + 4 <= size; i += 4) {
        if (lx__load_le32(record + i) != 0xced7230a)
            continue;
        bytes_add_le32(bytes, 0xced7230a);
        bytes_add_le32(bytes, (begin == 0 ? 1u : 2u) << 29 | (uint32_t)(i - begin));
        bytes_add(bytes, record + begin, i - begin);
        begin = i + 4;
    }
    bytes_add_le32(bytes, 0xced7230a);
    bytes_add_le32(bytes, (begin == 0 ? 0u : 3u) << 29 | (uint32_t)(size - begin));
    bytes_add(bytes, record + begin, size - begin);
    while (bytes->size % 4 != 0)
        bytes_add(bytes, "", 1);
}

/** The file of records 0 to @p count - 1; @p offsets[i] receives where each begins, and its end. */
static inline struct bytes bytes_make(unsigned count, uint64_t *offsets)
{
    struct bytes bytes = {NULL, 0};
    uint8_t record[RECORD_MAX];
    for (unsigned i = 0; i < count; i++) {
        if (offsets != NULL)
            offsets[i] = bytes.size;
        bytes_add_record(&bytes, record, record_make(i, record));
    }
    if (offsets != NULL)
        offsets[count] = bytes.size;
    return bytes;
}

/** The file must have these bytes. */
static inline void expect_file(const char *path, const struct bytes *right)
{
    struct bytes got = {NULL, 0};
    char block[4096];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    for (size_t size; (size = fread(block, 1, sizeof block, file)) != 0;)
        bytes_add(&got, block, size);
    fclose(file);
    ck_assert_uint_eq(got.size, right->size);
    ck_assert_mem_eq(got.data, right->data, right->size);
    free(got.data);
}

/** The reader must return record @p i, which begins at @p offset. */
static inline void expect_record(lx_recordio_reader *reader, unsigned i, uint64_t offset)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record got;
    uint8_t right[RECORD_MAX];
    size_t size = record_make(i, right);
    unit_ok(lx_recordio_reader_next(reader, &got, &error));
    ck_assert_uint_eq(got.size, size);
    ck_assert_uint_eq(got.offset, offset);
    ck_assert(size == 0 || memcmp(got.data, right, size) == 0);
}

#endif
