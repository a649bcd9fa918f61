/* SPDX-License-Identifier: MIT */
#include "zrecord/store/intact.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"

/* Rows of a table that are read at once. */
#define ROWS 4096

/** Reading for one check: the chunk that was open last, and memory for a payload. */
typedef struct search {
    const lx__intact_place *place;
    lx__log_reader *log;
    const lx__state *from; /**< The settled state, */
    const lx__state *to;   /**< and that behind all frames that are looked at. */
    lx__file chunk;
    uint32_t chunk_id;
    uint64_t chunk_size;
    uint8_t *payload;
    size_t capacity;
    bool intact; /**< So far. */
} search;

/* What is absent, short or different is a loss: it clears intact, and is no failure. Only the
 * system's refusals and a lack of memory are. */

static lx_status read_or_lose(search *s, const lx__file *file, void *data, size_t size,
                              uint64_t offset, lx_error *error)
{
    size_t got;
    lx_status status = lx__file_read_some(file, data, size, offset, &got, error);
    s->intact = s->intact && status == LX_OK && got == size;
    return status;
}

static lx_status open_or_lose(search *s, lx__file *file, const lx__file *directory,
                              const char *name, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__file_open(file, directory, name, O_RDONLY, &why);
    if (status == LX_ERR_NOT_FOUND) {
        s->intact = false;
        return LX_OK;
    }
    if (status != LX_OK)
        lx__error_pass(error, &why);
    return status;
}

static lx_status open_chunk(search *s, uint32_t id, lx_error *error)
{
    char name[LX__NAME_SIZE];
    if (s->chunk.fd != -1 && s->chunk_id == id)
        return LX_OK;
    lx__file_close(&s->chunk);
    lx__chunk_name(id, name);
    s->chunk_id = id;
    s->chunk_size = 0;
    lx_status status = open_or_lose(s, &s->chunk, s->place->chunk_directory, name, error);
    return status == LX_OK && s->intact ? lx__file_size(&s->chunk, &s->chunk_size, error) : status;
}

static lx_status read_payload(search *s, const lx__entry *entry, lx_error *error)
{
    const lx__chunk_item *before = lx__state_find_chunk(s->from, entry->chunk);
    const lx__chunk_item *now = lx__state_find_chunk(s->to, entry->chunk);
    /* Before there is memory for it: an entry may claim gigabytes, and a place beyond all files. */
    s->intact = lx__state_check_stored(now, entry, NULL) == LX_OK &&
                (before == NULL || entry->offset >= before->bytes);
    lx_status status = s->intact ? open_chunk(s, entry->chunk, error) : LX_OK;
    s->intact = s->intact && lx__range_fits(entry->offset, entry->physical, s->chunk_size);
    if (status != LX_OK || !s->intact)
        return status;
    if (s->capacity < entry->physical) {
        uint8_t *larger = lx__resize_array(s->payload, entry->physical, 1);
        if (larger == NULL)
            return lx__fail_memory(error, "recovery");
        s->payload = larger;
        s->capacity = entry->physical;
    }
    return read_or_lose(s, &s->chunk, s->payload, entry->physical, entry->offset, error);
}

/** What was durable before can rot, which its reader is told, but not be lost. */
static bool is_settled(const search *s, const lx__entry *entry)
{
    const lx__chunk_item *chunk = lx__state_find_chunk(s->from, entry->chunk);
    return chunk != NULL && lx__range_fits(entry->offset, entry->physical, chunk->bytes);
}

static lx_status check_value(search *s, uint32_t field, uint64_t index, const lx__entry *entry,
                             lx_error *error)
{
    uint8_t slot[LX__INLINE_MAX];
    if (lx__entry_is_missing(entry) || is_settled(s, entry))
        return LX_OK;
    const lx__entry_rules rules =
        lx__field_rules(lx__schema_field(s->place->schema, field), s->place->uuid);
    if (lx__entry_check(entry, &rules, NULL) != LX_OK) {
        s->intact = false;
        return LX_OK;
    }
    const uint8_t *stored = slot;
    lx__store_le64(slot, entry->offset);
    if (!lx__entry_is_inline(entry)) {
        lx_status status = read_payload(s, entry, error);
        if (status != LX_OK || !s->intact)
            return status;
        stored = s->payload;
    }
    s->intact = (lx__entry_crc(entry, &rules, stored) ^ lx__index_crc(index)) == entry->crc ||
                LX__FAULT(VALUE_CRC);
    return LX_OK;
}

static lx_status check_chunks(search *s, uint64_t at, const lx__frame *frame, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint32_t i = 0; status == LX_OK && s->intact && i < frame->chunk_count; i++) {
        const uint8_t *bytes;
        status = lx__log_bytes(s->log, at + (uint64_t)i * LX__FRAME_CHUNK, LX__FRAME_CHUNK, &bytes,
                               error);
        if (status != LX_OK)
            break;
        lx__chunk_item item = lx__chunk_item_load(bytes);
        if (item.bytes == 0)
            continue; /* it may be absent */
        status = open_chunk(s, item.id, error);
        s->intact = s->intact && s->chunk_size >= item.bytes;
    }
    return status;
}

