/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Operations on their way from the caller to the tables, and their values to a chunk.
 *
 * A write buffer takes operations in the order of the calls, with copies of their values, laid out
 * as they will lie in the chunk, until it is full. Then a flush task compresses what is to be
 * compressed, writes the payloads, and completes the entries.
 */
#ifndef LX_ZRECORD_WRITE_BUFFER_H
#define LX_ZRECORD_WRITE_BUFFER_H

#include "zrecord/format/entry.h"
#include "zrecord/format/meta.h"

/** Bytes of payload that make a write buffer full. One larger record makes a larger write buffer.
 * */
#define LX__WRITE_BUFFER_BYTES ((size_t)1 << 20)
/** Values that make a write buffer full, where they are small; and so many operations, where they
 * have no values. */
#define LX__WRITE_BUFFER_VALUES ((size_t)1 << 15)

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
    uint64_t count;  /**< LX__APPEND: records; the write buffer's own. */
} lx__operation;

/** One value of one record. */
typedef struct lx__buffered_value {
    /** Missing; or inline, complete but for its crc; or only its physical and logical size, and as
     * offset its place in the write buffer's data. After placing, complete but for the index's part
     * of the crc. */
    lx__entry entry;
    uint32_t field; /**< Position in the schema. */
    bool as_stored; /**< It comes as it is to be stored: what shall be compressed is. */
} lx__buffered_value;

/** How far a write buffer is. */
typedef enum lx__flush_state {
    LX__FLUSH_WAITING,
    LX__FLUSH_RUNNING, /**< By a flush task. */
    LX__FLUSH_DONE,
    LX__FLUSH_FAILED
} lx__flush_state;

typedef struct lx__write_buffer {
    struct lx__write_buffer *next; /**< In the flush's queue. */
    /** The writer's numbers of the first and the last call that put something in. */
    uint64_t first_call, last_call;
    lx__operation *operations;
    size_t operation_count;
    size_t operation_capacity;
    uint8_t *data;
    size_t used;
    size_t capacity;
    lx__buffered_value *values;
    size_t count;
    size_t value_capacity;
    size_t align;                /**< The largest of its values'. */
    lx__flush_state flush_state; /**< Under the flush's mutex. */
    /** What the chunks that its values went to have taken then: a frame names no more than that. */
    lx__chunk_item *chunks;
    size_t chunk_count;
    size_t chunk_capacity;
} lx__write_buffer;

/** An empty write buffer; NULL when out of memory. */
lx__write_buffer *lx__write_buffer_new(void);
void lx__write_buffer_free(lx__write_buffer *buffer);

/** Empties it, and gives memory back that only a large record needed. */
void lx__write_buffer_clear(lx__write_buffer *buffer);

static inline bool lx__write_buffer_is_full(const lx__write_buffer *buffer)
{
    return buffer->used >= LX__WRITE_BUFFER_BYTES || buffer->count >= LX__WRITE_BUFFER_VALUES ||
           buffer->operation_count >= LX__WRITE_BUFFER_VALUES;
}

/** Makes room for an operation of @p values values with @p bytes bytes of payload, gaps
 * included. */
lx_status lx__write_buffer_reserve(lx__write_buffer *buffer, size_t values, uint64_t bytes,
                                   lx_error *error);

/** Adds an operation, for which there is room. An append that goes on where the last one ends
 * becomes part of it. */
void lx__write_buffer_add_operation(lx__write_buffer *buffer, const lx__operation *operation);

/** Adds a value of the last operation, for which there is room; a @p size of LX_NONE is a missing
 * one. */
void lx__write_buffer_add(lx__write_buffer *buffer, uint32_t field, const lx__entry_rules *rules,
                          const void *data, uint64_t size);

/** As lx__write_buffer_add(), with the @p physical bytes that are stored of a value of @p logical,
 * more than LX__INLINE_MAX; or if both are equal, that is not to be compressed. */
void lx__write_buffer_add_stored(lx__write_buffer *buffer, uint32_t field,
                                 const lx__entry_rules *rules, const void *data, uint32_t physical,
                                 uint32_t logical);

/** Notes what a chunk has taken. */
lx_status lx__write_buffer_add_chunk(lx__write_buffer *buffer, const lx__chunk_item *item,
                                     lx_error *error);

/** Most bytes that a value of @p size takes in a write buffer. */
static inline uint64_t lx__write_buffer_room(const lx__entry_rules *rules, uint64_t size)
{
    return size == LX_NONE || size <= LX__INLINE_MAX ? 0 : size + rules->align - 1;
}

#endif
