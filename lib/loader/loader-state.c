/* SPDX-License-Identifier: MIT */
/* The state of a loader, version 1: see loaderx-state(5). */
#include "sampler/core/order-json.h"
#include "sampler/core/saved-state.h"

#include "base/error.h"
#include "loader/loader-private.h"
#include "loader/sources/source.h"

#define STATE_VERSION 1
#define WHAT "loader"

/** Restoring uses only the position, the order and the source; the other members are
 * informational. */
static json_t *make_state(const lx_loader *loader)
{
    json_t *state = lx__state_new(WHAT, STATE_VERSION);
    uint64_t position = atomic_load_explicit(&loader->position, memory_order_relaxed);
    int failed = json_object_set_new(state, "position", lx__state_number(position));
    failed |= json_object_set_new(state, "order", lx__order_to_json(loader->order));
    failed |= json_object_set_new(state, "source", lx__source_to_json(loader->source));
    failed |= json_object_set_new(state, "frame", lx__source_snapshot_id(loader->source));
    failed |= json_object_set_new(state, "batch_size",
                                  lx__state_number(loader->schedule.batch_size));
    failed |= json_object_set_new(state, "world", lx__state_number(loader->schedule.shard.world));
    failed |= json_object_set_new(state, "threads",
                                  lx__state_number(lx_executor_get_reader_count(loader->executor)));
    if (failed == 0)
        return state;
    json_decref(state);
    return NULL;
}

lx_status lx_loader_save(const lx_loader *loader, char *text, size_t size, size_t *length,
                         lx_error *error)
{
    if (loader == NULL)
        return lx__fail_null(error, "loader");
    if (text == NULL && size != 0)
        return lx__fail_null(error, "text");
    json_t *state = make_state(loader);
    if (state == NULL)
        return lx__fail_memory(error, "a state");
    lx_status status = lx__state_write(state, text, size, length, error);
    json_decref(state);
    return status;
}

static lx_status match_source(const lx_loader *loader, const json_t *state, lx_error *error)
{
    json_t *ours = lx__source_to_json(loader->source);
    if (ours == NULL)
        return lx__fail_memory(error, "a state");
    lx_status status = lx__state_match("source", json_object_get(state, "source"), ours, error);
    json_decref(ours);
    return status;
}

lx_status lx_loader_restore(lx_loader *loader, const char *text, lx_error *error)
{
    json_t *state;
    uint64_t position;
    if (loader == NULL || text == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "loader or text is NULL");
    lx_status status = lx__state_parse(text, WHAT, STATE_VERSION, &state, error);
    if (status != LX_OK)
        return status;
    status = lx__order_match_json(loader->order, json_object_get(state, "order"), error);
    if (status == LX_OK)
        status = match_source(loader, state, error);
    if (status == LX_OK)
        status = lx__state_check(state, error);
    if (status == LX_OK)
        status = lx__state_get_number(state, "position", &position, error);
    if (status == LX_OK)
        status = lx_loader_seek(loader, position, error);
    json_decref(state);
    return status;
}
