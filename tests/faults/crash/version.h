/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The content of a dataset, as the serial number of each value, and the operations on it.
 */
#ifndef LX_TESTS_FAULTS_CRASH_VERSION_H
#define LX_TESTS_FAULTS_CRASH_VERSION_H

#include "records.h"

struct version {
    struct columns columns;
    uint32_t *cells; /**< Record by record, a serial for each field. */
    uint64_t length;
    uint64_t digest; /**< The content_digest() of a reader that sees this; 0: not computed yet. */
};

enum operation_kind {
    OPERATION_NONE,
    OPERATION_APPEND,     /**< count records, with serials from first on. */
    OPERATION_MODIFY,     /**< count records, index, index + stride, .. get new values. */
    OPERATION_DELETE,     /**< The record index is deleted. */
    OPERATION_TRUNCATE,   /**< To the length index. */
    OPERATION_COPY,       /**< count records of another version: index, index + stride, .. */
    OPERATION_ADD,        /**< A field of kind index; with count 1, its default is serial first. */
    OPERATION_DROP,       /**< The field number index. */
    OPERATION_RENAME,     /**< The same. */
    OPERATION_CHECKPOINT, /* the kinds below change no records */
    OPERATION_REBALANCE,
    OPERATION_ROTATE
};

/** One call; indices are taken modulo the length. */
struct operation {
    uint32_t kind;
    uint32_t fields; /**< One bit for each column, by position. */
    uint64_t index;
    uint64_t stride;
    uint64_t first;
    uint64_t count;
};

/** Index number @p i of an operation on several of @p length records. */
static inline uint64_t operation_index(const struct operation *operation, uint64_t i,
                                       uint64_t length)
{
    return (operation->index + i * operation->stride) % length;
}

/** Chooses an operation on the records of a dataset of @p length. @p from_length: the length of one
 * to copy from, or 0. */
struct operation operation_choose(struct rng *rng, uint64_t length, size_t fields, uint64_t serial,
                                  uint64_t from_length);

/** Chooses an operation on a whole dataset with these columns, which commits pending operations and
 * is durable. */
struct operation operation_choose_switch(struct rng *rng, const struct columns *columns,
                                         uint64_t serial);

/** Performs it with one call of the library. */
lx_status operation_do(const struct operation *operation, struct records *records,
                       lx_writer *writer, lx_dataset *from, lx_error *error);

void version_free(struct version *version);
void version_set(struct version *version, const struct version *from);
bool version_equals(const struct version *left, const struct version *right);

/** Whether the version has the records of the operation. */
bool version_allows(const struct version *version, const struct operation *operation);

/** Applies the operation to a version. */
void version_apply(struct version *version, const struct operation *operation,
                   const struct version *from);

uint64_t version_digest(struct version *version, struct records *records);

#endif
