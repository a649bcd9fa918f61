/* SPDX-License-Identifier: MIT */
/* Gathers by pread: entries by blocks, values straight into the caller's memory. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/reader/fetch.h"
#include "zrecord/reader/gather.h"

/* Values that are so close in a chunk are read at once, with what is between them. */
#define GAP 512
/* Bytes that pass through memory of our own at once, where they cannot go straight to where they
 * belong. */
#define STAGING ((size_t)32 << 10)
/* What is not larger pays more for a call than for a copy. */
#define SMALL 4096

/** Where the values of a call go. */
typedef struct target {
    uint8_t *out;
    size_t stride;
    uint64_t size;           /**< Of each; */
    const uint64_t *offsets; /**< or these, if it is not NULL. */
} target;

/** What stays the same for all records of a call, and the block at hand. */
typedef struct gather {
    lx__fetch fetch;
    lx__damages *damages;
    size_t field;
    const lx__entry_rules *rules;
    lx__inflater *inflater;  /**< Taken when the first compressed value is met. */
    const uint64_t *indices; /**< Of the block. */
    size_t count;
    target to;
    lx__fetched found[LX__FETCH_BLOCK];
    uint8_t staging[STAGING];
} gather;

static uint8_t *out_of(const gather *g, size_t i)
{
    return g->to.out + (g->to.offsets != NULL ? g->to.offsets[i] : i * g->to.stride);
}

static uint64_t room_of(const gather *g, size_t i)
{
    return g->to.offsets != NULL ? g->to.offsets[i + 1] - g->to.offsets[i] : g->to.size;
}

static gather *start(lx__snapshot *snapshot, lx__damages *damages, size_t field, lx_error *error)
{
    gather *g = lx__alloc(sizeof *g);
    if (g == NULL) {
        (void)lx__fail_memory(error, "reading");
        return NULL;
    }
    g->fetch = (lx__fetch){.snapshot = snapshot};
    g->damages = damages;
    g->field = field;
    g->rules = snapshot->columns[field].rules;
    g->inflater = NULL;
    return g;
}

static void finish(gather *g)
{
    lx__store_give_inflater(g->fetch.snapshot->store, g->inflater);
    lx__fetch_end(&g->fetch);
    lx__free(g);
}

/** Reads the entries of the next block. */
static lx_status next_block(gather *g, const uint64_t *indices, size_t left, const target *to,
                            lx_error *error)
{
    g->indices = indices;
    g->count = left < LX__FETCH_BLOCK ? left : LX__FETCH_BLOCK;
    g->to = *to;
    return lx__fetch_entries(&g->fetch, g->field, indices, g->count, to->stride != 0, g->found,
                             error);
}

/* ---- one value */

/** Finds value @p i of the block; what lies in a chunk has no data yet. */
static lx_status find(gather *g, size_t i, lx__value_place *place, lx_error *error)
{
    lx__fetched *one = &g->found[i];
    lx_status status = LX_OK;
    if (g->indices[i] >= g->fetch.snapshot->state.length)
        return lx__fail_index(g->fetch.snapshot, g->field, g->indices[i], error);
    if (one->lost)
        status = lx__fetch_entry(&g->fetch, g->field, g->indices[i], &one->entry, &one->set, error);
    return status == LX_OK ? lx__fetch_place(&g->fetch, g->field, g->indices[i], &one->entry,
                                             one->set, place, error)
                           : status;
}

static lx_status verify(gather *g, size_t i, const lx__value_place *place, lx_error *error)
{
    return lx__snapshot_verify(g->fetch.snapshot, g->field, g->indices[i], &g->found[i].entry,
                               place, error);
}

/** Has the stored bytes in memory of our own, and verifies them. */
static lx_status take_stored(gather *g, size_t i, lx__value_place *place, lx_error *error)
{
    lx_status status = LX_OK;
    const lx__entry *entry = &g->found[i].entry;
    if (place->data == NULL && !lx__entry_is_missing(entry))
        status = lx__fetch_stored(&g->fetch, g->field, g->indices[i], entry, &place->data, error);
    return status == LX_OK ? verify(g, i, place, error) : status;
}

static lx_status inflate(gather *g, size_t i, const lx__value_place *place, lx_error *error)
{
    if (g->inflater == NULL)
        g->inflater = lx__store_take_inflater(g->fetch.snapshot->store);
    if (g->inflater == NULL)
        return lx__fail_memory(error, "decompression");
    return lx__inflate_value(g->fetch.snapshot, g->field, g->indices[i], &g->found[i].entry, place,
                             g->inflater, out_of(g, i), error);
}

