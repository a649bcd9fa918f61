/* SPDX-License-Identifier: MIT */
#include "zrecord/write/relocate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/chunk/chunk.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"

/* Size of a window: enough to keep a disk busy. A larger payload gets a window of its own. */
#define WINDOW_BYTES ((uint64_t)16 << 20)
#define WINDOW_MOVES ((size_t)65536)
/* How many bytes to write at a time. */
#define OUTPUT_BYTES ((size_t)8 << 20)
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
    relocation->chunk = (lx__file)LX__FILE_CLOSED;
    relocation->moves = lx__alloc_array(WINDOW_MOVES, sizeof *relocation->moves);
    relocation->sources = lx__alloc_array(WINDOW_MOVES, sizeof *relocation->sources);
    relocation->extents = lx__alloc_array(WINDOW_MOVES, sizeof *relocation->extents);
    relocation->input = lx__alloc(WINDOW_BYTES);
    relocation->output = lx__alloc(OUTPUT_BYTES);
    return relocation->moves != NULL && relocation->sources != NULL &&
                   relocation->extents != NULL && relocation->input != NULL &&
                   relocation->output != NULL
               ? LX_OK
               : lx__fail_memory(error, "moving records");
}

void lx__relocation_close(lx__relocation *relocation)
{
    lx__pread_end(&relocation->pread);
    lx__fd_cache_close(&relocation->files);
    lx__file_close(&relocation->chunk);
    lx__free(relocation->moves);
    lx__free(relocation->sources);
    lx__free(relocation->extents);
    lx__free(relocation->input);
    lx__free(relocation->output);
}

/** Adds the damaged value and its location to an error. */
static void add_context(const lx__relocation *relocation, const lx__move *move,
                        const lx__entry *entry, lx_error *error)
{
    if (error != NULL && error->status == LX_ERR_CORRUPT)
        lx__state_add_context(relocation->from, relocation->tables, relocation->directory,
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

/* ---- writing */

/** Writes @p size bytes that end at byte @p end of the chunk. */
static lx_status write_bytes(const lx__relocation *relocation, const uint8_t *bytes, size_t size,
                             uint64_t end, lx_error *error)
{
    if (size == 0)
        return LX_OK;
    lx_status status = lx__file_write(&relocation->chunk, bytes, size, end - size, error);
    /* Start writeback while the next bytes are prepared, so that the final sync is short. */
    if (status == LX_OK)
        lx__file_start_writeback(&relocation->chunk, end - size, size);
    return status;
}

static lx_status write_output(lx__relocation *relocation, lx_error *error)
{
    size_t size = relocation->output_size;
    relocation->output_size = 0;
    return write_bytes(relocation, relocation->output, size, relocation->filled.bytes, error);
}

lx_status lx__relocation_finish(lx__relocation *relocation, lx_error *error)
{
    if (relocation->chunk.fd == -1)
        return LX_OK;
    lx_status status = write_output(relocation, error);
    if (status == LX_OK && !LX__FAULT(INSTALL_CHUNK_SYNC) &&
        lx__file_sync(&relocation->chunk, error) != LX_OK)
        status = LX_ERR_POISONED;
    lx__file_close(&relocation->chunk);
    return status == LX_OK ? lx__state_put_chunk(relocation->to, &relocation->filled, error)
                           : status;
}

static lx_status next_chunk(lx__relocation *relocation, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status = lx__relocation_finish(relocation, error);
    if (status != LX_OK)
        return status;
    if (relocation->to->next_chunk > LX__CHUNK_ID_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "all %u chunk ids have been used: copy the dataset to continue",
                       LX__CHUNK_ID_MAX);
    relocation->filled = (lx__chunk_item){.id = relocation->to->next_chunk++};
    lx__chunk_name(relocation->filled.id, name);
    return lx__file_open(&relocation->chunk, relocation->directory, name, O_RDWR | O_CREAT | O_EXCL,
                         error);
}

/** Finds room for a payload in the current chunk or in a new one. */
static lx_status allocate(lx__relocation *relocation, uint64_t size, uint32_t align,
                          lx__entry *entry, lx_error *error)
{
    const lx__chunk_item *filled = &relocation->filled;
    bool fits = relocation->chunk.fd != -1 &&
                lx__chunk_has_room(filled, size, align, relocation->records_limit,
                                   relocation->bytes_limit);
    lx_status status = fits ? LX_OK : next_chunk(relocation, error);
    entry->chunk = filled->id;
    entry->offset = lx__align_up(filled->bytes, align);
    return status;
}

/** Appends a payload to the chunk, preceded by zeros to align it. */
static lx_status append(lx__relocation *relocation, const lx__entry *entry, const uint8_t *stored,
                        lx_error *error)
{
    size_t gap = (size_t)(entry->offset - relocation->filled.bytes);
    lx_status status = LX_OK;
    if (OUTPUT_BYTES - relocation->output_size < gap + entry->physical)
        status = write_output(relocation, error);
    memset(relocation->output + relocation->output_size, 0, gap);
    relocation->output_size += gap;
    relocation->filled.bytes = entry->offset;
    if (status == LX_OK && OUTPUT_BYTES - gap < entry->physical) {
        status = write_output(relocation, error);
        if (status == LX_OK)
            status = write_bytes(relocation, stored, entry->physical,
                                 entry->offset + entry->physical, error);
    } else if (status == LX_OK) {
        memcpy(relocation->output + relocation->output_size, stored, entry->physical);
        relocation->output_size += entry->physical;
    }
    relocation->filled.bytes += entry->physical;
    relocation->filled.records++;
    relocation->payloads++;
    relocation->bytes += entry->physical;
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
        status = allocate(relocation, entry.physical, rules->align, &entry, error);
    if (status == LX_OK)
        status = append(relocation, &entry, move->stored, error);
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

lx_status lx__relocation_add(lx__relocation *relocation, const lx__move *move, lx_error *error)
{
    lx__entry entry = load(move);
    if (lx__entry_is_missing(&entry))
        return LX_OK;
    if (lx__payload_is_stored(&entry))
        return add_stored(relocation, move, &entry, error);
    lx_status status = verify_inline(relocation, move, &entry, error);
    if (status != LX_OK)
        add_context(relocation, move, &entry, error);
    return status;
}
