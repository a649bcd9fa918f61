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

/* Larger payloads are moved one at a time, in steps of this size. */
#define STEP_BYTES ((uint64_t)1 << 20)

lx_status lx__relocation_open(lx__relocation *relocation, lx_error *error)
{
    lx__fd_cache_init(&relocation->old, LX__RELOCATION_OPEN_FILES, lx__fd_open_chunk,
                      (void *)relocation->directory);
    relocation->chunk = (lx__file)LX__FILE_CLOSED;
    relocation->input = lx__alloc(LX__IO_WINDOW_INPUT);
    relocation->places = lx__alloc_array(LX__IO_WINDOW_MOVES, sizeof *relocation->places);
    lx_status status = lx__block_writer_open(&relocation->output, relocation->executor, error);
    if (status != LX_OK)
        return status;
    return lx__io_window_open(&relocation->windows[0]) &&
                   lx__io_window_open(&relocation->windows[1]) && relocation->input != NULL &&
                   relocation->places != NULL
               ? LX_OK
               : lx__fail_memory(error, "moving records");
}

void lx__relocation_close(lx__relocation *relocation)
{
    lx__block_writer_close(&relocation->output);
    lx__fd_cache_close(&relocation->old);
    lx__file_close(&relocation->chunk);
    lx__io_window_close(&relocation->windows[0]);
    lx__io_window_close(&relocation->windows[1]);
    lx__free(relocation->input);
    lx__free(relocation->places);
}

/** Adds to an error which value is damaged and where it is. */
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

/** Opens the old chunk at @p position, or finds it open. */
static lx_status open_chunk(lx__relocation *relocation, uint32_t position, lx__open_file **file,
                            lx_error *error)
{
    const lx__chunk_item *chunk = &relocation->from->chunks[position];
    const lx__file_name name = {.part = LX__PART_CHUNK, .number = chunk->id, .bytes = chunk->bytes};
    return lx__fd_cache_take(&relocation->old, &name, file, error);
}

/** Prefetches the bytes of a window. */
static void prefetch_window(lx__relocation *relocation, const lx__io_window *window)
{
    lx__io_extent next = {0};
    lx__open_file *old;
    while (lx__io_window_next(window, &next)) {
        if (open_chunk(relocation, window->sources[next.first].chunk, &old, NULL) != LX_OK)
            return; /* the read reports the error */
        lx__file_will_need(&old->file, next.start, next.size);
        lx__fd_cache_release(&relocation->old, old);
    }
}

static lx_status read_window(lx__relocation *relocation, const lx__io_window *window,
                             lx_error *error)
{
    lx__io_extent next = {0};
    lx__open_file *old;
    uint64_t used = 0;
    while (lx__io_window_next(window, &next)) {
        const lx__source *sources = window->sources;
        lx_status status = open_chunk(relocation, sources[next.first].chunk, &old, error);
        if (status == LX_OK) {
            status = lx__file_read(&old->file, relocation->input + used, (size_t)next.size,
                                   next.start, error);
            lx__fd_cache_release(&relocation->old, old);
        }
        if (status != LX_OK) {
            const lx__move *move = &window->moves[sources[next.first].move];
            lx__entry entry = load(move);
            add_context(relocation, move, &entry, error);
            return status;
        }
        for (size_t i = next.first; i < next.end; i++)
            relocation->places[sources[i].move] = (uint32_t)(used + sources[i].offset - next.start);
        used += next.size;
    }
    return LX_OK;
}

/* ---- writing */

static lx_status write_output(lx__relocation *relocation, lx_error *error)
{
    return lx__block_writer_write(&relocation->output, &relocation->chunk,
                                  relocation->filled.bytes - relocation->output.used, error);
}

lx_status lx__relocation_finish(lx__relocation *relocation, lx_error *error)
{
    if (relocation->chunk.fd == -1)
        return LX_OK;
    lx_status status = write_output(relocation, error);
    if (status == LX_OK)
        status = lx__block_writer_wait(&relocation->output, error);
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
        return lx__fail(error, LX_ERR_LIMIT, "all %u chunk ids are used: copy the dataset",
                        LX__CHUNK_ID_MAX);
    relocation->filled = (lx__chunk_item){.id = relocation->to->next_chunk++};
    lx__chunk_name(relocation->filled.id, name);
    return lx__file_open(&relocation->chunk, relocation->directory, name, O_RDWR | O_CREAT | O_EXCL,
                         error);
}

