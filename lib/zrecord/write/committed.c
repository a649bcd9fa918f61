/* SPDX-License-Identifier: MIT */
#include "zrecord/write/committed.h"

lx_status lx__committed_reserve(lx__committed *committed, size_t chunks, size_t updates,
                                lx_error *error)
{
    lx_status status = lx__state_reserve_chunks(&committed->state, chunks, error);
    return status == LX_OK ? lx__update_map_reserve(&committed->updates, updates, error) : status;
}

lx__frame lx__committed_next_frame(const lx__committed *committed, uint32_t flags, uint64_t boot)
{
    const lx__state *state = &committed->state;
    return (lx__frame){.sequence = state->position.sequence,
                       .length = state->length,
                       .rows = state->rows,
                       .previous_crc = state->position.crc,
                       .flags = flags,
                       .boot = boot,
                       .table_generation = state->table_generation,
                       .next_chunk = state->next_chunk};
}

void lx__committed_advance(lx__committed *committed, const lx__frame *frame)
{
    lx__wal_position *position = &committed->state.position;
    position->offset += frame->bytes;
    position->sequence++;
    position->crc = frame->crc;
}

void lx__committed_adopt(lx__committed *committed, const lx__frame *frame,
                         const lx__chunk_item *grown, size_t count)
{
    lx__state *state = &committed->state;
    state->length = frame->length;
    state->rows = frame->rows;
    state->next_chunk = frame->next_chunk;
    for (size_t i = 0; i < count; i++)
        (void)lx__state_put_chunk(state, &grown[i], NULL); /* room was reserved */
}

void lx__committed_free(lx__committed *committed)
{
    lx__state_free(&committed->state);
    lx__update_map_free(&committed->updates);
}
