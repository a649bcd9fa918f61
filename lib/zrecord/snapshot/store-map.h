/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The mappings of a store: tables, and chunks, which stores of one dataset share.
 */
#ifndef LX_ZRECORD_STORE_MAP_H
#define LX_ZRECORD_STORE_MAP_H

#include "zrecord/snapshot/store.h"

/** Shares the mappings of @p former, a store of the same dataset: the tables, and the chunks in
 * @p chunks. Verified rows stay verified, and mapped pages need no new page faults. */
void lx__store_inherit(lx__store *store, lx__store *former, const lx__chunk_item *chunks,
                       size_t chunk_count);

/** Releases a reference to a mapping of a chunk; NULL is a no-op. */
void lx__chunk_mapping_unref(lx__chunk_mapping *mapping);

/**
 * Maps the tables of the field at position @p field with at least @p rows rows; @p rows must not be
 * 0. In access mode pread it only checks the files.
 * @retval LX_ERR_CORRUPT  A table is missing or too short.
 */
lx_status lx__store_map_table(lx__store *store, size_t field, uint32_t table_generation,
                              uint64_t rows, lx__table **table, lx_error *error);

/** Maps the first @p bytes bytes of chunk @p id; @p bytes must not be 0. */
lx_status lx__store_map_chunk(lx__store *store, uint32_t id, uint64_t bytes, const uint8_t **data,
                              lx_error *error);

#endif