/** Finds room for a payload: in this chunk, or in a new one. */
static lx_status allocate(lx__relocation *relocation, uint64_t size, uint32_t align,
                          lx__entry *entry, lx_error *error)
{
    const lx__chunk_item *filled = &relocation->filled;
    bool fits = relocation->chunk.fd != -1 && filled->records < relocation->records_limit &&
                filled->bytes < relocation->bytes_limit &&
                lx__range_fits(lx__align_up(filled->bytes, align), size, relocation->bytes_limit);
    lx_status status = fits ? LX_OK : next_chunk(relocation, error);
    entry->chunk = filled->id;
    entry->offset = lx__align_up(filled->bytes, align);
    return status;
}

/** Accounts for the payload of @p entry, which is in the chunk now. */
static void account(lx__relocation *relocation, const lx__entry *entry)
{
    relocation->filled.bytes = entry->offset + entry->physical;
    relocation->filled.records++;
    relocation->payloads++;
    relocation->bytes += entry->physical;
}

/** Appends a payload to the output, after zeros for its alignment. */
static lx_status append(lx__relocation *relocation, const lx__entry *entry, const uint8_t *stored,
                        lx_error *error)
{
    size_t gap = (size_t)(entry->offset - relocation->filled.bytes);
    lx_status status = LX_OK;
    if (LX__BLOCK_WRITER_BYTES - relocation->output.used < gap + entry->physical)
        status = write_output(relocation, error);
    uint8_t *to = relocation->output.data + relocation->output.used;
    memset(to, 0, gap);
    memcpy(to + gap, stored, entry->physical);
    relocation->output.used += gap + entry->physical;
    return status;
}

/* ---- moving */

static lx_status move_one(lx__relocation *relocation, const lx__move *move, const uint8_t *stored,
                          lx_error *error)
{
    const lx__entry_rules *rules = &relocation->rules[move->field];
    lx__entry entry = load(move);
    lx_status status = lx__payload_check(&entry, rules, move->index, stored, error);
    if (status == LX_OK)
        status = allocate(relocation, entry.physical, rules->align, &entry, error);
    if (status == LX_OK)
        status = append(relocation, &entry, stored, error);
    if (status != LX_OK)
        return status;
    entry.crc = lx__entry_crc(&entry, rules, stored) ^ lx__index_crc(move->index);
    lx__entry_store(&entry, move->offset_row, move->check_row);
    account(relocation, &entry);
    return LX_OK;
}

/** Moves the payloads of a window, and clears it. */
static lx_status move_window(lx__relocation *relocation, lx__io_window *window, lx_error *error)
{
    size_t count = window->count;
    lx_status status = read_window(relocation, window, error);
    lx__io_window_clear(window);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        lx__entry entry = load(&window->moves[i]);
        status = move_one(relocation, &window->moves[i], relocation->input + relocation->places[i],
                          error);
        if (status != LX_OK)
            add_context(relocation, &window->moves[i], &entry, error);
    }
    return status;
}

/** Prefetches the window that was filled, moves the other one, and fills that one next. */
static lx_status swap_windows(lx__relocation *relocation, lx_error *error)
{
    lx__io_window *filled = &relocation->windows[relocation->filling];
    lx__io_window_sort(filled);
    prefetch_window(relocation, filled);
    relocation->filling = !relocation->filling;
    return move_window(relocation, &relocation->windows[relocation->filling], error);
}

lx_status lx__relocation_flush(lx__relocation *relocation, lx_error *error)
{
    lx_status status = swap_windows(relocation, error);
    return status == LX_OK ? swap_windows(relocation, error) : status;
}

