/* SPDX-License-Identifier: MIT */
#include "zrecord/dataset.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/sealed.h"

/* How often meta.json may be replaced while the dataset is being opened. */
#define OPEN_TRIES 100

lx_dataset_options *lx_dataset_options_new(void)
{
    lx_dataset_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_dataset_options){.verify = LX_VERIFY_FIRST};
    return options;
}

void lx_dataset_options_free(lx_dataset_options *options)
{
    if (options == NULL)
        return;
    lx_executor_unref(options->executor);
    lx__free(options);
}

lx_status lx_dataset_options_set_verify(lx_dataset_options *options, lx_verify verify,
                                        lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (verify != LX_VERIFY_FIRST && verify != LX_VERIFY_ALWAYS && verify != LX_VERIFY_NEVER)
        return lx__fail(error, LX_ERR_ARGUMENT, "verify: %d is none of first, always, never",
                        (int)verify);
    options->verify = verify;
    return LX_OK;
}

lx_status lx_dataset_options_set_durable(lx_dataset_options *options, bool durable,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->durable = durable;
    return LX_OK;
}

lx_status lx_dataset_options_set_executor(lx_dataset_options *options, lx_executor *executor,
                                          lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    lx__executor_replace(&options->executor, executor);
    return LX_OK;
}

/** Replays the log of @p store on from @p state, whose copy becomes the snapshot's. */
static lx_status replay_on(const lx_dataset *dataset, lx__store *store, const lx__state *from,
                           bool *unknown, lx__snapshot **snapshot, lx_error *error)
{
    lx__log_identity identity = {.generation = store->meta.generation};
    memcpy(identity.uuid, store->meta.uuid, sizeof identity.uuid);
    lx__log_reader log;
    lx__log_scan scan;
    lx__state state = {0};
    *unknown = false;
    lx_status status = from != NULL ? lx__state_copy(&state, from, error) : LX_OK;
    if (status == LX_OK) {
        status = lx__log_open(&log, &store->directory, &identity, error);
        if (status == LX_OK) {
            status = lx__state_replay(&state, &log, store->meta.schema,
                                      dataset->options.durable ? LX__REPLAY_DURABLE
                                                               : LX__REPLAY_NEWEST,
                                      &scan, unknown, error);
            /* A frame is flagged synced, and seen, a moment before its sync has returned. */
            if (status == LX_OK && dataset->options.durable)
                status = lx__file_sync_data(&log.file, error);
            lx__log_close(&log);
        }
    }
    if (status == LX_OK && store->meta.sealed)
        status = lx__sealed_check(store, &state, &scan, error);
    if (status != LX_OK) {
        lx__state_free(&state);
        return status;
    }
    return lx__snapshot_new(store, &state, snapshot, error);
}

/** Opens everything from the start. If meta.json is replaced between the readings of it and of the
 * log, there may be sets of a field that is not known yet, or records behind a seal that was taken
 * off: then once more, and no damage. */
static lx_status open_anew(const lx_dataset *dataset, lx__snapshot **snapshot, lx_error *error)
{
    for (int tries = 1;; tries++) {
        lx__store *store;
        bool unknown;
        lx_error why = LX_ERROR_INIT;
        lx_status status = lx__store_open(dataset->path, dataset->options.verify, &store, error);
        if (status != LX_OK)
            return status;
        lx__store_set_executor(store, dataset->options.executor);
        status = replay_on(dataset, store, NULL, &unknown, snapshot, &why);
        bool again = (unknown || status == LX_ERR_CORRUPT) && tries < OPEN_TRIES &&
                     lx__store_was_replaced(store);
        lx__store_unref(store);
        if (!again) {
            if (status != LX_OK)
                lx__error_pass(error, &why);
            return status;
        }
        if (status == LX_OK)
            lx__snapshot_unref(*snapshot);
    }
}

static lx_status open_dataset(lx_dataset *dataset, const char *path, lx_error *error)
{
    dataset->path = lx__strdup(path);
    if (dataset->path == NULL)
        return lx__fail_memory(error, "a dataset");
    lx_status status = open_anew(dataset, &dataset->snapshot, error);
    if (status != LX_OK)
        return status;
    dataset->schema = lx__schema_copy(dataset->snapshot->store->meta.schema);
    return dataset->schema != NULL ? LX_OK : lx__fail_memory(error, "a dataset");
}

lx_status lx_dataset_open(const char *path, const lx_dataset_options *options,
                          lx_dataset **dataset, lx_error *error)
{
    if (path == NULL || dataset == NULL)
        return lx__fail(error, LX_ERR_ARGUMENT, "path or dataset is NULL");
    lx_dataset *opened = lx__alloc_array(1, sizeof *opened);
    if (opened == NULL)
        return lx__fail_memory(error, "a dataset");
    opened->options = options != NULL ? *options : (lx_dataset_options){.verify = LX_VERIFY_FIRST};
    if (opened->options.executor != NULL)
        lx__executor_hold(opened->options.executor);
    pthread_mutex_init(&opened->refreshing, NULL);
    pthread_mutex_init(&opened->mutex, NULL);
    lx__process_note(&opened->process);
    lx_status status = open_dataset(opened, path, error);
    if (status == LX_OK)
        *dataset = opened;
    else
        lx_dataset_close(opened);
    return status;
}

