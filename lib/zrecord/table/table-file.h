/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The two tables of a field, mapped for more rows than there are, so that they can grow.
 */
#ifndef LX_ZRECORD_TABLE_FILE_H
#define LX_ZRECORD_TABLE_FILE_H

#include <stdatomic.h>

#include "base/mapping.h"
#include "zrecord/format/constants.h"

/** What tells a file from all others that are there at the same time. */
typedef struct lx__file_mark {
    dev_t device;
    ino_t inode;
} lx__file_mark;

/** That of an open file. */
lx__file_mark lx__file_mark_of(const lx__file *file);

static inline bool lx__file_mark_equal(lx__file_mark a, lx__file_mark b)
{
    return a.device == b.device && a.inode == b.inode;
}

/** Mapped tables of one field. Many threads read; bits are set by any of them. Stores share it. */
typedef struct lx__table {
    atomic_size_t references;
    lx__file_mark offset_file; /**< What is mapped. */
    lx__file_mark check_file;
    lx__mapping offsets;
    lx__mapping checks;
    uint64_t capacity;                 /**< Rows that are mapped. */
    _Atomic uint64_t rows;             /**< Most rows that are committed in any snapshot. */
    _Atomic uint64_t *verified;        /**< A bit a row: its value was verified; may be NULL. */
    _Atomic uint64_t verified_count;   /**< Bits that are set. */
} lx__table;

/** Which files, and how they are to be opened. */
typedef struct lx__table_place {
    const lx__file *directory;
    const char *stem;
    uint32_t generation;
    bool exact;    /**< Sealed: not a byte more than the rows. */
    bool unmapped; /**< They are only looked at: rows will be read by pread. */
} lx__table_place;

/** Maps both files for @p capacity rows, a multiple of 64, of which @p rows must be there.
 * @p note_verified: with bits of what was verified. */
lx_status lx__table_open(lx__table **table, const lx__table_place *place, uint64_t rows,
                         uint64_t capacity, bool note_verified, lx_error *error);

/** Looks that both files have @p rows rows: what was mapped may have been cut since. */
lx_status lx__table_look(const lx__table_place *place, uint64_t rows, lx_error *error);

/** Whether both files at @p place are those that are mapped. */
bool lx__table_is_of(const lx__table *table, const lx__table_place *place);

/** Notes that so many rows are committed, or more. */
void lx__table_note_rows(lx__table *table, uint64_t rows);

/** Takes over which rows were verified. */
void lx__table_inherit(lx__table *table, const lx__table *old);

lx__table *lx__table_ref(lx__table *table);

/** Gives up a reference; the last one unmaps. NULL is nothing. */
void lx__table_close(lx__table *table);

/** Whether every row was verified, so that none need be looked up. */
static inline bool lx__table_all_verified(lx__table *table)
{
    return atomic_load_explicit(&table->verified_count, memory_order_acquire) >=
           atomic_load_explicit(&table->rows, memory_order_relaxed);
}

/** Whether all but a few rows were. Rows that sets hide are not, as long as they do. */
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

/** Opens the directory of the chunks, which every dataset has. */
lx_status lx__chunk_directory_open(lx__file *file, const lx__file *directory, lx_error *error);

/** Fails for a file without @p bytes bytes, or, if @p exact, with more. */
lx_status lx__committed_check(const lx__file *file, uint64_t bytes, bool exact, lx_error *error);

/** Opens a file of committed bytes with @p access (O_RDONLY or O_RDWR): it must have @p bytes bytes
 * at least, or exactly. One of which none is committed need not be there, and is made for
 * O_RDWR. */
lx_status lx__committed_open(lx__file *file, const lx__file *directory, const char *name,
                             int access, uint64_t bytes, bool exact, lx_error *error);

#endif
