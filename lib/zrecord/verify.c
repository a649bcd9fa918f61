/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/dataset.h"
#include "zrecord/gather.h"
#include "zrecord/names.h"
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

/** Counts and reports one damage, if there is one; what is no damage ends the work. */
static lx_status report(verification *v, lx_status status, const lx_error *damage)
{
    if (status == LX_OK)
        return LX_OK;
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
        const lx__field *shown = lx__schema_field(v->snapshot->store->schema, field);
        if (shown->shown.compression == LX_FLATE)
            status = inflate_to_buffer(v, &place, error);
        lx__snapshot_blame(v->snapshot, field, index, &entry, error);
    }
    return status;
}

static lx_status check_record(verification *v, uint64_t index)
{
    size_t fields = v->snapshot->store->schema->count;
    lx_status status = LX_OK;
    for (size_t field = 0; status == LX_OK && field < fields; field++) {
        lx_error damage = LX_ERROR_INIT;
        lx_status found = check_value(v, field, index, &damage);
        status = report(v, found, &damage);
        v->result.values++;
    }
    v->result.records++;
    return status;
}

/** The size and the CRC of the field's dictionary are those in meta.json, if it has one. */
static lx_status check_dictionary(const lx__store *store, size_t position, lx_error *error)
{
    const lx__field *field = lx__schema_field(store->meta.schema, position);
    const json_t *fields = json_object_get(store->meta.document, "fields");
    const json_t *dict = json_object_get(json_array_get(fields, position), "dict");
    char name[LX__NAME_SIZE];
    lx__file file;
    uint64_t bytes = (uint64_t)json_integer_value(json_object_get(dict, "bytes"));
    uint32_t wanted = (uint32_t)json_integer_value(json_object_get(dict, "crc")), crc;
    if (!json_is_object(dict))
        return LX_OK;
    lx__dict_name(field->stem, name);
    lx_status status =
        lx__committed_open(&file, &store->directory, name, O_RDONLY, bytes, true, error);
    if (status == LX_OK) {
        status = lx__file_sum(&file, &bytes, &crc, error);
        if (status == LX_OK && crc != wanted)
            status = lx__fail(error, LX_ERR_CORRUPT,
                              "the checksum of the dictionary is %08x, meta.json says %08x", crc,
                              wanted);
        lx__error_locate(error, file.path, NULL, LX_NONE, LX_NONE);
        lx__file_close(&file);
    }
    lx__error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
    return status;
}

/** Dictionaries, and of a sealed dataset the sizes of all chunks and the CRCs of all tables. */
static lx_status check_files(verification *v)
{
    static const char *const kinds[] = {LX__OFFSET_KIND, LX__CHECK_KIND};
    const lx__store *store = v->snapshot->store;
    const lx__state *state = &v->snapshot->state;
    size_t fields = store->meta.schema->count;
    /* Files of which the seal was taken off may have grown. */
    bool sealed = store->meta.sealed && !lx__store_was_replaced(store);
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < fields; i++) {
        lx_error damage = LX_ERROR_INIT;
        status = report(v, check_dictionary(store, i, &damage), &damage);
    }
    for (size_t i = 0; sealed && status == LX_OK && i < 2 * fields; i++) {
        lx_error damage = LX_ERROR_INIT;
        status = report(
            v, lx__sealed_check_table(store, state, i / 2, kinds[i % 2], &damage), &damage);
    }
    for (size_t i = 0; sealed && status == LX_OK && i < state->chunk_count; i++) {
        lx_error damage = LX_ERROR_INIT;
        status = report(v, lx__sealed_check_chunk(store, &state->chunks[i], &damage), &damage);
    }
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
    return status == LX_OK ? check_files(v) : status;
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
