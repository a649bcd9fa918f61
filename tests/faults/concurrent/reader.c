/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <unistd.h>

#include "sight.h"

/* Held batches: each is held for twice as long as the previous one, the last to the end. */
#define HELD 8
#define HELD_MIN_NS 50000000u
/* Intervals in batches: between batches of all records, and between batches of a newly opened
 * dataset. */
#define SCAN_EACH 500
#define OPEN_EACH 500
#define HOLD_EACH 50
/* Pause of the unmeasured reader; and the number of snapshots between those of a faulty reader. */
#define VICTIM_PAUSE 2000
#define STATES_LATER 8

/** A batch that was read some time ago. */
struct held {
    struct sight sight;
    lx_dataset *pinned; /**< NULL: closed, only the views remain. */
    uint64_t commit, until;
};

struct reader {
    struct share *share;
    struct reader_part *part;
    const struct options *options;
    struct rng rng;
    lx_dataset *live, *refreshed;
    uint64_t seen, seen_refreshed; /* commits */
    struct sight sight, scan;      /* of batches of some records, and of all */
    struct held held[HELD];
    bool is_victim;
    enum phase phase; /* of the batch in progress */
    uint64_t processor_start, start;
    char why[512];
};

static _Noreturn void fail(struct reader *reader, const char *what)
{
    snprintf(reader->part->part.why, sizeof reader->part->part.why, "%s: %.500s", what,
             reader->why);
    _exit(EXIT_FAILURE);
}

static void expect(struct reader *reader, lx_status status, const lx_error *error, const char *what)
{
    if (status == LX_OK)
        return;
    lx_error_describe(error, reader->why, sizeof reader->why);
    fail(reader, what);
}

static void judge(struct reader *reader, const struct sight *sight, uint64_t *commit,
                  const char *what)
{
    if (!reading_judge(&sight->reading, commit, reader->why, sizeof reader->why))
        fail(reader, what);
}

/* ---- measurement: the time within the library */

static void start_timer(struct reader *reader)
{
    reader->start = clock_read(CLOCK_MONOTONIC);
    reader->processor_start = clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/** Adds the time since the start to that of reading @p count records. */
static void note_time(struct reader *reader, enum kind kind, size_t count)
{
    struct spent *spent = &reader->part->spent[kind][reader->phase];
    uint64_t processor = clock_read(CLOCK_THREAD_CPUTIME_ID) - reader->processor_start;
    uint64_t time = clock_read(CLOCK_MONOTONIC) - reader->start;
    atomic_fetch_add(&spent->batches, 1);
    atomic_fetch_add(&spent->records, count);
    atomic_fetch_add(&spent->processor, processor);
    atomic_fetch_add(&spent->time, time);
    note_most(&spent->slowest, time);
}

/* ---- held batches */

static void end_held(struct reader *reader, struct held *held)
{
    uint64_t commit = held->commit;
    lx_error error = LX_ERROR_INIT;
    if (held->sight.reading.count == 0)
        return;
    judge(reader, &held->sight, &commit, "views that were held");
    if (commit == held->commit && held->pinned != NULL) {
        sight_release(&held->sight);
        expect(reader, sight_gather_all(&held->sight, held->pinned, &error), &error,
               "a state that was held");
        judge(reader, &held->sight, &commit, "a state that was held");
    }
    if (commit != held->commit) {
        snprintf(reader->why, sizeof reader->why, "commit %llu has become %llu",
                 (unsigned long long)held->commit, (unsigned long long)commit);
        fail(reader, "what was held");
    }
    atomic_fetch_add(&reader->part->held, 1);
    lx_dataset_close(held->pinned);
    sight_free(&held->sight);
    *held = (struct held){0};
}

/** Adds the batch, and perhaps its snapshot, to the held ones. */
static void hold(struct reader *reader, lx_dataset *pinned, uint64_t commit)
{
    uint64_t time = clock_read(CLOCK_MONOTONIC);
    size_t place = 0;
    while (place + 1 < HELD && reader->held[place].until > time)
        place++;
    struct held *held = &reader->held[place];
    if (held->until > time) {
        lx_dataset_close(pinned);
        sight_release(&reader->sight);
        return;
    }
    end_held(reader, held);
    *held = (struct held){.sight = reader->sight,
                          .pinned = pinned,
                          .commit = commit,
                          .until = place + 1 == HELD ? UINT64_MAX : time + (HELD_MIN_NS << place)};
    if (rng_once_in(&reader->rng, 2)) {
        lx_dataset_close(pinned);
        held->pinned = NULL;
    }
    reader->sight = (struct sight){0};
}

/* ---- reading */

static lx_dataset *open_dataset(struct reader *reader, bool live)
{
    lx_dataset *dataset = NULL;
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = need(lx_dataset_options_new());
    lx_status status = lx_dataset_options_set_live(options, live, &error);
    if (status == LX_OK)
        status = lx_dataset_open(reader->options->path, options, &dataset, &error);
    expect(reader, status, &error, "open");
    lx_dataset_options_free(options);
    return dataset;
}

/** Whether the handle shows the dropped extra field: then it must be opened again. */
static bool was_dropped(struct reader *reader, lx_dataset **dataset, lx_status status)
{
    if (status != LX_ERR_STATE ||
        lx_schema_get_field_count(lx_dataset_get_schema(*dataset)) == FIELDS)
        return false;
    bool live = *dataset == reader->live;
    lx_dataset_close(*dataset);
    *dataset = open_dataset(reader, live);
    sight_release(&reader->sight);
    return true;
}

static void choose(struct reader *reader)
{
    reading_choose(&reader->sight.reading, reader->options->floor,
                   rng_below(&reader->rng, BUCKETS));
}

static void note_commit(struct reader *reader, uint64_t *seen, uint64_t commit)
{
    if (commit < *seen) {
        snprintf(reader->why, sizeof reader->why, "commit %llu, older than commit %llu before it",
                 (unsigned long long)commit, (unsigned long long)*seen);
        fail(reader, "a handle goes back");
    }
    if (commit != *seen)
        atomic_fetch_add(&reader->part->states, 1);
    *seen = commit;
}

/** Reads one field with one call, which also reads one snapshot on a live handle. The call would
 * refresh by itself; the test refreshes first, to measure that separately. */
static void read_live(struct reader *reader, bool view)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t commit;
    struct sight *sight = &reader->sight;
    start_timer(reader);
    lx_status status = lx_dataset_refresh(reader->live, NULL, &error);
    note_time(reader, REFRESH, 0);
    start_timer(reader);
    if (status == LX_OK)
        status = view ? sight_view(sight, reader->live, HEAD, &error)
                      : sight_gather(sight, reader->live, HEAD, 0, sight->reading.count, &error);
    note_time(reader, view ? LIVE_VIEW : LIVE_GATHER, sight->reading.count);
    if (was_dropped(reader, &reader->live, status))
        return;
    expect(reader, status, &error, "a live handle");
    judge(reader, sight, &commit, "a live handle");
    note_commit(reader, &reader->seen, commit);
    if (view && rng_once_in(&reader->rng, HOLD_EACH))
        hold(reader, NULL, commit);
    sight_release(&reader->sight);
}

