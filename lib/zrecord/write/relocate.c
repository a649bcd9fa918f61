/* SPDX-License-Identifier: MIT */
#include "zrecord/write/relocate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"

/* Size of a window: enough to keep a disk busy. A larger payload gets a window of its own. */
#define WINDOW_BYTES ((uint64_t)16 << 20)
#define WINDOW_MOVES ((size_t)65536)
/* How many old chunks to keep open. */
#define OPEN_FILES 16
/* A gap of up to this size is read ahead together with the extents around it. */
#define GAP_MAX ((uint64_t)64 << 10)
/* Maximum number of bytes to read ahead with one call. */
#define AHEAD_MAX ((uint64_t)1 << 20)

lx_status lx__relocation_open(lx__relocation *relocation, lx_error *error)
{
    lx__fd_cache_init(&relocation->files, OPEN_FILES, lx__fd_open_chunk,
                      (void *)relocation->directory);
    lx__pread_init(&relocation->pread, &relocation->files, 0);
    lx_status status = lx__chunk_output_open(&relocation->output, error);
    if (status != LX_OK)
        return status;
    relocation->moves = lx__alloc_array(WINDOW_MOVES, sizeof *relocation->moves);
    relocation->sources = lx__alloc_array(WINDOW_MOVES, sizeof *relocation->sources);
    relocation->extents = lx__alloc_array(WINDOW_MOVES, sizeof *relocation->extents);
    relocation->input = lx__alloc(WINDOW_BYTES);
    relocation->shared = lx__alloc_array(relocation->schema->count, sizeof *relocation->shared);
    if (relocation->moves == NULL || relocation->sources == NULL || relocation->extents == NULL ||
        relocation->input == NULL || relocation->shared == NULL)
        return lx__fail_memory(error, "moving records");
    for (size_t i = 0; i < relocation->schema->count; i++)
        relocation->shared[i].from = lx__schema_field(relocation->schema, i)->shared;
    return LX_OK;
}

void lx__relocation_close(lx__relocation *relocation)
{
    lx__pread_end(&relocation->pread);
    lx__fd_cache_close(&relocation->files);
    lx__chunk_output_close(&relocation->output);
    lx__free(relocation->moves);
    lx__free(relocation->sources);
    lx__free(relocation->extents);
    lx__free(relocation->input);
    lx__free(relocation->shared);
}

/** Adds the damaged value and its location to an error. */
static void add_context(const lx__relocation *relocation, const lx__move *move,
                        const lx__entry *entry, lx_error *error)
{
    if (error != NULL && error->status == LX_ERR_CORRUPT)
        lx__state_add_context(relocation->from, relocation->tables, relocation->meta,
                              lx__schema_field(relocation->schema, move->field), move->index, entry,
                              error);
}

static lx__entry load(const lx__move *move)
{
    return lx__entry_load(move->offset_row, move->check_row);
}

/* ---- reading */

