/* SPDX-License-Identifier: MIT */
#include "zrecord/write/lost-values.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/chunk/payload.h"
#include "zrecord/format/names.h"

/* Rows of a table that are read at once. */
#define ROWS 4096

/** One walk: the chunk that was opened last, and memory for a payload. */
typedef struct walk {
    const lx_writer *writer;
    const lx__state *durable;
    lx__file chunk; /**< Closed where the chunk is absent. */
    uint32_t chunk_id;
    uint64_t chunk_size;
    uint8_t *payload;
    size_t capacity;
    uint64_t lost;
} walk;

static lx_status open_chunk(walk *w, uint32_t id, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_error why = LX_ERROR_INIT;
    if (w->chunk_id == id)
        return LX_OK;
    lx__file_close(&w->chunk);
    lx__chunk_name(id, name);
    w->chunk_id = id;
    w->chunk_size = 0;
    lx_status status = lx__file_open(&w->chunk, &w->writer->chunk_directory, name, O_RDONLY, &why);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    if (status != LX_OK)
        lx__error_pass(error, &why);
    return status == LX_OK ? lx__file_size(&w->chunk, &w->chunk_size, error) : status;
}

/** Reads the stored bytes of an entry; @p there: the chunk has them. */
static lx_status read_payload(walk *w, const lx__entry *entry, bool *there, lx_error *error)
{
    size_t got;
    lx_status status = open_chunk(w, entry->chunk, error);
    /* Before there is memory for it: an entry may claim gigabytes. */
    *there = status == LX_OK && lx__range_fits(entry->offset, entry->physical, w->chunk_size);
    if (!*there)
        return status;
    if (w->capacity < entry->physical) {
        uint8_t *larger = lx__resize_array(w->payload, entry->physical, 1);
        if (larger == NULL)
            return lx__fail_memory(error, "recovery");
        w->payload = larger;
        w->capacity = entry->physical;
    }
    status = lx__file_read_some(&w->chunk, w->payload, entry->physical, entry->offset, &got, error);
    *there = got == entry->physical;
    return status;
}

/** Whether the value lies in bytes that a synced frame named: these can rot, but are not lost. */
static bool is_durable(const walk *w, const lx__entry *entry)
{
    const lx__chunk_item *chunk = lx__state_find_chunk(w->durable, entry->chunk);
    return chunk != NULL && lx__range_fits(entry->offset, entry->physical, chunk->bytes);
}

static lx_status check_value(walk *w, size_t field, uint64_t index, const lx__entry *entry,
                             lx_error *error)
{
    uint8_t slot[LX__INLINE_MAX];
    const uint8_t *stored = slot;
    const lx__entry_rules *rules = &w->writer->rules[field];
    if (lx__entry_is_missing(entry) || is_durable(w, entry))
        return LX_OK;
    lx__extent extent;
    lx__store_le64(slot, entry->offset);
    const lx__chunk_item *chunk = lx__state_find_chunk(&w->writer->state, entry->chunk);
    bool good = lx__payload_locate(entry, rules, chunk, &extent, NULL) == LX_OK;
    if (good && extent.chunk != NULL) {
        lx_status status = read_payload(w, entry, &good, error);
        if (status != LX_OK)
            return status;
        stored = w->payload;
    }
    good = good && lx__payload_check(entry, rules, index, stored, NULL) == LX_OK;
    w->lost += !good;
    return LX_OK;
}

/** Inline values of the log are part of frames whose CRC is right. */
static lx_status check_set(void *user, const lx__set *set, lx_error *error)
{
    const lx__entry entry = lx__set_entry(set);
    return lx__entry_is_inline(&entry) ? LX_OK
                                       : check_value(user, set->field, set->index, &entry, error);
}

/** Rows [first, end) of one field, which the unsynced frames have taken into the tables. */
static lx_status check_rows(walk *w, size_t field, uint64_t first, uint64_t end, uint8_t *rows,
                            lx_error *error)
{
    lx_status status = LX_OK;
    const lx__table_files *tables = &w->writer->rows.fields[field];
    uint8_t *checks = rows + (size_t)ROWS * LX__OFFSET_ROW;
    while (status == LX_OK && first < end) {
        size_t count = end - first < ROWS ? (size_t)(end - first) : ROWS;
        status = lx__file_read(&tables->offsets, rows, count * LX__OFFSET_ROW,
                               first * LX__OFFSET_ROW, error);
        if (status == LX_OK)
            status = lx__file_read(&tables->checks, checks, count * LX__CHECK_ROW,
                                   first * LX__CHECK_ROW, error);
        for (size_t i = 0; status == LX_OK && i < count; i++) {
            lx__entry entry =
                lx__entry_load(rows + i * LX__OFFSET_ROW, checks + i * LX__CHECK_ROW);
            if (lx__sets_find_set(&w->writer->state.sets, (uint32_t)field, first + i) == NULL)
                status = check_value(w, field, first + i, &entry, error);
        }
        first += count;
    }
    return status;
}

lx_status lx__lost_values_count(const lx_writer *writer, const lx__state *durable, uint64_t *count,
                                lx_error *error)
{
    const lx__state *state = &writer->state;
    walk w = {.writer = writer,
              .durable = durable,
              .chunk = LX__FILE_CLOSED,
              .chunk_id = LX__CHUNK_INLINE};
    uint64_t end = state->rows < state->length ? state->rows : state->length;
    uint8_t *rows = lx__alloc_array(ROWS, LX__ENTRY_BYTES);
    lx_status status = rows != NULL ? LX_OK : lx__fail_memory(error, "recovery");
    if (status == LX_OK)
        status = lx__sets_each(&state->sets, check_set, &w, error);
    for (size_t i = 0; status == LX_OK && i < writer->rows.field_count; i++)
        status = check_rows(&w, i, durable->rows, end, rows, error);
    lx__file_close(&w.chunk);
    lx__free(w.payload);
    lx__free(rows);
    *count = w.lost;
    return status;
}