/** A missing value counts as zeros in a dense field, and as nothing in one of bytes. */
static uint64_t room_for(const gather *g, size_t i, const lx__value_place *place)
{
    if (!lx__entry_is_missing(&g->found[i].entry))
        return place->logical;
    return g->rules->size != LX_NONE ? g->rules->size : 0;
}

static lx_status take_value(gather *g, size_t i, lx_error *error)
{
    lx__value_place place;
    uint64_t room = room_of(g, i);
    const lx__entry *entry = &g->found[i].entry;
    lx_status status = find(g, i, &place, error);
    if (status != LX_OK)
        return status;
    bool fits = room_for(g, i, &place) == room;
    bool straight = fits && place.data == NULL && !lx__entry_is_missing(entry) &&
                    !lx__entry_is_compressed(entry);
    if (straight) {
        place.data = out_of(g, i);
        status = lx__fetch_bytes(&g->fetch, g->field, g->indices[i], entry, (size_t)room,
                                 out_of(g, i), error);
        return status == LX_OK ? verify(g, i, &place, error) : status;
    }
    status = take_stored(g, i, &place, error);
    if (status != LX_OK)
        return status;
    if (!fits)
        return lx__fail_measured(g->fetch.snapshot, g->field, g->indices[i],
                                 room_for(g, i, &place), room, error);
    if (lx__entry_is_compressed(entry))
        return inflate(g, i, &place, error);
    if (place.data == NULL)
        memset(out_of(g, i), 0, (size_t)room);
    else if (room != 0)
        memcpy(out_of(g, i), place.data, (size_t)room);
    return LX_OK;
}

/** take_value(), or zeros for what is damaged, if that is asked for; @p lost tells of it. */
static lx_status take_any(gather *g, size_t i, bool *lost, lx_error *error)
{
    bool zeros = g->damages->policy == LX_DAMAGE_ZEROS;
    *lost = false;
    lx_status status = take_value(g, i, zeros ? NULL : error);
    if (status == LX_OK)
        return status;
    if (lx__damages_meet(g->damages, status)) {
        memset(out_of(g, i), 0, (size_t)room_of(g, i));
        *lost = true;
        return LX_OK;
    }
    return zeros ? take_value(g, i, error) : status;
}

/* ---- several values at once */

/** Whether a value is as most are: in a chunk, raw, right as far as its entry tells. */
static bool is_plain(const gather *g, size_t i)
{
    const lx__fetched *one = &g->found[i];
    uint32_t position;
    return !one->lost && g->indices[i] < g->fetch.snapshot->state.length &&
           !lx__entry_is_missing(&one->entry) && !lx__entry_is_inline(&one->entry) &&
           one->entry.physical == one->entry.logical && one->entry.logical == room_of(g, i) &&
           lx__entry_check(&one->entry, g->rules, NULL) == LX_OK &&
           lx__snapshot_find_stored(g->fetch.snapshot, &one->entry, &position, NULL) == LX_OK;
}

/** Values that are read at once, from the first on. */
typedef struct run {
    size_t count;
    size_t bytes;  /**< With what is between them. */
    bool straight; /**< Nothing is, and they belong behind each other. */
} run;

/** How many values from @p first on lie behind each other. */
static run find_run(const gather *g, size_t first)
{
    run r = {.count = 1, .bytes = g->found[first].entry.physical, .straight = true};
    const lx__entry *start = &g->found[first].entry;
    if (!is_plain(g, first))
        return r;
    for (size_t i = first + 1; i < g->count && is_plain(g, i); i++) {
        const lx__entry *entry = &g->found[i].entry;
        uint64_t end = start->offset + r.bytes;
        if (entry->chunk != start->chunk || entry->offset < end || entry->offset - end > GAP)
            break;
        size_t bytes = (size_t)(entry->offset - start->offset) + entry->physical;
        bool straight = r.straight && entry->offset == end &&
                        out_of(g, i) == out_of(g, first) + r.bytes;
        /* Large ones are better read one by one than copied. */
        if (!straight && (bytes > STAGING || entry->physical > SMALL))
            break;
        r = (run){.count = r.count + 1, .bytes = bytes, .straight = straight};
    }
    return r;
}

