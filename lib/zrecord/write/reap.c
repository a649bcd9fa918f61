/* SPDX-License-Identifier: MIT */
#include "zrecord/write/reap.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/write/apply.h"
#include "zrecord/write/handle.h"
#include "zrecord/write/recover.h"

/* During a large append, rows are written to the tables as soon as this many are buffered. */
#define BULK_ROWS ((size_t)1 << 16)

lx_status lx__writer_reap_oldest(lx_writer *writer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__write_buffer *buffer = lx__write_ring_at(&writer->ring, 0);
    lx_status status = lx__flush_wait(&writer->flush, buffer, &failure);
    uint64_t call = buffer->first_call;
    if (status == LX_OK) {
        call = 0; /* from here on, a failure leaves the call half-applied */
        status = lx__writer_apply(writer, buffer, &failure);
    }
    if (status == LX_OK && writer->tables.count >= BULK_ROWS)
        status = lx__table_writer_write(&writer->tables, &failure);
    if (status != LX_OK)
        return lx__calls_fail(&writer->calls, call, status, &failure, error);
    writer->calls.applied = buffer->last_call;
    lx__write_ring_pop(&writer->ring);
    return LX_OK;
}

lx_status lx__writer_submit_buffer(lx_writer *writer, lx_error *error)
{
    if (!writer->ring.filling)
        return LX_OK;
    lx_status status = lx__writer_check_lock(writer, error);
    if (status != LX_OK)
        return status;
    writer->ring.filling = false;
    return lx__flush_submit(&writer->flush, lx__write_ring_last(&writer->ring), error);
}

/** Flushes the buffer that is being filled. */
static lx_status flush_last(lx_writer *writer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status;
    lx__write_buffer *last = lx__write_ring_last(&writer->ring);
    if (writer->ring.count == 1 && lx__flush_is_idle(&writer->flush)) {
        /* No flush is running, so flush the buffer on this thread instead of waking another one. */
        writer->ring.filling = false;
        status = lx__flush_now(&writer->flush, last, &failure);
    } else {
        status = lx__writer_submit_buffer(writer, &failure);
    }
    return lx__calls_fail(&writer->calls, last->first_call, status, &failure, error);
}

/** Flushes all buffers with operations of calls up to @p target. If one of them fails, none is
 * reaped, so that the calls before the failure can still be committed. */
static lx_status flush_up_to(lx_writer *writer, uint64_t target, size_t *count, lx_error *error)
{
    const lx__write_ring *ring = &writer->ring;
    lx_status status = LX_OK;
    *count = 0;
    while (*count < ring->count && lx__write_ring_at(ring, *count)->first_call <= target)
        ++*count;
    /* If a buffer continues beyond the target, a failure ended it early; return that failure. */
    if (*count != 0 && lx__write_ring_at(ring, *count - 1)->last_call > target) {
        assert(writer->calls.failure.status != LX_OK);
        return lx__writer_usable(writer, error);
    }
    if (ring->filling && *count == ring->count)
        status = flush_last(writer, error);
    for (size_t i = 0; status == LX_OK && i < *count; i++) {
        lx_error failure = LX_ERROR_INIT;
        const lx__write_buffer *buffer = lx__write_ring_at(ring, i);
        status = lx__flush_wait(&writer->flush, buffer, &failure);
        lx__calls_fail(&writer->calls, buffer->first_call, status, &failure, error);
    }
    return status;
}

lx_status lx__writer_reap(lx_writer *writer, uint64_t target, lx_error *error)
{
    size_t count;
    lx_status status = flush_up_to(writer, target, &count, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = lx__writer_reap_oldest(writer, error);
    if (status == LX_OK && writer->calls.applied < target)
        writer->calls.applied = target;
    lx__flush_drain(&writer->flush);
    return status;
}

lx_status lx__writer_drop(lx_writer *writer, lx_error *error)
{
    const lx__state *state = &writer->committed.state;
    lx__flush_drain(&writer->flush);
    if (writer->flush.failure.status == LX_ERR_POISONED)
        return lx__calls_fail(&writer->calls, 0, LX_ERR_POISONED, &writer->flush.failure, error);
    lx__write_ring_clear(&writer->ring);
    writer->length = state->length;
    lx__applied_clear(&writer->applied, state->length);
    lx__commit_requests_settle(&writer->requests, &writer->calls);
    lx__calls_roll_back(&writer->calls);
    writer->pending_bytes = 0;
    lx__table_writer_truncate(&writer->tables, lx__committed_row_end(&writer->committed));
    if (lx__writer_may_trim(writer))
        lx__table_writer_trim(&writer->tables, lx__committed_row_end(&writer->committed));
    return lx__flush_reset(&writer->flush, error);
}
