/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/wal/shared-array.h"

/* A frame can drop updates in two ways: it writes their rows to the tables, or it shortens the
 * dataset to their index or less. Dropping them frame by frame would visit every update once per
 * frame. Instead, each update stores the number of its frame, and at the end two lists show which
 * updates were dropped. */
typedef struct drop {
    uint32_t frame; /**< Number of the frame in this replay. */
    uint64_t bound;
} drop;

typedef struct drops {
    drop *list;
    size_t count;
    size_t capacity;
} drops;

typedef struct replay {
    lx__state *state;
    lx__wal_reader *log;
    const lx_schema *schema;
    uint64_t rows;                            /**< Number of table rows before the first frame. */
    uint64_t end;                             /**< End of the last frame. */
    uint32_t frames;                          /**< Number of frames replayed so far. */
    uint32_t crc;                             /**< Of the current frame. */
    lx__overlay_layer *layer;                 /**< The updates of these frames; NULL if there are
                                                   none. */
    lx__update pending[LX__UPDATE_BATCH_MAX]; /**< Updates to put into the layer together. */
    size_t pending_count;
    uint32_t first_frame; /**< First frame with updates. */
    uint64_t max_index;   /**< Largest index of an update. */
    /** Frames that added rows to the tables; the bound is the new row count. Both are ascending. */
    drops grown;
    /** Frames whose length, the bound, is less than that of all later frames. Both are
     * ascending. */
    drops truncations;
    uint32_t next_field;      /**< Expected position of the next update's field. */
    bool follows;             /**< The next update is not the first one of its frame. */
    lx__update_item previous; /**< The previous update; only field and index are set. */
    /** Hash table of list positions plus 1, to find chunks by id. NULL while the list is in order
     * of id. Made as soon as a chunk arrives out of order; the list is then sorted once, at the
     * end, because keeping millions of chunks sorted all along would take quadratic time. */
    uint32_t *slots;
    size_t slot_capacity; /**< A power of two; at most three quarters of the slots are in use. */
} replay;

#define SLOTS_MIN 64
/* How many updates to read from the WAL at a time. */
#define BLOCK_UPDATES 256u
/* Minimum spare room in a chunk list. */
#define CHUNKS_MORE 4

static lx_status push(drops *to, uint32_t frame, uint64_t bound, lx_error *error)
{
    drop *list = lx__grow_array(to->list, to->count, &to->capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "replaying the WAL");
    to->list = list;
    list[to->count++] = (drop){frame, bound};
    return LX_OK;
}

/** Adds the length of @p frame. Earlier frames with the same or a larger length no longer
 * matter. */
static lx_status push_truncation(drops *truncations, uint32_t frame, uint64_t length,
                                 lx_error *error)
{
    while (truncations->count != 0 && truncations->list[truncations->count - 1].bound >= length)
        truncations->count--;
    return push(truncations, frame, length, error);
}

/** Returns the first drop whose frame (if @p by_frame is set) or bound is at least @p value; NULL
 * if there is none. */
static const drop *first_from(const drops *in, bool by_frame, uint64_t value)
{
    size_t low = 0, high = in->count,
           middle = high >= 2 ? high - 2
                              : 0; /* try the last but one first: it is the most likely match */
    while (low < high) {
        uint64_t key = by_frame ? in->list[middle].frame : in->list[middle].bound;
        if (key >= value)
            high = middle;
        else
            low = middle + 1;
        middle = low + (high - low) / 2;
    }
    return low < in->count ? &in->list[low] : NULL;
}

/** Whether a frame after @p frame wrote the row to the tables. */
static bool is_in_tables(const replay *r, uint64_t index, uint32_t frame)
{
    const drops *all = &r->grown;
    if (index < r->rows || all->count == 0 || all->list[all->count - 1].frame <= frame)
        return false;
    const drop *grown = first_from(all, false, index + 1);
    return grown != NULL && frame < grown->frame;
}

static bool update_stays(const lx__update *update, const void *user)
{
    const replay *r = user;
    uint32_t frame = atomic_load_explicit(&update->frame_or_verified, memory_order_relaxed);
    if (is_in_tables(r, update->index, frame) && !LX__FAULT(UPDATES_STAY))
        return false;
    if (update->index < r->truncations.list[0].bound) /* the least bound */
        return true;
    const drop *truncation = first_from(&r->truncations, true,
                                        frame); /* the update's own frame or a later one */
    return truncation == NULL || update->index < truncation->bound;
}

