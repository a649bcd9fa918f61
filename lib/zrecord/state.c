/* SPDX-License-Identifier: MIT */
#include "zrecord/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/fault.h"

/* Frames drop sets in two ways: by taking their rows into the tables, and by a length below them.
 * Neither is done frame by frame, which would cost the number of sets each time. Instead every set
 * remembers its epoch, and two lists tell at the end which of them are gone. */
typedef struct drop {
    uint64_t epoch;
    uint64_t bound;
} drop;

typedef struct drops {
    drop *list;
    size_t count;
    size_t capacity;
} drops;

typedef struct replay {
    lx__state *state;
    lx__log_reader *log;
    const lx_schema *schema;
    uint64_t rows; /**< Before the first frame: none of them takes a row below that. */
    drops taken; /**< Frames that took rows: bound is their rows. Both ascend. */
    drops cuts;  /**< Frames whose length no later one goes below: bound is it. Both ascend. */
    bool unknown;
    /** Of chunks, a hash table of their positions plus 1: while frames are applied the chunks stand
     * as they come. To keep millions of them in order meanwhile would take the square of that. */
    uint32_t *places;
    size_t place_capacity; /**< A power of two; at most three quarters are used. */
} replay;

#define PLACES_MIN 64

static lx_status push(drops *to, uint64_t epoch, uint64_t bound, lx_error *error)
{
    drop *list = lx__grow_array(to->list, to->count, &to->capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "replaying the log");
    to->list = list;
    list[to->count++] = (drop){epoch, bound};
    return LX_OK;
}

/** The length that counts from @p epoch on is the least of that and all later frames. */
static lx_status push_cut(drops *cuts, uint64_t epoch, uint64_t length, lx_error *error)
{
    while (cuts->count != 0 && cuts->list[cuts->count - 1].bound >= length)
        cuts->count--;
    return push(cuts, epoch, length, error);
}

