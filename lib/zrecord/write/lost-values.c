/* SPDX-License-Identifier: MIT */
#include "zrecord/write/lost-values.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/chunk/fetch.h"

/* How many table rows to read at a time. */
#define ROWS 4096
/* How many chunk files to keep open. */
#define OPEN_FILES 4
/* How many bytes to read at a time while values are adjacent. */
#define READ_AHEAD ((size_t)64 << 10)

/** The state while lost values are being counted. */
typedef struct counter {
    const lx_writer *writer;
    const lx__state *durable;
    lx__fd_cache files; /**< The open chunk files. */
    lx__pread pread;
    uint64_t lost;
    /** Why the current value is damaged. This is a member because an lx_error is too large for the
     * stack of every function. */
    lx_error why;
} counter;

/** Whether the value is in bytes that a synced frame covers; these may be damaged, but not lost. */
static bool is_durable(const counter *c, const lx__entry *entry)
{
    const lx__chunk_item *chunk = lx__state_find_chunk(c->durable, entry->chunk);
    return chunk != NULL && lx__range_fits(entry->offset, entry->physical, chunk->bytes);
}

static lx_status check_value(counter *c, size_t field, uint64_t index, const lx__entry *entry,
                             lx_error *error)
{
    uint8_t slot[LX__INLINE_MAX];
    const uint8_t *stored = slot;
    const lx__entry_rules *rules = &c->writer->rules[field];
    if (lx__entry_is_missing(entry) || is_durable(c, entry))
        return LX_OK;
    lx__store_le64(slot, entry->offset);
    lx__extent extent;
    const lx__chunk_item *chunk = lx__state_find_chunk(&c->writer->committed.state, entry->chunk);
    lx_status status = lx__payload_locate(entry, rules, chunk, &extent, &c->why);
    if (status == LX_OK && extent.chunk != NULL)
        status = lx__fetch_one(&c->pread.fetcher, &extent, &stored, &c->why);
    if (status == LX_OK)
        status = lx__payload_check(entry, rules, index, stored, &c->why);
    if (status == LX_ERR_CORRUPT) {
        c->lost++;
        return LX_OK;
    }
    if (status != LX_OK)
        lx__error_propagate(error, &c->why);
    return status;
}

/** Checks an update unless its value is inline: such a value is part of a frame whose CRC is
 * valid. */
static lx_status check_update(void *user, const lx__update *update, lx_error *error)
{
    const lx__entry entry = lx__update_entry(update);
    return lx__entry_is_inline(&entry)
               ? LX_OK
               : check_value(user, update->field, update->index, &entry, error);
}

/** Checks rows [first, end) of one field, which unsynced frames wrote to the tables. */
static lx_status check_rows(counter *c, size_t field, uint64_t first, uint64_t end, uint8_t *rows,
                            lx_error *error)
{
    lx_status status = LX_OK;
    const lx__table_files *tables = &c->writer->tables.fields[field];
    uint8_t *checks = rows + (size_t)ROWS * LX__OFFSET_ROW;
    while (status == LX_OK && first < end) {
        size_t count = end - first < ROWS ? (size_t)(end - first) : ROWS;
        status = lx__file_read(&tables->offsets, rows, count * LX__OFFSET_ROW,
                               first * LX__OFFSET_ROW, error);
        if (status == LX_OK)
            status = lx__file_read(&tables->checks, checks, count * LX__CHECK_ROW,
                                   first * LX__CHECK_ROW, error);
        for (size_t i = 0; status == LX_OK && i < count; i++) {
            lx__entry entry = lx__entry_load(rows + i * LX__OFFSET_ROW, checks + i * LX__CHECK_ROW);
            if (lx__overlay_find_update(&c->writer->committed.state.overlay, (uint32_t)field,
                                        first + i) == NULL)
                status = check_value(c, field, first + i, &entry, error);
        }
        first += count;
    }
    return status;
}

lx_status lx__lost_values_count(const lx_writer *writer, const lx__state *durable, uint64_t *lost,
                                lx_error *error)
{
    const lx__state *state = &writer->committed.state;
    counter c = {.writer = writer, .durable = durable, .why = LX_ERROR_INIT};
    lx__fd_cache_init(&c.files, OPEN_FILES, lx__fd_open_chunk, (void *)&writer->chunk_directory);
    lx__pread_init(&c.pread, &c.files, READ_AHEAD);
    uint64_t end = state->rows < state->length ? state->rows : state->length;
    uint8_t *rows = lx__alloc_array(ROWS, LX__ENTRY_BYTES);
    lx_status status = rows != NULL ? LX_OK : lx__fail_memory(error, "recovery");
    if (status == LX_OK)
        status = lx__overlay_each(&state->overlay, check_update, &c, error);
    for (size_t i = 0; status == LX_OK && i < writer->tables.field_count; i++)
        status = check_rows(&c, i, durable->rows, end, rows, error);
    lx__pread_end(&c.pread);
    lx__fd_cache_close(&c.files);
    lx__free(rows);
    *lost = c.lost;
    return status;
}
