/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads a file of LMDB (data version 1, of 64-bit little-endian machines), from its first
 * key to its last.
 *
 * liblmdb trusts the files that it maps: a damaged one can crash it. This reader checks every
 * number in the file before it uses it, writes nothing, and takes no locks, so nobody may write to
 * the database meanwhile; lx__lmdb_check_unchanged() notices commits.
 */
#ifndef LX_IMPORTER_LMDB_TREE_H
#define LX_IMPORTER_LMDB_TREE_H

#include "base/file.h"

/** Levels of a tree; liblmdb allows as many. */
#define LX__LMDB_DEPTH 32

/** A tree of pages: a database. */
typedef struct lx__lmdb_root {
    unsigned flags;
    unsigned depth;   /**< 0: the tree is empty. */
    uint64_t entries; /**< Number of keys. */
    uint64_t page;    /**< The root. */
} lx__lmdb_root;

/** An open file, and a place in one of its trees. */
typedef struct lx__lmdb {
    lx__file file;
    uint32_t page_size;
    uint64_t page_count; /**< In the file. */
    uint64_t commit;     /**< Number of the transaction whose state is read. */
    lx__lmdb_root main;
    lx__lmdb_root root; /**< Of the tree that is read. */
    uint64_t visited;   /**< Pages: a tree contains none twice. */
    uint64_t found;     /**< Keys. */
    unsigned level;     /**< Of the page at the place; root.depth: there is no place yet. */
    uint8_t *pages[LX__LMDB_DEPTH];
    unsigned at[LX__LMDB_DEPTH]; /**< The next entry of each page. */
    uint8_t *large;              /**< A value that has pages of its own. */
    size_t large_capacity;
    uint64_t read; /**< Bytes. */
} lx__lmdb;

/** A key and its value, valid until the next call. */
typedef struct lx__lmdb_entry {
    const uint8_t *key, *value;
    size_t key_size, value_size;
    bool database;   /**< The value is the root of a named database. */
    uint64_t offset; /**< In the file. */
} lx__lmdb_entry;

/**
 * Opens a file, at the beginning of its main database. Call lx__lmdb_close() afterwards, even on
 * failure.
 *
 * @retval LX_ERR_UNSUPPORTED  The file is not one of LMDB, or has another version.
 */
lx_status lx__lmdb_open(lx__lmdb *self, const char *path, lx_error *error);
void lx__lmdb_close(lx__lmdb *self);

/** Goes to the beginning of the database named @p name; LX_ERR_ARGUMENT if there is none. */
lx_status lx__lmdb_select(lx__lmdb *self, const char *name, lx_error *error);

/**
 * Reads the next key and its value, of at most @p limit bytes together; LX_END after the last one.
 *
 * @retval LX_ERR_CORRUPT  The tree is damaged; unless @p lost is set, the next call continues.
 * @retval LX_ERR_LIMIT    The entry is larger than @p limit; the next call continues.
 */
lx_status lx__lmdb_next(lx__lmdb *self, uint64_t limit, lx__lmdb_entry *entry, bool *lost,
                        lx_error *error);

/** Fails with LX_ERR_MISMATCH if somebody has committed since the file was opened. */
lx_status lx__lmdb_check_unchanged(const lx__lmdb *self, lx_error *error);

#endif