/** Reads a run to where its values belong; false: they have to be taken one by one. */
static bool read_run(gather *g, size_t first, const run *r)
{
    const lx__entry *start = &g->found[first].entry;
    uint8_t *to = r->straight ? out_of(g, first) : g->staging;
    if (lx__fetch_bytes(&g->fetch, g->field, g->indices[first], start, r->bytes, to, NULL) != LX_OK)
        return false;
    for (size_t i = first; !r->straight && i < first + r->count; i++) {
        const lx__entry *entry = &g->found[i].entry;
        memcpy(out_of(g, i), g->staging + (entry->offset - start->offset), entry->physical);
    }
    for (size_t i = first; i < first + r->count; i++) {
        const lx__entry *entry = &g->found[i].entry;
        const lx__value_place place = {out_of(g, i), entry->physical, entry->logical,
                                       g->found[i].set};
        if (verify(g, i, &place, NULL) != LX_OK)
            return false;
    }
    return true;
}

static lx_status take_block(gather *g, lx_error *error)
{
    bool lost;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < g->count;) {
        run r = find_run(g, i);
        size_t end = i + r.count;
        if (r.count > 1 && read_run(g, i, &r))
            i = end;
        for (; status == LX_OK && i < end; i++)
            status = take_any(g, i, &lost, error);
    }
    return status;
}

static lx_status take_all(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                          const uint64_t *indices, size_t count, target to, lx_error *error)
{
    lx_status status = LX_OK;
    gather *g = start(snapshot, damages, field, error);
    if (g == NULL)
        return LX_ERR_NOMEM;
    for (size_t at = 0; status == LX_OK && at < count; at += g->count) {
        status = next_block(g, indices + at, count - at, &to, error);
        if (status == LX_OK)
            status = take_block(g, error);
        if (to.offsets != NULL)
            to.offsets += g->count;
        else
            to.out += g->count * to.stride;
    }
    finish(g);
    return status;
}

lx_status lx__fetch_dense(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                          const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                          lx_error *error)
{
    target to = {.out = out, .stride = stride, .size = snapshot->columns[field].rules->size};
    return take_all(snapshot, damages, field, indices, count, to, error);
}

lx_status lx__fetch_any(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                        const uint64_t *indices, size_t count, uint8_t *out,
                        const uint64_t *offsets, lx_error *error)
{
    target to = {.out = out, .offsets = offsets};
    return take_all(snapshot, damages, field, indices, count, to, error);
}

/* ---- lengths */

/** A value that this library cannot decompress is refused, once it is known to be whole. */
static lx_status refuse_zstd(gather *g, size_t i, lx__value_place *place, lx_error *error)
{
    lx_status status = take_stored(g, i, place, error);
    if (status != LX_OK) {
        (void)lx__damages_meet(g->damages, status);
        return status;
    }
    return lx__inflate_value(g->fetch.snapshot, g->field, g->indices[i], &g->found[i].entry, place,
                             NULL, NULL, error);
}

/** Finds a value to measure it. Where what is damaged reads as missing, it has to be known now. */
static lx_status measure_value(gather *g, size_t i, lx__value_place *place, lx_error *error)
{
    bool zeros = g->damages->policy == LX_DAMAGE_ZEROS;
    lx_error *told = zeros ? NULL : error;
    lx_status status = find(g, i, place, told);
    if (status == LX_OK && zeros)
        status = take_stored(g, i, place, told);
    if (status == LX_OK)
        return status;
    if (!zeros) {
        (void)lx__damages_meet(g->damages, status);
        return status;
    }
    if (status != LX_ERR_CORRUPT) {
        status = find(g, i, place, error);
        return status == LX_OK ? take_stored(g, i, place, error) : status;
    }
    g->found[i].entry = (lx__entry){0};
    *place = (lx__value_place){0};
    return LX_OK;
}

/** @p sizes: one of each record of the block. */
static lx_status measure_block(gather *g, uint64_t *sizes, uint8_t *present, lx_error *error)
{
    for (size_t i = 0; i < g->count; i++) {
        lx__value_place place;
        lx_status status = measure_value(g, i, &place, error);
        if (status == LX_OK && lx__entry_is_compressed(&g->found[i].entry) && !g->rules->flate)
            status = refuse_zstd(g, i, &place, error);
        if (status != LX_OK)
            return status;
        sizes[i] = room_for(g, i, &place);
        if (present != NULL)
            present[i] = !lx__entry_is_missing(&g->found[i].entry);
    }
    return LX_OK;
}

