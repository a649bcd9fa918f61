/* SPDX-License-Identifier: MIT */
/* The frames of LOG alone. The inputs are those of fuzz-log.c, which tests whole datasets. The
 * library scans and replays the log, for the newest and the durable snapshot, at once and in two
 * steps; the results must agree with plain-log.c. One file stays open; there are no tables and no
 * chunks. */
#include "fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "frames.h"
#include "memory.h"
#include "plain-log.h"
#include "zrecord/format/schema.h"
#include "zrecord/wal/replay.h"

static lx__wal_reader reader;
static lx_schema *schema;
static int fd = -1;

/** The file, and the fields image, label, text and blob of fuzz_make_dataset(). */
static void begin(void)
{
    static const char *const names[] = {"image", "label", "text", "blob"};
    lx_error error = LX_ERROR_INIT;
    lx__wal_identity identity = {.generation = 0};
    lx__file directory;
    memcpy(identity.uuid, fuzz_uuid, sizeof fuzz_uuid);
    fuzz_write("LOG", "", 0);
    fd = open(fuzz_path("LOG"), O_RDWR | O_CLOEXEC);
    schema = need(lx_schema_new());
    for (uint32_t i = 0; i < 4; i++)
        if (lx_schema_add_field(schema, names[i], LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error) !=
            LX_OK)
            fuzz_fail("a schema: %s", error.message);
    if (fd == -1 || lx__directory_open(&directory, LX__CWD, fuzz_directory(), &error) != LX_OK ||
        lx__wal_open(&reader, &directory, &identity, &error) != LX_OK)
        fuzz_fail("a log: %s", error.message);
    lx__file_close(&directory);
}

static void write_log(const uint8_t *log, size_t size)
{
    if (pwrite(fd, log, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size) == -1)
        give_up("LOG");
}

/* ---- comparison of a state with that of plain-log.c */

/** Gathers look up an update only if it passes the filter test, so each update must pass it. */
static void check_filter(const lx__state *state, uint32_t field, uint64_t index)
{
    uint64_t mark;
    if (state->overlay.depth == 0)
        fuzz_fail("there are no layers");
    lx__overlay_hash_many(&state->overlay, field, &index, 1, &mark);
    uint64_t may = lx__overlay_filter(&state->overlay, field, &index, 1, &mark);
    if (may == 0)
        fuzz_fail("the filter rejects a live update");
    lx__overlay_prefetch(&state->overlay, field, &index, may);
}

/** Moves the updates to a writer, which removes them from the state. */
static void take_updates(lx__state *state, const struct plain_log *plain, size_t live)
{
    lx__update_map map = {0};
    lx_error error = LX_ERROR_INIT;
    uint32_t field;
    if (lx__overlay_move(&state->overlay, &map, &error) != LX_OK)
        fuzz_fail("the updates cannot be taken: %s", error.message);
    if (map.count != live)
        fuzz_fail("%zu updates are taken, not %zu", map.count, live);
    for (size_t i = 0; i < plain->update_count; i++) {
        const struct plain_update *update = &plain->updates[i];
        if (!update->live || !lx__schema_find_id(schema, update->field, &field))
            continue;
        const lx__update *taken = lx__update_map_find(&map, field, update->index);
        if (taken == NULL || memcmp(taken->rows, update->rows, LX__ENTRY_BYTES) != 0)
            fuzz_fail("a moved update is not found");
    }
    lx__update_map_free(&map);
}

static void compare_updates(lx__state *state, const struct plain_log *plain)
{
    size_t live = 0;
    for (size_t i = 0; i < plain->update_count; i++) {
        const struct plain_update *update = &plain->updates[i];
        uint32_t field;
        if (!lx__schema_find_id(schema, update->field, &field))
            continue;
        const lx__update *found = lx__overlay_find_update(&state->overlay, field, update->index);
        live += update->live;
        if (update->live &&
            (found == NULL || memcmp(found->rows, update->rows, LX__ENTRY_BYTES) != 0))
            fuzz_fail("a live update is not found");
        if (update->live)
            check_filter(state, field, update->index);
    }
    /* The counts are equal, so the state has no other updates. */
    if (lx__overlay_count(&state->overlay) != live)
        fuzz_fail("%zu updates are live, not %zu", lx__overlay_count(&state->overlay), live);
    take_updates(state, plain, live);
}

