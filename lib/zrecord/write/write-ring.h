/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A writer's ring of write buffers: one is filled while others are flushed.
 *
 * Buffers are used in the order of the calls that fill them. Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_WRITE_RING_H
#define LX_ZRECORD_WRITE_RING_H

#include "zrecord/write/write-buffer.h"

/* One buffer that is being filled, one that is being flushed, and two that are waiting. */
#define LX__WRITE_BUFFERS 4

typedef struct lx__write_ring {
    lx__write_buffer *buffers[LX__WRITE_BUFFERS];
    size_t oldest; /**< Index of the oldest buffer in use. */
    /** Number of buffers in use, including the one being filled, which is the newest. */
    size_t count;
    bool filling; /**< The newest buffer is being filled. */
} lx__write_ring;

/** Returns the buffer at @p position among those in use, counting from the oldest. */
static inline lx__write_buffer *lx__write_ring_at(const lx__write_ring *ring, size_t position)
{
    return ring->buffers[(ring->oldest + position) % LX__WRITE_BUFFERS];
}

/** Returns the newest buffer in use; there must be one. */
static inline lx__write_buffer *lx__write_ring_last(const lx__write_ring *ring)
{
    return lx__write_ring_at(ring, ring->count - 1);
}

static inline bool lx__write_ring_is_full(const lx__write_ring *ring)
{
    return ring->count == LX__WRITE_BUFFERS;
}

/** Returns the buffer that is being filled; if there is none, begins a new one, for which the ring
 * must have room. Returns NULL when out of memory. */
lx__write_buffer *lx__write_ring_fill(lx__write_ring *ring);

/** Empties the oldest buffer and takes it out of use. */
void lx__write_ring_pop(lx__write_ring *ring);

/** Empties all buffers. */
void lx__write_ring_clear(lx__write_ring *ring);

void lx__write_ring_free(lx__write_ring *ring);

#endif
