/* SPDX-License-Identifier: MIT */
/* The state of a loader, version 1: see loaderx-state(5). */
#include "sampler/core/order-json.h"
#include "sampler/core/saved-state.h"

#include "base/alloc.h"
#include "base/error.h"
#include "loader/loader-private.h"
#include "loader/sources/dataset-state.h"
#include "loader/sources/source-state.h"

#define STATE_VERSION 1
#define WHAT "loader"

/** Makes a state. Restoring ignores the options in it, which are informational. */
static lx_status make_state(const lx_loader *loader, uint64_t position, json_t **state,
                            lx_error *error)
{
    json_t *datasets;
    lx_status status = lx__dataset_states_new(loader->source, &datasets, error);
    if (status != LX_OK)
        return status;
    json_t *made = lx__state_new(WHAT, STATE_VERSION);
    int failed = json_object_set_new(made, "position", lx__state_number(position));
    failed |= json_object_set_new(made, "order", lx__order_to_json(loader->order));
    failed |= json_object_set_new(made, "source", lx__source_to_json(loader->source));
    failed |= json_object_set_new(made, "datasets", datasets);
    failed |= json_object_set_new(made, "batch_size",
                                  lx__state_number(loader->schedule.batch_size));
    failed |= json_object_set_new(made, "world", lx__state_number(loader->schedule.shard.world));
    failed |= json_object_set_new(made, "threads",
                                  lx__state_number(lx_executor_get_reader_count(loader->executor)));
    if (failed == 0) {
        *state = made;
        return LX_OK;
    }
    json_decref(made);
    return lx__fail_memory(error, "a state");
}

lx_status lx_loader_save_at(const lx_loader *loader, uint64_t position, char *text, size_t size,
                            size_t *length, lx_error *error)
{
    if (loader == NULL)
        return lx__fail_null(error, "loader");
    if (text == NULL && size != 0)
        return lx__fail_null(error, "text");
    json_t *state = NULL;
    lx_status status = make_state(loader, position, &state, error);
    if (status != LX_OK)
        return status;
    status = lx__state_write(state, text, size, length, error);
    json_decref(state);
    return status;
}

lx_status lx_loader_save(const lx_loader *loader, char *text, size_t size, size_t *length,
                         lx_error *error)
{
    uint64_t position = loader != NULL ? lx_loader_tell(loader) : 0;
    return lx_loader_save_at(loader, position, text, size, length, error);
}

/** Checks that the records are those that the run read, in the columns that the loader reads. */
static lx_status match_records(const lx_loader *loader, const json_t *datasets, lx_error *error)
{
    const lx__layout *layout = &loader->batch_pool->layout;
    bool *wanted = lx__alloc_array(lx_source_get_column_count(loader->source) + 1, sizeof *wanted);
    if (wanted == NULL)
        return lx__fail_memory(error, "a state");
    for (size_t i = 0; i < layout->count; i++)
        wanted[layout->positions[i]] = true;
    lx_status status = lx__dataset_states_match_records(loader->source, wanted, datasets, error);
    lx__free(wanted);
    return status;
}

/** Checks that the state belongs to the loader. The lengths of the datasets are compared first,
 * because the length of the source follows from them, and that of the order from both. */
static lx_status match_state(const lx_loader *loader, const json_t *state, bool changed,
                             lx_error *error)
{
    const json_t *datasets = json_object_get(state, "datasets");
    lx_status status = lx__dataset_states_match_lengths(loader->source, datasets, error);
    if (status == LX_OK)
        status = lx__source_match_state(loader->source, state, error);
    if (status == LX_OK)
        status = lx__order_match_json(loader->order, json_object_get(state, "order"), error);
    if (status == LX_OK)
        status = lx__state_check(state, error);
    return status == LX_OK && !changed ? match_records(loader, datasets, error) : status;
}

/** @param changed  Whether records may have changed. */
static lx_status restore(lx_loader *loader, const char *text, bool changed, lx_error *error)
{
    json_t *state;
    uint64_t position;
    if (loader == NULL || text == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "loader or text is NULL");
    lx_status status = lx__state_parse(text, WHAT, STATE_VERSION, &state, error);
    if (status != LX_OK)
        return status;
    status = match_state(loader, state, changed, error);
    if (status == LX_OK)
        status = lx__state_get_number(state, "position", &position, error);
    if (status == LX_OK)
        status = lx_loader_seek(loader, position, error);
    json_decref(state);
    return status;
}

lx_status lx_loader_restore(lx_loader *loader, const char *text, lx_error *error)
{
    return restore(loader, text, false, error);
}

lx_status lx_loader_restore_changed(lx_loader *loader, const char *text, lx_error *error)
{
    return restore(loader, text, true, error);
}
