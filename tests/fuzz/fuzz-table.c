/* SPDX-License-Identifier: MIT */
/* Tables and a chunk: a byte of options, the number of rows, the rows of each field (an entry and
 * its check, 24 bytes), and what is left is the chunk. With the options, CRCs are made right, so
 * that the rules of entries and the streams are tried. */
#include "fuzz.h"

#include "base/bytes.h"
#include "zrecord/format/frame.h"
#include "zrecord/format/schema.h"

enum {
    HOW = 7,      /* how it is opened */
    REPAIR = 8,   /* CRCs are made right, where the entry leads to bytes */
    SENSIBLE = 16 /* chunk, offset and lengths lead into the chunk */
};

#define CHUNK_MAX 8192
#define FIELDS 4

static const char *const stems[FIELDS] = {"image", "label", "text", "blob"};
static const lx__entry_rules rules[FIELDS] = {
    {.field = 0, .align = 4, .size = 12},
    {.field = 1, .align = 8, .size = 8},
    {.field = 2, .align = 8, .size = LX_NONE, .compressible = true, .flate = true},
    {.field = 3, .align = 1, .size = LX_NONE}};

static void make_sensible(lx__entry *entry, size_t field, size_t chunk)
{
    if (lx__entry_is_inline(entry) || chunk == 0)
        return;
    entry->chunk = 0;
    entry->offset = entry->offset % chunk / rules[field].align * rules[field].align;
    entry->physical = (uint32_t)(entry->physical % (chunk - entry->offset) + 1);
    if (rules[field].size != LX_NONE)
        entry->logical = (uint32_t)rules[field].size;
    if (!rules[field].compressible)
        entry->physical = entry->logical;
}

static void repair(lx__entry *entry, size_t field, uint64_t index, const uint8_t *data,
                   size_t size)
{
    lx__entry_rules own = rules[field];
    memcpy(own.uuid, fuzz_uuid, sizeof fuzz_uuid);
    if (lx__entry_is_missing(entry))
        return;
    if (lx__entry_is_inline(entry) && entry->physical <= LX__INLINE_MAX)
        lx__entry_seal_inline(entry, &own);
    else if (!lx__entry_is_inline(entry) && lx__range_fits(entry->offset, entry->physical, size))
        entry->crc = lx__entry_crc(entry, &own, data + entry->offset);
    entry->crc ^= lx__index_crc(index);
}

/** The log of a dataset of so many rows, and of one chunk. */
static void write_log(uint64_t rows, size_t chunk)
{
    lx__log_identity identity = {.generation = 0};
    lx__frame_builder builder = {0};
    lx__frame first = {.flags = LX__FRAME_BASE | LX__FRAME_SYNCED};
    uint8_t log[256];
    memcpy(identity.uuid, fuzz_uuid, sizeof fuzz_uuid);
    if (lx__frame_begin(&builder, 1, 0, NULL) != LX_OK)
        abort();
    lx__frame_finish(&builder, &first, &identity);
    memcpy(log, builder.data, builder.size);
    size_t size = builder.size;
    lx__frame second = {.epoch = 1, .length = rows, .rows = rows, .previous_crc = first.crc,
                        .flags = LX__FRAME_SYNCED, .next_chunk = 1};
    lx__chunk_item item = {0, (uint32_t)rows, chunk};
    if (lx__frame_begin(&builder, 1, 0, NULL) != LX_OK)
        abort();
    lx__frame_add_chunk(&builder, &item);
    lx__frame_finish(&builder, &second, &identity);
    memcpy(log + size, builder.data, builder.size);
    fuzz_write("table/LOG", log, size + builder.size);
    lx__frame_builder_free(&builder);
}

static void write_tables(size_t field, const uint8_t *rows, size_t count, unsigned options,
                         const uint8_t *chunk, size_t chunk_size)
{
    char name[64];
    uint8_t offsets[FUZZ_ROWS * LX__OFFSET_ROW] = {0}, checks[FUZZ_ROWS * LX__CHECK_ROW] = {0};
    for (size_t i = 0; i < count; i++) {
        lx__entry entry = lx__entry_load(rows + i * LX__ENTRY_BYTES,
                                         rows + i * LX__ENTRY_BYTES + LX__OFFSET_ROW);
        if (options & SENSIBLE)
            make_sensible(&entry, field, chunk_size);
        if (options & REPAIR)
            repair(&entry, field, i, chunk, chunk_size);
        lx__entry_store(&entry, offsets + i * LX__OFFSET_ROW, checks + i * LX__CHECK_ROW);
    }
    snprintf(name, sizeof name, "table/%s.offset", stems[field]);
    fuzz_write(name, offsets, count * LX__OFFSET_ROW);
    snprintf(name, sizeof name, "table/%s.check", stems[field]);
    fuzz_write(name, checks, count * LX__CHECK_ROW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct input input = {data, size};
    unsigned options = input_byte(&input);
    size_t count = input_byte(&input) % (FUZZ_ROWS + 1), chunk_size = CHUNK_MAX;
    const uint8_t *rows[FIELDS];
    uint64_t length;
    if (input.size < FIELDS * count * LX__ENTRY_BYTES)
        return 0;
    if (!made)
        fuzz_make_dataset("table");
    made = true;
    for (size_t i = 0; i < FIELDS; i++) {
        size_t bytes = count * LX__ENTRY_BYTES;
        rows[i] = input_bytes(&input, &bytes);
    }
    const uint8_t *chunk = input_bytes(&input, &chunk_size);
    for (size_t i = 0; i < FIELDS; i++)
        write_tables(i, rows[i], count, options, chunk, chunk_size);
    fuzz_write("table/chunk/0.zr", chunk, chunk_size);
    write_log(count, chunk_size);
    if (fuzz_open_and_read(fuzz_path("table"), options & HOW, &length) != LX_OK || length != count)
        fuzz_fail("a dataset with a log that is right is not opened");
    return 0;
}
