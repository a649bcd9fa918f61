/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include "base/bytes.h"
#include "zrecord/wal/frame.h"
#include "zrecord/format/schema.h"

const char *const rows_stems[ROWS_FIELDS] = {"image", "label", "text", "blob"};
static const lx__entry_rules rules[ROWS_FIELDS] = {
    {.field = 0, .align = 4, .size = 12},
    {.field = 1, .align = 8, .size = 8},
    {.field = 2, .align = 8, .size = LX_NONE, .codec = &lx__flate},
    {.field = 3, .align = 1, .size = LX_NONE}};

bool rows_take(struct rows *rows, const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    rows->options = input_byte(&input);
    rows->count = input_byte(&input) % (FUZZ_ROWS + 1);
    rows->chunk_size = ROWS_CHUNK_MAX;
    if (input.size < ROWS_FIELDS * rows->count * LX__ENTRY_BYTES)
        return false;
    for (size_t i = 0; i < ROWS_FIELDS; i++) {
        size_t bytes = rows->count * LX__ENTRY_BYTES;
        rows->fields[i] = input_bytes(&input, &bytes);
    }
    rows->chunk = rows->stored = input_bytes(&input, &rows->chunk_size);
    rows->stored_size = rows->chunk_size;
    return true;
}

static void make_sensible(lx__entry *entry, size_t field, size_t chunk)
{
    if (lx__entry_is_inline(entry) || chunk == 0)
        return;
    entry->chunk = 0;
    entry->offset = entry->offset % chunk / rules[field].align * rules[field].align;
    entry->physical = (uint32_t)(entry->physical % (chunk - entry->offset) + 1);
    if (rules[field].size != LX_NONE)
        entry->logical = (uint32_t)rules[field].size;
    if (rules[field].codec == NULL)
        entry->physical = entry->logical;
}

static void repair(lx__entry *entry, size_t field, uint64_t index, const uint8_t *data, size_t size)
{
    lx__entry_rules own = rules[field];
    memcpy(own.uuid, fuzz_uuid, sizeof fuzz_uuid);
    if (lx__entry_is_missing(entry))
        return;
    if (lx__entry_is_inline(entry) && entry->physical <= LX__INLINE_MAX)
        lx__entry_complete_inline(entry, &own);
    else if (!lx__entry_is_inline(entry) && lx__range_fits(entry->offset, entry->physical, size))
        entry->crc = lx__entry_crc(entry, &own, data + entry->offset);
    entry->crc ^= lx__index_crc(index);
}

void rows_make(const struct rows *rows, size_t field, uint8_t *offsets, uint8_t *checks)
{
    for (size_t i = 0; i < rows->count; i++) {
        const uint8_t *row = rows->fields[field] + i * LX__ENTRY_BYTES;
        lx__entry entry = lx__entry_load(row, row + LX__OFFSET_ROW);
        if (rows->options & ROWS_SENSIBLE)
            make_sensible(&entry, field, rows->chunk_size);
        if (rows->options & ROWS_REPAIR)
            repair(&entry, field, i, rows->stored, rows->stored_size);
        lx__entry_store(&entry, offsets + i * LX__OFFSET_ROW, checks + i * LX__CHECK_ROW);
    }
}

void rows_write_log(const char *name, uint64_t count, size_t chunk_size)
{
    lx__wal_identity identity = {.generation = 0};
    lx__frame_builder builder = {0};
    lx__frame first = {.flags = LX__FRAME_SNAPSHOT | LX__FRAME_SYNCED};
    uint8_t log[256];
    memcpy(identity.uuid, fuzz_uuid, sizeof fuzz_uuid);
    if (lx__frame_begin(&builder, 1, 0, NULL) != LX_OK)
        abort();
    lx__frame_finish(&builder, &first, &identity);
    memcpy(log, builder.data, builder.size);
    size_t size = builder.size;
    lx__frame second = {.sequence = 1,
                        .length = count,
                        .rows = count,
                        .previous_crc = first.crc,
                        .flags = LX__FRAME_SYNCED,
                        .next_chunk = 1};
    lx__chunk_item item = {0, (uint32_t)count, chunk_size};
    if (lx__frame_begin(&builder, 1, 0, NULL) != LX_OK)
        abort();
    lx__frame_add_chunk(&builder, &item);
    lx__frame_finish(&builder, &second, &identity);
    memcpy(log + size, builder.data, builder.size);
    fuzz_write(name, log, size + builder.size);
    lx__frame_builder_free(&builder);
}

static void write_tables(const char *name, const struct rows *rows, size_t field)
{
    char file[64];
    uint8_t offsets[FUZZ_ROWS * LX__OFFSET_ROW] = {0}, checks[FUZZ_ROWS * LX__CHECK_ROW] = {0};
    rows_make(rows, field, offsets, checks);
    snprintf(file, sizeof file, "%s/%s.offset", name, rows_stems[field]);
    fuzz_write(file, offsets, rows->count * LX__OFFSET_ROW);
    snprintf(file, sizeof file, "%s/%s.check", name, rows_stems[field]);
    fuzz_write(file, checks, rows->count * LX__CHECK_ROW);
}

void rows_write(const char *name, const struct rows *rows)
{
    char file[64];
    for (size_t i = 0; i < ROWS_FIELDS; i++)
        write_tables(name, rows, i);
    snprintf(file, sizeof file, "%s/chunk/0.zr", name);
    fuzz_write(file, rows->chunk, rows->chunk_size);
    snprintf(file, sizeof file, "%s/LOG", name);
    rows_write_log(file, rows->count, rows->chunk_size);
}
