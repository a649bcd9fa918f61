/* SPDX-License-Identifier: MIT */
#include "zrecord/reader/mapped.h"

#include <string.h>

#include "base/error.h"

lx__mapped lx__mapped_start(lx__snapshot *snapshot, lx__damages *damages, size_t field)
{
    const lx__column *column = &snapshot->columns[field];
    lx_verify verify = snapshot->store->verify;
    bool some = verify == LX_VERIFY_FIRST && column->table != NULL;
    return (lx__mapped){.snapshot = snapshot,
                    .damages = damages,
                    .head = LX__NO_HEAD,
                    .column = column,
                    .field = field,
                    .length = snapshot->state.length,
                    .rows = snapshot->state.rows,
                    .size = (uint32_t)column->rules->size,
                    .align_mask = column->rules->align - 1,
                    .always = verify == LX_VERIFY_ALWAYS,
                    .verify_sets = verify != LX_VERIFY_NEVER,
                    .many = verify == LX_VERIFY_ALWAYS ||
                            (some && !lx__table_most_verified(column->table)),
                    .verify = verify == LX_VERIFY_ALWAYS ||
                              (some && !lx__table_all_verified(column->table))};
}

lx_status lx__fail_index(const lx__snapshot *snapshot, size_t field, uint64_t index,
                         lx_error *error)
{
    lx_status status =
        lx__fail(error, LX_ERR_RANGE, "index %llu is not below the length %llu",
                 (unsigned long long)index, (unsigned long long)snapshot->state.length);
    lx__error_locate(error, snapshot->store->directory.path,
                     lx__schema_field(snapshot->store->schema, field)->name, index, LX_NONE);
    return status;
}

lx_status lx__inflate_value(const lx__snapshot *snapshot, size_t field, uint64_t index,
                            const lx__entry *entry, const lx__value_place *place,
                            lx__inflater *inflater, uint8_t *out, lx_error *error)
{
    lx_status status = LX_OK;
    if (lx__schema_field(snapshot->store->schema, field)->shown.compression == LX__ZSTD)
        status = lx__fail(error, LX_ERR_UNSUPPORTED,
                          "the record is compressed by zstd, which this library does not have");
    else if (!lx__inflate(inflater, place->data, place->physical, out, place->logical))
        status = lx__fail(error, LX_ERR_CORRUPT,
                          "%u stored bytes are not a Deflate stream of %u bytes",
                          place->physical, place->logical);
    if (status != LX_OK)
        lx__snapshot_blame(snapshot, field, index, entry, error);
    return status;
}

static lx_status inflate_value(lx__mapped *g, uint64_t index, const lx__entry *entry,
                               const lx__value_place *place, uint8_t *out, lx_error *error)
{
    if (g->inflater == NULL)
        g->inflater = lx__store_take_inflater(g->snapshot->store);
    if (g->inflater == NULL)
        return lx__fail_memory(error, "decompression");
    return lx__inflate_value(g->snapshot, g->field, index, entry, place, g->inflater, out, error);
}

/** A missing value counts as zeros in a dense field, and as nothing in one of bytes. */
static uint64_t room_for(const lx__mapped *g, const lx__value_place *place)
{
    uint64_t dense = g->column->rules->size;
    return place->data != NULL ? place->logical : dense != LX_NONE ? dense : 0;
}

lx_status lx__fail_measured(const lx__snapshot *snapshot, size_t field, uint64_t index,
                            uint64_t size, uint64_t room, lx_error *error)
{
    lx_status status = lx__fail(error, LX_ERR_MISMATCH,
                                "the record has %llu bytes, not the %llu that were measured: "
                                "measure again",
                                (unsigned long long)size, (unsigned long long)room);
    lx__error_locate(error, snapshot->store->directory.path,
                     lx__schema_field(snapshot->store->schema, field)->name, index, LX_NONE);
    return status;
}

/** Any kind of value, checked and verified, to @p out, which holds @p room bytes. */
static lx_status copy_value(lx__mapped *g, uint64_t index, uint8_t *out, uint64_t room,
                            lx_error *error)
{
    lx__entry entry;
    lx__value_place place;
    if (index >= g->length)
        return lx__fail_index(g->snapshot, g->field, index, error);
    lx_status status =
        lx__snapshot_locate(g->snapshot, g->field, index, &entry, &place, error);
    if (status == LX_OK)
        status = lx__snapshot_verify(g->snapshot, g->field, index, &entry, &place, error);
    if (status != LX_OK)
        return status;
    if (room_for(g, &place) != room)
        return lx__fail_measured(g->snapshot, g->field, index, room_for(g, &place), room, error);
    if (place.data == NULL) {
        memset(out, 0, room);
        return LX_OK;
    }
    if (place.physical < place.logical)
        return inflate_value(g, index, &entry, &place, out, error);
    if (room != 0)
        memcpy(out, place.data, room);
    return LX_OK;
}

