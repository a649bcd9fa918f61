/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Operations and copies of their values, on the way from the caller to the flush.
 *
 * A write buffer collects operations in the order of the calls until it is full. It copies their
 * values, laying them out as they will be in the chunk. Then a flush task compresses the values of
 * compressed fields, writes the payloads and completes the entries.
 */
#ifndef LX_ZRECORD_WRITE_BUFFER_H
#define LX_ZRECORD_WRITE_BUFFER_H

#include "zrecord/format/entry.h"
#include "zrecord/format/meta.h"

/** A write buffer is full once it contains this many payload bytes. A single record can make it
 * larger. */
#define LX__WRITE_BUFFER_BYTES ((size_t)1 << 20)
/** A write buffer is also full once it contains this many values, or this many operations without
 * values. */
#define LX__WRITE_BUFFER_VALUES ((size_t)1 << 15)

typedef enum lx__operation_kind {
    LX__APPEND,  /**< Appends `count` records, with a value for every field. */
    LX__MODIFY,  /**< Replaces the values of some fields of a record. */
    LX__DELETE,  /**< Moves the last record to this index. */
    LX__TRUNCATE /**< Removes all records starting at this index. */
} lx__operation_kind;

/** An operation. Its values follow those of the previous operation. */
typedef struct lx__operation {
    lx__operation_kind kind;
    uint32_t values; /**< Number of values per record. */
    uint64_t index;  /**< Index of the record, or of the first appended record. */
    uint64_t count;  /**< Number of appended records; set by the write buffer. */
} lx__operation;

/** A value of a record. */
typedef struct lx__buffered_value {
    /** Before the flush, the entry is in one of three forms: missing; inline and complete except
     * for the CRC; or with its sizes set and its offset set to the position in the buffer's data.
     * After the flush, it is complete except that the CRC does not include the index CRC. */
    lx__entry entry;
    uint32_t field; /**< Position in the schema. */
    bool as_stored; /**< If the field is compressed, the data is already compressed. */
} lx__buffered_value;

/** The progress of a write buffer. */
typedef enum lx__flush_state {
    LX__FLUSH_WAITING,
    LX__FLUSH_RUNNING, /**< A flush task is writing the buffer. */
    LX__FLUSH_DONE,
    LX__FLUSH_FAILED
} lx__flush_state;

typedef struct lx__write_buffer {
    struct lx__write_buffer *next; /**< Next buffer in the flush's queue. */
    /** Numbers of the first and the last call with operations in this buffer. */
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
    size_t align;                /**< The largest alignment of its values. */
    lx__flush_state flush_state; /**< Guarded by the flush's mutex. */
    /** The chunk items after this buffer's values were written. If this is the last buffer that a
     * frame commits, the frame covers at most these items. */
    lx__chunk_item *chunks;
    size_t chunk_count;
    size_t chunk_capacity;
} lx__write_buffer;

/** Creates an empty write buffer; returns NULL when out of memory. */
lx__write_buffer *lx__write_buffer_new(void);
void lx__write_buffer_free(lx__write_buffer *buffer);

/** Empties the buffer, and frees memory beyond its usual size. */
void lx__write_buffer_clear(lx__write_buffer *buffer);

static inline bool lx__write_buffer_is_full(const lx__write_buffer *buffer)
{
    return buffer->used >= LX__WRITE_BUFFER_BYTES || buffer->count >= LX__WRITE_BUFFER_VALUES ||
           buffer->operation_count >= LX__WRITE_BUFFER_VALUES;
}

/** Reserves room for an operation with @p values values and @p bytes bytes of payload and
 * padding. */
lx_status lx__write_buffer_reserve(lx__write_buffer *buffer, size_t values, uint64_t bytes,
                                   lx_error *error);

/** Adds an operation; room must have been reserved. An append is merged into the preceding
 * operation if that is also an append. */
void lx__write_buffer_add_operation(lx__write_buffer *buffer, const lx__operation *operation);

/** Adds a value to the last operation; room must have been reserved. A @p size of LX_NONE means
 * that the value is missing. */
void lx__write_buffer_add(lx__write_buffer *buffer, uint32_t field, const lx__entry_rules *rules,
                          const void *data, uint64_t size);

/** Like lx__write_buffer_add(), for a value in stored form: @p physical bytes, whose decoded size
 * @p logical is greater than LX__INLINE_MAX. If @p physical equals @p logical, the value is not
 * compressed. */
void lx__write_buffer_add_stored(lx__write_buffer *buffer, uint32_t field,
                                 const lx__entry_rules *rules, const void *data, uint32_t physical,
                                 uint32_t logical);

/** Records the item of a chunk after a write to it. */
lx_status lx__write_buffer_add_chunk(lx__write_buffer *buffer, const lx__chunk_item *item,
                                     lx_error *error);

/** Returns the maximum number of bytes that a value of @p size bytes takes up in a write buffer,
 * including padding. */
static inline uint64_t lx__write_buffer_room(const lx__entry_rules *rules, uint64_t size)
{
    return size == LX_NONE || size <= LX__INLINE_MAX ? 0 : size + rules->align - 1;
}

#endif
