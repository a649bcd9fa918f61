/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tables cached as files in a folder: each is made once and mapped by every later process or
 * run that needs it.
 *
 * The name of a file contains a hash of all inputs of the table, and the file contains the inputs
 * in full. One folder can therefore serve any number of orders, and hash collisions are detected.
 *
 * A file is written under a temporary name, synced and renamed. If several processes make the same
 * table at the same time, each process writes its own file; the files are identical, and the last
 * one written remains.
 */
#ifndef LX_SAMPLER_INDEX_TABLE_CACHE_H
#define LX_SAMPLER_INDEX_TABLE_CACHE_H

#include <loaderx/export.h>

#include "sampler/core/index-table.h"

/** Describes how to make one kind of table. */
typedef struct lx__index_table_maker {
    const char *kind; /**< Prefix of the file name. */
    /** Adds everything that the numbers depend on to @p inputs. Returns 0, or -1 when out of
     * memory. */
    int (*describe)(const void *user, json_t *inputs);
    /** Makes the table in memory: sets its count and its numbers. */
    lx_status (*make)(void *user, lx__index_table *table, lx_error *error);
} lx__index_table_maker;

/**
 * Opens a table in the folder, or makes it if it is not there.
 *
 * @param folder  The folder, which is created if missing; NULL: the table stays in memory.
 * @param table   On entry, contains the bound and the count, which is #LX__INDEX_TABLE_ANY if only
 *                the file or the maker knows it. On failure, the table is empty.
 *
 * @return Any status that the maker or lx__index_table_file_open() returns, or the status of a
 * failed operation on the folder or the file.
 */
LX_API lx_status lx__index_table_cache_get(const char *folder, const lx__index_table_maker *maker,
                                           void *user, lx__index_table *table, lx_error *error);

/**
 * Opens or creates a folder for later tables.
 *
 * @param[out] path  The absolute path, which stays valid if the process changes its working
 *                   directory; release it with lx__free().
 */
lx_status lx__index_table_cache_folder(const char *folder, char **path, lx_error *error);

/** Removes a table from the folder. Ignores errors, including a missing file. */
void lx__index_table_cache_remove(const char *folder, const lx__index_table_maker *maker,
                                  const void *user);

/** Implements describe for a table that depends only on @p count given numbers: adds their count,
 * and their checksum as member @p key. */
LX_API int lx__index_table_describe(json_t *inputs, const char *kind, uint64_t count,
                                    const char *key, uint32_t crc);

#endif