static int compare(const void *a, const void *b)
{
    const lx__extent *left = &((const lx__move_source *)a)->extent;
    const lx__extent *right = &((const lx__move_source *)b)->extent;
    if (left->chunk != right->chunk)
        return left->chunk < right->chunk ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

/** Sorts the sources unless they are already sorted, as in a dataset that was only appended to. */
static void sort_sources(lx__relocation *relocation)
{
    lx__move_source *sources = relocation->sources;
    for (size_t i = 1; i < relocation->count; i++) {
        if (compare(&sources[i - 1], &sources[i]) > 0) {
            qsort(sources, relocation->count, sizeof *sources, compare);
            return;
        }
    }
}

/** Asks the system for the bytes of the window, so that the disk can work on several requests at
 * once. */
static void read_ahead(const lx__relocation *relocation)
{
    for (size_t i = 0; i < relocation->count;) {
        lx__extent ahead = relocation->extents[i++];
        for (; i < relocation->count; i++) {
            const lx__extent *next = &relocation->extents[i];
            uint64_t end = ahead.offset + ahead.size;
            if (next->chunk != ahead.chunk || next->offset < end || next->offset - end > GAP_MAX ||
                next->offset + next->size - ahead.offset > AHEAD_MAX)
                break;
            ahead.size = (uint32_t)(next->offset + next->size - ahead.offset);
        }
        lx__pread_advise(&relocation->pread, &ahead);
    }
}

static void take_payload(void *user, size_t which, const uint8_t *data)
{
    ((lx__relocation *)user)->sources[which].move->stored = data;
}

/** Fetches the payloads of the window. */
static lx_status fetch_window(lx__relocation *relocation, lx_error *error)
{
    uint64_t used = 0;
    sort_sources(relocation);
    for (size_t i = 0; i < relocation->count; i++) {
        relocation->extents[i] = relocation->sources[i].extent;
        /* A single payload may be larger than the input buffer, but the fetcher makes room for
         * it. */
        relocation->extents[i].into = relocation->count != 1 ? relocation->input + used : NULL;
        used += relocation->extents[i].size;
    }
    read_ahead(relocation);
    lx__fetcher *fetcher = &relocation->pread.fetcher;
    lx_status status = fetcher->fetch(fetcher, relocation->extents, relocation->count, take_payload,
                                      relocation, error);
    for (size_t i = 0; status != LX_OK && i < relocation->count; i++) {
        const lx__move *move = relocation->sources[i].move;
        if (move->stored != NULL)
            continue;
        lx__entry entry = load(move); /* the first payload that was not fetched */
        add_context(relocation, move, &entry, error);
        break;
    }
    return status;
}

/* ---- moving */

static lx_status move_one(lx__relocation *relocation, const lx__move *move, lx_error *error)
{
    const lx__entry_rules *rules = &relocation->rules[move->field];
    lx__entry entry = load(move);
    lx_status status = lx__payload_check(&entry, rules, move->index, move->stored, error);
    if (status != LX_OK)
        add_context(relocation, move, &entry, error);
    if (status == LX_OK)
        status = lx__chunk_output_place(&relocation->output, entry.physical, rules->align, &entry,
                                        error);
    if (status == LX_OK)
        status = lx__chunk_output_append(&relocation->output, &entry, move->stored, error);
    if (status != LX_OK)
        return status;
    entry.crc = lx__entry_crc(&entry, rules, move->stored) ^ lx__index_crc(move->index);
    lx__entry_store(&entry, move->offset_row, move->check_row);
    return LX_OK;
}

lx_status lx__relocation_flush(lx__relocation *relocation, lx_error *error)
{
    size_t count = relocation->count;
    lx_status status = fetch_window(relocation, error);
    relocation->count = 0;
    relocation->window_bytes = 0;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = move_one(relocation, &relocation->moves[i], error);
    return status;
}

/** Locates a value. If it is missing or inline, the chunk of @p extent is NULL. */
static lx_status locate(const lx__relocation *relocation, const lx__move *move,
                        const lx__entry *entry, lx__extent *extent, lx_error *error)
{
    const lx__chunk_item *chunk = lx__payload_is_stored(entry)
                                      ? lx__state_find_chunk(relocation->from, entry->chunk)
                                      : NULL;
    return lx__payload_locate(entry, &relocation->rules[move->field], chunk, extent, error);
}

lx_status lx__relocation_check(const lx__relocation *relocation, const lx__move *move,
                               lx_error *error)
{
    lx__extent extent;
    lx__entry entry = load(move);
    lx_status status = locate(relocation, move, &entry, &extent, error);
    if (status != LX_OK)
        add_context(relocation, move, &entry, error);
    return status;
}

static lx_status verify_inline(const lx__relocation *relocation, const lx__move *move,
                               const lx__entry *entry, lx_error *error)
{
    uint8_t slot[LX__INLINE_MAX];
    lx__store_le64(slot, entry->offset);
    return lx__payload_check(entry, &relocation->rules[move->field], move->index, slot, error);
}

/** Adds a value to the window. If the window is full, first moves the values in it. */
static lx_status add_stored(lx__relocation *relocation, const lx__move *move,
                            const lx__entry *entry, lx_error *error)
{
    lx__extent extent;
    lx_status status = locate(relocation, move, entry, &extent, error);
    if (status == LX_OK &&
        (relocation->count == WINDOW_MOVES ||
         (relocation->count != 0 && relocation->window_bytes + extent.size > WINDOW_BYTES)))
        status = lx__relocation_flush(relocation, error);
    if (status != LX_OK)
        return status;
    lx__move *added = &relocation->moves[relocation->count];
    *added = *move;
    relocation->sources[relocation->count++] = (lx__move_source){extent, added};
    relocation->window_bytes += extent.size;
    return LX_OK;
}

/** Moves a shared payload, together with the first value that has it. */
static lx_status move_shared(lx__relocation *relocation, const lx__move *move,
                             const lx__entry *entry, lx_error *error)
{
    lx__shared_move *shared = &relocation->shared[move->field];
    lx_status status = relocation->count != 0 ? lx__relocation_flush(relocation, error) : LX_OK;
    if (status == LX_OK)
        status = add_stored(relocation, move, entry, error);
    if (status == LX_OK)
        status = lx__relocation_flush(relocation, error);
    if (status != LX_OK)
        return status;
    lx__entry moved = load(move);
    shared->to = (lx__shared){moved.chunk, moved.physical, moved.offset};
    shared->from_crc = entry->crc ^ lx__index_crc(move->index);
    shared->to_crc = moved.crc ^ lx__index_crc(move->index);
    return LX_OK;
}

/** Lets another value refer to a shared payload that has been moved. */
static lx_status follow_shared(lx__relocation *relocation, const lx__move *move, lx__entry *entry,
                               lx_error *error)
{
    const lx__shared_move *shared = &relocation->shared[move->field];
    uint32_t index_crc = lx__index_crc(move->index);
    if ((entry->crc ^ index_crc) != shared->from_crc) {
        lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                                   "checksum mismatch: expected %08x, but the shared payload has "
                                   "%08x",
                                   entry->crc, shared->from_crc ^ index_crc);
        add_context(relocation, move, entry, error);
        return status;
    }
    entry->chunk = shared->to.chunk;
    entry->offset = shared->to.offset;
    entry->crc = shared->to_crc ^ index_crc;
    lx__entry_store(entry, move->offset_row, move->check_row);
    return LX_OK;
}

lx_status lx__relocation_add(lx__relocation *relocation, const lx__move *move, lx_error *error)
{
    lx__entry entry = load(move);
    const lx__shared_move *shared = &relocation->shared[move->field];
    if (lx__entry_is_missing(&entry))
        return LX_OK;
    if (lx__entry_is_shared(&entry, &shared->from))
        return shared->to.bytes == 0 ? move_shared(relocation, move, &entry, error)
                                     : follow_shared(relocation, move, &entry, error);
    if (lx__payload_is_stored(&entry))
        return add_stored(relocation, move, &entry, error);
    lx_status status = verify_inline(relocation, move, &entry, error);
    if (status != LX_OK)
        add_context(relocation, move, &entry, error);
    return status;
}
