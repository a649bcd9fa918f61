/* SPDX-License-Identifier: MIT */
#include "zrecord/write/relocate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/table/table-file.h"

/* A payload above this is moved by itself, in steps of it. */
#define STEP_BYTES ((uint64_t)1 << 20)

lx_status lx__mover_open(lx__mover *mover, lx_error *error)
{
    lx__fd_cache_init(&mover->old, LX__MOVER_OPEN, lx__fd_open_chunk, (void *)mover->directory);
    mover->chunk = (lx__file)LX__FILE_CLOSED;
    mover->input = lx__alloc(LX__WINDOW_INPUT);
    mover->places = lx__alloc_array(LX__WINDOW_MOVES, sizeof *mover->places);
    lx_status status = lx__output_open(&mover->output, mover->executor, error);
    if (status != LX_OK)
        return status;
    return lx__window_open(&mover->windows[0]) && lx__window_open(&mover->windows[1]) &&
                   mover->input != NULL && mover->places != NULL
               ? LX_OK
               : lx__fail_memory(error, "moving records");
}

void lx__mover_close(lx__mover *mover)
{
    lx__output_close(&mover->output);
    lx__fd_cache_close(&mover->old);
    lx__file_close(&mover->chunk);
    lx__window_close(&mover->windows[0]);
    lx__window_close(&mover->windows[1]);
    lx__free(mover->input);
    lx__free(mover->places);
}

/** Says of damage which value it is about, and where that lies. */
static void blame(const lx__mover *mover, const lx__move *move, const lx__entry *entry,
                  lx_error *error)
{
    if (error != NULL && error->status == LX_ERR_CORRUPT)
        lx__state_blame(mover->from, mover->tables, mover->directory,
                        lx__schema_field(mover->schema, move->field), move->index, entry, error);
}

static lx__entry load(const lx__move *move)
{
    return lx__entry_load(move->offset_row, move->check_row);
}

/* ---- reading */

/** The open file of old chunk number @p position. */
static lx_status take_chunk(lx__mover *mover, uint32_t position, lx__open_file **file,
                            lx_error *error)
{
    const lx__chunk_item *chunk = &mover->from->chunks[position];
    const lx__file_name name = {.part = LX__PART_CHUNK, .number = chunk->id, .bytes = chunk->bytes};
    return lx__fd_cache_take(&mover->old, &name, file, error);
}

/** Asks for the bytes of a window, so that they are there when they are read. */
static void ask(lx__mover *mover, const lx__window *window)
{
    lx__piece next = {0};
    lx__open_file *old;
    while (lx__window_next(window, &next)) {
        if (take_chunk(mover, window->sources[next.first].chunk, &old, NULL) != LX_OK)
            return; /* reported when it is read */
        lx__file_will_need(&old->file, next.start, next.size);
        lx__fd_cache_give(&mover->old, old);
    }
}

static lx_status read_window(lx__mover *mover, const lx__window *window, lx_error *error)
{
    lx__piece next = {0};
    lx__open_file *old;
    uint64_t used = 0;
    while (lx__window_next(window, &next)) {
        const lx__source *sources = window->sources;
        lx_status status = take_chunk(mover, sources[next.first].chunk, &old, error);
        if (status == LX_OK) {
            status = lx__file_read(&old->file, mover->input + used, (size_t)next.size, next.start,
                                   error);
            lx__fd_cache_give(&mover->old, old);
        }
        if (status != LX_OK) {
            const lx__move *move = &window->moves[sources[next.first].move];
            lx__entry entry = load(move);
            blame(mover, move, &entry, error);
            return status;
        }
        for (size_t i = next.first; i < next.end; i++)
            mover->places[sources[i].move] = (uint32_t)(used + sources[i].offset - next.start);
        used += next.size;
    }
    return LX_OK;
}

/* ---- writing */

static lx_status write_output(lx__mover *mover, lx_error *error)
{
    return lx__output_write(&mover->output, &mover->chunk, mover->filled.bytes - mover->output.used,
                            error);
}

lx_status lx__mover_finish(lx__mover *mover, lx_error *error)
{
    if (mover->chunk.fd == -1)
        return LX_OK;
    lx_status status = write_output(mover, error);
    if (status == LX_OK)
        status = lx__output_wait(&mover->output, error);
    if (status == LX_OK && !LX__FAULT(SWITCH_CHUNK_SYNC) &&
        lx__file_sync(&mover->chunk, error) != LX_OK)
        status = LX_ERR_POISONED;
    lx__file_close(&mover->chunk);
    return status == LX_OK ? lx__state_put_chunk(mover->to, &mover->filled, error) : status;
}

