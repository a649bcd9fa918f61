/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Records on their way from the caller to a chunk.
 *
 * A stage takes copies of values until it is full, laid out as they will lie in the chunk. Then a
 * placer compresses what is to be compressed, writes the payloads, and completes the entries.
 */
#ifndef LX_ZRECORD_STAGE_H
#define LX_ZRECORD_STAGE_H

#include "zrecord/entry.h"

/** Bytes of payload that make a stage full. One larger record makes a larger stage. */
#define LX__STAGE_BYTES ((size_t)1 << 20)
/** Values that make a stage full, where they are small. */
#define LX__STAGE_VALUES ((size_t)1 << 15)

/** One value of one record. */
typedef struct lx__staged {
    size_t at; /**< Of a value that goes to a chunk: its place in the stage's data. */
    /** Missing; or inline, complete but for its crc; or only its physical and logical size. After
     * placing, complete but for the index's part of the crc. */
    lx__entry entry;
} lx__staged;

typedef struct lx__stage {
    struct lx__stage *next; /**< In the placer's queue. */
    uint64_t records;
    uint8_t *data;
    size_t used;
    size_t capacity;
    lx__staged *values; /**< Record after record, fields in the schema's order. */
    size_t count;
    size_t value_capacity;
    size_t align; /**< The largest of its values'. */
    bool placed;  /**< Under the placer's mutex. */
} lx__stage;

/** An empty stage; NULL when out of memory. */
lx__stage *lx__stage_new(void);
void lx__stage_free(lx__stage *stage);

/** Empties it, and gives memory back that only a large record needed. */
void lx__stage_clear(lx__stage *stage);

static inline bool lx__stage_is_full(const lx__stage *stage)
{
    return stage->used >= LX__STAGE_BYTES || stage->count >= LX__STAGE_VALUES;
}

/** Makes room for a record of @p fields values with @p bytes bytes of payload, gaps included. */
lx_status lx__stage_reserve(lx__stage *stage, size_t fields, uint64_t bytes, lx_error *error);

/** Adds a value, for which there is room; a @p size of LX_NONE is a missing one. */
void lx__stage_add(lx__stage *stage, const lx__entry_rules *rules, const void *data,
                   uint64_t size);

/** Most bytes that a value of @p size takes in a stage. */
static inline uint64_t lx__stage_room(const lx__entry_rules *rules, uint64_t size)
{
    return size == LX_NONE || size <= LX__INLINE_MAX ? 0 : size + rules->align - 1;
}

#endif
