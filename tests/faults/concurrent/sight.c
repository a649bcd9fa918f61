/* SPDX-License-Identifier: MIT */
#include "sight.h"

void sight_release(struct sight *sight)
{
    for (size_t i = 0; i <= FIELDS; i++) {
        lx_view_free(sight->views[i]);
        sight->views[i] = NULL;
    }
}

void sight_free(struct sight *sight)
{
    sight_release(sight);
    reading_free(&sight->reading);
    for (size_t i = 0; i <= FIELDS; i++)
        free(sight->copies[i]);
    free(sight->offsets);
    free(sight->present);
    *sight = (struct sight){0};
}

static uint8_t *reserve(struct sight *sight, size_t field, size_t size)
{
    if (size > sight->copy_sizes[field]) {
        sight->copy_sizes[field] = size + size / 4;
        free(sight->copies[field]);
        sight->copies[field] = need(malloc(sight->copy_sizes[field]));
    }
    return sight->copies[field];
}

static void reserve_offsets(struct sight *sight, size_t count)
{
    if (count <= sight->capacity)
        return;
    sight->capacity = count + count / 4;
    sight->offsets = need(realloc(sight->offsets, (sight->capacity + 1) * sizeof *sight->offsets));
    sight->present = need(realloc(sight->present, sight->capacity));
}

/** Of any length. */
static lx_status gather_bytes(struct sight *sight, lx_dataset *dataset, size_t field,
                              lx_error *error)
{
    struct reading *reading = &sight->reading;
    reserve_offsets(sight, reading->count);
    lx_status status = lx_dataset_get_sizes(dataset, field, reading->indices, reading->count,
                                            sight->offsets, sight->present, error);
    if (status != LX_OK)
        return status;
    uint8_t *out = reserve(sight, field, (size_t)sight->offsets[reading->count] + 1);
    for (size_t i = 0; i < reading->count; i++)
        reading->slices[field][i] = (lx_slice){sight->present[i] ? out + sight->offsets[i] : NULL,
                                               sight->offsets[i + 1] - sight->offsets[i]};
    return lx_dataset_gather_bytes(dataset, field, reading->indices, reading->count, sight->offsets,
                                   out, error);
}

lx_status sight_gather(struct sight *sight, lx_dataset *dataset, size_t field, size_t first,
                       size_t count, lx_error *error)
{
    static const size_t sizes[] = {HEAD_SIZE, NUMBER_SIZE, BLOCK_SIZE};
    struct reading *reading = &sight->reading;
    reading->has[field] = true;
    if (field == TEXT)
        return gather_bytes(sight, dataset, field, error);
    uint8_t *out = reserve(sight, field, reading->count * sizes[field]);
    for (size_t i = first; i < first + count; i++)
        reading->slices[field][i] = (lx_slice){out + i * sizes[field], sizes[field]};
    return lx_dataset_gather(dataset, field, reading->indices + first, count,
                             out + first * sizes[field], sizes[field], error);
}

lx_status sight_view(struct sight *sight, lx_dataset *dataset, size_t field, lx_error *error)
{
    struct reading *reading = &sight->reading;
    reading->has[field] = true;
    return lx_dataset_view(dataset, field, reading->indices, reading->count, reading->slices[field],
                           &sight->views[field], error);
}

/** The extra field is missing in most records; for dense fields, only a view shows this. */
static lx_status view_extra(struct sight *sight, lx_dataset *dataset, lx_error *error)
{
    bool shown = lx_schema_get_field_count(lx_dataset_get_schema(dataset)) > FIELDS;
    return shown ? sight_view(sight, dataset, EXTRA, error) : LX_OK;
}

lx_status sight_gather_all(struct sight *sight, lx_dataset *dataset, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; i < FIELDS && status == LX_OK; i++)
        status = sight_gather(sight, dataset, i, 0, sight->reading.count, error);
    return status == LX_OK ? view_extra(sight, dataset, error) : status;
}

/** Texts are compressed, so they must be copied. */
lx_status sight_view_all(struct sight *sight, lx_dataset *dataset, lx_error *error)
{
    lx_status status = sight_gather(sight, dataset, TEXT, 0, sight->reading.count, error);
    for (size_t i = HEAD; i < TEXT && status == LX_OK; i++)
        status = sight_view(sight, dataset, i, error);
    return status == LX_OK ? view_extra(sight, dataset, error) : status;
}
