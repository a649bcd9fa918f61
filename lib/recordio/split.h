/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One of several parts of files that are taken as one sequence of bytes, and the order in
 * which it is read. Offsets here are those in the sequence.
 */
#ifndef LX_RECORDIO_SPLIT_H
#define LX_RECORDIO_SPLIT_H

#include <loaderx/sampler.h>

#include <stddef.h>
#include <stdint.h>

/** A part. Zeroed memory has no files. */
typedef struct lx__split {
    uint64_t *starts;      /**< Where each file begins, and the end of the last one. */
    size_t files;          /**< Their number. */
    uint64_t *records;     /**< Where each record of an index begins, ascending; NULL: the part was
                                cut by bytes. */
    uint64_t record_count; /**< In all files. */
    uint64_t part, parts;
    uint64_t begin, end; /**< The part: bytes, or positions in @ref records. */
    uint64_t chunk;      /**< The length of a chunk; the last one may be shorter. */
    uint64_t count;      /**< The number of chunks. */
    uint64_t next;       /**< The number of chunks that have begun. */
    uint64_t at, limit;  /**< What is left of the current one. */
    lx_sampler *order;   /**< The order of the chunks; NULL: ascending. */
} lx__split;

/** The records that begin in [begin, end). */
typedef struct lx__split_range {
    uint64_t begin, end;
    uint64_t
        ahead; /**< Bytes from its beginning to the end of the last record of the chunk, or more
                         or less if that is unknown. */
} lx__split_range;

/** Begins a list of @p files files. */
lx_status lx__split_init(lx__split *self, size_t files, lx_error *error);

void lx__split_clear(lx__split *self);

/** Adds a file of @p size bytes. */
lx_status lx__split_add_file(lx__split *self, uint64_t size, lx_error *error);

/** Adds the records of an index of the file that was added last. */
lx_status lx__split_add_index(lx__split *self, const char *path, lx_error *error);

/** Chooses part @p part of @p parts, after all files were added. */
void lx__split_choose(lx__split *self, uint64_t part, uint64_t parts);

/** Starts over, with chunks in an order that depends on the seed, the epoch and the part; fails as
 * lx_recordio_reader_shuffle() does. */
lx_status lx__split_shuffle(lx__split *self, uint64_t chunks, uint64_t seed, uint64_t epoch,
                            lx_error *error);

/** Returns the next range, or LX_END. */
lx_status lx__split_next(lx__split *self, lx__split_range *range, lx_error *error);

/** Returns the number of the file that has the byte at @p offset; the last one if none has. */
size_t lx__split_find_file(const lx__split *self, uint64_t offset);

#endif
