/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks the entry, checksum, compressed stream and content of values, regardless of the
 * verify mode.
 *
 * The checker reads with pread, which reports truncated files and failing disks as errors.
 */
#ifndef LX_ZRECORD_CHECKER_H
#define LX_ZRECORD_CHECKER_H

#include "zrecord/read/value-reader.h"

/** Checks values of one snapshot, on one thread at a time. Set @ref snapshot and zero all other
 * members. */
typedef struct lx__checker {
    lx__snapshot *snapshot; /**< The caller keeps the reference. */
    lx__value_reader reader;
    lx__value value; /**< The value that was last checked, as it is stored. */
    bool missing;    /**< Whether the value that was last found intact is a missing one. */
    const uint8_t
        *data;       /**< That value, decompressed; valid until the next check. NULL if the value
                              is missing, or compressed by a codec that this library lacks. */
    uint8_t *buffer; /**< For decompressed values. */
    size_t capacity;
} lx__checker;

/**
 * Checks one value. @p index must be less than the length.
 *
 * @param[out] bytes  Receives the number of stored bytes if their CRC is correct, or else 0.
 * @retval LX_ERR_CORRUPT  The value is damaged; the error states the field, record, file and
 *                         offset.
 */
lx_status lx__checker_check(lx__checker *checker, size_t field, uint64_t index, uint64_t *bytes,
                            lx_error *error);

/**
 * Checks one value that the caller needs: its bytes, if it is not missing, are in @ref
 * lx__checker.data.
 * @retval LX_ERR_UNSUPPORTED  This library lacks the codec of the value.
 * @return Otherwise, any status that lx__checker_check() returns.
 */
lx_status lx__checker_read(lx__checker *checker, size_t field, uint64_t index, lx_error *error);

/** Frees the resources of a checker, which can be used again afterwards. */
void lx__checker_end(lx__checker *checker);

#endif
