/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Finds files of earlier generations that readers may have open. These are the files listed
 * in the log of any generation that readers have locked. Such a log exists as long as its
 * generation has readers.
 */
#ifndef LX_ZRECORD_READERS_H
#define LX_ZRECORD_READERS_H

#include "base/file.h"
#include "zrecord/format/meta.h"
#include "zrecord/wal/replay.h"

/** A generation with readers. */
typedef struct lx__reader {
    uint64_t generation;
    lx__state state; /**< The last state of the generation. */
} lx__reader;

/** All generations with readers. A zeroed list is empty. */
typedef struct lx__readers {
    uint64_t end; /**< All generations in the list are less than this generation. */
    bool unknown; /**< The list is incomplete: any file may be in use in any generation. */
    lx__reader *list;
    size_t count;
    size_t capacity;
} lx__readers;

/** Generations [first, end); an empty range if the two are equal. */
typedef struct lx__generations {
    uint64_t first;
    uint64_t end;
} lx__generations;

/** Extends the range to include @p generation. */
void lx__generations_add(lx__generations *in, uint64_t generation);

/** Finds the generations before that of @p meta that have readers. Free the result with
 * lx__readers_free(). */
void lx__readers_find(lx__readers *readers, const lx__file *directory, const lx__file *lock,
                      const lx__meta *meta);
void lx__readers_free(lx__readers *readers);

/** Returns a range that covers every generation whose readers may be using the chunk, or the tables
 * of the table generation. */
lx__generations lx__readers_of_tables(const lx__readers *readers, uint64_t table_generation);
lx__generations lx__readers_of_chunk(const lx__readers *readers, uint64_t id);

#endif
