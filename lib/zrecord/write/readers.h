/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Which files of earlier generations somebody may have open: those that the logs of the
 * generations name that readers are in. Such a log is there as long as the reader is.
 */
#ifndef LX_ZRECORD_READERS_H
#define LX_ZRECORD_READERS_H

#include "base/file.h"
#include "zrecord/format/meta.h"
#include "zrecord/wal/replay.h"

/** A generation with readers. */
typedef struct lx__reader {
    uint64_t generation;
    lx__state state; /**< The last one of it. */
} lx__reader;

/** All of them; zeroed, there are none. */
typedef struct lx__readers {
    uint64_t end; /**< They are below it. */
    bool unknown; /**< Some are not in the list: any file may be in use in any generation. */
    lx__reader *list;
    size_t count;
    size_t capacity;
} lx__readers;

/** Generations [first, end); none if they are equal. */
typedef struct lx__generations {
    uint64_t first;
    uint64_t end;
} lx__generations;

/** Makes them reach to @p generation. */
void lx__generations_add(lx__generations *in, uint64_t generation);

/** Looks for readers of generations before that of @p meta, for lx__readers_free(). */
void lx__readers_find(lx__readers *readers, const lx__file *directory, const lx__file *lock,
                      const lx__meta *meta);
void lx__readers_free(lx__readers *readers);

/** In which of their generations the tables of a table generation, or a chunk, may be in use. */
lx__generations lx__readers_of_tables(const lx__readers *readers, uint64_t table_generation);
lx__generations lx__readers_of_chunk(const lx__readers *readers, uint64_t id);

#endif