void lx_dataset_close(lx_dataset *dataset)
{
    if (dataset == NULL)
        return;
    lx__snapshot_unref(dataset->snapshot);
    lx_schema_free(dataset->schema);
    pthread_mutex_destroy(&dataset->mutex);
    pthread_mutex_destroy(&dataset->refreshing);
    lx__process_forget(&dataset->process);
    if (dataset->options.executor != NULL)
        lx__executor_release(dataset->options.executor);
    lx__free(dataset->path);
    lx__free(dataset);
}

/** In a child of fork(): makes the handle its own. One of its threads does it, others wait. */
static void take_over(lx_dataset *dataset)
{
    pid_t self = getpid();
    if (atomic_exchange(&dataset->taken_over, self) != self) {
        pthread_mutex_init(&dataset->refreshing, NULL);
        pthread_mutex_init(&dataset->mutex, NULL);
        lx__store_take_over(dataset->snapshot->store);
        dataset->process.id = self;
        if (dataset->process.mark != NULL)
            atomic_store_explicit(dataset->process.mark, 1, memory_order_release);
    }
    while (!lx__process_is_this(&dataset->process))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
}

static void lock(lx_dataset *dataset)
{
    if (!lx__process_is_this(&dataset->process))
        take_over(dataset);
    pthread_mutex_lock(&dataset->mutex);
}

lx__snapshot *lx__dataset_pin(lx_dataset *dataset)
{
    lock(dataset);
    lx__snapshot *snapshot = lx__snapshot_ref(dataset->snapshot);
    pthread_mutex_unlock(&dataset->mutex);
    return snapshot;
}

/** What was put in the place of the dataset must be the same dataset: the caller was shown fields
 * by their positions. */
static lx_status check_same(const lx_dataset *dataset, const lx__snapshot *now,
                            const lx__snapshot *next, lx_error *error)
{
    const lx__meta *meta = &next->store->meta;
    bool same = memcmp(now->store->meta.uuid, meta->uuid, sizeof meta->uuid) == 0 &&
                lx__schema_equal(dataset->schema, meta->schema);
    if (same)
        return LX_OK;
    lx_status status = lx__fail(error, LX_ERR_STATE,
                                "another dataset, or one with other fields, is there now: close "
                                "this handle and open it again");
    lx__error_locate(error, dataset->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static void put_snapshot(lx_dataset *dataset, lx__snapshot *snapshot)
{
    lock(dataset);
    lx__snapshot *old = dataset->snapshot;
    dataset->snapshot = snapshot;
    pthread_mutex_unlock(&dataset->mutex);
    lx__snapshot_unref(old);
}

static lx_status refresh(lx_dataset *dataset, bool *changed, lx_error *error)
{
    lx__snapshot *now = dataset->snapshot, *next; /* only refreshes change it */
    bool current, unknown = false;
    lx_status status = lx__store_is_current(now->store, &current, error);
    if (status == LX_OK && current) {
        lx_error why = LX_ERROR_INIT;
        status = replay_on(dataset, now->store, &now->state, &unknown, &next, &why);
        if (status == LX_ERR_CORRUPT && lx__store_was_replaced(now->store)) {
            status = LX_OK; /* a seal was taken off just now */
            current = false;
        }
        if (status != LX_OK)
            lx__error_pass(error, &why);
    }
    if (status == LX_OK && (!current || unknown)) {
        if (current)
            lx__snapshot_unref(next);
        status = open_anew(dataset, &next, error);
        if (status == LX_OK)
            status = check_same(dataset, now, next, error);
        if (status == LX_ERR_STATE)
            lx__snapshot_unref(next);
    }
    if (status != LX_OK)
        return status;
    *changed = !current || next->state.place.offset != now->state.place.offset;
    if (*changed)
        put_snapshot(dataset, next);
    else
        lx__snapshot_unref(next);
    return LX_OK;
}

lx_status lx_dataset_refresh(lx_dataset *dataset, bool *changed, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    bool ignored;
    if (!lx__process_is_this(&dataset->process))
        take_over(dataset);
    pthread_mutex_lock(&dataset->refreshing);
    lx_status status = refresh(dataset, changed != NULL ? changed : &ignored, error);
    pthread_mutex_unlock(&dataset->refreshing);
    return status;
}

uint64_t lx_dataset_get_length(lx_dataset *dataset)
{
    lock(dataset);
    uint64_t length = dataset->snapshot->state.length;
    pthread_mutex_unlock(&dataset->mutex);
    return length;
}

const lx_schema *lx_dataset_get_schema(const lx_dataset *dataset)
{
    return dataset->schema;
}

const char *lx_dataset_get_path(const lx_dataset *dataset)
{
    return dataset->path;
}

void lx_dataset_get_identity(lx_dataset *dataset, lx_identity *identity)
{
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    const lx__meta *meta = &snapshot->store->meta;
    *identity = (lx_identity){.generation = meta->generation,
                              .epoch = snapshot->state.place.epoch - 1,
                              .crc = snapshot->state.place.crc,
                              .sealed = meta->sealed};
    memcpy(identity->uuid, meta->uuid_text, sizeof meta->uuid_text);
    lx__snapshot_unref(snapshot);
}

lx_status lx__dataset_check_field(const lx_dataset *dataset, size_t field, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (field < dataset->schema->count)
        return LX_OK;
    return lx__fail(error, LX_ERR_ARGUMENT, "there are %zu fields, number %zu is none of them",
                    dataset->schema->count, field);
}