static void read_pinned(struct reader *reader, enum kind kind)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *pinned = NULL;
    uint64_t commit;
    struct sight *sight = kind == SCAN ? &reader->scan : &reader->sight;
    start_timer(reader);
    lx_status status = lx_dataset_pin(reader->live, &pinned, &error);
    note_time(reader, REFRESH, 0);
    start_timer(reader);
    if (status == LX_OK && kind == SCAN)
        reading_choose_all(&sight->reading, reader->options->floor, lx_dataset_get_length(pinned));
    if (status == LX_OK)
        status = kind == PIN_VIEW ? sight_view_all(sight, pinned, &error)
                                  : sight_gather_all(sight, pinned, &error);
    note_time(reader, kind, sight->reading.count);
    if (was_dropped(reader, &reader->live, status))
        return;
    expect(reader, status, &error, "a pinned handle");
    judge(reader, sight, &commit, "a pinned handle");
    note_commit(reader, &reader->seen, commit);
    if (kind == PIN_VIEW && rng_once_in(&reader->rng, HOLD_EACH))
        hold(reader, pinned, commit);
    else
        lx_dataset_close(pinned);
    sight_release(sight);
}

static void read_refreshed(struct reader *reader)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t commit;
    start_timer(reader);
    lx_status status = lx_dataset_refresh(reader->refreshed, NULL, &error);
    note_time(reader, REFRESH, 0);
    start_timer(reader);
    if (status == LX_OK)
        status = sight_gather_all(&reader->sight, reader->refreshed, &error);
    note_time(reader, REFRESH_GATHER, reader->sight.reading.count);
    if (was_dropped(reader, &reader->refreshed, status))
        return;
    expect(reader, status, &error, "a handle that is refreshed");
    judge(reader, &reader->sight, &commit, "a handle that is refreshed");
    note_commit(reader, &reader->seen_refreshed, commit);
    sight_release(&reader->sight);
}

/** Closes the dataset before its views are checked. A live handle then replaces the old one, so
 * that it sees added and dropped fields. */
