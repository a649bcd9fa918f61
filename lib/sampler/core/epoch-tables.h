/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tables of an order that has another one for each epoch: made once, and shared by all
 * threads that read it.
 */
#ifndef LX_SAMPLER_EPOCH_TABLES_H
#define LX_SAMPLER_EPOCH_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/core/index-table.h"
#include "sampler/core/order.h"

/** Fills the table of an epoch with @p count indices. */
typedef lx_status lx__epoch_fill(const lx_order *order, uint64_t epoch, uint32_t *indices,
                                 size_t count, lx_error *error);

/**
 * The tables of an order. It keeps the last two that were entered, since batches around the end of
 * an epoch need both; others stay while a thread is in them. Where they are kept in files of a
 * folder, the file of an epoch is removed when that of the second one behind it is made.
 *
 * @par Thread safety
 * Any thread, any time. Who enters an epoch that nobody is in makes its table, and others that want
 * one wait.
 */
typedef struct lx__epochs lx__epochs;

/** The table of one epoch: what a thread holds while it is in it. It never changes. */
typedef struct lx__epoch {
    lx__epochs *owner;
    uint64_t number;
    size_t holders; /**< Under the owner's lock; the owner may be one. */
    lx__table table;
} lx__epoch;

/**
 * For tables of @p count indices that @p fill makes, in memory, or in the folder @p tables, if that
 * is not NULL.
 *
 * @retval LX_ERR_NOMEM  There is no memory for it; or as lx__table_folder().
 */
LX_API lx_status lx__epochs_new(lx__epoch_fill *fill, size_t count, const char *tables,
                                lx__epochs **epochs, lx_error *error);

/** Once no thread holds a table; NULL is nothing. */
LX_API void lx__epochs_free(lx__epochs *epochs);

/**
 * Makes @p held, which is NULL or one of these, the table of epoch @p number.
 *
 * @return As the fill, and lx__table_keep(); after a failure none is held.
 */
lx_status lx__epochs_enter(lx__epochs *epochs, const lx_order *order, uint64_t number,
                           lx__epoch **held, lx_error *error);

/** Puts it back, for a class whose scratch is a pointer to one; NULL in it is nothing. */
LX_API void lx__epoch_clear_scratch(void *scratch);

/** Puts in the place of each position the index at its offset in the table of its epoch; for a
 * class whose scratch is a pointer to one. */
LX_API lx_status lx__epochs_read(lx__epochs *epochs, const lx_order *order, void *scratch,
                                 uint64_t *places, size_t count, lx_error *error);

#endif
