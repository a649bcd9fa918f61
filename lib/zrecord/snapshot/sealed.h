/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks a dataset whose meta.json marks it as sealed.
 */
#ifndef LX_ZRECORD_SEALED_H
#define LX_ZRECORD_SEALED_H

#include "zrecord/wal/replay.h"
#include "zrecord/snapshot/store.h"

/** Checks meta.json against the state and the table sizes (doc/zrecord-format.md, 9.6, points 1 to
 * 4). */
lx_status lx__sealed_check(const lx__store *store, const lx__state *state, const lx__wal_scan *scan,
                           lx_error *error);

/** Checks the CRC of one table of a field against meta.json (point 6). */
lx_status lx__sealed_check_table(const lx__store *store, const lx__state *state, size_t field,
                                 const char *kind, lx_error *error);

/**
 * Checks the CRCs of both tables of a field, once for each store: in a field that may lack values,
 * nothing else tells a row that was lost from a missing value. Returns LX_OK if the dataset is not
 * sealed, or no longer.
 *
 * @param field  Position in the schema that the store shows.
 */
lx_status lx__sealed_check_field(lx__store *store, const lx__state *state, size_t field,
                                 lx_error *error);

/** Computes the length and the plain CRC-32C of a file. */
lx_status lx__file_sum(const lx__file *file, uint64_t *bytes, uint32_t *crc, lx_error *error);

#endif
