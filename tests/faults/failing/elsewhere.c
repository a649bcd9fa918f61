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

/** Sets a tier, and none again: this dataset is on a disk. */
static bool set_tiers(struct run *run, lx_remote_options *options)
{
    static const char *const urls[] = {"http://127.0.0.1:8080", "http://127.0.0.2:8080"};
    return TRY(run, lx_remote_options_set_tier(options, urls, 2, &run->error)) &&
           TRY(run, lx_remote_options_set_tier(options, NULL, 0, &run->error));
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
        !set_tiers(run, options) ||
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

/* ---- publishing */

static const char *url_of(const struct run *run)
{
    static char path[4300];
    snprintf(path, sizeof path, "%s-there", run->path);
    return path;
}

static lx_remote_options *hasty_options(struct run *run)
{
    lx_remote_options *options;
    if (!TRY_NEW(run, options, lx_remote_options_new()))
        return NULL;
    if (TRY(run, lx_remote_options_set_connections(options, 2, &run->error)) &&
        TRY(run, lx_remote_options_set_patience(options, 0, &run->error)))
        return options;
    lx_remote_options_free(options);
    return NULL;
}

static bool push_once(struct run *run)
{
    lx_dataset *dataset = NULL;
    lx_remote_options *options = hasty_options(run);
    bool pushed = options != NULL &&
                  TRY(run, lx_dataset_open(run->path, NULL, &dataset, &run->error)) &&
                  TRY(run, lx_dataset_push(dataset, url_of(run), options, false, NULL, NULL, NULL,
                                           &run->error));
    lx_dataset_close(dataset);
    lx_remote_options_free(options);
    return pushed;
}

/** Pushes without faults, which must succeed, also where a push has failed. */
static void must_push(const struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    must(lx_dataset_open(run->path, NULL, &dataset, &error), "the dataset", &error);
    must(lx_dataset_push(dataset, url_of(run), NULL, false, NULL, NULL, NULL, &error), "a push",
         &error);
    lx_dataset_close(dataset);
}

/** Checks what is published, without faults, and removes it. */
static void check_published(struct run *run)
{
    char why[600];
    lx_error error = LX_ERROR_INIT;
    lx_dataset *there;
    must(lx_remote_open(url_of(run), NULL, NULL, &there, &error), "what was pushed", &error);
    if (!plain_check(&run->pending, there, why, sizeof why))
        run_fail(run, "in what was pushed: %s", why);
    lx_dataset_close(there);
    tree_remove(url_of(run));
}

/** A push that fails keeps what it has sent, and the next one completes it. */
static void push(struct run *run)
{
    bool pushed = push_once(run);
    inject_disarm();
    if (!pushed)
        must_push(run);
    check_published(run);
    inject_rearm();
}

/** A prune that fails removes no file that the dataset needs. */
static void prune(struct run *run)
{
    char stray[4400];
    inject_disarm();
    must_push(run);
    snprintf(stray, sizeof stray, "%s/LOG.7", url_of(run));
    FILE *file = fopen(stray, "w");
    if (file != NULL)
        fclose(file);
    inject_rearm();
    lx_remote_options *options = hasty_options(run);
    bool pruned = options != NULL && TRY(run, lx_remote_prune(url_of(run), options, 0, false, NULL,
                                                              NULL, NULL, &run->error));
    lx_remote_options_free(options);
    inject_disarm();
    if (pruned && access(stray, F_OK) == 0)
        run_fail(run, "%s was not removed", stray);
    check_published(run);
    inject_rearm();
}

const struct scenario elsewhere_scenarios[] = {
    {"elsewhere", prepare, false, read_without_cache},
    {"elsewhere-cached", prepare, false, read_with_cache},
    {"cache", prepare, false, manage_cache},
    {"push", prepare, false, push},
    {"prune", prepare, false, prune},
    {NULL, NULL, false, NULL},
};