lx_status lx__mapped_copy(lx__mapped *g, uint64_t index, uint8_t *out, uint64_t room,
                          lx_error *error)
{
    bool zeros = g->damages->policy == LX_DAMAGE_ZEROS;
    lx_status status = copy_value(g, index, out, room, zeros ? NULL : error);
    if (status == LX_OK)
        return status;
    if (lx__damages_meet(g->damages, status)) {
        memset(out, 0, room);
        return LX_OK;
    }
    /* No damage: now it is to be told. */
    return zeros ? copy_value(g, index, out, room, error) : status;
}

void lx__mapped_finish(lx__mapped *g)
{
    lx__store_give_inflater(g->snapshot->store, g->inflater);
}

lx_status lx__mapped_bytes(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out,
                           const uint64_t *offsets, lx_error *error)
{
    lx__mapped g = lx__mapped_start(snapshot, damages, field);
    lx_status status = LX_OK;
    for (size_t i = 0; i < LX__ROWS_AHEAD && i < count; i++)
        lx__mapped_prefetch_rows(&g, indices[i]);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        if (i + LX__ROWS_AHEAD < count)
            lx__mapped_prefetch_rows(&g, indices[i + LX__ROWS_AHEAD]);
        uint64_t room = offsets[i + 1] - offsets[i];
        status = lx__mapped_copy(&g, indices[i], out + offsets[i], room, error);
    }
    lx__mapped_finish(&g);
    return status;
}

/** Finds a value to measure it. Where what is damaged reads as missing, it has to be known now. */
static lx_status measure_value(lx__mapped *g, uint64_t index, lx__entry *entry,
                               lx__value_place *place, lx_error *error)
{
    bool zeros = g->damages->policy == LX_DAMAGE_ZEROS;
    lx_error *told = zeros ? NULL : error;
    lx_status status = lx__snapshot_locate(g->snapshot, g->field, index, entry, place, told);
    if (status == LX_OK && zeros)
        status = lx__snapshot_verify(g->snapshot, g->field, index, entry, place, told);
    if (status == LX_OK)
        return status;
    if (!zeros) {
        (void)lx__damages_meet(g->damages, status);
        return status;
    }
    if (status != LX_ERR_CORRUPT)
        return lx__snapshot_locate(g->snapshot, g->field, index, entry, place, error);
    *entry = (lx__entry){0};
    *place = (lx__value_place){0};
    return LX_OK;
}

/** A value that this library cannot decompress is refused, once it is known to be whole: nothing
 * bounds the length that it claims. */
static lx_status refuse_zstd(lx__mapped *g, uint64_t index, const lx__entry *entry,
                             const lx__value_place *place, lx_error *error)
{
    lx_status status = lx__snapshot_verify(g->snapshot, g->field, index, entry, place, error);
    if (status != LX_OK) {
        (void)lx__damages_meet(g->damages, status);
        return status;
    }
    return lx__inflate_value(g->snapshot, g->field, index, entry, place, NULL, NULL, error);
}

lx_status lx__mapped_measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                      const uint64_t *indices, size_t count, uint64_t *offsets, uint8_t *present,
                      lx_error *error)
{
    lx__mapped g = lx__mapped_start(snapshot, damages, field);
    uint64_t total = 0, dense = g.column->rules->size;
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        lx__entry entry;
        lx__value_place place;
        if (i + LX__ROWS_AHEAD < count)
            lx__mapped_prefetch_rows(&g, indices[i + LX__ROWS_AHEAD]);
        if (indices[i] >= g.length)
            return lx__fail_index(snapshot, field, indices[i], error);
        lx_status status = measure_value(&g, indices[i], &entry, &place, error);
        if (status == LX_OK && lx__entry_is_compressed(&entry) && !g.column->rules->flate)
            status = refuse_zstd(&g, indices[i], &entry, &place, error);
        if (status != LX_OK)
            return status;
        bool there = !lx__entry_is_missing(&entry);
        total += there || dense == LX_NONE ? place.logical : dense;
        offsets[i + 1] = total;
        if (present != NULL)
            present[i] = there;
    }
    return LX_OK;
}
