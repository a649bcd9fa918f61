/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/scan.h"

#include "base/error.h"
#include "zrecord/read/prefetch.h"

/* The slots form two waves: while one is being worked on, the next is prefetched. */
#define WAVE (LX__SCAN_SLOTS / 2)
#define WAVE_MIN 4

typedef struct range {
    uint64_t first, end;
} range;

typedef struct wave {
    const lx__scan *scan;
    size_t slot; /**< The slot of the first range. */
    range ranges[WAVE];
    size_t count;
    size_t most; /**< Enough ranges to keep all readers busy, but no more, because each slot needs
                      memory. */
    lx_ticket *ticket;
} wave;

static lx_status run(size_t part, void *user, lx_error *error)
{
    const wave *w = user;
    const range *r = &w->ranges[part];
    return w->scan->work(w->scan->user, w->slot + part, r->first, r->end, error);
}

/** Determines and prefetches the ranges of a wave, and submits them. */
static lx_status begin_wave(wave *w, lx__prefetch *ahead, lx_executor *executor, lx_error *error)
{
    for (w->count = 0; w->count < w->most; w->count++) {
        range *r = &w->ranges[w->count];
        if (!lx__prefetch_next(ahead, &r->first, &r->end) || r->first >= w->scan->length)
            break;
        r->end = r->end < w->scan->length ? r->end : w->scan->length;
    }
    if (w->count == 0)
        return LX_END;
    return lx_executor_submit(executor, LX_QUEUE_READ, run, w, w->count, &w->ticket, error);
}

/** Waits for a wave and takes its results. */
static lx_status end_wave(wave *w, lx_error *error)
{
    lx_status status = w->ticket != NULL ? lx_ticket_wait(w->ticket, error) : LX_OK;
    const lx__scan *scan = w->scan;
    uint64_t done = 0;
    lx_ticket_unref(w->ticket);
    w->ticket = NULL;
    for (size_t i = 0; status == LX_OK && i < w->count; i++) {
        scan->take(scan->user, w->slot + i, w->ranges[i].first, w->ranges[i].end);
        done = w->ranges[i].end;
    }
    if (status != LX_OK || scan->progress == NULL)
        return status;
    return lx__error_return(error, scan->progress(done, scan->length, scan->progress_user, error),
                            "progress");
}

static lx_status run_waves(const lx__scan *scan, lx_executor *executor, lx_error *error)
{
    size_t most = 2 * (size_t)lx_executor_get_reader_count(executor);
    most = most < WAVE_MIN ? WAVE_MIN : most > WAVE ? WAVE : most;
    wave waves[2] = {{.scan = scan, .most = most}, {.scan = scan, .most = most, .slot = most}};
    lx__prefetch ahead = {.snapshot = scan->snapshot};
    lx_status status = begin_wave(&waves[0], &ahead, executor, error), next = LX_OK;
    for (size_t i = 0; status == LX_OK && next == LX_OK; i = !i) {
        next = begin_wave(&waves[!i], &ahead, executor, error);
        status = end_wave(&waves[i], error);
        if (next < 0)
            status = next;
    }
    for (size_t i = 0; i < 2; i++) { /* after a failure */
        lx_ticket_cancel(waves[i].ticket);
        if (waves[i].ticket != NULL)
            (void)lx_ticket_wait(waves[i].ticket, NULL);
        lx_ticket_unref(waves[i].ticket);
    }
    lx__prefetch_end(&ahead);
    return status == LX_END ? LX_OK : status;
}

lx_status lx__scan_run(const lx__scan *scan, lx_error *error)
{
    lx_executor *executor = NULL;
    lx_executor_options *options = lx_executor_options_new();
    if (options == NULL)
        return lx__fail_memory(error, "an executor");
    lx_status status = LX_OK;
    /* An executor of the scan's own cannot be closed by others. */
    if (scan->executor != NULL)
        status = lx_executor_options_set_reader_count(
            options, lx_executor_get_reader_count(scan->executor), error);
    if (status == LX_OK)
        status = lx_executor_open(options, &executor, error);
    lx_executor_options_free(options);
    if (status == LX_OK)
        status = run_waves(scan, executor, error);
    lx_executor_close(executor);
    return status;
}
