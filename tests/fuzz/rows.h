/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Rows of tables and a chunk, made from an input: a byte of options, the number of rows, the
 * rows of each field (an entry and its check, 24 bytes), and the chunk. An option corrects the
 * CRCs, so that the input tests the rules of entries and the streams.
 */
#ifndef LX_TESTS_FUZZ_ROWS_H
#define LX_TESTS_FUZZ_ROWS_H

#include "fuzz.h"

enum {
    ROWS_HOW = 7,       /* the options of the reader */
    ROWS_REPAIR = 8,    /* correct the CRCs of entries that locate bytes */
    ROWS_SENSIBLE = 16, /* limit chunk, offset and lengths to the chunk */
    ROWS_WAY_SHIFT = 5  /* the access mode, or the other call that reads values: two bits */
};

#define ROWS_CHUNK_MAX 8192
#define ROWS_FIELDS 4

struct rows {
    unsigned options;
    size_t count; /* at most FUZZ_ROWS */
    const uint8_t *fields[ROWS_FIELDS];
    const uint8_t *chunk;
    size_t chunk_size;
    const uint8_t *stored; /* the chunk as in the file, for CRCs */
    size_t stored_size;
};

/** The fields of fuzz_make_dataset(). */
extern const char *const rows_stems[ROWS_FIELDS];

/** Returns false if the input is too short. */
bool rows_take(struct rows *rows, const uint8_t *data, size_t size);

/** Makes the rows of a field in the form of its two tables. */
void rows_make(const struct rows *rows, size_t field, uint8_t *offsets, uint8_t *checks);

/** Writes the log of a dataset with that many rows, and one chunk of that many bytes. */
void rows_write_log(const char *name, uint64_t count, size_t chunk_size);

/** Writes tables, chunk and log of the dataset NAME (fuzz_make_dataset()). */
void rows_write(const char *name, const struct rows *rows);

#endif