static lx_status check_sets(search *s, uint64_t at, const lx__frame *frame, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint32_t i = 0; status == LX_OK && s->intact && i < frame->set_count; i++) {
        const uint8_t *bytes;
        uint32_t field;
        status = lx__log_bytes(s->log, at + (uint64_t)i * LX__FRAME_SET, LX__FRAME_SET, &bytes,
                               error);
        if (status != LX_OK)
            break;
        lx__set_item item = lx__set_item_load(bytes);
        if (lx__schema_find_id(s->place->schema, item.field, &field))
            status = check_value(s, field, item.index, &item.entry, error);
    }
    return status;
}

/** Rows [first, end) of one field's tables. */
static lx_status check_rows(search *s, const lx__file *offsets, const lx__file *checks,
                            uint32_t field, uint64_t first, uint64_t end, lx_error *error)
{
    lx_status status = LX_OK;
    uint8_t *rows = lx__alloc_array(ROWS, LX__ENTRY_BYTES);
    uint8_t *check_rows = rows + (size_t)ROWS * LX__OFFSET_ROW;
    if (rows == NULL)
        return lx__fail_memory(error, "recovery");
    while (status == LX_OK && s->intact && first < end) {
        size_t count = end - first < ROWS ? (size_t)(end - first) : ROWS;
        status = read_or_lose(s, offsets, rows, count * LX__OFFSET_ROW, first * LX__OFFSET_ROW,
                              error);
        if (status == LX_OK)
            status = read_or_lose(s, checks, check_rows, count * LX__CHECK_ROW,
                                  first * LX__CHECK_ROW, error);
        for (size_t i = 0; status == LX_OK && s->intact && i < count; i++) {
            lx__entry entry =
                lx__entry_load(rows + i * LX__OFFSET_ROW, check_rows + i * LX__CHECK_ROW);
            status = check_value(s, field, first + i, &entry, error);
        }
        first += count;
    }
    lx__free(rows);
    return status;
}

static lx_status check_tables(search *s, uint32_t generation, uint64_t first, uint64_t end,
                              lx_error *error)
{
    lx_status status = LX_OK;
    const lx_schema *schema = s->place->schema;
    for (size_t i = 0; first < end && status == LX_OK && s->intact && i < schema->count; i++) {
        char name[LX__NAME_SIZE];
        const char *stem = lx__schema_field(schema, i)->stem;
        lx__file offsets = LX__FILE_CLOSED, checks = LX__FILE_CLOSED;
        lx__table_name(stem, LX__OFFSET_KIND, generation, name);
        status = open_or_lose(s, &offsets, s->place->directory, name, error);
        lx__table_name(stem, LX__CHECK_KIND, generation, name);
        if (status == LX_OK && s->intact)
            status = open_or_lose(s, &checks, s->place->directory, name, error);
        if (status == LX_OK && s->intact)
            status = check_rows(s, &offsets, &checks, (uint32_t)i, first, end, error);
        lx__file_close(&offsets);
        lx__file_close(&checks);
    }
    return status;
}

/** Looks at the frames from where @p end is up to @p until, and puts it where the first one starts
 * that is not intact. */
static lx_status check_frames(search *s, uint64_t until, uint64_t *end, lx_error *error)
{
    uint64_t rows = s->from->rows;
    while (*end < until) {
        lx__frame frame;
        uint64_t items = *end + LX__FRAME_HEADER;
        lx_status status = lx__log_frame(s->log, *end, &frame, error);
        if (status != LX_OK)
            return status;
        status = check_chunks(s, items, &frame, error);
        if (status == LX_OK && s->intact)
            status = check_sets(s, items + (uint64_t)frame.chunk_count * LX__FRAME_CHUNK, &frame,
                                error);
        if (status == LX_OK && s->intact)
            status = check_tables(s, frame.table_generation, rows, frame.rows, error);
        if (status != LX_OK || !s->intact)
            return status;
        rows = frame.rows;
        *end += frame.bytes;
    }
    return LX_OK;
}

lx_status lx__intact_end(const lx__intact_place *place, lx__log_reader *log,
                         const lx__state *from, uint64_t until, uint64_t *end, lx_error *error)
{
    lx__state to;
    search s = {.place = place,
                .log = log,
                .from = from,
                .to = &to,
                .chunk = LX__FILE_CLOSED,
                .intact = true};
    *end = from->place.offset;
    if (*end >= until)
        return LX_OK;
    lx__state_copy(&to, from);
    lx_status status = lx__state_replay_to(&to, log, place->schema, until, error);
    if (status == LX_OK)
        status = check_frames(&s, until, end, error);
    lx__file_close(&s.chunk);
    lx__free(s.payload);
    lx__state_free(&to);
    return status;
}
