/* SPDX-License-Identifier: MIT */
#include "zrecord/write/write-ring.h"

lx__write_buffer *lx__write_ring_fill(lx__write_ring *ring)
{
    if (ring->filling)
        return lx__write_ring_last(ring);
    lx__write_buffer **slot = &ring->buffers[(ring->oldest + ring->count) % LX__WRITE_BUFFERS];
    if (*slot == NULL)
        *slot = lx__write_buffer_new();
    if (*slot == NULL)
        return NULL;
    lx__write_buffer_clear(*slot);
    ring->count++;
    ring->filling = true;
    return *slot;
}

void lx__write_ring_pop(lx__write_ring *ring)
{
    lx__write_buffer_clear(lx__write_ring_at(ring, 0));
    ring->oldest = (ring->oldest + 1) % LX__WRITE_BUFFERS;
    ring->count--;
}

void lx__write_ring_clear(lx__write_ring *ring)
{
    for (size_t i = 0; i < LX__WRITE_BUFFERS; i++)
        if (ring->buffers[i] != NULL)
            lx__write_buffer_clear(ring->buffers[i]);
    ring->count = 0;
    ring->filling = false;
}

void lx__write_ring_free(lx__write_ring *ring)
{
    for (size_t i = 0; i < LX__WRITE_BUFFERS; i++)
        lx__write_buffer_free(ring->buffers[i]);
}
