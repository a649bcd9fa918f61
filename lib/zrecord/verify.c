/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/dataset.h"
#include "zrecord/gather.h"
#include "zrecord/sealed.h"

/* Records between two calls of the progress function. */
#define STEP 4096

typedef struct verification {
    lx__snapshot *snapshot;
    lx_damage_function damaged;
    void *user;
    lx_verification result;
    lx_error *error; /**< The caller's, which keeps the first damage. */
    lx__inflater *inflater;
    uint8_t *buffer; /**< For what is decompressed. */
    size_t capacity;
} verification;

/** Counts and reports one damage; what is no damage ends the work. */
static lx_status report(verification *v, lx_status status, const lx_error *damage)
{
    if (v->error != NULL && v->error->status >= 0)
        *v->error = *damage;
    if (status != LX_ERR_CORRUPT)
        return status;
    v->result.damages++;
    return v->damaged != NULL ? v->damaged(damage, v->user) : LX_OK;
}

static lx_status inflate_to_buffer(verification *v, const lx__value_place *place,
                                   lx_error *error)
{
    if (v->inflater == NULL)
        v->inflater = lx__store_take_inflater(v->snapshot->store);
    if (v->capacity < place->logical) {
        uint8_t *larger = lx__resize_array(v->buffer, place->logical, 1);
        if (larger != NULL) {
            v->buffer = larger;
            v->capacity = place->logical;
        }
    }
    if (v->inflater == NULL || v->capacity < place->logical)
        return lx__fail_memory(error, "decompression");
    if (lx__inflate(v->inflater, place->data, place->physical, v->buffer, place->logical))
        return LX_OK;
    return lx__fail(error, LX_ERR_CORRUPT, "%u stored bytes are not a Deflate stream of %u bytes",
                    place->physical, place->logical);
}

static lx_status check_value(verification *v, size_t field, uint64_t index, lx_error *error)
{
    lx__entry entry;
    lx__value_place place;
    lx_status status = lx__snapshot_locate(v->snapshot, field, index, &entry, &place, error);
    if (status == LX_OK)
        status = lx__snapshot_verify_now(v->snapshot, field, index, &entry, &place, error);
    if (status != LX_OK)
        return status;
    v->result.bytes += place.physical;
    if (lx__entry_is_compressed(&entry)) {
        const lx__field *shown = lx__schema_field(v->snapshot->store->meta.schema, field);
        if (shown->shown.compression == LX_FLATE)
            status = inflate_to_buffer(v, &place, error);
        lx__snapshot_blame(v->snapshot, field, index, &entry, error);
    }
    return status;
}

static lx_status check_record(verification *v, uint64_t index)
{
    size_t fields = v->snapshot->store->meta.schema->count;
    lx_status status = LX_OK;
    for (size_t field = 0; status == LX_OK && field < fields; field++) {
        lx_error damage = LX_ERROR_INIT;
        lx_status found = check_value(v, field, index, &damage);
        if (found != LX_OK)
            status = report(v, found, &damage);
        v->result.values++;
    }
    v->result.records++;
    return status;
}

static lx_status check_all(verification *v, lx_progress_function progress)
{
    uint64_t length = v->snapshot->state.length;
    lx_status status = LX_OK;
    for (uint64_t index = 0; status == LX_OK && index < length; index++) {
        status = check_record(v, index);
        if (status == LX_OK && progress != NULL && (index + 1) % STEP == 0)
            status = progress(index + 1, length, v->user);
    }
    if (status == LX_OK && progress != NULL)
        status = progress(length, length, v->user);
    if (status == LX_OK && v->snapshot->store->meta.sealed) {
        lx_error damage = LX_ERROR_INIT;
        lx_status found =
            lx__sealed_check_crcs(v->snapshot->store, &v->snapshot->state, &damage);
        if (found != LX_OK)
            status = report(v, found, &damage);
    }
    return status;
}

lx_status lx_dataset_verify(lx_dataset *dataset, lx_damage_function damaged,
                            lx_progress_function progress, void *user, lx_verification *result,
                            lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    verification v = {.snapshot = lx__dataset_pin(dataset),
                      .damaged = damaged,
                      .user = user,
                      .error = error};
    lx_status status = check_all(&v, progress);
    if (status == LX_OK && v.result.damages != 0)
        status = LX_ERR_CORRUPT;
    lx__store_give_inflater(v.snapshot->store, v.inflater);
    lx__free(v.buffer);
    lx__snapshot_unref(v.snapshot);
    if (result != NULL)
        *result = v.result;
    return status;
}
