/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks values whole, whatever the dataset was opened with: entry, checksum, stream.
 *
 * They are read by pread, so that a truncated file and a failing disk are reported, too.
 */
#ifndef LX_ZRECORD_CHECKER_H
#define LX_ZRECORD_CHECKER_H

#include "zrecord/read/value-reader.h"

/** Checks values of one snapshot on one thread at a time. All but the snapshot starts as zeros. */
typedef struct lx__checker {
    lx__snapshot *snapshot; /**< The caller's reference. */
    lx__value_reader reader;
    uint8_t *buffer; /**< For decompressed values. */
    size_t capacity;
} lx__checker;

/**
 * Checks one value, whose index must be below the length.
 *
 * @param[out] bytes  Stored bytes whose CRC was taken; 0 where it was not.
 * @retval LX_ERR_CORRUPT  It is damaged; the error has field, record, file and offset.
 */
lx_status lx__checker_check(lx__checker *checker, size_t field, uint64_t index, uint64_t *bytes,
                            lx_error *error);

/** Gives back what it took; it may be used again. */
void lx__checker_end(lx__checker *checker);

#endif