/** Copies the payload of @p from to its new place @p to in steps, and computes both CRCs. */
static lx_status copy_steps(lx__relocation *relocation, uint32_t chunk, const lx__entry *from,
                            const lx__entry *to, uint32_t crcs[2], lx_error *error)
{
    lx__open_file *old = NULL;
    uint64_t start = relocation->filled.bytes;
    lx_status status = open_chunk(relocation, chunk, &old, error);
    /* The padding before it. */
    memset(relocation->input, 0, LX__ALIGN_MAX);
    if (status == LX_OK && to->offset != start)
        status = lx__file_write(&relocation->chunk, relocation->input, (size_t)(to->offset - start),
                                start, error);
    for (uint64_t at = 0; status == LX_OK && at < from->physical; at += STEP_BYTES) {
        size_t step = (size_t)(from->physical - at < STEP_BYTES ? from->physical - at : STEP_BYTES);
        status = lx__file_read(&old->file, relocation->input, step, from->offset + at, error);
        if (status == LX_OK)
            status = lx__file_write(&relocation->chunk, relocation->input, step, to->offset + at,
                                    error);
        crcs[0] = lx__crc32c(crcs[0], relocation->input, step);
        crcs[1] = lx__crc32c(crcs[1], relocation->input, step);
    }
    lx__fd_cache_release(&relocation->old, old);
    return status;
}

/** Moves a payload that is too large for a window. A wrong CRC is found after the copy, and ends
 * the relocation. */
static lx_status move_large(lx__relocation *relocation, const lx__move *move, uint32_t chunk,
                            const lx__entry *entry, lx_error *error)
{
    const lx__entry_rules *rules = &relocation->rules[move->field];
    lx__entry next = *entry;
    lx_status status = lx__relocation_flush(relocation, error);
    if (status == LX_OK)
        status = allocate(relocation, entry->physical, rules->align, &next, error);
    if (status == LX_OK)
        status = write_output(relocation, error);
    if (status != LX_OK)
        return status;
    uint32_t index_crc = lx__index_crc(move->index);
    uint32_t crcs[2] = {lx__entry_crc_start(entry, rules), lx__entry_crc_start(&next, rules)};
    status = copy_steps(relocation, chunk, entry, &next, crcs, error);
    if (status == LX_OK && (crcs[0] ^ index_crc) != entry->crc)
        status = lx__payload_fail_crc(entry, crcs[0] ^ index_crc, error);
    if (status != LX_OK)
        return status;
    next.crc = crcs[1] ^ index_crc;
    lx__entry_store(&next, move->offset_row, move->check_row);
    account(relocation, &next);
    return LX_OK;
}

lx_status lx__relocation_check(const lx__relocation *relocation, const lx__move *move,
                               lx_error *error)
{
    lx__extent extent;
    lx__entry entry = load(move);
    const lx__chunk_item *chunk = lx__payload_is_stored(&entry)
                                      ? lx__state_find_chunk(relocation->from, entry.chunk)
                                      : NULL;
    lx_status status = lx__payload_locate(&entry, &relocation->rules[move->field], chunk, &extent,
                                          error);
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

static lx_status move_stored(lx__relocation *relocation, const lx__move *move,
                             const lx__entry *entry, lx_error *error)
{
    const lx__chunk_item *chunk = lx__state_find_chunk(relocation->from, entry->chunk);
    uint32_t position = (uint32_t)(chunk - relocation->from->chunks);
    if (entry->physical > STEP_BYTES)
        return move_large(relocation, move, position, entry, error);
    if (!lx__io_window_fits(&relocation->windows[relocation->filling], entry->physical)) {
        lx_status status = swap_windows(relocation, error);
        if (status != LX_OK)
            return status;
    }
    lx__source source = {.offset = entry->offset, .chunk = position, .size = entry->physical};
    lx__io_window_add(&relocation->windows[relocation->filling], move, source);
    return LX_OK;
}

lx_status lx__relocation_add(lx__relocation *relocation, const lx__move *move, lx_error *error)
{
    lx__entry entry = load(move);
    if (lx__entry_is_missing(&entry))
        return LX_OK;
    lx_status status = lx__entry_is_inline(&entry) ? verify_inline(relocation, move, &entry, error)
                                                   : move_stored(relocation, move, &entry, error);
    if (status != LX_OK)
        add_context(relocation, move, &entry, error);
    return status;
}
