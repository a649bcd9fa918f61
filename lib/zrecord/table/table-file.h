/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The two tables of a field, which are mapped with room to grow, and functions that check
 * whether a file has all of its committed bytes.
 */
#ifndef LX_ZRECORD_TABLE_FILE_H
#define LX_ZRECORD_TABLE_FILE_H

#include <stdatomic.h>

#include "base/mapping.h"
#include "zrecord/format/entry.h"

/** The identity of a file. A new file may get the same identity once this file is deleted and
 * closed. */
typedef struct lx__file_id {
    dev_t device;
    ino_t inode;
} lx__file_id;

/** Returns the identity of an open file; zeros if fstat() fails or the file has a provider. */
lx__file_id lx__file_get_id(const lx__file *file);

static inline bool lx__file_id_equal(lx__file_id a, lx__file_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

/** The mapped tables of a field, which stores share. Any thread may read the tables and set bits in
 * @ref verified. */
typedef struct lx__table {
    atomic_size_t references;
    lx__file_id offset_file; /**< The mapped files. */
    lx__file_id check_file;
    lx__mapping offsets;
    lx__mapping checks;
    uint64_t capacity;               /**< Number of mapped rows; a multiple of 64. */
    _Atomic uint64_t rows;           /**< Maximum number of committed rows in any snapshot. */
    _Atomic uint64_t *verified;      /**< One bit per row, set if its value was verified. May be
                                          NULL. */
    _Atomic uint64_t verified_count; /**< Number of bits set. */
} lx__table;

/** Which files to open, and how. */
typedef struct lx__table_location {
    const lx__file *directory;
    const char *stem;
    uint32_t generation;
    bool exact;    /**< Sealed: the files must have no bytes beyond the rows. */
    bool unmapped; /**< Only check the files; rows will be read with pread. */
} lx__table_location;

/** Maps both files for @p capacity rows, a multiple of 64. The files must have at least @p rows
 * rows. If @p track_verified is set, also allocates the bits for verified rows. */
lx_status lx__table_open(lx__table **table, const lx__table_location *location, uint64_t rows,
                         uint64_t capacity, bool track_verified, lx_error *error);

/** Checks that both files have @p rows rows. A file may have been truncated since it was mapped. */
lx_status lx__table_check_files(const lx__table_location *location, uint64_t rows, lx_error *error);

/** Whether the files at @p location are the mapped files. */
bool lx__table_has_files(const lx__table *table, const lx__table_location *location);

/** Raises the number of committed rows to @p rows, unless it is already that high. */
void lx__table_raise_rows(lx__table *table, uint64_t rows);

/** Copies the verified bits from @p old. */
void lx__table_inherit(lx__table *table, const lx__table *old);

lx__table *lx__table_ref(lx__table *table);

/** Releases a reference; the last one unmaps the tables. NULL is a no-op. */
void lx__table_close(lx__table *table);

/** Whether all rows were verified, so that reads need not check the bits. */
static inline bool lx__table_all_verified(lx__table *table)
{
    return atomic_load_explicit(&table->verified_count, memory_order_acquire) >=
           atomic_load_explicit(&table->rows, memory_order_relaxed);
}

/** Whether all but a few rows were verified. Rows hidden by row updates may stay unverified. */
static inline bool lx__table_most_verified(lx__table *table)
{
    uint64_t rows = atomic_load_explicit(&table->rows, memory_order_relaxed);
    return atomic_load_explicit(&table->verified_count, memory_order_relaxed) >= rows - rows / 16;
}

static inline bool lx__table_is_verified(const lx__table *table, uint64_t row)
{
    return atomic_load_explicit(&table->verified[row / 64], memory_order_relaxed) >> row % 64 & 1;
}

static inline void lx__table_prefetch_verified(const lx__table *table, uint64_t row)
{
    __builtin_prefetch((const void *)&table->verified[row / 64]);
}

static inline void lx__table_set_verified(lx__table *table, uint64_t row)
{
    uint64_t bit = 1ull << row % 64;
    uint64_t old = atomic_fetch_or_explicit(&table->verified[row / 64], bit, memory_order_relaxed);
    if (!(old & bit))
        atomic_fetch_add_explicit(&table->verified_count, 1, memory_order_release);
}

/** Opens the chunk directory. Every dataset has a chunk directory, so a missing directory means
 * corruption. */
lx_status lx__chunk_directory_open(lx__file *file, const lx__file *directory, lx_error *error);
/** Makes the directory of the chunks, unless it exists. */
lx_status lx__chunk_directory_make(const lx__file *directory, lx_error *error);

/** Opens a file, whose name may be a path below the directory, with @p access (O_RDONLY or O_RDWR),
 * and checks its size with lx__file_expect_size(). With O_RDWR, a missing file is created if @p
 * bytes is 0. */
LX_API lx_status lx__committed_open(lx__file *file, const lx__file *directory, const char *name,
                                    int access, uint64_t bytes, bool exact, lx_error *error);

#endif