static void compare_chunks(const lx__state *state, const struct plain_log *plain)
{
    if (state->chunk_count != plain->chunk_count)
        fuzz_fail("%zu chunks, not %zu", state->chunk_count, plain->chunk_count);
    for (size_t i = 0; i < plain->chunk_count; i++) {
        const struct plain_chunk *chunk = &plain->chunks[i];
        const lx__chunk_item *item = lx__state_find_chunk(state, chunk->id);
        if (item == NULL || item->records != chunk->records || item->bytes != chunk->bytes)
            fuzz_fail("chunk %u has other numbers", chunk->id);
    }
}

/** Compares a state with the model; moves the updates out of the state. */
static void compare(lx__state *state, const struct plain_log *plain)
{
    if (state->length != plain->length || state->rows != plain->rows ||
        state->next_chunk != plain->next_chunk ||
        state->table_generation != plain->table_generation ||
        state->position.offset != plain->offset || state->position.crc != plain->crc ||
        state->position.sequence != plain->sequence + 1)
        fuzz_fail("length %llu, rows %llu up to %llu, not %llu, %llu, %llu",
                  (unsigned long long)state->length, (unsigned long long)state->rows,
                  (unsigned long long)state->position.offset, (unsigned long long)plain->length,
                  (unsigned long long)plain->rows, (unsigned long long)plain->offset);
    compare_chunks(state, plain);
    compare_updates(state, plain);
}

static lx_status replay(lx__state *state, bool durable)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx__state_replay(
        state, &reader, schema, durable ? LX__REPLAY_DURABLE : LX__REPLAY_NEWEST, NULL, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    return status;
}

static void try_whole(const uint8_t *log, size_t size, bool durable)
{
    lx__state state = {0};
    const struct plain_log *plain = plain_log_read(log, size, reader.boot, durable);
    lx_status status = replay(&state, durable);
    if (status != LX_OK && status != LX_ERR_CORRUPT)
        fuzz_fail("it is %s", lx_status_get_name(status));
    if (plain->end != PLAIN_LOG_COSTLY && (status == LX_OK) != (plain->end == PLAIN_LOG_WHOLE))
        fuzz_fail("it is %s, and %s", lx_status_get_name(status),
                  plain->end == PLAIN_LOG_WHOLE     ? "whole"
                  : plain->end == PLAIN_LOG_DAMAGED ? "has rot"
                                                    : "breaks a rule");
    if (status == LX_OK)
        compare(&state, plain);
    lx__state_free(&state);
}

/** Continues from the end of a frame, as a reader does that opened before the later frames were
 * written. One earlier state is kept, as by a pinned reader. */
static void try_steps(const uint8_t *log, size_t size, unsigned turn)
{
    lx__state state = {0}, held;
    lx_error error = LX_ERROR_INIT;
    const struct plain_log *plain = plain_log_read(log, size, reader.boot, false);
    if (plain->end != PLAIN_LOG_WHOLE)
        return;
    size_t step = plain->frames / 4 + 1;
    for (size_t at = turn % step; at < plain->frames; at += step)
        if (plain->ends[at] <= plain->offset &&
            lx__state_replay_to(&state, &reader, schema, plain->ends[at], &error) != LX_OK)
            fuzz_fail("a part of it is refused: %s", error.message);
    lx__state_copy(&held, &state);
    if (replay(&state, false) != LX_OK)
        fuzz_fail("it is refused from the middle on");
    lx__state_free(&held);
    compare(&state, plain);
    lx__state_free(&state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guarded buffer;
    static uint8_t bytes[FRAMES_MAX];
    struct input input = {data, size};
    unsigned options = input_byte(&input), how = options >> FRAMES_HOW_SHIFT & 7;
    if (fd == -1)
        begin();
    size_t length = frames_make(input.data, input.size, options, bytes);
    const uint8_t *log = guarded_copy(&buffer, FRAMES_MAX, bytes, length);
    write_log(log, length);
    try_whole(log, length, (how & 4) != 0);
    if (options & FRAMES_READ_ONLY)
        try_steps(log, length, how);
    return 0;
}
