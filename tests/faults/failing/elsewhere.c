/* SPDX-License-Identifier: MIT */
/* Scenarios of datasets that are elsewhere, with and without a cache, and of the cache. */
#include <unistd.h>

#include <loaderx/remote.h>

#include "readers.h"
#include "scenario.h"
#include "../tree.h"

static void prepare(const char *path, struct plain *plain)
{
    prepare_sealed(path, plain, 90);
}

static const char *cache_path(const struct run *run)
{
    static char path[4300];
    snprintf(path, sizeof path, "%s-cache", run->path);
    return path;
}

/** Removes the cache, without faults. */
static void clear_cache(const struct run *run)
{
    inject_disarm();
    if (access(cache_path(run), F_OK) == 0)
        tree_remove(cache_path(run));
    inject_rearm();
}

/** Opens the dataset with the least memory, and with a patience of 0: a failure shows at once. */
static lx_dataset *open_elsewhere(struct run *run, bool cached)
{
    lx_dataset *dataset = NULL;
    lx_remote_options *options;
    if (!TRY_NEW(run, options, lx_remote_options_new()))
        return NULL;
    if (!TRY(run, lx_remote_options_set_memory(options, 16 << 20, &run->error)) ||
        !TRY(run, lx_remote_options_set_connections(options, 2, &run->error)) ||
        !TRY(run, lx_remote_options_set_patience(options, 0, &run->error)) ||
        !TRY(run, lx_remote_options_set_endpoint(options, "https://127.0.0.1", &run->error)) ||
        !TRY(run, lx_remote_options_set_region(options, "us-east-1", &run->error)) ||
        !TRY(run, lx_remote_options_set_cache(options, cached ? cache_path(run) : NULL, LX_NONE,
                                              &run->error)) ||
        !TRY(run, lx_remote_open(run->path, options, NULL, &dataset, &run->error)))
        dataset = NULL;
    lx_remote_options_free(options);
    return dataset;
}

/** Opens and reads the dataset; returns whether it was opened. */
static bool read_elsewhere(struct run *run, bool cached)
{
    lx_remote_stats stats;
    lx_dataset *dataset = open_elsewhere(run, cached);
    if (dataset == NULL)
        return false;
    readers_take_steps(run, dataset);
    (void)TRY(run, lx_remote_get_stats(dataset, &stats, &run->error));
    lx_dataset_close(dataset);
    return true;
}

static void read_without_cache(struct run *run)
{
    (void)read_elsewhere(run, false);
}

/** Reads with an empty cache, and with one that has everything. */
static void read_with_cache(struct run *run)
{
    if (read_elsewhere(run, true))
        (void)read_elsewhere(run, true);
    clear_cache(run);
}

static lx_status remember(const lx_cache_dataset *dataset, void *user, lx_error *error)
{
    (void)error;
    snprintf(user, 37, "%s", dataset->uuid);
    return LX_OK;
}

/** Fills a cache without faults; then lists it, removes the dataset, and trims the rest. */
static void manage_cache(struct run *run)
{
    char uuid[37] = "";
    inject_disarm();
    (void)read_elsewhere(run, true);
    inject_rearm();
    if (TRY(run, lx_cache_list(cache_path(run), remember, uuid, &run->error)) && uuid[0] == '\0')
        run_fail(run, "the cache does not list its dataset");
    if (uuid[0] != '\0')
        (void)TRY(run, lx_cache_remove(cache_path(run), uuid, &run->error));
    (void)TRY(run, lx_cache_trim(cache_path(run), 0, &run->error));
    clear_cache(run);
}

const struct scenario elsewhere_scenarios[] = {
    {"elsewhere", prepare, false, read_without_cache},
    {"elsewhere-cached", prepare, false, read_with_cache},
    {"cache", prepare, false, manage_cache},
    {NULL, NULL, false, NULL},
};
