/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tables that are kept in files of a folder: each is made once, and mapped by whoever needs
 * it afterwards, be it another process or a later run.
 *
 * The name of a file is a hash of all that the table depends on, and the file says that itself. So
 * one folder serves any number of orders, and no table is ever in the place of another one.
 *
 * A file is written under another name and renamed when the disk has it. Processes that want the
 * same table at the same time make it each by itself; their files are alike, the last one stays.
 */
#ifndef LX_SAMPLER_INDEX_TABLE_CACHE_H
#define LX_SAMPLER_INDEX_TABLE_CACHE_H

#include <loaderx/export.h>

#include "sampler/core/index-table.h"

/** How the tables of a kind are made. */
typedef struct lx__table_maker {
    const char *kind; /**< Begins the name of the file. */
    /** Adds to @p what all that the numbers depend on. Returns 0, or -1 without memory. */
    int (*describe)(const void *user, json_t *what);
    /** Makes the table in memory: its count, and its numbers. */
    lx_status (*make)(void *user, lx__table *table, lx_error *error);
} lx__table_maker;

/**
 * Makes a table, or finds it in the folder.
 *
 * @param folder  Made if there is none; NULL: the table stays in memory.
 * @param table   Has the count, #LX__TABLE_ANY if only the file or the maker knows it, and the
 *                bound. On failure it holds nothing.
 *
 * @return As the maker, lx__table_file_open(), and what the system says about folder and file.
 */
LX_API lx_status lx__table_keep(const char *folder, const lx__table_maker *maker, void *user,
                                lx__table *table, lx_error *error);

/**
 * Opens a folder for tables of later on, which is made if there is none.
 *
 * @param[out] path  From the root on, for lx__free(): it is the same folder wherever the process
 *                   goes.
 */
lx_status lx__table_folder(const char *folder, char **path, lx_error *error);

/** Removes a table from the folder; one that is not there is fine, and so is one that stays. */
void lx__table_forget(const char *folder, const lx__table_maker *maker, const void *user);

/** As describe of a maker, for numbers made of others alone: how many those are, and under @p key
 * their checksum. */
LX_API int lx__table_describe(json_t *what, const char *kind, uint64_t count, const char *key,
                              uint32_t crc);

#endif