/** The first whose epoch, or else bound, is over @p value; NULL if there is none. */
static const drop *first_over(const drops *in, bool by_epoch, uint64_t value)
{
    size_t low = 0, high = in->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t key = by_epoch ? in->list[middle].epoch : in->list[middle].bound;
        if (key > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low < in->count ? &in->list[low] : NULL;
}

static bool set_stays(const lx__set *set, const void *user)
{
    const replay *r = user;
    const drop *taken = set->index >= r->rows ? first_over(&r->taken, false, set->index) : NULL;
    if (taken != NULL && set->epoch < taken->epoch && !LX__FAULT(SETS_STAY))
        return false;
    /* Of its own frame or a later one; a set kept from before this replay is older than all. */
    const drop *cut =
        set->epoch == 0 ? r->cuts.list : first_over(&r->cuts, true, set->epoch - 1);
    return cut == NULL || set->index < cut->bound;
}

static lx_status fail_rule(const replay *r, uint64_t offset, lx_error *error,
                           const char *what)
{
    lx_status status = lx__fail(error, LX_ERR_CORRUPT, "frame %" PRIu64 " of the log: %s",
                                r->state->place.epoch, what);
    lx__error_locate(error, r->log->file.path, NULL, LX_NONE, offset);
    return status;
}

/** Rules 1 and 3 to 6 of the format's section 8.8. */
static const char *broken_rule(const lx__state *state, const lx__frame *frame)
{
    bool first = state->place.epoch == 0;
    if (first ? frame->flags != (LX__FRAME_BASE | LX__FRAME_SYNCED)
              : (frame->flags & ~LX__FRAME_SYNCED) != 0)
        return "its flags cannot be";
    if (frame->rows < state->rows || frame->rows > LX__LENGTH_MAX)
        return "its rows cannot be";
    if (frame->length > LX__LENGTH_MAX || frame->length > frame->rows + state->items + frame->set_count)
        return "its length is more than rows and sets can give";
    if (!first && frame->table_generation != state->table_generation)
        return "its table generation is another";
    if (frame->next_chunk < state->next_chunk)
        return "its next chunk id is lower than before";
    return NULL;
}

/** The place of chunk @p id, or the free one where it belongs. */
static uint32_t *place_of(const replay *r, uint32_t id)
{
    size_t mask = r->place_capacity - 1;
    size_t at = (size_t)lx__sets_hash(&r->state->sets, 0, id) & mask;
    while (r->places[at] != 0 && r->state->chunks[r->places[at] - 1].id != id)
        at = (at + 1) & mask;
    return &r->places[at];
}

/** Makes places for all chunks, and for as many more. */
static lx_status make_places(replay *r, lx_error *error)
{
    size_t capacity = PLACES_MIN;
    while (capacity / 8 * 3 < r->state->chunk_count)
        capacity *= 2;
    lx__free(r->places);
    r->place_capacity = capacity;
    r->places = lx__alloc_array(capacity, sizeof *r->places);
    if (r->places == NULL)
        return lx__fail_memory(error, "replaying the log");
    for (size_t i = 0; i < r->state->chunk_count; i++)
        *place_of(r, r->state->chunks[i].id) = (uint32_t)i + 1;
    return LX_OK;
}

static lx_status add_chunk(replay *r, const lx__chunk_item *item, lx_error *error)
{
    lx__state *state = r->state;
    lx_status status = lx__state_reserve_chunks(state, 1, error);
    if (status == LX_OK && state->chunk_count >= r->place_capacity / 4 * 3)
        status = make_places(r, error);
    if (status != LX_OK)
        return status;
    state->chunks[state->chunk_count++] = *item;
    *place_of(r, item->id) = (uint32_t)state->chunk_count;
    return LX_OK;
}

static int compare_chunks(const void *a, const void *b)
{
    uint32_t left = ((const lx__chunk_item *)a)->id, right = ((const lx__chunk_item *)b)->id;
    return (left > right) - (left < right);
}

static void sort_chunks(lx__state *state)
{
    for (size_t i = 1; i < state->chunk_count; i++) {
        if (state->chunks[i].id < state->chunks[i - 1].id) {
            qsort(state->chunks, state->chunk_count, sizeof *state->chunks, compare_chunks);
            return;
        }
    }
}

static lx_status apply_chunks(replay *r, uint64_t offset, const lx__frame *frame,
                              lx_error *error)
{
    const uint8_t *bytes;
    lx_status status = LX_OK;
    uint64_t previous = 0;
    for (uint32_t i = 0; status == LX_OK && i < frame->chunk_count; i++) {
        uint64_t at = offset + LX__FRAME_HEADER + (uint64_t)i * LX__FRAME_CHUNK;
        status = lx__log_bytes(r->log, at, LX__FRAME_CHUNK, &bytes, error);
        if (status != LX_OK)
            break;
        lx__chunk_item item = lx__chunk_item_load(bytes);
        uint32_t place = *place_of(r, item.id);
        lx__chunk_item *before = place != 0 ? &r->state->chunks[place - 1] : NULL;
        if ((i != 0 && item.id <= previous) || item.id >= frame->next_chunk)
            return fail_rule(r, at, error, "its chunk ids cannot be");
        if (item.bytes > INT64_MAX ||
            (before != NULL && (item.bytes < before->bytes || item.records < before->records)))
            return fail_rule(r, at, error, "a chunk shrinks");
        previous = item.id;
        if (before != NULL)
            *before = item;
        else
            status = add_chunk(r, &item, error);
    }
    return status;
}

static lx_status apply_sets(replay *r, uint64_t offset, const lx__frame *frame,
                            lx_error *error)
{
    const uint8_t *bytes;
    lx_status status = LX_OK;
    lx__set_item previous = {0};
    uint64_t start =
        offset + LX__FRAME_HEADER + (uint64_t)frame->chunk_count * LX__FRAME_CHUNK;
    for (uint32_t i = 0; status == LX_OK && i < frame->set_count; i++) {
        uint64_t at = start + (uint64_t)i * LX__FRAME_SET;
        status = lx__log_bytes(r->log, at, LX__FRAME_SET, &bytes, error);
        if (status != LX_OK)
            break;
        lx__set_item item = lx__set_item_load(bytes);
        if (!lx__set_item_clean(bytes))
            return fail_rule(r, at, error, "reserved bytes are not zero");
        if ((frame->flags & LX__FRAME_BASE) && i != 0 &&
            (item.index < previous.index ||
             (item.index == previous.index && item.field <= previous.field)))
            return fail_rule(r, at, error, "the sets of a base do not ascend");
        previous = item;
        uint32_t position;
        if (lx__schema_find_id(r->schema, item.field, &position))
            status = lx__sets_put(&r->state->sets, position, item.index, frame->epoch,
                                  bytes + 16, error);
        else
            r->unknown = true;
    }
    return status;
}

static lx_status check_trailer(replay *r, uint64_t offset, const lx__frame *frame,
                               lx_error *error)
{
    const uint8_t *bytes;
    uint64_t at = offset + frame->bytes - LX__FRAME_TRAILER;
    lx_status status = lx__log_bytes(r->log, at, 4, &bytes, error);
    if (status == LX_OK && lx__load_le32(bytes) != 0)
        status = fail_rule(r, at, error, "reserved bytes are not zero");
    return status;
}

static lx_status apply_frame(replay *r, lx_error *error)
{
    lx__state *state = r->state;
    uint64_t offset = state->place.offset;
    lx__frame frame;
    lx_status status = lx__log_frame(r->log, offset, &frame, error);
    if (status != LX_OK)
        return status;
    const char *broken = broken_rule(state, &frame);
    if (broken != NULL)
        return fail_rule(r, offset, error, broken);
    status = check_trailer(r, offset, &frame, error);
    if (status == LX_OK)
        status = apply_chunks(r, offset, &frame, error);
    if (status == LX_OK)
        status = apply_sets(r, offset, &frame, error);
    if (status == LX_OK && frame.rows > state->rows)
        status = push(&r->taken, frame.epoch, frame.rows, error);
    if (status == LX_OK)
        status = push_cut(&r->cuts, frame.epoch, frame.length, error);
    if (status != LX_OK)
        return status;

    state->length = frame.length;
    state->rows = frame.rows;
    state->table_generation = frame.table_generation;
    state->next_chunk = frame.next_chunk;
    state->items += frame.set_count;
    state->place = (lx__log_place){offset + frame.bytes, frame.epoch + 1, frame.crc};
    return LX_OK;
}

/** Applies frames up to @p end and lets go of the sets that they drop. */
static lx_status apply_to(lx__state *state, lx__log_reader *log, const lx_schema *schema, uint64_t end,
                          bool *unknown, lx_error *error)
{
    replay r = {.state = state, .log = log, .schema = schema, .rows = state->rows};
    lx_status status = make_places(&r, error);
    while (status == LX_OK && state->place.offset < end)
        status = apply_frame(&r, error);
    sort_chunks(state);
    if (status == LX_OK)
        status = lx__sets_settle(&state->sets, &state->sets, set_stays, &r, error);
    *unknown = r.unknown;
    lx__free(r.taken.list);
    lx__free(r.cuts.list);
    lx__free(r.places);
    return status;
}

/** Frames that are valid but do not count must keep the rules all the same. */
static lx_status check_rest(const lx__state *state, lx__log_reader *log, const lx_schema *schema,
                            uint64_t end, lx_error *error)
{
    lx__state rest;
    bool unknown;
    if (state->place.offset == end)
        return LX_OK;
    lx_status status = lx__state_copy(&rest, state, error);
    if (status == LX_OK)
        status = apply_to(&rest, log, schema, end, &unknown, error);
    lx__state_free(&rest);
    return status;
}

lx_status lx__state_replay(lx__state *state, lx__log_reader *log, const lx_schema *schema,
                           lx__replay which, lx__log_scan *scan, bool *unknown, lx_error *error)
{
    lx__log_scan found;
    lx__state next;
    *unknown = false;
    lx_status status = lx__log_scan_from(log, &state->place, lx__boot_id(), &found, error);
    if (status != LX_OK)
        return status;
    if (found.valid.offset == 0) {
        status = lx__fail(error, LX_ERR_CORRUPT, "the first frame of the log is damaged");
        lx__error_locate(error, log->file.path, NULL, LX_NONE, 0);
        return status;
    }
    uint64_t end = which == LX__REPLAY_DURABLE ? found.synced.offset : found.trusted.offset;
    status = lx__state_copy(&next, state, error);
    if (status == LX_OK)
        status = apply_to(&next, log, schema, end, unknown, error);
    if (status == LX_OK)
        status = check_rest(&next, log, schema, found.valid.offset, error);
    if (status != LX_OK) {
        lx__state_free(&next);
        return status;
    }
    lx__state_free(state);
    *state = next;
    if (scan != NULL)
        *scan = found;
    return LX_OK;
}

lx_status lx__state_replay_to(lx__state *state, lx__log_reader *log, const lx_schema *schema,
                              uint64_t end, lx_error *error)
{
    lx__state next;
    bool unknown;
    lx_status status = lx__state_copy(&next, state, error);
    if (status == LX_OK)
        status = apply_to(&next, log, schema, end, &unknown, error);
    if (status != LX_OK) {
        lx__state_free(&next);
        return status;
    }
    lx__state_free(state);
    *state = next;
    return LX_OK;
}

static bool every_set_stays(const lx__set *set, const void *user)
{
    (void)set, (void)user;
    return true;
}

lx_status lx__state_copy(lx__state *copy, const lx__state *state, lx_error *error)
{
    *copy = *state;
    copy->sets = (lx__sets){0};
    copy->chunk_capacity = state->chunk_count;
    copy->chunks = lx__alloc_array(state->chunk_count, sizeof *copy->chunks);
    if (copy->chunks == NULL) {
        *copy = (lx__state){0};
        return lx__fail_memory(error, "a state");
    }
    if (state->chunk_count != 0)
        memcpy(copy->chunks, state->chunks, state->chunk_count * sizeof *copy->chunks);
    lx_status status =
        state->sets.slots == NULL
            ? lx__sets_init(&copy->sets, error)
            : lx__sets_settle(&copy->sets, &state->sets, every_set_stays, NULL, error);
    if (status != LX_OK)
        lx__state_free(copy);
    return status;
}

void lx__state_free(lx__state *state)
{
    lx__free(state->chunks);
    lx__sets_free(&state->sets);
    *state = (lx__state){0};
}

/** Where chunk @p id stands, or would stand. */
static size_t chunk_place(const lx__state *state, uint32_t id)
{
    size_t low = 0, high = state->chunk_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->chunks[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const lx__chunk_item *lx__state_find_chunk(const lx__state *state, uint32_t id)
{
    size_t at = chunk_place(state, id);
    return at < state->chunk_count && state->chunks[at].id == id ? &state->chunks[at] : NULL;
}

lx_status lx__state_reserve_chunks(lx__state *state, size_t count, lx_error *error)
{
    while (state->chunk_capacity < state->chunk_count + count) {
        size_t full = state->chunk_capacity;
        lx__chunk_item *chunks =
            lx__grow_array(state->chunks, full, &state->chunk_capacity, sizeof *chunks);
        if (chunks == NULL)
            return lx__fail_memory(error, "a chunk");
        state->chunks = chunks;
    }
    return LX_OK;
}

lx_status lx__state_put_chunk(lx__state *state, const lx__chunk_item *item, lx_error *error)
{
    size_t at = chunk_place(state, item->id);
    if (at < state->chunk_count && state->chunks[at].id == item->id) {
        state->chunks[at] = *item;
        return LX_OK;
    }
    lx_status status = lx__state_reserve_chunks(state, 1, error);
    if (status != LX_OK)
        return status;
    lx__chunk_item *chunks = state->chunks;
    memmove(chunks + at + 1, chunks + at, (state->chunk_count - at) * sizeof *chunks);
    chunks[at] = *item;
    state->chunk_count++;
    return LX_OK;
}
