/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A store of the original Python package, loaderx 2.8: records of one dtype, which are dense
 * (all of one shape) or ragged (each of its own shape).
 *
 * The file meta.zr has, in little-endian order: the u64 number of records, the u16 length of the
 * schema, the u8 number of data files, the u8 codec, at 16 255 u64 sizes of the data files, and at
 * 2056 the schema, a JSON object. From 4096 on, it has for each record a u64 offset, its u32 stored
 * size and its u32 size. Record i is in the file data_<i mod number of files>.zr. A ragged record
 * begins with its u32 extents. The file dict.zr is the zstd dictionary, if the codec has one.
 */
#ifndef LX_IMPORTER_ORIGINAL_STORE_H
#define LX_IMPORTER_ORIGINAL_STORE_H

#include "base/file.h"
#include "importer/varying.h"

typedef struct lx__original_unpacker lx__original_unpacker;

/** An open store. */
typedef struct lx__original_store {
    char *name;         /**< Of its field. */
    lx__file directory; /**< As are the next two, open as long as the store. */
    lx__file meta;
    lx__file *files;
    size_t file_count;
    uint64_t sizes[255];
    uint64_t count; /**< Of records. */
    unsigned codec;
    lx__original_unpacker *unpacker; /**< NULL: records are raw. */
    lx_dtype dtype;
    bool ragged;
    lx__varying varying; /**< Has the shape of a dense record. */
    uint8_t *rows;       /**< A part of the table of records, with this first record. */
    uint64_t first_row;
    size_t row_count;
    uint8_t *stored, *data; /**< Of the last record. */
    size_t stored_capacity, data_capacity;
} lx__original_store;

/**
 * Opens the store in the directory @p path. Call lx__original_store_close() afterwards, even on
 * failure.
 *
 * @param name  Of its field; copied.
 */
lx_status lx__original_store_open(lx__original_store *self, const char *path, const char *name,
                                  lx_error *error);
void lx__original_store_close(lx__original_store *self);

/**
 * Reads record @p i, of at most @p limit bytes, as up to LX__VARYING_VALUES values; they are valid
 * until the next call.
 */
lx_status lx__original_store_read(lx__original_store *self, uint64_t i, uint64_t limit,
                                  lx__import_value *values, size_t *count, lx_error *error);

#endif