lx_status lx__fetch_measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                            const uint64_t *indices, size_t count, uint64_t *offsets,
                            uint8_t *present, lx_error *error)
{
    lx_status status = LX_OK;
    const target nowhere = {0};
    gather *g = start(snapshot, damages, field, error);
    if (g == NULL)
        return LX_ERR_NOMEM;
    offsets[0] = 0;
    for (size_t at = 0; status == LX_OK && at < count; at += g->count) {
        status = next_block(g, indices + at, count - at, &nowhere, error);
        if (status == LX_OK)
            status = measure_block(g, offsets + at + 1, present != NULL ? present + at : NULL,
                                   error);
        for (size_t i = at; status == LX_OK && i < at + g->count; i++)
            offsets[i + 1] += offsets[i];
    }
    finish(g);
    return status;
}

/* ---- views */

/** The length of a value, and whether it is there; one that is compressed is refused. */
static lx_status size_slice(gather *g, size_t i, lx_slice *slice, lx_error *error)
{
    static const uint8_t there;
    lx__value_place place = {0};
    bool zeros = g->damages->policy == LX_DAMAGE_ZEROS;
    const lx__entry *entry = &g->found[i].entry;
    lx_status status = find(g, i, &place, zeros ? NULL : error);
    *slice = (lx_slice){NULL, 0};
    if (status != LX_OK && zeros)
        return lx__damages_meet(g->damages, status) ? LX_OK : find(g, i, &place, error);
    if (status != LX_OK)
        return status;
    if (lx__entry_is_compressed(entry)) {
        status = lx__fail(error, LX_ERR_UNSUPPORTED,
                          "the record is compressed and cannot be viewed in place: gather it");
        lx__snapshot_blame(g->fetch.snapshot, g->field, g->indices[i], entry, error);
    } else if (!lx__entry_is_missing(entry)) {
        *slice = (lx_slice){&there, place.logical};
    }
    return status;
}

/** Sizes all values up to the first that fails; @p sized tells how many these are. */
static lx_status size_slices(gather *g, const uint64_t *indices, size_t count, lx_slice *slices,
                             size_t *sized, uint64_t *total, lx_error *error)
{
    const target nowhere = {0};
    lx_status status = LX_OK;
    *total = 0;
    for (*sized = 0; status == LX_OK && *sized < count;) {
        status = next_block(g, indices + *sized, count - *sized, &nowhere, error);
        for (size_t i = 0; status == LX_OK && i < g->count; i++) {
            status = size_slice(g, i, &slices[*sized], error);
            if (status == LX_OK)
                *total += lx__align_up(slices[(*sized)++].size, g->rules->align);
        }
    }
    return status;
}

/** Reads the values behind each other to @p *out, which moves on. */
static lx_status fill_slices(gather *g, lx_slice *slices, uint8_t **out, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < g->count; i++) {
        bool lost;
        if (slices[i].data == NULL)
            continue;
        g->to = (target){.out = *out, .size = slices[i].size};
        status = take_any(g, i, &lost, error);
        slices[i] = lost ? (lx_slice){NULL, 0} : (lx_slice){*out, slices[i].size};
        *out += lost ? 0 : lx__align_up(slices[i].size, g->rules->align);
    }
    return status;
}

static lx_status view_all(gather *g, const uint64_t *indices, size_t count, lx_slice *slices,
                          lx__snapshot **view, lx_error *error)
{
    uint64_t total;
    size_t sized;
    const target nowhere = {0};
    lx_error later = LX_ERROR_INIT;
    lx_status failed = size_slices(g, indices, count, slices, &sized, &total, &later);
    lx_status status = lx__snapshot_new_memory(g->fetch.snapshot->store, total, view, error);
    if (status != LX_OK)
        return status;
    uint8_t *out = (*view)->memory;
    for (size_t at = 0; status == LX_OK && at < sized; at += g->count) {
        status = next_block(g, indices + at, sized - at, &nowhere, error);
        if (status == LX_OK)
            status = fill_slices(g, slices + at, &out, error);
    }
    /* What fails first in the order of the records is told. */
    if (status == LX_OK && failed != LX_OK) {
        (void)lx__damages_meet(g->damages, failed);
        lx__error_pass(error, &later);
        status = failed;
    }
    if (status != LX_OK)
        lx__snapshot_unref(*view);
    return status;
}

lx_status lx__fetch_view(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                         const uint64_t *indices, size_t count, lx_slice *slices,
                         lx__snapshot **view, lx_error *error)
{
    gather *g = start(snapshot, damages, field, error);
    if (g == NULL)
        return LX_ERR_NOMEM;
    lx_status status = view_all(g, indices, count, slices, view, error);
    finish(g);
    return status;
}