static lx_status fail_rule(const replay *r, uint64_t offset, lx_error *error, const char *what)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "WAL frame %" PRIu64 " is invalid: %s",
                               r->state->position.sequence, what);
    lx_error_locate(error, r->log->file.path, NULL, LX_NONE, offset);
    return status;
}

/** Checks rules 1 and 3 to 6 of section 8.8 of the format. */
static const char *broken_rule(const lx__state *state, const lx__frame *frame)
{
    bool first = state->position.sequence == 0;
    if (first ? frame->flags != (LX__FRAME_SNAPSHOT | LX__FRAME_SYNCED)
              : frame->flags != 0 && frame->flags != LX__FRAME_SYNCED)
        return "unexpected flags";
    if (frame->rows < state->rows || frame->rows > LX__LENGTH_MAX)
        return "the number of rows decreases or is too large";
    if (frame->length > LX__LENGTH_MAX ||
        frame->length > frame->rows + state->items + frame->update_count)
        return "its length exceeds its rows and updates";
    if (!first && frame->table_generation != state->table_generation)
        return "the table generation changes";
    if (frame->next_chunk < state->next_chunk)
        return "the next chunk id decreases";
    return NULL;
}

/** Returns the slot of chunk @p id, or a free slot to put it in. */
static uint32_t *slot_of(const replay *r, uint32_t id)
{
    size_t mask = r->slot_capacity - 1;
    size_t at = (size_t)lx__update_hash(r->state->overlay.seed, 0, id) & mask;
    while (r->slots[at] != 0 && r->state->chunks[r->slots[at] - 1].id != id)
        at = (at + 1) & mask;
    return &r->slots[at];
}

/** Makes a hash table with room for twice as many chunks. */
static lx_status make_slots(replay *r, lx_error *error)
{
    size_t capacity = SLOTS_MIN;
    while (capacity / 8 * 3 < r->state->chunk_count)
        capacity *= 2;
    uint32_t *slots = lx__alloc_array(capacity, sizeof *slots);
    if (slots == NULL)
        return lx__fail_memory(error, "replaying the WAL");
    lx__free(r->slots);
    r->slot_capacity = capacity;
    r->slots = slots;
    (void)lx__overlay_seed(&r->state->overlay);
    for (size_t i = 0; i < r->state->chunk_count; i++)
        *slot_of(r, r->state->chunks[i].id) = (uint32_t)i + 1;
    return LX_OK;
}

/** Returns the item of chunk @p id; NULL if not found. */
static lx__chunk_item *find_chunk(const replay *r, uint32_t id)
{
    if (r->slots == NULL)
        return (lx__chunk_item *)lx__state_find_chunk(r->state, id);
    uint32_t slot = *slot_of(r, id);
    return slot != 0 ? &r->state->chunks[slot - 1] : NULL;
}

/** Appends a new chunk to the list. Switches to the hash table if the list is no longer in
 * order. */
static lx_status add_chunk(replay *r, const lx__chunk_item *item, lx_error *error)
{
    lx__state *state = r->state;
    size_t count = state->chunk_count;
    bool in_order = r->slots == NULL && (count == 0 || state->chunks[count - 1].id < item->id);
    lx_status status = lx__state_reserve_chunks(state, 1, error);
    if (status == LX_OK && !in_order && (r->slots == NULL || count >= r->slot_capacity / 4 * 3))
        status = make_slots(r, error);
    if (status != LX_OK)
        return status;
    state->chunks[state->chunk_count++] = *item;
    if (!in_order)
        *slot_of(r, item->id) = (uint32_t)state->chunk_count;
    return LX_OK;
}

