/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Batches of records.
 */
#ifndef LOADERX_BATCH_H
#define LOADERX_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/source.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_batch Batches of records
 * @see lx_loader, lx_loader_options, lx_random_get_key(), loaderx(7)
 * @{
 */

/**
 * A batch of records in memory.
 *
 * @par Ownership
 * Batches are reference-counted: lx_loader_next() returns one reference, lx_batch_ref() adds one,
 * and lx_batch_unref() drops one. A batch stays valid until its last reference is dropped, even
 * after its loader is closed.
 *
 * @par Thread safety
 * Any thread may read a batch, and add or drop references.
 */
typedef struct lx_batch lx_batch;

/** A column of a batch. The batch owns it. */
typedef struct lx_column {
    const char *name;      /**< The name of the column, which is the same as in the source. */
    lx_dtype dtype;        /**< The type of the values. */
    size_t ndim;           /**< The number of dimensions of a value. */
    const uint64_t *shape; /**< @ref ndim extents in C order; the first is #LX_NONE if it varies. */
    uint64_t rows;         /**< The number of records. */
    void *data;    /**< The records, aligned to 64 bytes; the caller may modify them. Record i
                                is at data + i * size or, if @ref size is #LX_NONE, occupies the
                                bytes [data + offsets[i], data + offsets[i + 1]). */
    uint64_t size; /**< The size of a value in bytes; #LX_NONE if it varies. */
    const uint64_t *offsets; /**< If the size varies, @ref rows + 1 offsets in bytes, beginning
                                  with 0; otherwise NULL. Aligned to 64 bytes. */
    uint64_t item_size;      /**< The size of an item in bytes, as in lx_field: if the size of
                                  values varies, the offsets are multiples of it. */
} lx_column;

/** A block of memory that the caller supplies for batches; see lx_loader_options_set_memory(). */
typedef struct lx_memory {
    void *data;  /**< The first byte, aligned to 64 bytes. */
    size_t size; /**< The size in bytes. */
    void *owner; /**< For the caller's use, for example the object to which the memory belongs. */
} lx_memory;

/** Returns the number of records. */
LX_API uint64_t lx_batch_get_row_count(const lx_batch *batch);

/**
 * Returns the number of rows that are not padding; these rows come first. The remaining rows repeat
 * records so that all ranks have the same number of batches; an evaluation must not count them.
 */
LX_API uint64_t lx_batch_get_real_count(const lx_batch *batch);

/** Returns the index of each record in the source, in row order. */
LX_API const uint64_t *lx_batch_get_indices(const lx_batch *batch);

/** Returns the position in the global order at which the batch begins; see lx_loader_tell(). */
LX_API uint64_t lx_batch_get_position(const lx_batch *batch);

/** Returns the epoch of the order to which the batch belongs. */
LX_API uint64_t lx_batch_get_epoch(const lx_batch *batch);

/**
 * Computes the random key of each record as lx_random_get_key() does, from the seed, the epoch and
 * the position of the record in the global order. The keys do not depend on the number of threads
 * and ranks, nor on where a run was resumed, and a record that an epoch contains several times has
 * several keys. For a key that belongs to the record itself, pass lx_batch_get_indices() to
 * lx_random_get_key().
 *
 * @param[in]  batch  The batch.
 * @param[in]  seed   Any value.
 * @param[out] keys   Receives two numbers per record.
 */
LX_API void lx_batch_get_keys(const lx_batch *batch, uint64_t seed, uint64_t *keys);

/** Returns the number of columns. */
LX_API size_t lx_batch_get_column_count(const lx_batch *batch);

/**
 * Returns the column at @p position; NULL if @p position is not less than
 * lx_batch_get_column_count(). Columns are in the order of the source or of
 * lx_loader_options_set_columns(), one after another in memory: the position of a column is its
 * pointer minus that of column 0.
 */
LX_API const lx_column *lx_batch_get_column(const lx_batch *batch, size_t position);

/** Returns the column named @p name; NULL if the batch has no such column. */
LX_API const lx_column *lx_batch_find_column(const lx_batch *batch, const char *name);

/**
 * Returns which values of the column at @p position are present, as one byte for each record: 0 if
 * the value is missing, otherwise 1. NULL if the column has no such marks, because its policy is
 * not #LX_MISSING_MASK, or if @p position is not less than lx_batch_get_column_count().
 */
LX_API const uint8_t *lx_batch_get_present(const lx_batch *batch, size_t position);

/**
 * Returns the block that contains the records of the column at @p position or, if their size
 * varies, their values. NULL if the loader allocates the memory of batches itself, or if
 * @p position is not less than lx_batch_get_column_count().
 */
LX_API const lx_memory *lx_batch_get_memory(const lx_batch *batch, size_t position);

/**
 * Returns the result that the transform stored with lx_batch_set_result(); NULL if it did not store
 * a result.
 */
LX_API void *lx_batch_get_result(const lx_batch *batch);

/**
 * Stores the result of a transform in its batch. If @p release is not NULL, it is called with
 * @p result when the last reference to the batch is dropped, on the thread that drops it. A result
 * must not hold a reference to its own batch. If the batch already has a result, that result is
 * released immediately.
 */
LX_API void lx_batch_set_result(lx_batch *batch, void *result, lx_release_function release);

/**
 * Adds a reference and returns @p batch. A transform that keeps the batch after it returns must add
 * a reference, because a seek or a failure may drop the batch without passing it to the caller.
 */
LX_API lx_batch *lx_batch_ref(lx_batch *batch);

/** Drops a reference; dropping the last one returns the batch's memory to its loader. NULL is
 * allowed. */
LX_API void lx_batch_unref(lx_batch *batch);

/** @} */

LX_END_DECLS

#endif
