/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Operations on their way from the caller to the tables, and their values to a chunk.
 *
 * A stage takes operations in the order of the calls, with copies of their values, laid out as they
 * will lie in the chunk, until it is full. Then a lane compresses what is to be compressed, writes
 * the payloads, and completes the entries.
 */
#ifndef LX_ZRECORD_WRITE_BUFFER_H
#define LX_ZRECORD_WRITE_BUFFER_H

#include "zrecord/format/entry.h"
#include "zrecord/format/meta.h"

/** Bytes of payload that make a stage full. One larger record makes a larger stage. */
#define LX__STAGE_BYTES ((size_t)1 << 20)
/** Values that make a stage full, where they are small; and so many operations, where they have no
 * values. */
#define LX__STAGE_VALUES ((size_t)1 << 15)

typedef enum lx__operation_kind {
    LX__APPEND,  /**< So many records, each with a value for every field. */
    LX__MODIFY,  /**< New values for some fields of a record. */
    LX__DELETE,  /**< The last record takes the place of this one. */
    LX__TRUNCATE /**< The records from this one on go. */
} lx__operation_kind;

/** One operation; its values follow those of the one before it. */
typedef struct lx__operation {
    lx__operation_kind kind;
    uint32_t values; /**< Of a record. */
    uint64_t index;  /**< The record; of several appended ones, the first. */
    uint64_t count;  /**< LX__APPEND: records; the stage's own. */
} lx__operation;

/** One value of one record. */
typedef struct lx__staged {
    /** Missing; or inline, complete but for its crc; or only its physical and logical size, and as
     * offset its place in the stage's data. After placing, complete but for the index's part of the
     * crc. */
    lx__entry entry;
    uint32_t field; /**< Position in the schema. */
    bool as_stored; /**< It comes as it is to be stored: what shall be compressed is. */
} lx__staged;

/** How far a stage is. */
typedef enum lx__stage_fate {
    LX__STAGE_WAITS,
    LX__STAGE_TAKEN, /**< By a lane. */
    LX__STAGE_PLACED,
    LX__STAGE_FAILED
} lx__stage_fate;

typedef struct lx__stage {
    struct lx__stage *next; /**< In the placer's queue. */
    /** The writer's numbers of the first and the last call that put something in. */
    uint64_t first_call, last_call;
    lx__operation *operations;
    size_t operation_count;
    size_t operation_capacity;
    uint8_t *data;
    size_t used;
    size_t capacity;
    lx__staged *values;
    size_t count;
    size_t value_capacity;
    size_t align;        /**< The largest of its values'. */
    lx__stage_fate fate; /**< Under the placer's mutex. */
    /** What the chunks that its values went to have taken then: a frame names no more than that. */
    lx__chunk_item *chunks;
    size_t chunk_count;
    size_t chunk_capacity;
} lx__stage;

/** An empty stage; NULL when out of memory. */
lx__stage *lx__stage_new(void);
void lx__stage_free(lx__stage *stage);

/** Empties it, and gives memory back that only a large record needed. */
void lx__stage_clear(lx__stage *stage);

static inline bool lx__stage_is_full(const lx__stage *stage)
{
    return stage->used >= LX__STAGE_BYTES || stage->count >= LX__STAGE_VALUES ||
           stage->operation_count >= LX__STAGE_VALUES;
}

/** Makes room for an operation of @p values values with @p bytes bytes of payload, gaps
 * included. */
lx_status lx__stage_reserve(lx__stage *stage, size_t values, uint64_t bytes, lx_error *error);

/** Adds an operation, for which there is room. An append that goes on where the last one ends
 * becomes part of it. */
void lx__stage_operate(lx__stage *stage, const lx__operation *operation);

/** Adds a value of the last operation, for which there is room; a @p size of LX_NONE is a missing
 * one. */
void lx__stage_add(lx__stage *stage, uint32_t field, const lx__entry_rules *rules, const void *data,
                   uint64_t size);

/** As lx__stage_add(), with the @p physical bytes that are stored of a value of @p logical, more
 * than LX__INLINE_MAX; or if both are equal, that is not to be compressed. */
void lx__stage_add_stored(lx__stage *stage, uint32_t field, const lx__entry_rules *rules,
                          const void *data, uint32_t physical, uint32_t logical);

/** Notes what a chunk has taken. */
lx_status lx__stage_note_chunk(lx__stage *stage, const lx__chunk_item *item, lx_error *error);

/** Most bytes that a value of @p size takes in a stage. */
static inline uint64_t lx__stage_room(const lx__entry_rules *rules, uint64_t size)
{
    return size == LX_NONE || size <= LX__INLINE_MAX ? 0 : size + rules->align - 1;
}

#endif
