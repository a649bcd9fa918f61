/* SPDX-License-Identifier: MIT */
/* Loads snapshots for a handle, starting from the beginning of the WAL or from the handle's current
 * snapshot. */
#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "executor/clock.h"
#include "zrecord/read/refresh.h"
#include "zrecord/snapshot/sealed.h"
#include "zrecord/snapshot/store-map.h"

/* How many times to retry if meta.json is replaced while the dataset is being opened. */
#define OPEN_TRIES 100
/* Pauses in lx_dataset_wait(). They start short, so that a new frame is noticed soon, and grow, so
 * that a long wait costs little. */
#define PAUSE_MIN_NS 1000000u
#define PAUSE_MAX_NS 20000000u

/** The result of continuing from a snapshot. */
typedef struct outcome {
    lx__snapshot *snapshot; /**< The new snapshot; NULL if the state has not changed. */
    bool truncated;         /**< The WAL no longer contains the old state. */
} outcome;

/** Syncs the WAL, because readers can see a synced frame before the writer's sync has returned.
 * File systems that cannot sync files (squashfs, ISO 9660) are read-only and need no sync. */
static lx_status sync_log(const lx__store *store, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__file_sync_data(&store->log.file, &why);
    if (status != LX_OK && (why.errnum == EINVAL || why.errnum == EROFS))
        return LX_OK;
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

/** Replays the WAL of @p store to the newest frame, or to the newest durable one if the handle
 * requires durability. The caller must hold the log mutex. */
static lx_status follow_log(const lx_dataset *dataset, lx__store *store, lx__state *state,
                            lx__wal_scan *scan, lx_error *error)
{
    uint64_t from = state->position.offset;
    lx_status status = lx__state_replay(
        state, &store->log, store->schema,
        dataset->options.durable ? LX__REPLAY_DURABLE : LX__REPLAY_NEWEST, scan, error);
    /* What is elsewhere is sealed, and so durable. */
    if (status == LX_OK && dataset->options.durable && state->position.offset != from &&
        !lx__store_is_elsewhere(store))
        status = sync_log(store, error);
    return status;
}

/** Opens the WAL and replays it from the start. */
static lx_status replay_all(const lx_dataset *dataset, lx__store *store, lx__store *former,
                            lx__snapshot **snapshot, lx_error *error)
{
    lx__wal_scan scan;
    lx__state state = {0};
    pthread_mutex_lock(&store->log_mutex);
    lx_status status = lx__store_open_log(store, error);
    if (status == LX_OK)
        status = follow_log(dataset, store, &state, &scan, error);
    pthread_mutex_unlock(&store->log_mutex);
    if (status == LX_OK && store->meta.sealed)
        status = lx__sealed_check(store, &state, &scan, error);
    if (status != LX_OK) {
        lx__state_free(&state);
        return status;
    }
    if (former != NULL)
        lx__store_inherit(store, former, state.chunks, state.chunk_count);
    status = lx__snapshot_new(store, &state, snapshot, error);
    if (status == LX_OK)
        lx__snapshot_limit(*snapshot, dataset->options.length);
    return status;
}

/**
 * Opens the dataset from the start, for a new handle (@p former is NULL) or for a handle that has
 * read @p former so far. If meta.json is replaced after it was read but before the WAL is read, the
 * two do not match, and this may look like corruption. This happens when a writer unseals the
 * dataset and appends records, or drops a field. In that case, ignores the result and tries again.
 */
static lx_status open_anew(const lx_dataset *dataset, lx__store *former, bool share,
                           lx__snapshot **snapshot, lx_error *error)
{
    for (int tries = 1;; tries++) {
        lx__store *store;
        lx_error why = LX_ERROR_INIT;
        lx_status status = former != NULL ? lx__store_reopen(former, &store, error)
                                          : lx__store_open(dataset->path, dataset->options.verify,
                                                           dataset->options.access, &store, error);
        if (status != LX_OK)
            return status;
        status = replay_all(dataset, store, share ? former : NULL, snapshot, &why);
        bool replaced = lx__store_was_replaced(store);
        lx__store_unref(store);
        if (!replaced) {
            if (status != LX_OK)
                lx__error_propagate(error, &why);
            return status;
        }
        if (status == LX_OK)
            lx__snapshot_unref(*snapshot);
        if (tries == OPEN_TRIES)
            return lx_fail(error, LX_ERR_BUSY,
                           "cannot read meta.json: it is being replaced continually: try again");
    }
}

lx_status lx__dataset_load(const lx_dataset *dataset, lx__snapshot **snapshot, lx_error *error)
{
    return open_anew(dataset, NULL, false, snapshot, error);
}

lx_status lx__dataset_load_in(const lx_dataset *dataset, lx__file *directory,
                              lx__snapshot **snapshot, lx_error *error)
{
    lx__store *store;
    lx_status status = lx__store_open_in(directory, dataset->options.verify,
                                         dataset->options.access, &store, error);
    if (status != LX_OK)
        return status;
    lx_error why = LX_ERROR_INIT;
    status = replay_all(dataset, store, NULL, snapshot, &why);
    if (status == LX_ERR_CORRUPT && lx__file_renew(&store->log.file, 0, store->log.size)) {
        lx_error_clear(&why);
        status = replay_all(dataset, store, NULL, snapshot, &why);
    }
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    lx__store_unref(store);
    return status;
}

/** Continues from @p now in the same WAL. */
static lx_status read_new_frames(const lx_dataset *dataset, const lx__snapshot *now, outcome *found,
                                 lx_error *error)
{
    lx__store *store = now->store;
    lx__state state = {0};
    lx__wal_change change = LX__WAL_UNCHANGED;
    *found = (outcome){0};
    pthread_mutex_lock(&store->log_mutex);
    lx_status status = lx__store_open_log(store, error);
    if (status == LX_OK)
        status = lx__wal_poll(&store->log, &now->state.position, &change, error);
    if (status == LX_OK && change == LX__WAL_MAYBE_GROWN) {
        lx__state_copy(&state, &now->state);
        status = follow_log(dataset, store, &state, NULL, error);
    }
    pthread_mutex_unlock(&store->log_mutex);
    found->truncated = change == LX__WAL_TRUNCATED;
    if (status != LX_OK || state.position.offset <= now->state.position.offset) {
        lx__state_free(&state);
        return status;
    }
    status = lx__snapshot_next(now, &state, &found->snapshot, error);
    if (status == LX_OK)
        lx__snapshot_limit(found->snapshot, dataset->options.length);
    return status;
}

/** Fails if the path now leads to a different dataset. If it leads nowhere, the dataset was moved
 * or removed, and the handle continues to read it. */
static lx_status check_path(const lx_dataset *dataset, const lx__store *store, lx_error *error)
{
    static const lx__file_id unknown;
    struct stat about;
    lx__file other;
    if (dataset->absolute_path == NULL || lx__file_id_equal(store->directory_id, unknown) ||
        stat(dataset->absolute_path, &about) == -1 ||
        lx__file_id_equal(store->directory_id, (lx__file_id){about.st_dev, about.st_ino}) ||
        lx__directory_open(&other, LX__CWD, dataset->absolute_path, NULL) != LX_OK)
        return LX_OK;
    bool is_dataset = false;
    lx_status status = lx__file_is_regular(&other, LX__META_NAME, &is_dataset, NULL);
    lx__file_close(&other);
    return status == LX_OK && is_dataset ? lx__store_fail_other(store, error) : LX_OK;
}

/**
 * Finds the newest snapshot. Sets @p next to NULL if @p now is the newest.
 *
 * Checks meta.json after reading the WAL: if it is still the same file, the two match.
 */
static lx_status find_newest(const lx_dataset *dataset, const lx__snapshot *now,
                             lx__snapshot **next, lx_error *error)
{
    bool current;
    outcome found = {0};
    lx_error why = LX_ERROR_INIT, unseen = LX_ERROR_INIT;
    *next = NULL;
    lx_status same_path = check_path(dataset, now->store, error);
    if (same_path != LX_OK)
        return same_path;
    lx_status status = now->store->meta.sealed ? LX_OK
                                               : read_new_frames(dataset, now, &found, &why);
    lx_status checked = lx__store_is_current(now->store, &current, &unseen);
    /* Apparent corruption may have an innocent cause: after a crash, unsynced frames are lost, and
     * a writer truncates them and writes new ones. A replay from the start finds real damage
     * too. */
    if (checked == LX_OK && current && status != LX_ERR_CORRUPT && !found.truncated) {
        *next = found.snapshot;
        if (status != LX_OK)
            lx__error_propagate(error, &why);
        return status;
    }
    lx__snapshot_unref(found.snapshot);
    if (checked != LX_OK) {
        lx__error_propagate(error, &unseen);
        return checked;
    }
    /* After a truncation, verified rows may have been overwritten, so do not inherit their bits. */
    bool share = status == LX_OK && !found.truncated;
    return open_anew(dataset, now->store, share, next, error);
}

static bool is_other_state(const lx__snapshot *a, const lx__snapshot *b)
{
    const lx__meta *left = &a->store->meta, *right = &b->store->meta;
    return left->generation != right->generation || left->sealed != right->sealed ||
           a->state.changed.offset != b->state.changed.offset ||
           a->state.changed.crc != b->state.changed.crc;
}

/** Loads the newest snapshot. The caller must hold @c refreshing. */
static lx_status refresh(lx_dataset *dataset, bool *changed, lx_error *error)
{
    lx__snapshot *now = dataset->snapshot, *next; /* only a refresh changes the handle's snapshot */
    atomic_fetch_add(&dataset->refreshes, 1);
    lx_status status = find_newest(dataset, now, &next, error);
    dataset->refreshed = status == LX_OK;
    *changed = status == LX_OK && next != NULL && is_other_state(now, next);
    if (status != LX_OK || next == NULL)
        return status;
    lx__dataset_lock(dataset);
    dataset->snapshot = next;
    pthread_mutex_unlock(&dataset->mutex);
    lx__snapshot_unref(now);
    return LX_OK;
}

lx_status lx_dataset_refresh(lx_dataset *dataset, bool *changed, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    bool ignored;
    lx__dataset_check_process(dataset);
    pthread_mutex_lock(&dataset->refreshing);
    lx_status status = refresh(dataset, changed != NULL ? changed : &ignored, error);
    pthread_mutex_unlock(&dataset->refreshing);
    return status;
}

/* ---- live handles */

/** Loads the newest snapshot if the dataset is live. */
static lx_status catch_up(lx_dataset *dataset, lx_error *error)
{
    if (!dataset->options.live)
        return LX_OK;
    lx_status status = LX_OK;
    bool changed;
    lx__dataset_check_process(dataset);
    uint64_t begun = atomic_load(&dataset->refreshes);
    pthread_mutex_lock(&dataset->refreshing);
    /* If another thread began a refresh after this call began, that refresh has seen every commit
     * that this call must see. Thus, of all threads that wait here, only one refreshes. */
    if (atomic_load(&dataset->refreshes) == begun || !dataset->refreshed)
        status = refresh(dataset, &changed, error);
    pthread_mutex_unlock(&dataset->refreshing);
    return status;
}

lx_status lx__dataset_pin_newest(lx_dataset *dataset, lx__snapshot **snapshot, lx_error *error)
{
    lx_status status = catch_up(dataset, error);
    if (status == LX_OK)
        *snapshot = lx__dataset_ref_snapshot(dataset);
    return status;
}

lx__snapshot *lx__dataset_pin(lx_dataset *dataset)
{
    (void)catch_up(dataset, NULL);
    return lx__dataset_ref_snapshot(dataset);
}

/** Sleeps for a while; a signal may cut this short. */
static void pause_for(uint64_t nanoseconds)
{
    struct timespec time = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    (void)nanosleep(&time, NULL);
}

lx_status lx_dataset_wait(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                          lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (length > dataset->options.length)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the dataset shows only its first %llu records: wait for at most that many",
                       (unsigned long long)dataset->options.length);
    uint64_t deadline = lx__clock_after(nanoseconds), pause = PAUSE_MIN_NS;
    for (;;) {
        lx_status status = lx_dataset_refresh(dataset, NULL, error);
        if (status != LX_OK)
            return status;
        lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
        bool about = snapshot->length >= length;
        lx__snapshot_unref(snapshot);
        if (about)
            return LX_OK;
        uint64_t now = lx__clock_now();
        if (now >= deadline)
            return LX_ERR_TIMEOUT;
        pause_for(deadline - now < pause ? deadline - now : pause);
        pause = pause * 2 < PAUSE_MAX_NS ? pause * 2 : PAUSE_MAX_NS;
    }
}
