/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A sealed dataset with one dense field and one chunk, without gaps between its records.
 */
#ifndef LX_BENCH_DENSE_DATASET_H
#define LX_BENCH_DENSE_DATASET_H

#include "plain.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#define DATASET "bench-dataset"
#define CHUNK DATASET "/chunk/0.zr"

static const char *const dataset_files[] = {CHUNK, DATASET "/data.offset", DATASET "/data.check"};
#define DATASET_FILES (sizeof dataset_files / sizeof *dataset_files)

static inline void make_dataset(size_t record, size_t records, lx_compression compression)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer = NULL;
    uint64_t shape = record, random = 1;
    uint8_t *bytes = malloc(record);
    must_be_ok(lx_schema_add_field(schema, "data", LX_UINT8, &shape, 1, compression, &error),
               &error);
    lx_writer_options *options = lx_writer_options_new();
    must_be_ok(lx_writer_options_set_chunk_limits(options, UINT32_MAX, (uint64_t)1 << 40, &error),
               &error);
    must_be_ok(lx_writer_create(DATASET, schema, options, &writer, &error), &error);
    for (size_t i = 0; i < records; i++) {
        memset(bytes, (int)next_random(&random), record);
        lx_value value = {bytes, record};
        must_be_ok(lx_writer_append(writer, &value, 1, NULL, &error), &error);
    }
    must_be_ok(lx_writer_seal(writer, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    free(bytes);
}

static inline void remove_dataset(void)
{
    must(system("rm -rf " DATASET) == 0, "rm");
}

/** Removes its tables and its chunk from the page cache; does nothing on a tmpfs. */
static inline void evict_dataset(void)
{
    for (size_t i = 0; i < DATASET_FILES; i++) {
        int file = open(dataset_files[i], O_RDONLY | O_CLOEXEC);
        must(file != -1, dataset_files[i]);
        must(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
        close(file);
    }
}

#endif
