/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The mappings of a store's tables and chunks, which the stores of a dataset share.
 */
#ifndef LX_ZRECORD_STORE_MAP_H
#define LX_ZRECORD_STORE_MAP_H

#include "zrecord/snapshot/store.h"

/** Makes @p store share the mappings of @p former, a store of the same dataset: the mappings of its
 * tables, and those of the chunks in @p chunks. Verified rows stay verified, and mapped pages are
 * not faulted in again. */
void lx__store_inherit(lx__store *store, lx__store *former, const lx__chunk_item *chunks,
                       size_t chunk_count);

/** Releases a reference to a chunk mapping; NULL is a no-op. */
void lx__chunk_mapping_unref(lx__chunk_mapping *mapping);

/**
 * Maps the tables of the field at position @p field for at least @p rows rows, which must not be 0.
 * In access mode pread, only checks the files.
 * @retval LX_ERR_CORRUPT  A table is missing or too short.
 */
lx_status lx__store_map_table(lx__store *store, size_t field, uint32_t table_generation,
                              uint64_t rows, lx__table **table, lx_error *error);

/** Maps the first @p bytes bytes of chunk @p id; @p bytes must not be 0. */
lx_status lx__store_map_chunk(lx__store *store, uint32_t id, uint64_t bytes, const uint8_t **data,
                              lx_error *error);

#endif
