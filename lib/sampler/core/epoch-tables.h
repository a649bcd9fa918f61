/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The per-epoch tables of an order: each is made once and shared by all threads that read
 * it.
 */
#ifndef LX_SAMPLER_EPOCH_TABLES_H
#define LX_SAMPLER_EPOCH_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/core/index-table.h"
#include "sampler/core/order.h"

/** Fills the table of an epoch with @p count indices. */
typedef lx_status lx__epoch_table_fill(const lx_order *order, uint64_t epoch, uint32_t *indices,
                                       size_t count, lx_error *error);

/**
 * The tables of an order. The two most recent tables are kept, because batches around the end of an
 * epoch need both; other tables are kept until no thread holds them. If the tables are stored in a
 * folder, making a table removes the file of the table from two epochs before.
 *
 * @par Thread safety
 * Thread-safe. The first thread to enter an epoch makes its table, while the others wait.
 */
typedef struct lx__epoch_tables lx__epoch_tables;

/** The table of one epoch, which a thread holds while reading it. Immutable. */
typedef struct lx__epoch_table {
    lx__epoch_tables *owner;
    uint64_t number;
    size_t holders; /**< Number of threads that hold the table, plus 1 while the owner keeps it.
                         Protected by the owner's lock. */
    lx__index_table table;
} lx__epoch_table;

/**
 * Creates the tables of an order; @p fill computes the @p count indices of each table. The tables
 * are stored in the folder @p tables, or in memory if @p tables is NULL.
 *
 * @retval LX_ERR_NOMEM  Out of memory. Other failures are those of lx__index_table_cache_folder().
 */
LX_API lx_status lx__epoch_tables_new(lx__epoch_table_fill *fill, size_t count, const char *tables,
                                      lx__epoch_tables **epochs, lx_error *error);

/** Frees the tables, none of which may be held by a thread. @p epochs may be NULL. */
LX_API void lx__epoch_tables_free(lx__epoch_tables *epochs);

/**
 * Sets @p held, which is NULL or a table of the same order, to the table of epoch @p number.
 *
 * @return Any status that the fill function or lx__index_table_cache_get() returns. On failure,
 * @p held is NULL.
 */
lx_status lx__epoch_tables_get(lx__epoch_tables *epochs, const lx_order *order, uint64_t number,
                               lx__epoch_table **held, lx_error *error);

/** Releases the table, for a class whose scratch buffer is an lx__epoch_table pointer, which may be
 * NULL. */
LX_API void lx__epoch_table_clear_scratch(void *scratch);

/** Replaces each position with the index at its offset in its epoch's table, for a class whose
 * scratch buffer is an lx__epoch_table pointer. */
LX_API lx_status lx__epoch_tables_read(lx__epoch_tables *epochs, const lx_order *order,
                                       void *scratch, uint64_t *positions, size_t count,
                                       lx_error *error);

#endif