static lx_status next_chunk(lx__mover *mover, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status = lx__mover_finish(mover, error);
    if (status != LX_OK)
        return status;
    if (mover->to->next_chunk > LX__CHUNK_ID_MAX)
        return lx__fail(error, LX_ERR_LIMIT, "all %u chunk ids are used up: copy the dataset",
                        LX__CHUNK_ID_MAX);
    mover->filled = (lx__chunk_item){.id = mover->to->next_chunk++};
    lx__chunk_name(mover->filled.id, name);
    return lx__file_open(&mover->chunk, mover->directory, name, O_RDWR | O_CREAT | O_EXCL, error);
}

/** Finds the next place for a payload: in this chunk, or in a new one. */
static lx_status place(lx__mover *mover, uint64_t size, uint32_t align, lx__entry *entry,
                       lx_error *error)
{
    const lx__chunk_item *filled = &mover->filled;
    bool fits = mover->chunk.fd != -1 && filled->records < mover->records_limit &&
                filled->bytes < mover->bytes_limit &&
                lx__range_fits(lx__align_up(filled->bytes, align), size, mover->bytes_limit);
    lx_status status = fits ? LX_OK : next_chunk(mover, error);
    entry->chunk = filled->id;
    entry->offset = lx__align_up(filled->bytes, align);
    return status;
}

/** Notes that the payload of @p entry, at the place it was given, is in the chunk. */
static void placed(lx__mover *mover, const lx__entry *entry)
{
    mover->filled.bytes = entry->offset + entry->physical;
    mover->filled.records++;
    mover->payloads++;
    mover->bytes += entry->physical;
}

/** Puts a payload into the output, and the zeros before it. */
static lx_status put(lx__mover *mover, const lx__entry *entry, const uint8_t *stored,
                     lx_error *error)
{
    size_t gap = (size_t)(entry->offset - mover->filled.bytes);
    lx_status status = LX_OK;
    if (LX__OUTPUT_BYTES - mover->output.used < gap + entry->physical)
        status = write_output(mover, error);
    uint8_t *to = mover->output.data + mover->output.used;
    memset(to, 0, gap);
    memcpy(to + gap, stored, entry->physical);
    mover->output.used += gap + entry->physical;
    return status;
}

/* ---- moving */

static lx_status move_one(lx__mover *mover, const lx__move *move, const uint8_t *stored,
                          lx_error *error)
{
    const lx__entry_rules *rules = &mover->rules[move->field];
    lx__entry entry = load(move);
    lx_status status = lx__payload_check(&entry, rules, move->index, stored, error);
    if (status == LX_OK)
        status = place(mover, entry.physical, rules->align, &entry, error);
    if (status == LX_OK)
        status = put(mover, &entry, stored, error);
    if (status != LX_OK)
        return status;
    entry.crc = lx__entry_crc(&entry, rules, stored) ^ lx__index_crc(move->index);
    lx__entry_store(&entry, move->offset_row, move->check_row);
    placed(mover, &entry);
    return LX_OK;
}

/** Moves a window, and empties it. */
static lx_status move_window(lx__mover *mover, lx__window *window, lx_error *error)
{
    size_t count = window->count;
    lx_status status = read_window(mover, window, error);
    lx__window_clear(window);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        lx__entry entry = load(&window->moves[i]);
        status = move_one(mover, &window->moves[i], mover->input + mover->places[i], error);
        if (status != LX_OK)
            blame(mover, &window->moves[i], &entry, error);
    }
    return status;
}

/** The window that was filled is asked for, the one before is moved and filled next. */
static lx_status turn(lx__mover *mover, lx_error *error)
{
    lx__window *filled = &mover->windows[mover->filling];
    lx__window_sort(filled);
    ask(mover, filled);
    mover->filling = !mover->filling;
    return move_window(mover, &mover->windows[mover->filling], error);
}

lx_status lx__mover_flush(lx__mover *mover, lx_error *error)
{
    lx_status status = turn(mover, error);
    return status == LX_OK ? turn(mover, error) : status;
}