static lx_status apply_chunks(replay *r, uint64_t offset, const lx__frame *frame, lx_error *error)
{
    const uint8_t *bytes;
    uint64_t previous = 0;
    /* Make sure that the state does not share its list. */
    lx_status status = frame->chunk_count != 0 ? lx__state_reserve_chunks(r->state, 0, error)
                                               : LX_OK;
    for (uint32_t i = 0; status == LX_OK && i < frame->chunk_count; i++) {
        uint64_t at = offset + LX__FRAME_HEADER + (uint64_t)i * LX__FRAME_CHUNK;
        status = lx__wal_read(r->log, at, LX__FRAME_CHUNK, &bytes, error);
        if (status != LX_OK)
            break;
        lx__chunk_item item = lx__chunk_item_load(bytes);
        lx__chunk_item *before = find_chunk(r, item.id);
        if ((i != 0 && item.id <= previous) || item.id >= frame->next_chunk)
            return fail_rule(r, at, error,
                             "chunk ids are not ascending, or not less than the next id");
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

/** Returns the earliest frame such that no update in it or in a later frame was dropped. */
static uint32_t first_kept_frame(const replay *r)
{
    uint32_t frame = r->grown.count != 0 ? r->grown.list[r->grown.count - 1].frame : 0;
    size_t low = r->truncations.count;
    while (low != 0 && r->truncations.list[low - 1].bound > r->max_index)
        low--;
    if (low != 0 && frame <= r->truncations.list[low - 1].frame)
        frame = r->truncations.list[low - 1].frame + 1;
    return frame;
}

static lx_status put_pending(replay *r, lx_error *error)
{
    size_t count = r->pending_count;
    r->pending_count = 0;
    return lx__update_map_put_many(&r->layer->map, r->pending, count, error);
}

/** Keeps an update of a field in the schema; skips updates of other fields. */
static lx_status add_update(replay *r, uint32_t id, uint64_t index, const uint8_t *rows,
                            lx_error *error)
{
    uint32_t field = r->next_field;
    /* Updates usually come in the order of the schema. */
    if ((field >= r->schema->count || lx__schema_field(r->schema, field)->shown.id != id) &&
        !lx__schema_find_id(r->schema, id, &field))
        return LX_OK;
    r->next_field = field + 1 < r->schema->count ? field + 1 : 0;
    lx__entry entry = lx__entry_load(rows, rows + LX__OFFSET_ROW);
    if (lx__entry_is_missing(&entry))
        r->state->missing[field / 64] |= 1ull << field % 64;
    if (index == LX__MISSING_MARKER)
        return LX_OK;
    bool existed = index < r->state->length; /* which is still the length before this frame */
    lx_status status = existed ? lx__changes_add(&r->state->changes, r->schema->count, field,
                                                 r->crc, error)
                               : LX_OK;
    if (status != LX_OK)
        return status;
    lx__update *update = &r->pending[r->pending_count++];
    update->index = index;
    update->field = field;
    r->max_index = index > r->max_index ? index : r->max_index;
    atomic_init(&update->frame_or_verified, r->frames);
    memcpy(update->rows, rows, sizeof update->rows);
    return r->pending_count == LX__UPDATE_BATCH_MAX ? put_pending(r, error) : LX_OK;
}

/** Makes the layer for all remaining frames, assuming that they have as many updates per byte as
 * this frame. */
static lx_status make_layer(replay *r, uint64_t offset, const lx__frame *frame, lx_error *error)
{
    uint64_t updates = (r->end - offset) / (frame->bytes / frame->update_count);
    r->layer = lx__overlay_layer_new(&r->state->overlay, updates);
    r->first_frame = r->frames;
    return r->layer != NULL ? LX_OK : lx__fail_memory(error, "replaying the WAL");
}

/** Applies @p count updates, starting at @p offset. */
static lx_status apply_block(replay *r, uint64_t offset, uint32_t count, bool is_snapshot,
                             lx_error *error)
{
    const uint8_t *bytes;
    lx_status status = lx__wal_read(r->log, offset, (size_t)count * LX__FRAME_UPDATE, &bytes,
                                    error);
    for (uint32_t i = 0; status == LX_OK && i < count; i++, bytes += LX__FRAME_UPDATE) {
        uint32_t id = lx__load_le32(bytes);
        uint64_t index = lx__load_le64(bytes + 8);
        const char *broken = NULL;
        if (!lx__update_item_reserved_is_zero(bytes))
            broken = "reserved bytes are not zero";
        else if (is_snapshot && r->follows &&
                 (index < r->previous.index ||
                  (index == r->previous.index && id <= r->previous.field)))
            broken = "the updates of a snapshot frame are not in ascending order";
        if (broken != NULL)
            return fail_rule(r, offset + (uint64_t)i * LX__FRAME_UPDATE, error, broken);
        r->follows = true;
        r->previous = (lx__update_item){.field = id, .index = index};
        status = add_update(r, id, index, bytes + 16, error);
    }
    return status;
}

static lx_status apply_updates(replay *r, uint64_t offset, const lx__frame *frame, lx_error *error)
{
    lx_status status = LX_OK;
    bool is_snapshot = (frame->flags & LX__FRAME_SNAPSHOT) != 0;
    uint64_t at = offset + LX__FRAME_HEADER + (uint64_t)frame->chunk_count * LX__FRAME_CHUNK;
    r->follows = false;
    if (frame->update_count != 0 && r->layer == NULL)
        status = make_layer(r, offset, frame, error);
    for (uint32_t left = frame->update_count; status == LX_OK && left != 0;) {
        uint32_t count = left < BLOCK_UPDATES ? left : BLOCK_UPDATES;
        status = apply_block(r, at, count, is_snapshot, error);
        at += (uint64_t)count * LX__FRAME_UPDATE;
        left -= count;
    }
    return status == LX_OK && r->layer != NULL ? put_pending(r, error) : status;
}

static lx_status check_trailer(replay *r, uint64_t offset, const lx__frame *frame, lx_error *error)
{
    const uint8_t *bytes;
    uint64_t at = offset + frame->bytes - LX__FRAME_TRAILER;
    lx_status status = lx__wal_read(r->log, at, 4, &bytes, error);
    if (status == LX_OK && lx__load_le32(bytes) != 0)
        status = fail_rule(r, at, error, "reserved bytes are not zero");
    return status;
}

static lx_status apply_frame(replay *r, lx_error *error)
{
    lx__state *state = r->state;
    uint64_t offset = state->position.offset;
    lx__frame frame;
    lx_status status = lx__wal_read_frame(r->log, offset, &frame, error);
    if (status != LX_OK)
        return status;
    const char *broken = broken_rule(state, &frame);
    if (broken != NULL)
        return fail_rule(r, offset, error, broken);
    r->crc = frame.crc;
    status = check_trailer(r, offset, &frame, error);
    if (status == LX_OK)
        status = apply_chunks(r, offset, &frame, error);
    if (status == LX_OK)
        status = apply_updates(r, offset, &frame, error);
    if (status == LX_OK && frame.rows > state->rows)
        status = push(&r->grown, r->frames, frame.rows, error);
    if (status == LX_OK)
        status = push_truncation(&r->truncations, r->frames, frame.length, error);
    if (status == LX_OK && r->frames == UINT32_MAX)
        status = lx_fail(error, LX_ERR_LIMIT, "cannot replay the WAL: it has more than %u frames",
                         r->frames);
    if (status != LX_OK)
        return status;
    r->frames++;

    bool changes = offset == 0 || frame.update_count != 0 || frame.chunk_count != 0 ||
                   frame.length != state->length || frame.rows != state->rows;
    if (offset == 0)
        state->changes.first_crc = frame.crc;
    else if (frame.length < state->length)
        state->changes.dataset += frame.crc;
    state->length = frame.length;
    state->rows = frame.rows;
    state->table_generation = frame.table_generation;
    state->next_chunk = frame.next_chunk;
    state->items += frame.update_count;
    state->position = (lx__wal_position){offset + frame.bytes, frame.sequence + 1, frame.crc};
    if (changes)
        state->changed = state->position;
    return LX_OK;
}

/** Sorts the chunks, removes the dropped updates, and adds the layer to the overlay. */
static lx_status finish(replay *r, lx_error *error)
{
    lx__state *state = r->state;
    if (r->slots != NULL)
        qsort(state->chunks, state->chunk_count, sizeof *state->chunks, lx__chunk_item_compare);
    if (r->frames == 0)
        return LX_OK;
    if (r->layer != NULL && r->first_frame < first_kept_frame(r))
        lx__update_map_keep(&r->layer->map, update_stays, r);
    lx__overlay_layer *layer = r->layer;
    r->layer = NULL;
    /* The first truncation has the smallest length. */
    return lx__overlay_add(&state->overlay, layer, r->truncations.list[0].bound, state->rows,
                           error);
}

/** Applies the frames up to @p end. */
static lx_status apply_to(lx__state *state, lx__wal_reader *log, const lx_schema *schema,
                          uint64_t end, lx_error *error)
{
    replay r = {.state = state, .log = log, .schema = schema, .rows = state->rows, .end = end};
    lx_status status = LX_OK;
    while (status == LX_OK && state->position.offset < end)
        status = apply_frame(&r, error);
    if (status == LX_OK)
        status = finish(&r, error);
    lx__overlay_layer_unref(r.layer);
    lx__free(r.grown.list);
    lx__free(r.truncations.list);
    lx__free(r.slots);
    return status;
}

lx_status lx__state_check_rest(const lx__state *state, lx__wal_reader *log, const lx_schema *schema,
                               uint64_t end, lx_error *error)
{
    lx__state rest;
    if (state->position.offset == end)
        return LX_OK;
    lx__state_copy(&rest, state);
    lx_status status = lx__state_replay_to(&rest, log, schema, end, error);
    lx__state_free(&rest);
    return status;
}

lx_status lx__state_replay(lx__state *state, lx__wal_reader *log, const lx_schema *schema,
                           lx__replay which, lx__wal_scan *scan, lx_error *error)
{
    lx__wal_scan found;
    lx__state next;
    lx_status status = lx__wal_scan_from(log, &state->position, log->boot, &found, error);
    if (status == LX_OK && found.valid.offset == 0)
        status = lx__wal_fail_first(log, error);
    lx__wal_suggest_repair(error, status);
    if (status != LX_OK)
        return status;
    lx__state_copy(&next, state);
    status = apply_to(
        &next, log, schema,
        which == LX__REPLAY_DURABLE ? found.durable.offset : found.valid_in_boot.offset, error);
    if (status == LX_OK)
        status = lx__state_check_rest(&next, log, schema, found.valid.offset, error);
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

lx_status lx__state_replay_to(lx__state *state, lx__wal_reader *log, const lx_schema *schema,
                              uint64_t end, lx_error *error)
{
    lx__state next;
    lx__state_copy(&next, state);
    lx_status status = apply_to(&next, log, schema, end, error);
    if (status != LX_OK) {
        lx__state_free(&next);
        return status;
    }
    lx__state_free(state);
    *state = next;
    return LX_OK;
}

void lx__state_copy(lx__state *copy, const lx__state *state)
{
    *copy = *state;
    (void)lx__shared_ref(copy->chunks);
    lx__changes_copy(&copy->changes, &state->changes);
    lx__overlay_copy(&copy->overlay, &state->overlay);
}

void lx__state_free(lx__state *state)
{
    lx__shared_unref(state->chunks);
    lx__changes_free(&state->changes);
    lx__overlay_free(&state->overlay);
    *state = (lx__state){0};
}

lx_status lx__state_begin_tables(lx__state *state, lx_error *error)
{
    if (state->table_generation == UINT32_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "all %u table generations have been used: copy the dataset to continue",
                       UINT32_MAX);
    state->table_generation++;
    state->rows = state->length;
    return LX_OK;
}

/** Returns the position of chunk @p id, or the position to insert it at. */
static size_t chunk_position(const lx__state *state, uint32_t id)
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
    size_t at = chunk_position(state, id);
    return at < state->chunk_count && state->chunks[at].id == id ? &state->chunks[at] : NULL;
}

void lx__state_add_context(const lx__state *state, const lx__file *directory, const lx__meta *meta,
                           const lx__field *field, uint64_t index, const lx__entry *entry,
                           lx_error *error)
{
    char name[LX__CHUNK_PATH_SIZE], path[sizeof error->path];
    bool in_chunk = !lx__entry_is_inline(entry) && !lx__entry_is_missing(entry) &&
                    lx__state_find_chunk(state, entry->chunk) != NULL;
    if (in_chunk)
        lx__meta_get_chunk_path(meta, entry->chunk, name);
    else
        lx__table_name(field->stem, LX__OFFSET_KIND, state->table_generation, name);
    snprintf(path, sizeof path, "%.*s/%s", (int)(sizeof path - sizeof name - 1), directory->path,
             name);
    lx_error_locate(error, path, field->name, index,
                    in_chunk ? entry->offset : index * LX__OFFSET_ROW);
}

lx_status lx__state_reserve_chunks(lx__state *state, size_t count, lx_error *error)
{
    size_t wanted = state->chunk_count + count, capacity = state->chunk_capacity;
    if (capacity >= wanted && (wanted == 0 || lx__shared_is_own(state->chunks)))
        return LX_OK;
    if (capacity < wanted)
        capacity = wanted + wanted / 2 + CHUNKS_MORE;
    lx__chunk_item *chunks = lx__shared_new(capacity, sizeof *chunks);
    if (chunks == NULL)
        return lx__fail_memory(error, "a chunk");
    if (state->chunk_count != 0)
        memcpy(chunks, state->chunks, state->chunk_count * sizeof *chunks);
    lx__shared_unref(state->chunks);
    state->chunks = chunks;
    state->chunk_capacity = capacity;
    return LX_OK;
}

lx_status lx__state_put_chunk(lx__state *state, const lx__chunk_item *item, lx_error *error)
{
    size_t at = chunk_position(state, item->id);
    bool there = at < state->chunk_count && state->chunks[at].id == item->id;
    lx_status status = lx__state_reserve_chunks(state, there ? 0 : 1, error);
    if (status != LX_OK)
        return status;
    lx__chunk_item *chunks = state->chunks;
    if (!there) {
        memmove(chunks + at + 1, chunks + at, (state->chunk_count - at) * sizeof *chunks);
        state->chunk_count++;
    }
    chunks[at] = *item;
    return LX_OK;
}
