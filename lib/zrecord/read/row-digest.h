/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Digests of the rows of a snapshot's records. They show whether records changed between two
 * snapshots; doc/decisions.md explains why they suffice.
 */
#ifndef LX_ZRECORD_ROW_DIGEST_H
#define LX_ZRECORD_ROW_DIGEST_H

#include <loaderx/dataset.h>

/** The digest of a field whose rows cannot be read. */
#define LX__DIGEST_UNKNOWN UINT64_MAX

/**
 * The digests of the first @ref length records.
 *
 * Rows of a table never change, so the digest of a field covers only the updates of records below
 * @ref rows, and the entries of all other records. Digests of different table generations cannot be
 * compared. The numbers of changes can, but they also count changes of records that are not among
 * the first @ref length.
 */
typedef struct lx__row_digest {
    lx_dataset_identity identity; /**< Of the snapshot. */
    uint64_t length;
    uint64_t rows;
    uint32_t table_generation;
    size_t count; /**< Number of fields. */
    /** A 32-bit digest, or #LX__DIGEST_UNKNOWN, for each field; the handle's fields come first. */
    uint64_t *fields;
    uint64_t *changes; /**< The number of changes of each field; see zrecord/wal/changes.h. */
} lx__row_digest;

/**
 * Computes the digests of the first @p length records of the handle's snapshot, or of all records
 * that it shows if there are fewer.
 *
 * @param rows  The @ref lx__row_digest::rows of the digests with which the new ones will be
 *              compared. #LX_NONE selects a number such that the digests also cover the last
 *              record: after commits were lost, a different record may have taken its place.
 */
LX_API lx_status lx__dataset_digest_rows(lx_dataset *dataset, uint64_t length, uint64_t rows,
                                         lx__row_digest *digest, lx_error *error);

LX_API void lx__row_digest_free(lx__row_digest *digest);

#endif