/** Copies the payload of @p from to its new place @p to in steps, and takes both CRCs. */
static lx_status copy_steps(lx__mover *mover, uint32_t chunk, const lx__entry *from,
                            const lx__entry *to, uint32_t crcs[2], lx_error *error)
{
    lx__open_file *old = NULL;
    uint64_t start = mover->filled.bytes;
    lx_status status = take_chunk(mover, chunk, &old, error);
    /* The zeros before it. */
    memset(mover->input, 0, LX__ALIGN_MAX);
    if (status == LX_OK && to->offset != start)
        status = lx__file_write(&mover->chunk, mover->input, (size_t)(to->offset - start), start,
                                error);
    for (uint64_t at = 0; status == LX_OK && at < from->physical; at += STEP_BYTES) {
        size_t step = (size_t)(from->physical - at < STEP_BYTES ? from->physical - at : STEP_BYTES);
        status = lx__file_read(&old->file, mover->input, step, from->offset + at, error);
        if (status == LX_OK)
            status = lx__file_write(&mover->chunk, mover->input, step, to->offset + at, error);
        crcs[0] = lx__crc32c(crcs[0], mover->input, step);
        crcs[1] = lx__crc32c(crcs[1], mover->input, step);
    }
    lx__fd_cache_give(&mover->old, old);
    return status;
}

/** Moves a payload that does not fit into memory with others. That its CRC is wrong is seen when it
 * has been copied, and ends everything. */
static lx_status move_large(lx__mover *mover, const lx__move *move, uint32_t chunk,
                            const lx__entry *entry, lx_error *error)
{
    const lx__entry_rules *rules = &mover->rules[move->field];
    lx__entry next = *entry;
    lx_status status = lx__mover_flush(mover, error);
    if (status == LX_OK)
        status = place(mover, entry->physical, rules->align, &next, error);
    if (status == LX_OK)
        status = write_output(mover, error);
    if (status != LX_OK)
        return status;
    uint32_t index_crc = lx__index_crc(move->index);
    uint32_t crcs[2] = {lx__entry_crc_start(entry, rules), lx__entry_crc_start(&next, rules)};
    status = copy_steps(mover, chunk, entry, &next, crcs, error);
    if (status == LX_OK && (crcs[0] ^ index_crc) != entry->crc)
        status = lx__payload_fail_crc(entry, crcs[0] ^ index_crc, error);
    if (status != LX_OK)
        return status;
    next.crc = crcs[1] ^ index_crc;
    lx__entry_store(&next, move->offset_row, move->check_row);
    placed(mover, &next);
    return LX_OK;
}

lx_status lx__mover_check(const lx__mover *mover, const lx__move *move, lx_error *error)
{
    lx__extent extent;
    lx__entry entry = load(move);
    const lx__chunk_item *chunk = lx__payload_is_stored(&entry)
                                      ? lx__state_find_chunk(mover->from, entry.chunk)
                                      : NULL;
    lx_status status = lx__payload_locate(&entry, &mover->rules[move->field], chunk, &extent,
                                          error);
    if (status != LX_OK)
        blame(mover, move, &entry, error);
    return status;
}

static lx_status verify_inline(const lx__mover *mover, const lx__move *move, const lx__entry *entry,
                               lx_error *error)
{
    uint8_t slot[LX__INLINE_MAX];
    lx__store_le64(slot, entry->offset);
    return lx__payload_check(entry, &mover->rules[move->field], move->index, slot, error);
}

static lx_status move_stored(lx__mover *mover, const lx__move *move, const lx__entry *entry,
                             lx_error *error)
{
    const lx__chunk_item *chunk = lx__state_find_chunk(mover->from, entry->chunk);
    uint32_t position = (uint32_t)(chunk - mover->from->chunks);
    if (entry->physical > STEP_BYTES)
        return move_large(mover, move, position, entry, error);
    if (!lx__window_fits(&mover->windows[mover->filling], entry->physical)) {
        lx_status status = turn(mover, error);
        if (status != LX_OK)
            return status;
    }
    lx__source source = {.offset = entry->offset, .chunk = position, .size = entry->physical};
    lx__window_add(&mover->windows[mover->filling], move, source);
    return LX_OK;
}

lx_status lx__mover_move(lx__mover *mover, const lx__move *move, lx_error *error)
{
    lx__entry entry = load(move);
    if (lx__entry_is_missing(&entry))
        return LX_OK;
    lx_status status = lx__entry_is_inline(&entry) ? verify_inline(mover, move, &entry, error)
                                                   : move_stored(mover, move, &entry, error);
    if (status != LX_OK)
        blame(mover, move, &entry, error);
    return status;
}
