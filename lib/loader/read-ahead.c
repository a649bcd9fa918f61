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
/* For values that come from another machine, which takes longer to answer. */
#define REMOTE_BYTES ((uint64_t)64 << 20)
#define REMOTE_RECORDS_MAX 65536
/* A block that several ranks read is requested as a whole only if the records of one rank in it are
 * on average as close as this, so that a single request would contain several of them. */
#define NEAR_BYTES ((uint64_t)128 << 10)
/* Maximum number of records per request, for blocks. */
#define BLOCK_RECORDS 4096
/* The size of a record, if it is unknown. */
#define RECORD_BYTES ((uint64_t)16 << 10)
/* Page faults are looked at once for this many batches. */
#define FAULTS_BATCHES 16
/* Mapped values are taken to be on disk for this many batches after a page fault that waited for a
 * disk. While they are read ahead, there are no such faults. */
#define MAPPED_BATCHES 1024
/* Maximum number of batches per step: a step delays the part that is filled next. */
#define STEP_BATCHES 4
/* The same for blocks, as the number of records requested and positions visited: a few milliseconds
 * when a run starts. Later, a step is as long as the batch. */
#define STEP_RECORDS 65536

void lx__read_ahead_open(lx__read_ahead *self, const lx__layout *layout, lx_order *order,
                         const lx__batch_schedule *schedule)
{
    uint64_t rows = lx__batch_schedule_max_rows(schedule);
    pthread_mutex_init(&self->mutex, NULL);
    if (layout->source->class->read_ahead == NULL || rows > SIZE_MAX)
        return;
    self->wanted = lx__alloc_array(layout->source->column_count + 1, sizeof *self->wanted);
    self->indices = lx__alloc_array(rows > BLOCK_RECORDS ? (size_t)rows : BLOCK_RECORDS,
                                    sizeof *self->indices);
    self->order = order;
    if (self->wanted == NULL || self->indices == NULL ||
        lx__scratch_new(order, &self->scratch, NULL) != LX_OK)
        return; /* only costs speed */
    for (size_t i = 0; i < layout->count; i++)
        self->wanted[layout->positions[i]] = true;
    lx__batch_schedule_copy(schedule, &self->schedule);
    self->remote = lx__source_is_remote(layout->source, self->wanted);
    if (lx__order_get_lanes(order) != 0 &&
        lx__block_plan_open(&self->plan, order, self->scratch, schedule) && self->remote)
        lx__block_plan_warn(&self->plan, schedule);
    self->faults = lx__process_major_faults();
    self->layout = layout;
}

void lx__read_ahead_close(lx__read_ahead *self)
{
    lx__free(self->wanted);
    lx__free(self->indices);
    lx__block_plan_close(&self->plan);
    lx__scratch_free(self->scratch);
    lx__batch_schedule_clear_copy(&self->schedule);
    *self = (lx__read_ahead){.layout = NULL};
}

