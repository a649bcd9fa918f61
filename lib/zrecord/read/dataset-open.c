/* SPDX-License-Identifier: MIT */
/* Opens and closes handles, and returns properties of the newest snapshot. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor.h"
#include "executor/lifetime.h"
#include "zrecord/read/dataset-open.h"
#include "zrecord/read/refresh.h"
#include "zrecord/wal/shared-array.h"

lx_dataset_options *lx_dataset_options_new(void)
{
    lx_dataset_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_dataset_options){.verify = LX_VERIFY_FIRST, .length = LX_NONE};
    return options;
}

void lx_dataset_options_free(lx_dataset_options *options)
{
    if (options == NULL)
        return;
    lx_executor_unref(options->executor);
    lx__free(options);
}

lx_status lx_dataset_options_set_verify_policy(lx_dataset_options *options, lx_verify_policy verify,
                                               lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (verify != LX_VERIFY_FIRST && verify != LX_VERIFY_ALWAYS && verify != LX_VERIFY_NEVER)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "verify policy %d is invalid: use first, always or never", (int)verify);
    options->verify = verify;
    return LX_OK;
}

lx_status lx_dataset_options_set_durable(lx_dataset_options *options, bool durable, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->durable = durable;
    return LX_OK;
}

lx_status lx_dataset_options_set_live(lx_dataset_options *options, bool live, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->live = live;
    return LX_OK;
}

lx_status lx_dataset_options_set_length(lx_dataset_options *options, uint64_t length,
                                        lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->length = length;
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

/** Makes a handle that still lacks a process, schema, snapshot and damage counter. On failure, the
 * caller must close it. */
static lx_status make_handle(const char *path, const lx_dataset_options *options,
                             lx_dataset **dataset, lx_error *error)
{
    lx_dataset *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a dataset");
    made->options.length = LX_NONE;
    if (options != NULL)
        made->options = *options;
    if (made->options.executor != NULL)
        lx__executor_hold(made->options.executor);
    pthread_mutex_init(&made->refreshing, NULL);
    pthread_mutex_init(&made->mutex, NULL);
    *dataset = made;
    made->path = lx__strdup(path);
    return made->path != NULL ? LX_OK : lx__fail_memory(error, "a dataset");
}

/** Makes a path absolute, because the working directory may change later. Returns NULL on
 * failure. */
static char *make_absolute(const char *path)
{
    char here[PATH_MAX];
    if (path[0] == '/')
        return lx__strdup(path);
    if (getcwd(here, sizeof here) == NULL)
        return NULL;
    size_t bytes = strlen(here) + strlen(path) + 2;
    char *made = lx__alloc(bytes);
    if (made != NULL)
        snprintf(made, bytes, "%s/%s", here, path);
    return made;
}

static lx_status make_damage_counter(lx_dataset *dataset, lx_error *error)
{
    dataset->damages = lx__shared_new(1, sizeof *dataset->damages);
    if (dataset->damages == NULL)
        return lx__fail_memory(error, "a dataset");
    dataset->damages->policy = dataset->options.damage;
    return LX_OK;
}

