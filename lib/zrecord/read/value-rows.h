/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The table rows of a block of records, read with pread.
 */
#ifndef LX_ZRECORD_VALUE_ROWS_H
#define LX_ZRECORD_VALUE_ROWS_H

#include "zrecord/read/value-reader.h"

/** Maximum number of records per call to lx__value_load_block(). */
#define LX__VALUE_BLOCK 256

/** The entry of a record in a block, once loaded. */
typedef struct lx__loaded {
    lx__entry entry;
    const lx__update *update;
    bool lost; /**< The entry could not be read; lx__value_load() will report why. */
} lx__loaded;

/** Asks for rows of both tables, which will be read soon, without waiting for them. */
void lx__value_ask_rows(const lx__value_reader *reader, size_t field, uint64_t first,
                        uint64_t count);

/** Asks for the rows of up to LX__VALUE_BLOCK records, if the dataset is elsewhere. */
void lx__value_ask_block(const lx__value_reader *reader, size_t field, const uint64_t *indices,
                         size_t count);

/** Renews the copies of the rows of one record that are on this machine; see lx__file_renew(). */
bool lx__value_renew_rows(const lx__value_reader *reader, size_t field, uint64_t index);

/** Reads rows of one table with pread. */
lx_status lx__value_read_rows(const lx__value_reader *reader, size_t field, lx__part part,
                              uint64_t first, uint64_t count, uint8_t *rows, lx_error *error);

/**
 * Loads the entries of up to LX__VALUE_BLOCK records, in any order, with pread, unless the reader's
 * rows are mapped. Skips indices that are not less than the length. Rows that are close to each
 * other are read with one call. Fails if the rows of a dataset elsewhere cannot be fetched.
 *
 * If @p to_gather is set, does not read the check table for raw values that need no verification,
 * and leaves their CRCs at 0.
 */
lx_status lx__value_load_block(lx__value_reader *reader, size_t field, const uint64_t *indices,
                               size_t count, bool to_gather, lx__loaded *loaded, lx_error *error);

#endif