static void read_opened(struct reader *reader)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t commit;
    start_timer(reader);
    lx_dataset *dataset = open_dataset(reader, false);
    lx_status status = sight_view_all(&reader->sight, dataset, &error);
    note_time(reader, OPEN, reader->sight.reading.count);
    expect(reader, status, &error, "a handle that is opened");
    lx_dataset_close(dataset);
    judge(reader, &reader->sight, &commit, "a handle that is opened");
    sight_release(&reader->sight);
    lx_dataset_close(reader->live);
    reader->live = open_dataset(reader, true);
}

static void read_some(struct reader *reader)
{
    reader->phase = atomic_load(&reader->share->phase);
    if (reader->phase == OVER)
        return;
    choose(reader);
    if (rng_once_in(&reader->rng, SCAN_EACH))
        read_pinned(reader, SCAN);
    else if (rng_once_in(&reader->rng, OPEN_EACH))
        read_opened(reader);
    else
        switch (rng_below(&reader->rng, REFRESH_GATHER + 1)) {
        case LIVE_GATHER:
            read_live(reader, false);
            break;
        case LIVE_VIEW:
            read_live(reader, true);
            break;
        case PIN_GATHER:
            read_pinned(reader, PIN_GATHER);
            break;
        case PIN_VIEW:
            read_pinned(reader, PIN_VIEW);
            break;
        default:
            read_refreshed(reader);
        }
    atomic_fetch_add(&reader->part->part.progress, 1);
    if (reader->is_victim)
        usleep(VICTIM_PAUSE);
}

/* ---- faulty readers */

static void wait_for_others(struct reader *reader, unsigned count)
{
    lx_dataset_identity before, now;
    lx_dataset_get_identity(reader->live, &before);
    while (count != 0 && atomic_load(&reader->share->phase) == CONCURRENT) {
        lx_dataset_get_identity(reader->live, &now);
        count -= now.checksum != before.checksum;
        before = now;
    }
}

static void gather_live(struct reader *reader, size_t field, size_t first, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    expect(reader, sight_gather(&reader->sight, reader->live, field, first, count, &error), &error,
           "a live handle");
}

static void gather_torn(struct reader *reader)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *pinned;
    struct sight *sight = &reader->sight, before = {0};
    reading_choose(&before.reading, sight->reading.floor, sight->reading.bucket);
    expect(reader, sight_gather(&before, reader->live, BLOCK, 0, before.reading.count, &error),
           &error, "a live handle");
    wait_for_others(reader, STATES_LATER);
    expect(reader, lx_dataset_pin(reader->live, &pinned, &error), &error, "pin");
    expect(reader, sight_gather_all(sight, pinned, &error), &error, "a pinned handle");
    for (size_t i = 0; i < sight->reading.count; i++)
        memcpy(sight->copies[BLOCK] + i * BLOCK_SIZE, before.copies[BLOCK] + i * BLOCK_SIZE,
               BLOCK_SIZE / 2);
    lx_dataset_close(pinned);
    sight_free(&before);
}

static void read_wrongly(struct reader *reader, enum fault fault)
{
    uint64_t commit;
    choose(reader);
    size_t count = reader->sight.reading.count;
    switch (fault) {
    case FAULT_FIELDS:
        for (size_t i = 0; i < TEXT; i++) {
            gather_live(reader, i, 0, count);
            wait_for_others(reader, STATES_LATER);
        }
        break;
    case FAULT_BATCH:
        gather_live(reader, HEAD, 0, count / 2);
        wait_for_others(reader, STATES_LATER);
        gather_live(reader, HEAD, count / 2, count - count / 2);
        break;
    default:
        gather_torn(reader);
    }
    judge(reader, &reader->sight, &commit, "a fault");
    sight_release(&reader->sight);
    atomic_fetch_add(&reader->part->part.progress, 1);
}

void reader_run(struct share *share, size_t number, enum fault fault)
{
    struct reader reader = {.share = share,
                            .part = &share->readers[number],
                            .options = &share->options,
                            .rng = {rng_mix(share->options.seed, number + 1)},
                            .is_victim = number == VICTIM};
    reader.live = open_dataset(&reader, true);
    reader.refreshed = open_dataset(&reader, false);
    while (atomic_load(&share->phase) < OVER) {
        if (fault != NO_FAULT)
            read_wrongly(&reader, fault);
        else
            read_some(&reader);
    }
    for (size_t i = 0; i < HELD; i++)
        end_held(&reader, &reader.held[i]);
    lx_dataset_close(reader.live);
    lx_dataset_close(reader.refreshed);
    sight_free(&reader.sight);
    sight_free(&reader.scan);
    _exit(EXIT_SUCCESS);
}
