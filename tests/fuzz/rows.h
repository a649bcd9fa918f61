/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Rows of tables and a chunk, made of an input: a byte of options, the number of rows, the
 * rows of each field (an entry and its check, 24 bytes), and what is left is the chunk. With the
 * options, CRCs are made right, so that the rules of entries and the streams are tried.
 */
#ifndef LX_TESTS_FUZZ_ROWS_H
#define LX_TESTS_FUZZ_ROWS_H

#include "fuzz.h"

enum {
    ROWS_HOW = 7,       /* how the dataset is opened */
    ROWS_REPAIR = 8,    /* CRCs are made right, where the entry leads to bytes */
    ROWS_SENSIBLE = 16, /* chunk, offset and lengths lead into the chunk */
    ROWS_WAY_SHIFT = 5  /* by which access it is, or how else values are read: two bits */
};

#define ROWS_CHUNK_MAX 8192
#define ROWS_FIELDS 4

struct rows {
    unsigned options;
    size_t count; /* at most FUZZ_ROWS */
    const uint8_t *fields[ROWS_FIELDS];
    const uint8_t *chunk;
    size_t chunk_size;
    const uint8_t *stored; /* what CRCs are taken of: the chunk, as it is in the file */
    size_t stored_size;
};

/** The fields of fuzz_make_dataset(). */
extern const char *const rows_stems[ROWS_FIELDS];

/** False: it is too short to be one. */
bool rows_take(struct rows *rows, const uint8_t *data, size_t size);

/** Makes the rows of a field as they stand in its two tables. */
void rows_make(const struct rows *rows, size_t field, uint8_t *offsets, uint8_t *checks);

/** Writes the log of a dataset of so many rows, and of one chunk of so many bytes. */
void rows_write_log(const char *name, uint64_t count, size_t chunk_size);

/** Writes tables, chunk and log of the dataset NAME (fuzz_make_dataset()). */
void rows_write(const char *name, const struct rows *rows);

#endif
