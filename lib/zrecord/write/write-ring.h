/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The ring of write buffers of a writer: one is filled while others are flushed.
 *
 * Buffers are in use in the order of the calls that filled them. Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_WRITE_RING_H
#define LX_ZRECORD_WRITE_RING_H

#include "zrecord/write/write-buffer.h"

/* One being filled, one being flushed, two in between. */
#define LX__WRITE_BUFFERS 4

typedef struct lx__write_ring {
    lx__write_buffer *buffers[LX__WRITE_BUFFERS];
    size_t oldest; /**< The first of those in use. */
    size_t count;  /**< In use, with the one being filled, which is the last. */
    bool filling;  /**< The last one in use is being filled. */
} lx__write_ring;

/** Buffer number @p position of those in use, the oldest first. */
static inline lx__write_buffer *lx__write_ring_at(const lx__write_ring *ring, size_t position)
{
    return ring->buffers[(ring->oldest + position) % LX__WRITE_BUFFERS];
}

/** The newest buffer in use; there must be one. */
static inline lx__write_buffer *lx__write_ring_last(const lx__write_ring *ring)
{
    return lx__write_ring_at(ring, ring->count - 1);
}

static inline bool lx__write_ring_is_full(const lx__write_ring *ring)
{
    return ring->count == LX__WRITE_BUFFERS;
}

/** The buffer that is being filled; if there is none, another one, for which the ring must have
 * room. NULL when out of memory. */
lx__write_buffer *lx__write_ring_fill(lx__write_ring *ring);

/** Empties the oldest buffer, which is in use no more. */
void lx__write_ring_pop(lx__write_ring *ring);

/** Empties all buffers. */
void lx__write_ring_clear(lx__write_ring *ring);

void lx__write_ring_free(lx__write_ring *ring);

#endif
