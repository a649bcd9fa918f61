/* SPDX-License-Identifier: MIT */
#include "loader/read-ahead.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/process.h"
#include "loader/sources/source.h"

/* How far to read ahead of the batches in preparation: enough to keep any disk busy, and little
 * enough to stay in memory until it is used. */
#define AHEAD_BYTES ((uint64_t)8 << 20)
#define AHEAD_RECORDS_MIN 256
#define AHEAD_RECORDS_MAX 4096
/* The size of a record, if it is unknown. */
#define RECORD_BYTES ((uint64_t)16 << 10)
/* Page faults are looked at once for this many batches. */
#define FAULTS_BATCHES 16
/* Mapped values are taken to be on disk for this many batches after a page fault that waited for a
 * disk. While they are read ahead, there are no such faults. */
#define MAPPED_BATCHES 1024
/* Maximum number of batches per step: a step delays the part that is filled next. */
#define STEP_BATCHES 4

void lx__read_ahead_open(lx__read_ahead *self, const lx__layout *layout, lx_order *order,
                         const lx__batch_schedule *schedule)
{
    uint64_t rows = lx__batch_schedule_max_rows(schedule);
    pthread_mutex_init(&self->mutex, NULL);
    if (layout->source->class->read_ahead == NULL || rows > SIZE_MAX)
        return;
    self->wanted = lx__alloc_array(layout->source->column_count + 1, sizeof *self->wanted);
    self->indices = lx__alloc_array((size_t)rows, sizeof *self->indices);
    self->order = order;
    if (self->wanted == NULL || self->indices == NULL ||
        lx__scratch_new(order, &self->scratch, NULL) != LX_OK)
        return; /* only costs speed */
    for (size_t i = 0; i < layout->count; i++)
        self->wanted[layout->positions[i]] = true;
    lx__batch_schedule_copy(schedule, &self->schedule);
    self->faults = lx__process_major_faults();
    self->layout = layout;
}

void lx__read_ahead_close(lx__read_ahead *self)
{
    lx__free(self->wanted);
    lx__free(self->indices);
    lx__scratch_free(self->scratch);
    lx__batch_schedule_clear_copy(&self->schedule);
    *self = (lx__read_ahead){.layout = NULL};
}

void lx__read_ahead_move(lx__read_ahead *self)
{
    atomic_store_explicit(&self->active, false, memory_order_relaxed);
    atomic_store_explicit(&self->moved, true, memory_order_relaxed);
}

/** Whether mapped values may be on disk. Only page faults tell, of the whole process, because
 * mincore() answers only for one's own files. */
static bool mapped_on_disk(lx__read_ahead *self)
{
    if (self->batches++ % FAULTS_BATCHES == 0) {
        uint64_t faults = lx__process_major_faults();
        if (faults != self->faults)
            self->until = self->batches + MAPPED_BATCHES;
        self->faults = faults;
    }
    return self->batches < self->until;
}

void lx__read_ahead_follow(lx__read_ahead *self, uint64_t first, const lx__batch_schedule *schedule,
                           uint64_t record_bytes)
{
    if (self->layout == NULL)
        return;
    bool mapped = mapped_on_disk(self); /* counts the batches */
    bool active = mapped || lx__source_wants_read_ahead(self->layout->source, self->wanted);
    if (active) {
        uint64_t records = AHEAD_BYTES / (record_bytes != 0 ? record_bytes : RECORD_BYTES), ahead;
        uint64_t last = schedule->position;
        records = records < AHEAD_RECORDS_MIN   ? AHEAD_RECORDS_MIN
                  : records > AHEAD_RECORDS_MAX ? AHEAD_RECORDS_MAX
                                                : records;
        if (!lx__multiply_fits(records, schedule->shard.world, &ahead) ||
            !lx__add_fits(last, ahead, &last))
            last = schedule->run_end;
        atomic_store_explicit(&self->first, first, memory_order_relaxed);
        atomic_store_explicit(&self->last, last, memory_order_relaxed);
        atomic_store_explicit(&self->run_end, schedule->run_end, memory_order_relaxed);
    }
    atomic_store_explicit(&self->active, active, memory_order_release);
}

/** Requests a batch; returns the number of records unless all of them were found in memory. */
static uint64_t request_batch(lx__read_ahead *self, const lx__batch_slice *slice)
{
    if (lx__order_read(self->order, self->scratch, slice->first, slice->stride, slice->count,
                       self->indices, NULL) != LX_OK)
        return 0; /* the loader will report the error */
    if (!lx__source_read_ahead(self->layout->source, self->wanted, self->indices,
                               (size_t)slice->count))
        return 0;
    atomic_fetch_add_explicit(&self->requested, slice->count, memory_order_relaxed);
    return slice->count;
}

uint64_t lx__read_ahead_step(lx__read_ahead *self)
{
    if (!atomic_load_explicit(&self->active, memory_order_acquire) ||
        pthread_mutex_trylock(&self->mutex) != 0)
        return 0;
    uint64_t first = atomic_load_explicit(&self->first, memory_order_relaxed);
    uint64_t last = atomic_load_explicit(&self->last, memory_order_relaxed);
    uint64_t requested = 0;
    lx__batch_slice slice;
    if (atomic_exchange_explicit(&self->moved, false, memory_order_relaxed) ||
        self->schedule.position < first)
        lx__batch_schedule_seek(&self->schedule, first);
    self->schedule.run_end = atomic_load_explicit(&self->run_end, memory_order_relaxed);
    for (int i = 0; i < STEP_BATCHES && self->schedule.position < last; i++) {
        if (lx__batch_schedule_next(&self->schedule, &slice, NULL) != LX_OK)
            break;
        requested += request_batch(self, &slice);
    }
    pthread_mutex_unlock(&self->mutex);
    return requested;
}
