/* SPDX-License-Identifier: MIT */
#include "loader/sources/source-state.h"

#include "base/error.h"
#include "loader/sources/dataset-state.h"
#include "sampler/core/saved-state.h"

#define STATE_VERSION 1
#define WHAT "source"

lx_status lx_source_save(const lx_source *source, char *text, size_t size, size_t *length,
                         lx_error *error)
{
    json_t *datasets;
    if (source == NULL)
        return lx__fail_null(error, "source");
    if (text == NULL && size != 0)
        return lx__fail_null(error, "text");
    lx_status status = lx__dataset_states_new(source, &datasets, error);
    if (status != LX_OK)
        return status;
    json_t *state = lx__state_new(WHAT, STATE_VERSION);
    int failed = json_object_set_new(state, "source", lx__source_to_json(source));
    failed |= json_object_set_new(state, "datasets", datasets);
    status = failed == 0 ? lx__state_write(state, text, size, length, error)
                         : lx__fail_memory(error, "a state");
    json_decref(state);
    return status;
}

lx_status lx__source_match_state(const lx_source *source, const json_t *state, lx_error *error)
{
    json_t *ours = lx__source_to_json(source);
    if (ours == NULL)
        return lx__fail_memory(error, "a state");
    lx_status status = lx__state_match("source", json_object_get(state, "source"), ours, error);
    json_decref(ours);
    return status;
}

lx_status lx_source_match(const lx_source *source, const char *text, bool changed, lx_error *error)
{
    json_t *state;
    if (source == NULL || text == NULL)
        return lx__fail_null(error, source == NULL ? "source" : "text");
    lx_status status = lx__state_parse(text, WHAT, STATE_VERSION, &state, error);
    if (status != LX_OK)
        return status;
    const json_t *datasets = json_object_get(state, "datasets");
    status = lx__dataset_states_match_lengths(source, datasets, error);
    if (status == LX_OK)
        status = lx__source_match_state(source, state, error);
    if (status == LX_OK)
        status = lx__state_check(state, error);
    if (status == LX_OK && !changed)
        status = lx__dataset_states_match_records(source, NULL, datasets, error);
    json_decref(state);
    return status;
}