void lx__read_ahead_move(lx__read_ahead *self)
{
    atomic_store_explicit(&self->active, false, memory_order_relaxed);
    atomic_store_explicit(&self->covered, 0, memory_order_relaxed);
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

/** Whether to request whole blocks. */
static bool wants_blocks(const lx__read_ahead *self, uint64_t record_bytes)
{
    uint64_t ranks = self->plan.ranks;
    return self->remote && self->plan.found != NULL &&
           (ranks == 1 || record_bytes <= NEAR_BYTES / ranks);
}

static uint64_t records_ahead(const lx__read_ahead *self, uint64_t record_bytes)
{
    uint64_t records = (self->remote ? REMOTE_BYTES : AHEAD_BYTES) / record_bytes;
    uint64_t most = self->remote ? REMOTE_RECORDS_MAX : AHEAD_RECORDS_MAX;
    return records < AHEAD_RECORDS_MIN ? AHEAD_RECORDS_MIN : records > most ? most : records;
}

/** Returns where to end: with the run, if it is the first. After a second run, there is probably a
 * third one, which would otherwise begin with a wait for all blocks of a stripe. */
static uint64_t find_end(const lx__batch_schedule *schedule)
{
    return schedule->run_begin == 0 ? schedule->run_end : LX__POSITION_END;
}

void lx__read_ahead_follow(lx__read_ahead *self, uint64_t first, const lx__batch_schedule *schedule,
                           uint64_t record_bytes)
{
    if (self->layout == NULL)
        return;
    bool mapped = mapped_on_disk(self); /* counts the batches */
    bool active = self->remote || mapped ||
                  lx__source_wants_read_ahead(self->layout->source, self->wanted);
    if (active) {
        record_bytes = record_bytes != 0 ? record_bytes : RECORD_BYTES;
        bool by_block = wants_blocks(self, record_bytes);
        uint64_t ahead, last = schedule->position;
        uint64_t window = by_block ? lx__order_get_window(self->order) : 0;
        if (!lx__multiply_fits(records_ahead(self, record_bytes), schedule->shard.world, &ahead) ||
            !lx__add_fits(last, ahead, &last) || !lx__add_fits(last, window, &last))
            last = LX__POSITION_END;
        atomic_store_explicit(&self->first, first, memory_order_relaxed);
        atomic_store_explicit(&self->last, last, memory_order_relaxed);
        atomic_store_explicit(&self->by_block, by_block, memory_order_relaxed);
        atomic_store_explicit(&self->run_end, find_end(schedule), memory_order_relaxed);
    }
    atomic_store_explicit(&self->active, active, memory_order_release);
}

/** Requests the first @p count of the indices. Returns their number, or 0 if all of them were found
 * in memory. */
static uint64_t request(lx__read_ahead *self, size_t count)
{
    if (!lx__source_read_ahead(self->layout->source, self->wanted, self->indices, count))
        return 0;
    atomic_fetch_add_explicit(&self->requested, count, memory_order_relaxed);
    return count;
}

/** Requests the records of the next batches, up to position @p last. */
static uint64_t request_batches(lx__read_ahead *self, uint64_t last)
{
    uint64_t requested = 0;
    lx__batch_slice slice;
    for (int i = 0; i < STEP_BATCHES && self->schedule.position < last; i++) {
        if (lx__batch_schedule_next(&self->schedule, &slice, NULL) != LX_OK)
            break;
        if (lx__order_read(self->order, self->scratch, slice.first, slice.stride, slice.count,
                           self->indices, NULL) == LX_OK) /* the loader will report the error */
            requested += request(self, (size_t)slice.count);
    }
    return requested;
}

/** Adds the indices of the next blocks, up to position @p last, to the @p count indices there are.
 * Returns their number. */
static size_t find_blocks(lx__read_ahead *self, uint64_t last, size_t *visited)
{
    lx__block_plan *plan = &self->plan;
    lx__batch_slice slice;
    size_t count = 0;
    for (; count < BLOCK_RECORDS && *visited < STEP_RECORDS; (*visited)++) {
        size_t taken = lx__block_plan_take(plan, self->indices + count, BLOCK_RECORDS - count);
        count += taken;
        if (taken != 0)
            continue;
        if (lx__block_plan_is_done(plan)) {
            if (self->schedule.position >= last ||
                lx__batch_schedule_next(&self->schedule, &slice, NULL) != LX_OK)
                break;
            lx__block_plan_set_slice(plan, &slice);
        } else if (!lx__block_plan_visit(plan, last)) {
            break;
        }
    }
    return count;
}

/** Requests the next blocks, as far as a loader is to have them whose window ends at @p last.
 * Requests many blocks at a time, because each request may wait for rows of tables. */
static uint64_t request_blocks(lx__read_ahead *self, uint64_t last)
{
    uint64_t requested = 0;
    size_t visited = 0, count;
    while ((count = find_blocks(self, last, &visited)) != 0) {
        requested += request(self, count);
        visited += count;
    }
    return requested;
}

/** Returns the position before which all records were requested. */
static uint64_t requested_end(const lx__read_ahead *self, bool by_block)
{
    return by_block && !lx__block_plan_is_done(&self->plan) ? self->plan.slice.begin
                                                            : self->schedule.position;
}

/** Requests what comes next, or does nothing if another thread is doing so. But a batch of records
 * from elsewhere must not be filled before they were requested: its blocks would be fetched in
 * pieces. */
static bool begin(lx__read_ahead *self, uint64_t end)
{
    bool must = self->remote && atomic_load_explicit(&self->covered, memory_order_relaxed) < end;
    return must ? pthread_mutex_lock(&self->mutex) == 0 : pthread_mutex_trylock(&self->mutex) == 0;
}

uint64_t lx__read_ahead_step(lx__read_ahead *self, uint64_t end)
{
    if (!atomic_load_explicit(&self->active, memory_order_acquire) || !begin(self, end))
        return 0;
    uint64_t first = atomic_load_explicit(&self->first, memory_order_relaxed);
    uint64_t last = atomic_load_explicit(&self->last, memory_order_relaxed);
    bool moved = atomic_exchange_explicit(&self->moved, false, memory_order_relaxed);
    if (moved)
        lx__block_plan_move(&self->plan);
    if (moved || self->schedule.position < first) {
        lx__batch_schedule_seek(&self->schedule, first);
        lx__block_plan_set_slice(&self->plan, &(lx__batch_slice){.count = 0});
    }
    self->schedule.run_end = atomic_load_explicit(&self->run_end, memory_order_relaxed);
    bool by_block = atomic_load_explicit(&self->by_block, memory_order_relaxed);
    uint64_t requested = by_block ? request_blocks(self, last) : request_batches(self, last);
    atomic_store_explicit(&self->covered, requested_end(self, by_block), memory_order_relaxed);
    pthread_mutex_unlock(&self->mutex);
    return requested;
}