static lx_status refuse_live(const lx_dataset *dataset, lx_error *error)
{
    if (!dataset->options.live)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED,
                               "a dataset that is not on this machine cannot be live: it is read "
                               "as it was sealed");
    lx_error_locate(error, dataset->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Fails if a dataset that was just opened lacks some of the records to show. */
static lx_status check_length(const lx_dataset *dataset, lx_error *error)
{
    uint64_t wanted = dataset->options.length, length = dataset->snapshot->length;
    if (wanted == LX_NONE || wanted == length)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                               "length is %llu, but the dataset has only %llu records",
                               (unsigned long long)wanted, (unsigned long long)length);
    lx_error_locate(error, dataset->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Loads the dataset at the handle's path, or the one in @p directory. */
static lx_status load(lx_dataset *opened, lx__file *directory, lx_error *error)
{
    if (directory == NULL) {
        opened->absolute_path = make_absolute(opened->path);
        return lx__dataset_load(opened, &opened->snapshot, error);
    }
    lx_status status = refuse_live(opened, error);
    return status == LX_OK ? lx__dataset_load_in(opened, directory, &opened->snapshot, error)
                           : status;
}

static lx_status open_handle(const char *path, lx__file *directory,
                             const lx_dataset_options *options, lx_dataset **dataset,
                             lx_error *error)
{
    lx_dataset *opened = NULL;
    lx_status status = make_handle(path, options, &opened, error);
    if (status == LX_OK) {
        lx__process_record(&opened->process);
        status = make_damage_counter(opened, error);
    }
    if (status == LX_OK)
        status = load(opened, directory, error);
    if (status == LX_OK)
        status = check_length(opened, error);
    if (status != LX_OK) {
        lx_dataset_close(opened);
        return status;
    }
    opened->schema = lx__schema_ref(opened->snapshot->store->schema);
    *dataset = opened;
    return LX_OK;
}

lx_status lx_dataset_open(const char *path, const lx_dataset_options *options, lx_dataset **dataset,
                          lx_error *error)
{
    LX__CLEAR(dataset);
    if (path == NULL || dataset == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "path or dataset is NULL");
    return open_handle(path, NULL, options, dataset, error);
}

lx_status lx__dataset_open_in(lx__file *directory, const lx_dataset_options *options,
                              lx_dataset **dataset, lx_error *error)
{
    *dataset = NULL;
    lx_status status = open_handle(directory->path, directory, options, dataset, error);
    lx__file_close(directory); /* unless the dataset has taken it over */
    return status;
}

const lx__file *lx__dataset_get_directory(lx_dataset *dataset)
{
    lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
    const lx__file *directory = &snapshot->store->directory;
    lx__snapshot_unref(snapshot); /* the handle still refers to it */
    return directory;
}

lx_status lx__dataset_share(lx_dataset *dataset, lx_dataset **shared, lx_error *error)
{
    lx_dataset *made = NULL;
    lx_status status = make_handle(dataset->path, &dataset->options, &made, error);
    if (status == LX_OK)
        status = lx__dataset_pin_newest(dataset, &made->snapshot, error);
    if (status != LX_OK) {
        lx_dataset_close(made);
        return status;
    }
    lx__process_record(&made->process);
    made->schema = lx__schema_ref(dataset->schema);
    made->damages = lx__shared_ref(dataset->damages);
    made->absolute_path = dataset->absolute_path != NULL ? lx__strdup(dataset->absolute_path)
                                                         : NULL;
    *shared = made;
    return LX_OK;
}

lx_status lx_dataset_pin(lx_dataset *dataset, lx_dataset **pinned, lx_error *error)
{
    LX__CLEAR(pinned);
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (pinned == NULL)
        return lx__fail_null(error, "pinned");
    lx_status status = lx__dataset_share(dataset, pinned, error);
    if (status != LX_OK)
        return status;
    (*pinned)->options.live = false;
    atomic_init(&(*pinned)->read_ahead, atomic_load(&dataset->read_ahead));
    return LX_OK;
}

void lx_dataset_close(lx_dataset *dataset)
{
    if (dataset == NULL)
        return;
    lx__snapshot_unref(dataset->snapshot);
    lx_schema_free(dataset->schema);
    lx__shared_unref(dataset->damages);
    pthread_mutex_destroy(&dataset->mutex);
    pthread_mutex_destroy(&dataset->refreshing);
    if (dataset->options.executor != NULL)
        lx__executor_release(dataset->options.executor);
    lx__free(dataset->path);
    lx__free(dataset->absolute_path);
    lx__free(dataset);
}

uint64_t lx_dataset_get_length(lx_dataset *dataset)
{
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    uint64_t length = snapshot->length;
    lx__snapshot_unref(snapshot);
    return length;
}

void lx_dataset_get_identity(lx_dataset *dataset, lx_dataset_identity *identity)
{
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx__snapshot_identify(snapshot, identity);
    lx__snapshot_unref(snapshot);
}
